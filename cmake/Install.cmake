# SPDX-License-Identifier: MIT
# Installs the header, the library, and what pkg-config and find_package(eagre) need.
include(CMakePackageConfigHelpers)

set(EAGRE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/eagre")

install(TARGETS eagre EXPORT eagreTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development)
install(FILES abi/include/eagre/eagre.h
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/eagre" COMPONENT development)
install(FILES LICENSE THIRD-PARTY.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

# Relocatable: both files find the prefix from their own place.
file(RELATIVE_PATH EAGRE_PC_PREFIX
     "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" EAGRE_PC_PREFIX "${EAGRE_PC_PREFIX}")
configure_file(abi/eagre.pc.in eagre.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/eagre.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

install(EXPORT eagreTargets NAMESPACE eagre:: DESTINATION "${EAGRE_CMAKE_DIR}" COMPONENT development)
configure_package_config_file(cmake/eagreConfig.cmake.in eagreConfig.cmake
                              INSTALL_DESTINATION "${EAGRE_CMAKE_DIR}")
# Before 1.0 a minor release may break the interface.
write_basic_package_version_file(eagreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/eagreConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/eagreConfigVersion.cmake"
        DESTINATION "${EAGRE_CMAKE_DIR}" COMPONENT development)
