# SPDX-License-Identifier: MIT
# What is built, and with which compiler. Included before project(), because an arch may prescribe
# the C++ compiler. From the cache variables TK_ARCH and TK_EMULATE it sets
#   TK_TARGET    the arch: one of tk_archs ("native" resolved)
#   TK_DEVICE    the language of device sources: CXX, CUDA or HIP
#   TK_DEFINES   the compile definitions of everything that includes core/ or backends/
#   TK_HIP_FLAGS, TK_HIP_LIBRARY   for HIP; TK_ROCM tells whether ROCm is installed
# Whatever cannot work stops here with one sentence that says what to do.
include_guard()
cmake_minimum_required(VERSION 3.25)  # for cmake -P

set(tk_archs host sm_80 sm_86 sm_89 sm_90a gfx90a gfx942 gfx950)
list(JOIN tk_archs ", " tk_choices)
set(tk_choices "native, ${tk_choices}")
set(TK_ARCH native CACHE STRING "${tk_choices}")
option(TK_EMULATE "run a GPU's device code on the CPU, lane by lane" OFF)
set_property(CACHE TK_ARCH PROPERTY STRINGS native ${tk_archs})

function(tk_stop sentence)
  string(REPLACE "\n" " " sentence "${sentence}")
  message(FATAL_ERROR "TK: ${sentence}\n")
endfunction()

# The first card of this machine as an arch ("" if there is none), e.g. sm_90a, gfx942, sm_80.
function(tk_find_card result)
  set(${result} "" PARENT_SCOPE)
  find_program(TK_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(TK_NVIDIA_SMI)
  if(TK_NVIDIA_SMI)
    execute_process(COMMAND ${TK_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE card ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND card MATCHES "^([0-9]+)\\.([0-9]+)")
      set(card sm_${CMAKE_MATCH_1}${CMAKE_MATCH_2})
      if(card STREQUAL sm_90)
        set(card sm_90a)
      endif()
      set(${result} ${card} PARENT_SCOPE)
      return()
    endif()
  endif()
  # The AMD driver's list of nodes: gfx_target_version is 90402 for gfx942, 0 for a CPU.
  file(GLOB nodes /sys/class/kfd/kfd/topology/nodes/*/properties)
  foreach(node ${nodes})
    file(STRINGS ${node} line REGEX "^gfx_target_version [1-9]")
    if(line MATCHES " ([0-9]+)([0-9][0-9])([0-9][0-9])$")
      set(major ${CMAKE_MATCH_1})
      math(EXPR minor "1${CMAKE_MATCH_2} - 100")
      math(EXPR step "1${CMAKE_MATCH_3} - 100" OUTPUT_FORMAT DECIMAL)
      string(SUBSTRING 0123456789abcdef ${step} 1 step)
      set(${result} gfx${major}${minor}${step} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# ---- the arch ------------------------------------------------------------------------------------
if(TK_ARCH STREQUAL native)
  tk_find_card(tk_card)
  if(NOT tk_card)
    set(TK_TARGET host)
    set(tk_why "no NVIDIA or AMD card found")
  elseif(tk_card IN_LIST tk_archs)
    set(TK_TARGET ${tk_card})
    set(tk_why "the card of this machine")
  elseif(tk_card MATCHES "^sm_(87|1[01][0-9])$")  # 163 KB of shared memory in a block, or more
    set(TK_TARGET sm_80)
    set(tk_why "the nearest ancestor of this machine's card, ${tk_card}")
  elseif(tk_card MATCHES "^sm_12[0-9]$")  # 99 KB
    set(TK_TARGET sm_89)
    set(tk_why "the nearest ancestor of this machine's card, ${tk_card}")
  else()
    set(TK_TARGET host)
    set(tk_why "this machine's card is ${tk_card}, which has no backend yet")
  endif()
  message(STATUS "TK_ARCH native: ${TK_TARGET} (${tk_why})")
elseif(TK_ARCH IN_LIST tk_archs)
  set(TK_TARGET ${TK_ARCH})
else()
  tk_stop("TK_ARCH=${TK_ARCH} is unknown; choose one of ${tk_choices}.")
endif()
if(CMAKE_SCRIPT_MODE_FILE)
  return()  # cmake -P cmake/TkArch.cmake: says what native is
endif()
if(TK_EMULATE AND TK_TARGET STREQUAL host)
  tk_stop("TK_EMULATE=ON needs the TK_ARCH of a GPU (${tk_choices}); the host runs its code as it is.")
endif()

string(TOUPPER "TK_ARCH_${TK_TARGET}=1" TK_DEFINES)
list(APPEND TK_DEFINES "TK_ARCH_NAME=\"${TK_TARGET}\"")
set(TK_DEVICE CXX)
if(TK_EMULATE)
  list(APPEND TK_DEFINES TK_EMULATE=1)
elseif(TK_TARGET MATCHES "^sm_")
  set(TK_DEVICE CUDA)
elseif(TK_TARGET MATCHES "^gfx")
  set(TK_DEVICE HIP)
endif()

# ---- the compilers -------------------------------------------------------------------------------
# HIP: the whole library is compiled by one clang, device sources with TK_HIP_FLAGS added. ROCm's
# own compiler where there is one; else an upstream clang without ROCm's device libraries, with the
# HIP headers of the distribution. A candidate must turn a kernel into an object to be taken.
if(TK_DEVICE STREQUAL HIP)
  set(tk_probe "${CMAKE_BINARY_DIR}/tk_hip_probe")
  file(WRITE ${tk_probe}.cpp "#include <hip/hip_runtime.h>
__attribute__((global)) void k(float* x) { x[__builtin_amdgcn_workitem_id_x()] += 1.0f; }\n")
  # Takes `compiler` if it works; else leaves the reason in `tk_reason`.
  macro(tk_try_hip compiler)
    set(TK_HIP_FLAGS -xhip --offload-arch=${TK_TARGET} ${ARGN})
    execute_process(COMMAND ${compiler} ${TK_HIP_FLAGS} -std=c++20 -O1 -c ${tk_probe}.cpp -o
                            ${tk_probe}.o RESULT_VARIABLE tk_failed ERROR_VARIABLE tk_output
                            OUTPUT_QUIET)
    execute_process(COMMAND ${compiler} -dumpversion OUTPUT_VARIABLE tk_version ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(tk_version VERSION_LESS 19)
      set(tk_reason "its version is ${tk_version}")
    elseif(NOT tk_failed STREQUAL 0)
      string(REGEX MATCH "[^\n]*error: [^\n]*" tk_reason "${tk_output}")
    else()
      set(TK_HIP_COMPILER ${compiler})
    endif()
  endmacro()
  # __AMDGCN_WAVEFRONT_SIZE: hip's own headers of Debian ask for it, newer clangs no longer set it.
  set(tk_plain -nogpulib -D__AMDGCN_WAVEFRONT_SIZE=64 --hip-path=/usr)

  unset(TK_HIP_COMPILER)
  set(TK_ROCM OFF)
  find_program(TK_ROCM_CXX NAMES amdclang++ PATHS $ENV{ROCM_PATH} /opt/rocm PATH_SUFFIXES bin llvm/bin)
  mark_as_advanced(TK_ROCM_CXX)
  if(CMAKE_CXX_COMPILER)
    if(CMAKE_CXX_COMPILER MATCHES "amdclang|rocm|hipcc")
      tk_try_hip(${CMAKE_CXX_COMPILER})
      set(TK_ROCM ON)
    else()
      tk_try_hip(${CMAKE_CXX_COMPILER} ${tk_plain})
    endif()
    if(NOT TK_HIP_COMPILER)
      tk_stop("${CMAKE_CXX_COMPILER} cannot compile HIP for ${TK_TARGET} (${tk_reason}); leave
CMAKE_CXX_COMPILER unset or name a clang++ of version 19 or later.")
    endif()
  elseif(TK_ROCM_CXX)
    tk_try_hip(${TK_ROCM_CXX})
    set(TK_ROCM ON)
    if(NOT TK_HIP_COMPILER)
      tk_stop("ROCm's ${TK_ROCM_CXX} cannot compile for ${TK_TARGET} (${tk_reason}); install ROCm 6.4 or
later, or name another compiler with -DCMAKE_CXX_COMPILER=clang++-19.")
    endif()
  else()
    set(tk_tried "")
    foreach(name clang++-22 clang++-21 clang++-20 clang++-19 clang++)
      find_program(tk_clang ${name} NO_CACHE)
      if(tk_clang AND NOT TK_HIP_COMPILER)
        tk_try_hip(${tk_clang} ${tk_plain})
        if(NOT TK_HIP_COMPILER)
          string(APPEND tk_tried "; ${name} does not do: ${tk_reason}")
        endif()
      endif()
      unset(tk_clang)
    endforeach()
    if(NOT TK_HIP_COMPILER)
      tk_stop("TK_ARCH=${TK_TARGET} needs ROCm, or clang >= 19, the lld of the same version and the HIP
headers: apt-get install clang-19 clang-tools-19 lld-19 libamdhip64-dev${tk_tried}.")
    endif()
    set(CMAKE_CXX_COMPILER ${TK_HIP_COMPILER} CACHE FILEPATH "the compiler of ${TK_TARGET}")
  endif()
  if(TK_HIP_COMPILER MATCHES "rocm|amdclang")
    get_filename_component(tk_rocm ${TK_HIP_COMPILER} REALPATH)
    string(REGEX REPLACE "/(llvm/|lib/llvm/)?bin/.*" "" tk_rocm ${tk_rocm})
  endif()
endif()

if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(tk_cxx NAMES c++ g++ clang++ NO_CACHE)
  if(NOT tk_cxx)
    tk_stop("there is no C++ compiler: apt-get install g++ (12 or later) or clang-19.")
  endif()
endif()

# After project(): is the C++ compiler one that can do it?
function(tk_check_cxx)
  set(found "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER})")
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
      tk_stop("${found} is too old for TK's C++20: use -DCMAKE_CXX_COMPILER=g++-12 or later.")
    endif()
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
      tk_stop("${found} is too old for TK's C++20: use -DCMAKE_CXX_COMPILER=clang++-19 or later.")
    endif()
  else()
    tk_stop("${found} is not a compiler that TK knows: use g++ >= 12 or clang >= 19.")
  endif()
endfunction()

# After project(), for HIP: the runtime, of ROCm where that is the compiler's.
function(tk_find_hip_runtime)
  find_library(TK_HIP_LIBRARY amdhip64 HINTS ${tk_rocm}/lib $ENV{ROCM_PATH}/lib /opt/rocm/lib)
  mark_as_advanced(TK_HIP_LIBRARY)
  if(NOT TK_HIP_LIBRARY)
    tk_stop("libamdhip64 is missing: apt-get install libamdhip64-dev, or install ROCm.")
  endif()
  find_path(TK_HIP_INCLUDE hip/hip_runtime_api.h
            HINTS ${tk_rocm}/include $ENV{ROCM_PATH}/include /opt/rocm/include)
  mark_as_advanced(TK_HIP_INCLUDE)
  if(NOT TK_HIP_INCLUDE)
    tk_stop("hip/hip_runtime_api.h is missing: apt-get install libamdhip64-dev, or install ROCm.")
  endif()
endfunction()

# After project(), for CUDA: finds nvcc and enables the language.
macro(tk_enable_cuda)
  find_program(TK_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  mark_as_advanced(TK_NVCC)
  if(CMAKE_CUDA_COMPILER)
    set(TK_NVCC ${CMAKE_CUDA_COMPILER})
  elseif(DEFINED ENV{CUDACXX})
    set(TK_NVCC $ENV{CUDACXX})
  endif()
  if(NOT TK_NVCC)
    tk_stop("TK_ARCH=${TK_TARGET} needs nvcc >= 12.8: install the CUDA toolkit or give its place with
-DCMAKE_CUDA_COMPILER=/path/to/nvcc (or build for the CPU with -DTK_ARCH=host).")
  endif()
  execute_process(COMMAND ${TK_NVCC} --version OUTPUT_VARIABLE tk_output ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" tk_output "${tk_output}")
  if(NOT tk_output OR CMAKE_MATCH_1 VERSION_LESS 12.8)
    tk_stop("${TK_NVCC} is no nvcc or too old (${tk_output}), TK needs nvcc >= 12.8: install a newer CUDA toolkit or
give its place with -DCMAKE_CUDA_COMPILER=/path/to/nvcc.")
  endif()
  set(CMAKE_CUDA_COMPILER ${TK_NVCC} CACHE FILEPATH "nvcc")
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  # sm_80 and the like: code of that chip, and PTX from which the driver makes that of later ones.
  # "-real" for sm_90a: no PTX, which no other chip takes.
  string(REPLACE sm_ "" CMAKE_CUDA_ARCHITECTURES ${TK_TARGET})
  string(REPLACE 90a 90a-real CMAKE_CUDA_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # unknown to CMake 3.25
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  find_package(CUDAToolkit REQUIRED)
endmacro()
