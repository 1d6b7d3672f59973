# SPDX-License-Identifier: MIT
# TK_COMMIT: what git says of the source folder ("1a2b3c4", "v0.1-3-g1a2b3c4-dirty"), or "unknown".
# It is asked when CMake configures, which happens again after a commit or a checkout.
include_guard()
set(TK_COMMIT unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute
                          --show-toplevel --git-path logs/HEAD
                  OUTPUT_VARIABLE tk_git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX MATCH "^([^\n]+)\n(.+)$" tk_git "${tk_git}")
  # Not the commit of a repository that TK was merely unpacked into.
  file(REAL_PATH "${CMAKE_MATCH_1}" tk_top)
  file(REAL_PATH ${PROJECT_SOURCE_DIR} tk_source)
  if(tk_git AND tk_top STREQUAL tk_source)
    if(EXISTS "${CMAKE_MATCH_2}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_MATCH_2}")
    endif()
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} describe --tags --always --dirty
                    OUTPUT_VARIABLE tk_described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(tk_described)
      set(TK_COMMIT ${tk_described})
    endif()
  endif()
endif()
