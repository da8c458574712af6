# SPDX-License-Identifier: MIT
# What core/ stands on: target eagre_dependencies (everything but the allocator) and eagre_allocator
# (mimalloc, or nothing). Missing libraries are collected, so that one message names all packages.

find_package(PkgConfig QUIET)
find_package(Threads REQUIRED)
set(EAGRE_MISSING "")

add_library(eagre_dependencies INTERFACE)
target_link_libraries(eagre_dependencies INTERFACE Threads::Threads m)

# eagre_pkg(<prefix> <pkg-config module> <Debian package>)
macro(eagre_pkg prefix module package)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
  endif()
  if(TARGET PkgConfig::${prefix})
    target_link_libraries(eagre_dependencies INTERFACE PkgConfig::${prefix})
  else()
    list(APPEND EAGRE_MISSING ${package})
  endif()
endmacro()

# eagre_config(<CMake package> <target> <Debian package> <target to link it to>)
macro(eagre_config name target package user)
  find_package(${name} CONFIG QUIET)
  if(TARGET ${target})
    target_link_libraries(${user} INTERFACE ${target})
  else()
    list(APPEND EAGRE_MISSING ${package})
  endif()
endmacro()

if(NOT PKG_CONFIG_FOUND)
  list(APPEND EAGRE_MISSING pkg-config)
endif()
eagre_pkg(URCU liburcu-bp liburcu-dev)
eagre_pkg(CK ck libck-dev)
eagre_pkg(UTF8PROC libutf8proc libutf8proc-dev) # its .pc file gives a wrong version: do not compare it
eagre_config(roaring roaring::roaring libroaring-dev eagre_dependencies)

# mimalloc must never be linked into an executable: it would replace that program's malloc altogether.
# Shared objects may have it; the tests, which are executables, use eagre_core_test without it.
add_library(eagre_allocator INTERFACE)
if(EAGRE_SYSTEM_MALLOC)
  target_compile_definitions(eagre_allocator INTERFACE EAGRE_SYSTEM_MALLOC=1)
else()
  eagre_config(mimalloc mimalloc libmimalloc-dev eagre_allocator)
endif()

if(EAGRE_TESTS)
  find_package(cmocka CONFIG QUIET)
  if(NOT cmocka_FOUND)
    list(APPEND EAGRE_MISSING libcmocka-dev)
  endif()
endif()

if(EAGRE_MISSING)
  list(JOIN EAGRE_MISSING " " EAGRE_MISSING)
  message(FATAL_ERROR "Missing libraries. On Debian or Ubuntu:\n    apt-get install ${EAGRE_MISSING}\n"
                      "or run `make setup`, which installs all that the build and the tests need.")
endif()
