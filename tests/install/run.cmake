# SPDX-License-Identifier: MIT
# What users get of the build folder BUILD: installs it and moves the prefix, then builds and tests the
# project SOURCE with find_package, what README says about linking (as it is printed there), and gemm.c
# with pkg-config, shared and static; the same from the tarball that cpack makes. VERSION, ARCH (sm_90a,
# host, ...) and LIBDIR are the build's.
set(work ${BUILD}/install_test)
file(REMOVE_RECURSE ${work})
function(step)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${BUILD} RESULT_VARIABLE failed
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed STREQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
function(expect condition)
  if(NOT (${ARGN}))
    message(FATAL_ERROR "${condition}:\n${output}")
  endif()
endfunction()
foreach(program cc pkg-config readelf)
  find_program(${program} ${program} REQUIRED)
endforeach()

unset(ENV{LD_LIBRARY_PATH})

# gemm.c with the options of pkg-config's package `name`, run without the build folder's help.
function(check_pkg_config prefix name)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  step(${pkg-config} --modversion ${name})
  expect("the version of ${name}" output MATCHES "^${VERSION}\n$")
  step(${pkg-config} ${ARGN} --cflags --libs ${name})
  string(STRIP "${output}" options)
  separate_arguments(options UNIX_COMMAND "${options}")
  step(${cc} -std=c11 -Wall -Wextra -Wpedantic -Werror ${SOURCE}/gemm.c -o ${work}/gemm ${options})
  step(${work}/gemm)
  expect("the version of the library" output MATCHES "^${VERSION} ${ARCH} [^ \n]+\n$")
  step(${readelf} -d ${work}/gemm)
  set(output "${output}" PARENT_SCOPE)
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/first)
set(prefix ${work}/prefix)
file(RENAME ${work}/first ${prefix})

# Nothing says where it was built or first installed.
file(GLOB_RECURSE files ${prefix}/*.cmake ${prefix}/*.pc)
foreach(file ${files})
  file(READ ${file} text)
  foreach(place ${BUILD} ${work}/first)
    string(FIND "${text}" ${place} at)
    expect("${file} holds ${place}" at EQUAL -1)
  endforeach()
endforeach()
step(${readelf} -d ${prefix}/${LIBDIR}/libtk_ops.so)
expect("the library's soname" output MATCHES "SONAME.*libtk_ops.so.0]")
expect("the library has a path of its own" NOT output MATCHES "RPATH|RUNPATH")

step(${CMAKE_COMMAND} -S ${SOURCE} -B ${work}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
     -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release)
step(${CMAKE_COMMAND} --build ${work}/build)
step(${CMAKE_CTEST_COMMAND} --test-dir ${work}/build --output-on-failure --no-tests=error)

# README's example: the first block of code after `heading`, with the prefix of this test for README's.
function(printed heading variable)
  file(READ ${SOURCE}/../../README.md text)
  string(FIND "${text}" "${heading}" at)
  expect("README.md has no '${heading}'" NOT at EQUAL -1)
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "```" at)
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "\n" at)
  math(EXPR at "${at} + 1")
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "```" at)
  string(SUBSTRING "${text}" 0 ${at} text)
  string(REPLACE /opt/tk/lib/ ${prefix}/${LIBDIR}/ text "${text}")
  string(REPLACE /opt/tk ${prefix} text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()
printed("\n`CMakeLists.txt`:" project)
printed("\n`example.cpp`" program)
printed("\nWithout CMake:" commands)
file(WRITE ${work}/readme/CMakeLists.txt "${project}")
file(WRITE ${work}/readme/example.cpp "${program}")
step(${CMAKE_COMMAND} -S ${work}/readme -B ${work}/readme/build -G ${GENERATOR}
     -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release)
step(${CMAKE_COMMAND} --build ${work}/readme/build)
step(${work}/readme/build/example)
expect("what README's example says" output STREQUAL "6\n")
file(WRITE ${work}/readme/commands "set -e\ncd ${work}/readme\n${commands}")
step(sh ${work}/readme/commands)
expect("what README's example says, without CMake" output STREQUAL "6\n")

# README's lines of C++, inside a program that has their variables.
printed("\n## Five lines of C++" lines)
string(REPLACE "#include <tk_ops.hpp>" "" lines "${lines}")
file(WRITE ${work}/readme/lines.cpp "#include <vector>\n#include <tk_ops.hpp>\nint main() {
  std::int64_t const m = 2, n = 2, k = 3;
  std::vector<std::uint16_t> a_of(m * k, 0x3f80), b_of(k * n, 0x4000);  // 1 and 2
  std::vector<float> d_of(m * n), workspace_of(1 << 20);
  void *a_data = a_of.data(), *b_data = b_of.data(), *d_data = d_of.data();
  void *workspace = workspace_of.data(), *stream = nullptr;
  ${lines}
  return d_of[3] == 6 && bytes <= workspace_of.size() * sizeof(float) ? 0 : 1;\n}\n")
file(WRITE ${work}/readme/commands "set -e\nPKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig
${CXX} -std=c++20 ${work}/readme/lines.cpp -o ${work}/readme/lines \\
  $(PKG_CONFIG_PATH=$PKG_CONFIG_PATH ${pkg-config} --cflags --libs tk)\n${work}/readme/lines\n")
step(sh ${work}/readme/commands)

check_pkg_config(${prefix} tk)
expect("tk links the shared library" output MATCHES "NEEDED.*libtk_ops.so.0]")
check_pkg_config(${prefix} tk-static)
expect("tk-static links none" NOT output MATCHES "libtk_ops")

# ---- packages
step(${CMAKE_CPACK_COMMAND} --config ${BUILD}/CPackConfig.cmake -B ${work}/packages)
file(GLOB tarball ${work}/packages/tk-ops-${VERSION}-${ARCH}-*.tar.gz)
expect("one tarball, named after version and arch" EXISTS "${tarball}")
file(ARCHIVE_EXTRACT INPUT ${tarball} DESTINATION ${work}/unpacked)
file(GLOB unpacked ${work}/unpacked/tk-ops-*)
foreach(file ${LIBDIR}/libtk_ops.so ${LIBDIR}/libtk_ops.so.0 ${LIBDIR}/libtk_ops.so.${VERSION}
             ${LIBDIR}/libtk_ops.a ${LIBDIR}/cmake/tk/tkConfig.cmake ${LIBDIR}/pkgconfig/tk.pc
             include/tk/ops/tk_ops.h include/tk/ops/tk_ops.hpp include/tk/ops/tk_kokkos.hpp
             include/tk/core/tile.hpp share/doc/tk/LICENSE)
  expect("the tarball lacks ${file}" EXISTS ${unpacked}/${file})
endforeach()
check_pkg_config(${unpacked} tk)

find_program(dpkg_deb dpkg-deb)
if(dpkg_deb)
  string(REPLACE _ - name tk-ops-${ARCH})
  file(GLOB package ${work}/packages/${name}_${VERSION}_*.deb)
  expect("one Debian package, named after version and arch" EXISTS "${package}")
  step(${dpkg_deb} -f ${package} Package Provides)
  expect("the fields of the package" output STREQUAL "Package: ${name}\nProvides: tk-ops\n")
  step(${dpkg_deb} -c ${package})
  expect("the files of the package" output MATCHES " ./usr/${LIBDIR}/libtk_ops.so.0 -> libtk_ops.so.")
endif()
