# SPDX-License-Identifier: MIT
# cmake --install: headers in include/tk, libtk_ops shared and static, the CMake package and a .pc
# file. All paths are relative to the prefix, so that it can be moved.
include_guard()
include(CMakePackageConfigHelpers)
set(tk_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tk)

foreach(folder core backends ops)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tk
          FILES_MATCHING PATTERN *.hpp PATTERN *.h)
endforeach()
install(TARGETS tk_ops tk_ops_static ${tk_installed} EXPORT tk)
install(EXPORT tk NAMESPACE tk:: FILE tkTargets.cmake DESTINATION ${tk_package_dir})
if(TK_KOKKOS_PREFIX)  # Kokkos was built for TK, so TK brings it along
  install(DIRECTORY ${TK_KOKKOS_PREFIX}/include ${TK_KOKKOS_PREFIX}/lib
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/tk/kokkos)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tkConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/tkConfig.cmake
                              INSTALL_DESTINATION ${tk_package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tkConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tkConfig.cmake ${PROJECT_BINARY_DIR}/tkConfigVersion.cmake
        DESTINATION ${tk_package_dir})
file(RELATIVE_PATH tk_pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tk.pc.in ${PROJECT_BINARY_DIR}/tk.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tk.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
