# SPDX-License-Identifier: MIT
# cmake -DCOMMAND=<file that sets command, options, includes, defines> -DFILE= [-DCASE=] [-DEXPECT=]
#       -P compile_test.cmake
# Compiles FILE with CASE defined. Without EXPECT it must compile; with EXPECT it must fail with a
# message that matches.
cmake_minimum_required(VERSION 3.25)
include(${COMMAND})
list(APPEND defines ${CASE})
list(REMOVE_DUPLICATES includes)
list(REMOVE_ITEM includes "" /usr/include)
list(TRANSFORM includes PREPEND -I)
list(TRANSFORM defines PREPEND -D)
execute_process(COMMAND ${command} ${options} ${includes} ${defines} ${FILE} RESULT_VARIABLE failed OUTPUT_VARIABLE output
                ERROR_VARIABLE output)
if(NOT DEFINED EXPECT)
  if(NOT failed STREQUAL 0)
    message(FATAL_ERROR "${FILE} must compile:\n${output}")
  endif()
elseif(failed STREQUAL 0)
  message(FATAL_ERROR "${FILE} ${CASE} compiles, it must not")
elseif(NOT output MATCHES "${EXPECT}")
  message(FATAL_ERROR "${FILE} ${CASE}: no message matches '${EXPECT}':\n${output}")
endif()
