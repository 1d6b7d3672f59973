# SPDX-License-Identifier: MIT
# cpack, in the build folder: what cmake --install installs, as a Debian package and as a tarball, for
# the one arch of the build:
#   tk-ops-sm-90a_0.1.0_amd64.deb    tk-ops-0.1.0-sm_90a-x86_64.tar.gz
# The tarball may be unpacked anywhere. Packages of different archs hold the same files, so that only
# one of them can be installed. (Debian's own package tk is another thing: Tcl's toolkit.)
# A package of the host for other machines is built with -DTK_HOST_MARCH=x86-64-v3, or x86-64 for any:
# the default is this machine's CPU, and on one that lacks something every call is refused with
# TK_WRONG_CHIP.
include_guard()
set(tk_build ${TK_TARGET})
if(TK_EMULATE)
  string(APPEND tk_build -emulated)
endif()
string(REPLACE _ - tk_debian_name tk-ops-${tk_build})

set(CPACK_GENERATOR TGZ)
find_program(TK_DPKG_DEB dpkg-deb)
find_program(TK_DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(TK_DPKG_DEB TK_DPKG_SHLIBDEPS)
if(TK_DPKG_DEB)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_NAME tk-ops)
set(CPACK_PACKAGE_VENDOR "the TK authors")
set(CPACK_PACKAGE_CONTACT "the TK authors <tk@tk.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}, for ${tk_build}")
set(CPACK_PACKAGE_DESCRIPTION "libtk_ops, shared and static, with the headers of its C and C++
interface, the tile library, and files for CMake and pkg-config.")
string(REPLACE "\n" " " CPACK_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME tk-ops-${PROJECT_VERSION}-${tk_build}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_THREADS 1)

set(CPACK_DEBIAN_PACKAGE_NAME ${tk_debian_name})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libdlpack-dev)
set(CPACK_DEBIAN_PACKAGE_PROVIDES tk-ops)
set(CPACK_DEBIAN_PACKAGE_CONFLICTS tk-ops)
set(CPACK_DEBIAN_PACKAGE_REPLACES tk-ops)
if(TK_DPKG_SHLIBDEPS AND NOT TK_ROCM)  # ROCm's libraries may belong to no package
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
