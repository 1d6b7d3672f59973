# SPDX-License-Identifier: MIT
# Kokkos::kokkos, which runs the host backend's grid in parallel: the machine's own if a program with
# it builds (Debian's, in libtrilinos-kokkos-dev, does not), else built here, once, from the source
# that PyPI's package pykokkos-base carries. TK_KOKKOS_PREFIX is set if it was built here: it is
# installed along with TK then. TK_KOKKOS_ARCHIVE names a copy of the package for use offline.
include_guard()
set(TK_KOKKOS_ARCHIVE "" CACHE FILEPATH "pykokkos-base-0.0.7.tar.gz, if it cannot be downloaded")
set(tk_package pykokkos-base-0.0.7)
set(tk_sha256 6339daced1e81a2748f381847d8717cd77d824407da3c263b9491b5630c642b0)

# Runs a step; its output is shown only if it fails.
function(tk_kokkos_step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT failed STREQUAL 0)
    message(STATUS "${output}")
    tk_stop("${what} failed (output above): install Kokkos >= 3.4 yourself and give its place with
-DKokkos_ROOT=, or download ${tk_package}.tar.gz and name it with -DTK_KOKKOS_ARCHIVE=.")
  endif()
endfunction()

function(tk_build_kokkos prefix)
  set(work ${TK_CACHE_DIR}/kokkos)
  set(archive ${TK_KOKKOS_ARCHIVE})
  if(NOT archive)
    set(archive ${work}/${tk_package}.tar.gz)
  endif()
  if(NOT EXISTS ${archive})
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    message(STATUS "Kokkos: downloading ${tk_package} with pip")
    tk_kokkos_step("the download of Kokkos" ${Python3_EXECUTABLE} -m pip download -q --no-deps
                   --no-binary pykokkos-base -d ${work} pykokkos-base==0.0.7)
  endif()
  file(SHA256 ${archive} sum)
  if(NOT sum STREQUAL tk_sha256)
    tk_stop("${archive} is not the file TK knows (its SHA-256 is ${sum}); delete it and try again.")
  endif()
  message(STATUS "Kokkos: building 3.4.1, once, in ${work}")
  file(REMOVE_RECURSE ${work}/source ${work}/build)
  file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${work}/source
       PATTERNS ${tk_package}/external/kokkos/*)
  set(threads -DKokkos_ENABLE_PTHREAD=ON)
  find_package(OpenMP QUIET COMPONENTS CXX)
  if(OpenMP_CXX_FOUND)
    set(threads -DKokkos_ENABLE_OPENMP=ON)
  endif()
  tk_kokkos_step("Kokkos's configure step" ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR}
                 -S ${work}/source/${tk_package}/external/kokkos -B ${work}/build ${threads}
                 -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_BUILD_TYPE=Release
                 -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON
                 -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX=${prefix}
                 -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER} -Wno-dev)
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  tk_kokkos_step("Kokkos's build" ${CMAKE_COMMAND} --build ${work}/build -j ${cores}
                 --target install)
  file(REMOVE_RECURSE ${work}/source ${work}/build)
endfunction()

# A Kokkos that is found is probed apart from this project: a broken one must leave no target behind.
set(tk_probe ${CMAKE_BINARY_DIR}/tk_kokkos_probe)
file(WRITE ${tk_probe}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(probe CXX)
find_package(Kokkos 3.4 REQUIRED CONFIG)
add_executable(probe probe.cpp)
target_compile_features(probe PRIVATE cxx_std_20)
target_link_libraries(probe Kokkos::kokkos)\n")
file(WRITE ${tk_probe}/probe.cpp "#include <Kokkos_Core.hpp>
int main() { Kokkos::initialize(); Kokkos::finalize(); }\n")
if(NOT DEFINED TK_KOKKOS_WORKS)
  execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${tk_probe} ${tk_probe}/build
                          --build-generator ${CMAKE_GENERATOR} --build-options
                          -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DKokkos_DIR=${Kokkos_DIR}
                          -DKokkos_ROOT=${Kokkos_ROOT} "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}"
                  RESULT_VARIABLE tk_failed OUTPUT_QUIET ERROR_QUIET)
  if(tk_failed STREQUAL 0)
    set(TK_KOKKOS_WORKS ON CACHE INTERNAL "the machine's own Kokkos builds a program")
  else()
    set(TK_KOKKOS_WORKS OFF CACHE INTERNAL "the machine's own Kokkos builds a program")
  endif()
endif()
unset(TK_KOKKOS_PREFIX)
if(NOT TK_KOKKOS_WORKS)
  string(SHA256 tk_key "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} ${tk_sha256}")
  string(SUBSTRING ${tk_key} 0 8 tk_key)
  set(TK_KOKKOS_PREFIX ${TK_CACHE_DIR}/kokkos/${tk_key})
  if(NOT EXISTS ${TK_KOKKOS_PREFIX}/lib/libkokkoscore.a)
    tk_build_kokkos(${TK_KOKKOS_PREFIX})
  endif()
  set(Kokkos_DIR ${TK_KOKKOS_PREFIX}/lib/cmake/Kokkos)
endif()
find_package(Kokkos 3.4 REQUIRED CONFIG QUIET)
