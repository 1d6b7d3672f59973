# SPDX-License-Identifier: MIT
# cmake -DSOURCE=<folder> -DHEADER=<file> -P commit_header.cmake
# Writes HEADER with TK_COMMIT, what git says of SOURCE ("1a2b3c4", "v0.1-3-g1a2b3c4-dirty"), or
# "unknown". A header that says so already is left untouched.
cmake_minimum_required(VERSION 3.25)
set(TK_COMMIT unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  # Not the commit of a repository that TK was merely unpacked into.
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} rev-parse --show-toplevel
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${top}" top)
  file(REAL_PATH ${SOURCE} SOURCE)
  if(top STREQUAL SOURCE)
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --tags --always --dirty
                    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(described)
      set(TK_COMMIT ${described})
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define TK_COMMIT \"@TK_COMMIT@\"\n" @ONLY)
