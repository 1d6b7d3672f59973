# SPDX-License-Identifier: MIT
# cmake --install: headers in include/tk, libtk_ops shared and static, the CMake package, and for
# pkg-config tk (shared; with --static whatever static linking needs) and tk-static (the archive by
# its name). All paths are relative to the prefix, so that it can be moved. With --component core,
# what tk::core needs: headers and the CMake package, so that nothing need be built.
include_guard()
include(CMakePackageConfigHelpers)
set(tk_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tk)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME core)

foreach(folder ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/backends ${PROJECT_SOURCE_DIR}/ops
               ${tk_generated}/ops)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tk
          FILES_MATCHING PATTERN *.hpp PATTERN *.h)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS tk_core EXPORT tk_core)
install(EXPORT tk_core NAMESPACE tk:: FILE tkCoreTargets.cmake DESTINATION ${tk_package_dir})
install(TARGETS tk_ops tk_ops_static EXPORT tk_ops COMPONENT ops)
install(EXPORT tk_ops NAMESPACE tk:: FILE tkOpsTargets.cmake DESTINATION ${tk_package_dir}
        COMPONENT ops)
if(TK_KOKKOS_PREFIX)  # Kokkos was built for TK, so TK brings it along
  install(DIRECTORY ${TK_KOKKOS_PREFIX}/include ${TK_KOKKOS_PREFIX}/lib
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/tk/kokkos)
endif()

set(tk_hip_flags ${TK_HIP_FLAGS})  # for the package's tk_device_sources()
list(FILTER tk_hip_flags EXCLUDE REGEX "^-Rpass")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tkConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/tkConfig.cmake
                              INSTALL_DESTINATION ${tk_package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tkConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tkConfig.cmake ${PROJECT_BINARY_DIR}/tkConfigVersion.cmake
        DESTINATION ${tk_package_dir})
file(RELATIVE_PATH tk_pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)

# What a program needs beside libtk_ops.a: what it is linked with by a C compiler.
set(tk_needs "")
if(TK_TARGET STREQUAL host)
  if(TK_KOKKOS_PREFIX)
    string(APPEND tk_needs " -L\${libdir}/tk/kokkos/lib")
  else()
    string(APPEND tk_needs " -L${Kokkos_DIR}/../..")
  endif()
  string(APPEND tk_needs " -lkokkoscore -Wl,-z,nodelete")
  if(OPENMP IN_LIST Kokkos_DEVICES)
    string(APPEND tk_needs " -fopenmp")
  endif()
elseif(TK_DEVICE STREQUAL CUDA)
  list(GET CUDAToolkit_LIBRARY_DIR 0 tk_cuda_dir)
  string(APPEND tk_needs " -L${tk_cuda_dir} -lcudart_static -lrt")
elseif(TK_DEVICE STREQUAL HIP)
  cmake_path(GET TK_HIP_LIBRARY PARENT_PATH tk_hip_dir)
  string(APPEND tk_needs " -L${tk_hip_dir} -lamdhip64")
endif()
string(APPEND tk_needs " -lstdc++ -lm -ldl -lpthread")

function(tk_pkg_config name libs libs_private cflags description)
  set(tk_pc_name ${name})
  set(tk_pc_libs "${libs}")
  set(tk_pc_libs_private "${libs_private}")
  set(tk_pc_cflags "${cflags}")
  set(tk_pc_description ${description})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tk.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT ops)
endfunction()
set(tk_dlpack "")
if(NOT TK_DLPACK_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
  set(tk_dlpack " -I${TK_DLPACK_INCLUDE}")
endif()
# A program finds the library where it was linked; pkg-config --define-variable=rpath= leaves it out.
tk_pkg_config(tk "-L\${libdir} \${rpath} -ltk_ops" "${tk_needs}" "${tk_dlpack}" ${TK_TARGET})
tk_pkg_config(tk-static "\${libdir}/libtk_ops.a -L\${libdir}${tk_needs}" ""
              " -DTK_OPS_STATIC=1${tk_dlpack}" "${TK_TARGET}, static")
