# SPDX-License-Identifier: MIT
# Flags and languages, after project(). Gives
#   tk_flags                    INTERFACE: the flags of every source of this project, not exported
#   tk_any_cpu                  of the host: flags of sources that must run on every CPU
#   tk_device_sources(files)    marks files that hold device code: compiled by nvcc, as HIP, or, for
#                               the host and emulated, as they are
#   tk_parse_once(target headers...)  has the target's sources, where no compiler of a chip takes them, begin
#                               with these headers, which are parsed once for all
include_guard()
tk_check_cxx()
if(TK_DEVICE STREQUAL CUDA)
  tk_enable_cuda()
elseif(TK_DEVICE STREQUAL HIP)
  tk_find_hip_runtime()
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)  # a build folder can be carried to another machine
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Device code is logged (cmake/log_compile.sh), everything goes through ccache where there is one.
find_program(TK_CCACHE ccache)
mark_as_advanced(TK_CCACHE)
set(tk_ccache "")
if(TK_CCACHE)
  set(tk_ccache ${TK_CCACHE})
endif()
set(CMAKE_CXX_COMPILER_LAUNCHER ${tk_ccache})
if(TK_DEVICE STREQUAL CUDA)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/log_compile.sh ${tk_ccache})
elseif(TK_DEVICE STREQUAL HIP)
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/log_compile.sh)
  list(APPEND TK_HIP_FLAGS -Rpass-analysis=kernel-resource-usage)
endif()

add_library(tk_flags INTERFACE)
set(tk_warnings -Wall -Wextra -Wno-unknown-pragmas)  # #pragma unroll
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms inside std::sort and std::string.
  list(APPEND tk_warnings -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict)
endif()
set(tk_host_warnings -Wall,-Wno-unknown-pragmas)  # of the compiler behind nvcc
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # notes that vectors were passed otherwise before gcc 4.6
  list(APPEND tk_warnings -Wno-psabi)
  string(APPEND tk_host_warnings ,-Wno-psabi)
endif()
if(TK_WERROR)
  list(APPEND tk_warnings -Werror)
endif()
target_compile_options(tk_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${tk_warnings}>)
if(TK_DEVICE STREQUAL CUDA)
  # nvcc's own stubs warn under -Wextra.
  target_compile_options(tk_flags INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v;-Xcompiler=${tk_host_warnings}>")
  if(TK_WERROR)
    target_compile_options(tk_flags INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>")
  endif()
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)  # 0.3 of the default's size
    target_compile_options(tk_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
  endif()
elseif(TK_DEVICE STREQUAL CXX AND TK_HOST_MARCH)
  # Device code runs on this CPU, natively or emulated.
  target_compile_options(tk_flags INTERFACE -march=${TK_HOST_MARCH})
endif()
set(tk_any_cpu "")  # what undoes that: code for every CPU of the family
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(tk_any_cpu -march=x86-64)
endif()

if(TK_SANITIZE STREQUAL address)
  set(tk_sanitize -fsanitize=address,undefined -fno-sanitize-recover=undefined)
elseif(TK_SANITIZE STREQUAL thread)
  set(tk_sanitize -fsanitize=thread)
elseif(TK_SANITIZE)
  tk_stop("TK_SANITIZE=${TK_SANITIZE} is unknown; choose address, thread or nothing.")
endif()
if(TK_SANITIZE)
  if(NOT TK_DEVICE STREQUAL CXX)
    tk_stop("TK_SANITIZE works for the host and for emulated chips; add -DTK_EMULATE=ON.")
  endif()
  target_compile_options(tk_flags INTERFACE ${tk_sanitize} -g1 -fno-omit-frame-pointer)
  target_link_options(tk_flags INTERFACE ${tk_sanitize})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # false alarms about std::optional in instrumented code
    target_compile_options(tk_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

function(tk_device_sources)
  if(TK_DEVICE STREQUAL CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  elseif(TK_DEVICE STREQUAL HIP)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${TK_HIP_FLAGS}")
  endif()
endfunction()

# What forgets to include them is found where a chip's compiler takes it. Not by clang, of whose results ccache would
# keep none.
function(tk_parse_once target)
  if(TK_DEVICE STREQUAL CXX AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
