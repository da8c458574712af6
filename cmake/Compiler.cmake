# SPDX-License-Identifier: MIT
# How every C file of the project is compiled: target eagre_flags. What a shared object adds when it is
# linked: EAGRE_SHARED_LINK_OPTIONS.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # gnu11: __int128, statement expressions in a few macros
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

get_property(EAGRE_MULTI_CONFIG GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT EAGRE_MULTI_CONFIG)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
# CMake's Release means -O3, where gcc 12's loop distribution has miscompiled plain loops: -O2 it is.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

add_library(eagre_flags INTERFACE)
target_compile_definitions(eagre_flags INTERFACE _GNU_SOURCE)
target_compile_options(eagre_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wundef -Wpointer-arith -Wcast-qual
  $<$<BOOL:${EAGRE_WERROR}>:-Werror>
  -ffp-contract=off      # the same bits on every machine: no fused multiply-add behind our back
  -fno-math-errno
  -fno-trapping-math     # nobody reads the floating-point flags: a choice may become a mask, which gcc needs for vector code
  -fstack-protector-strong)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  # For the 16-byte compare-and-swap, and for nothing else: kernels for newer CPUs are chosen at run time.
  target_compile_options(eagre_flags INTERFACE -mcx16)
endif()

if(EAGRE_SANITIZE)
  set(EAGRE_SYSTEM_MALLOC ON) # ASan sees nothing inside mimalloc, TSan reports what is not there
  target_compile_options(eagre_flags INTERFACE
    -fsanitize=${EAGRE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(eagre_flags INTERFACE -fsanitize=${EAGRE_SANITIZE})
  if(EAGRE_SANITIZE MATCHES "undefined")
    target_compile_options(eagre_flags INTERFACE -fno-sanitize-recover=undefined)
  endif()
  if(EAGRE_SANITIZE MATCHES "thread")
    target_compile_definitions(eagre_flags INTERFACE EAGRE_TSAN=1)
  endif()
else()
  # _FORTIFY_SOURCE needs an optimising build and gets in the sanitizers' way.
  target_compile_options(eagre_flags INTERFACE
    $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE>
    $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-D_FORTIFY_SOURCE=2>)
endif()

# nodelete: pthread keys of liburcu and mimalloc point into the library's reach until the last thread is
# gone, so a dlclose that really unmapped it would crash. relro and now: no writable jump table.
set(EAGRE_SHARED_LINK_OPTIONS -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now)
if(NOT (EAGRE_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES "Clang"))
  # clang leaves the sanitizer's run-time library to the executable.
  list(APPEND EAGRE_SHARED_LINK_OPTIONS -Wl,--no-undefined)
endif()
