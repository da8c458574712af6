# SPDX-License-Identifier: MIT
# The Python extension eagre._ffi: core and ABI are linked into it as objects, so a wheel needs no
# libeagre.so. Only scikit-build-core comes here (it sets SKBUILD, SKBUILD_SABI_COMPONENT and
# SKBUILD_SABI_VERSION); the module works on every CPython from the version in pyproject.toml on.
find_package(Python COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT} REQUIRED)

set(EAGRE_FFI "${CMAKE_CURRENT_SOURCE_DIR}/bindings/python/eagre")
if(SKBUILD_SABI_VERSION)
  python_add_library(_ffi MODULE USE_SABI ${SKBUILD_SABI_VERSION} WITH_SOABI "${EAGRE_FFI}/_ffi.c")
else()
  python_add_library(_ffi MODULE WITH_SOABI "${EAGRE_FFI}/_ffi.c")
  target_compile_definitions(_ffi PRIVATE _CFFI_NO_LIMITED_API)
endif()

target_sources(_ffi PRIVATE "$<TARGET_OBJECTS:eagre_core>" "$<TARGET_OBJECTS:eagre_abi>")
target_include_directories(_ffi PRIVATE abi/include)
# Generated code is not ours to warn about: none of eagre_flags' warnings, but its linking.
target_link_libraries(_ffi PRIVATE eagre_dependencies eagre_allocator)
target_link_options(_ffi PRIVATE
  "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/python.map"
  -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now)
install(TARGETS _ffi LIBRARY DESTINATION eagre COMPONENT python)
