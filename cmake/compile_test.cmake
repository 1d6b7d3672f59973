# SPDX-License-Identifier: MIT
# cmake -DCOMMAND=<file that sets command, options, includes, defines> -DFILE= [-DPRECOMPILED=]
#       [-DCASE=] [-DEXPECT=] [-DCONDITION=] -P compile_test.cmake
# Without FILE: makes PRECOMPILED, a header that has been parsed, from tests/compile/program.hpp.
# With it: compiles FILE with CASE defined. Without EXPECT it must compile; with EXPECT it must fail with a
# message that matches. With CONDITION, a constant expression inside tk::be, EXPECT holds only where
# that is true, which the compiler is asked first.
cmake_minimum_required(VERSION 3.25)
include(${COMMAND})
list(REMOVE_DUPLICATES includes)
list(REMOVE_ITEM includes "" /usr/include)
list(TRANSFORM includes PREPEND -I)
list(TRANSFORM defines PREPEND -D)
list(APPEND command ${options} ${includes} ${defines})

# Sets the two variables named to 0 or 1 and to what the compiler said.
function(compile file failed_name said_name)
  execute_process(COMMAND ${command} ${ARGN} ${file} RESULT_VARIABLE status OUTPUT_VARIABLE said
                  ERROR_VARIABLE said)
  set(${failed_name} 1 PARENT_SCOPE)
  if(status STREQUAL 0)
    set(${failed_name} 0 PARENT_SCOPE)
  endif()
  set(${said_name} "${said}" PARENT_SCOPE)
endfunction()

if(NOT FILE)
  list(REMOVE_ITEM command -fsyntax-only)
  file(WRITE ${PRECOMPILED} "#include \"tests/compile/program.hpp\"\n")
  compile(${PRECOMPILED} failed output -x c++-header -o ${PRECOMPILED}.gch)
  if(failed)
    message(FATAL_ERROR "tests/compile/program.hpp must compile:\n${output}")
  endif()
  return()
endif()
if(PRECOMPILED)
  list(APPEND command -include ${PRECOMPILED})
endif()

if(CONDITION)
  cmake_path(GET FILE STEM probe)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/${probe}.${CASE}.condition.cpp)
  file(WRITE ${probe} "#include \"backends/backend.hpp\"\n\
namespace tk::be { static_assert(!(${CONDITION}) == TK_CONDITION_IS_FALSE); }\n")
  compile(${probe} is_false output -DTK_CONDITION_IS_FALSE=0)
  compile(${probe} is_true output -DTK_CONDITION_IS_FALSE=1)
  if(is_false EQUAL is_true)
    message(FATAL_ERROR "${FILE} ${CASE}: '${CONDITION}' is no condition:\n${output}")
  endif()
  if(is_false)
    unset(EXPECT CACHE)
  else()
    message(STATUS "refused")  # for .ci/support_matrix
  endif()
endif()

set(define "")
if(CASE)
  set(define -D${CASE})
endif()
compile(${FILE} failed output ${define})
if(NOT DEFINED EXPECT)
  if(failed)
    message(FATAL_ERROR "${FILE} ${CASE} must compile:\n${output}")
  endif()
elseif(NOT failed)
  message(FATAL_ERROR "${FILE} ${CASE} compiles, it must not")
elseif(NOT output MATCHES "${EXPECT}")
  message(FATAL_ERROR "${FILE} ${CASE}: no message matches '${EXPECT}':\n${output}")
endif()
