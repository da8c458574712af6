#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Python tests over an engine built with ASan and UBSan: the differential tests walk through far more
# of it than the unit tests do. Arguments go to pytest.
#
# Python itself is not instrumented, so the run-time library is preloaded, and leaks (which are mostly the
# interpreter's) are not looked for; the C tests do that. The system's malloc is used: ASan sees nothing
# inside mimalloc. The editable install in .venv is passed by, see the end.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/python-asan
python="$PWD/.venv/bin/python"

cmake -S . -B "$build" -G Ninja -DSKBUILD=2 -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DEAGRE_SANITIZE=address,undefined -DEAGRE_WERROR=ON \
    -DPython_EXECUTABLE="$python" -DPython_FIND_VIRTUALENV=ONLY >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
cmake --build "$build"

rm -rf "$build/site"
mkdir -p "$build/site"
cp -r bindings/python/eagre "$build/site/eagre"
rm -f "$build"/site/eagre/_ffi*.so
cp "$build"/_ffi*.so "$build/site/eagre/"

env LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
    ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1:abort_on_error=1:allocator_may_return_null=1 \
    UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc PYTHONPATH="$build/site" EAGRE_SANITIZED=1 \
    "$python" - "$@" <<'PY'
import sys

sys.meta_path = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]
import eagre

assert "python-asan" in eagre.__file__, eagre.__file__
import pytest

# A report is written to the file descriptor of standard error, which pytest must leave alone.
sys.exit(pytest.main(["--capture=sys", "-p", "no:cacheprovider", *sys.argv[1:]]))
PY
