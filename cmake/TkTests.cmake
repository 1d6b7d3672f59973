# SPDX-License-Identifier: MIT
# tk_test(<folder>.<name> SOURCES <files> [LIBRARIES <targets>] [ARCHES <archs>] [DEVICE] [SHARDS <n>]
#         [TIMEOUT <seconds>] [LOCK <resource>])
# makes a doctest program of each part and a ctest entry that runs it. DEVICE: the sources hold device
# code. SHARDS: n programs, with TK_SHARD = 0..n-1 defined. TK_TEST_NAME is the program's name, a string.
# Where TK_SAMPLE is a number, of n programs only one is made, of contract.* in half of the cases none, and half of
# tests/compile is run; the number, the chip and the name say which. Programs find the number in their environment
# (tests/support/suite.hpp).
# A program in which no case ran fails, and so does one that says "cases did not run".
# ARCHES: only where TK_ARCH is one of them. LOCK: on a card, one at a time of those that name it.
#
# tk_compile_tests(<file>) reads the expectations of a file in tests/compile.
include_guard()
set(TK_TEST_OPS all CACHE STRING "ops whose folders of tests are built: all, or some")
set(TK_SAMPLE "" CACHE STRING "a number: one shard of each test's types and shapes; empty for all")
find_package(doctest QUIET)
if(NOT doctest_FOUND)
  tk_stop("the tests need doctest: apt-get install doctest-dev, or add -DTK_BUILD_TESTS=OFF.")
endif()

set(tk_doctest_main ${PROJECT_BINARY_DIR}/doctest_main.cpp)
file(CONFIGURE OUTPUT ${tk_doctest_main}
     CONTENT "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n")
add_library(tk_doctest_main OBJECT ${tk_doctest_main})
target_link_libraries(tk_doctest_main PUBLIC doctest::doctest PRIVATE tk_flags)

# Headers that test programs begin with, parsed once (tk_parse_once).
set(tk_test_options "")
if(TK_DEVICE STREQUAL CXX)  # kernels that run once, and checks: compiling them takes longest
  set(tk_test_options -O1)
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/no_test.cpp CONTENT "// Of the headers alone.\n")
foreach(start tk_test_start tk_device_test_start)
  add_executable(${start} EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/no_test.cpp)
  target_link_libraries(${start} PRIVATE tk_doctest_main tk_core tk_flags)
  target_compile_options(${start} PRIVATE ${tk_test_options})
endforeach()
set(tk_test_headers <doctest/doctest.h> <algorithm> <cmath> <functional> <mutex> <optional> <set> <sstream> <string>
    <vector>)
tk_parse_once(tk_test_start ${tk_test_headers})
tk_parse_once(tk_device_test_start ${tk_test_headers} <backends/kernel.hpp>)

# One of 0..n-1, by the sample's number, the chip and a test's name.
function(tk_draw result name n)
  string(MD5 drawn "${TK_SAMPLE} ${TK_TARGET} ${name}")
  string(SUBSTRING ${drawn} 0 6 drawn)
  math(EXPR drawn "0x${drawn} % ${n}")
  set(${result} ${drawn} PARENT_SCOPE)
endfunction()

function(tk_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg DEVICE "SHARDS;TIMEOUT;LOCK" "SOURCES;LIBRARIES;ARCHES")
  if(arg_ARCHES AND NOT TK_TARGET IN_LIST arg_ARCHES)
    return()
  endif()
  set(start tk_test_start)
  if(arg_DEVICE)
    tk_device_sources(${arg_SOURCES})
    set(start tk_device_test_start)
  endif()
  foreach(default SHARDS:1 TIMEOUT:300)
    string(REGEX MATCH "(.*):(.*)" default ${default})
    if(NOT arg_${CMAKE_MATCH_1})
      set(arg_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  if(TK_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 10")
  endif()

  math(EXPR last "${arg_SHARDS} - 1")
  if(NOT TK_SAMPLE STREQUAL "")
    set(of ${arg_SHARDS})
    if(name MATCHES "^contract\\.")  # compiling these takes longest of all that chips are tested with
      math(EXPR of "2 * ${arg_SHARDS}")
    endif()
    tk_draw(chosen ${name} ${of})
  endif()
  foreach(shard RANGE ${last})
    if(NOT TK_SAMPLE STREQUAL "" AND NOT shard EQUAL chosen)
      continue()
    endif()
    set(program ${name})
    if(last)
      set(program ${name}.${shard})
    endif()
    add_executable(${program} ${arg_SOURCES})
    target_compile_definitions(${program} PRIVATE TK_SHARD=${shard} TK_SHARDS=${arg_SHARDS}
                               TK_TEST_NAME="${program}")
    target_link_libraries(${program} PRIVATE ${arg_LIBRARIES} tk_doctest_main tk_core tk_flags)
    target_include_directories(${program} SYSTEM PRIVATE ${TK_DLPACK_INCLUDE})
    target_compile_options(${program} PRIVATE ${tk_test_options})
    get_target_property(begins ${start} PRECOMPILE_HEADERS)
    if(begins)
      target_precompile_headers(${program} REUSE_FROM ${start})
    endif()
    set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CXX)
    add_test(NAME ${program} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${program} PROPERTIES
      TIMEOUT ${arg_TIMEOUT} FAIL_REGULAR_EXPRESSION "test cases: +0 |cases did not run"
      ENVIRONMENT "OMP_PROC_BIND=false;OMP_WAIT_POLICY=passive;TK_SAMPLE=${TK_SAMPLE}")
    if(arg_LOCK AND NOT TK_DEVICE STREQUAL CXX)
      set_tests_properties(${program} PROPERTIES RESOURCE_LOCK ${arg_LOCK})
    endif()
  endforeach()
endfunction()

# The command that compiles a program as device code, for tests that only look at the compiler's word.
add_library(tk_compile_probe OBJECT EXCLUDE_FROM_ALL ${tk_doctest_main})
target_link_libraries(tk_compile_probe PRIVATE tk_core)
set(tk_compile_command ${PROJECT_BINARY_DIR}/compile_command.cmake)
set(tk_compile_language CXX)
if(TK_DEVICE STREQUAL CUDA)
  set(tk_compile_language CUDA)
  string(REPLACE sm_ compute_ virtual ${TK_TARGET})
  set(tk_command ${CMAKE_CUDA_COMPILER} -ccbin ${CMAKE_CXX_COMPILER} -std=c++20 -w -x cu
      --expt-relaxed-constexpr -gencode arch=${virtual},code=${TK_TARGET} -c -o /dev/null)
elseif(TK_DEVICE STREQUAL HIP)
  set(tk_command ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -w ${TK_HIP_FLAGS})
else()
  set(tk_command ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -w)
endif()
file(GENERATE OUTPUT ${tk_compile_command} CONTENT
"set(command [==[${tk_command}]==])
set(includes [==[$<TARGET_PROPERTY:INCLUDE_DIRECTORIES>]==])
set(defines [==[$<TARGET_PROPERTY:COMPILE_DEFINITIONS>]==])
set(options [==[$<TARGET_PROPERTY:COMPILE_OPTIONS>]==])\n" TARGET tk_compile_probe
  CONDITION $<COMPILE_LANGUAGE:${tk_compile_language}>)  # the options differ by language; one file

# g++ parses what they all include once (ctest runs compile.headers before any of them).
set(tk_precompiled "")
if(TK_DEVICE STREQUAL CXX AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(tk_precompiled ${CMAKE_CURRENT_BINARY_DIR}/compile/headers.hpp)
  add_test(NAME compile.headers COMMAND ${CMAKE_COMMAND} -DCOMMAND=${tk_compile_command}
           -DPRECOMPILED=${tk_precompiled} -P ${PROJECT_SOURCE_DIR}/cmake/compile_test.cmake)
  set_tests_properties(compile.headers PROPERTIES FIXTURES_SETUP tk_compile_headers)
endif()

# tk_compile_test(<file> <name> <arguments of compile_test.cmake>)
function(tk_compile_test file name)
  tk_draw(turn ${name} 2)
  if(turn AND NOT TK_SAMPLE STREQUAL "")
    return()
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DCOMMAND=${tk_compile_command} -DFILE=${file}
           -DPRECOMPILED=${tk_precompiled} ${ARGN} -P ${PROJECT_SOURCE_DIR}/cmake/compile_test.cmake)
  if(tk_precompiled)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED tk_compile_headers)
  endif()
endfunction()

# tk_header_test(<name> <includes>): a program of these lines compiles. Nothing is parsed before them.
function(tk_header_test name includes)
  tk_draw(turn ${name} 2)
  if(turn AND NOT TK_SAMPLE STREQUAL "")
    return()
  endif()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/compile/${name}.cpp)
  file(GENERATE OUTPUT ${file} CONTENT "${includes}")
  add_test(NAME compile.${name} COMMAND ${CMAKE_COMMAND} -DCOMMAND=${tk_compile_command} -DFILE=${file}
           -P ${PROJECT_SOURCE_DIR}/cmake/compile_test.cmake)
endfunction()

function(tk_compile_tests file)
  cmake_path(GET file STEM name)
  file(STRINGS ${file} lines REGEX "^// expect")
  set(control ON)
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^// expect ?([A-Za-z0-9_]*)( if ([^:]+))?: (.+)$")
      tk_stop("${file}: '${line}' is not '// expect: regex' nor '// expect CASE [if condition]: regex'.")
    endif()
    set(case "${CMAKE_MATCH_1}")
    set(condition "${CMAKE_MATCH_3}")
    set(expect "${CMAKE_MATCH_4}")
    set(test compile.${name})
    if(case)
      set(test compile.${name}.${case})
    else()
      set(control OFF)
    endif()
    tk_compile_test(${file} ${test} -DCASE=${case} "-DEXPECT=${expect}" "-DCONDITION=${condition}")
  endforeach()
  if(control)
    tk_compile_test(${file} compile.${name})
  endif()
endfunction()
