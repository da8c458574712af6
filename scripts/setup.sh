#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what the build and the tests need and this machine lacks: Debian packages, and a virtual
# environment in .venv. Run it as often as you like: it does nothing when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
changed=no

# ---- Debian packages. Tools are looked for by their command (one from elsewhere will do), libraries by package.

missing=()
tool() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
package() {
    [[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" == installed ]] || missing+=("$1")
}

tool gcc gcc
tool g++ g++                       # the public header is tested as C++ too
tool make make
tool git git
tool cmake cmake
tool ninja ninja-build
tool pkg-config pkg-config
tool clang clang
tool clang-format clang-format
tool abidiff abigail-tools
tool nm binutils

if command -v apt-get >/dev/null 2>&1; then
    for name in libc6-dev liburcu-dev libck-dev libroaring-dev libmimalloc-dev libutf8proc-dev libcmocka-dev; do
        package "$name"
    done
    # clang's sanitizers come in a package of their own, named after its version.
    clang_version=14
    if command -v clang >/dev/null 2>&1; then
        clang_version="$(clang -dumpversion | cut -d. -f1)"
    fi
    if ! { command -v clang >/dev/null 2>&1 &&
           compgen -G "$(clang -print-resource-dir)/lib/linux/libclang_rt.asan-*.a" >/dev/null; }; then
        package "libclang-rt-${clang_version}-dev"
    fi
fi

# A Python that can make a virtual environment and compile an extension.
python_fits() {
    "$1" - <<'PY' >/dev/null 2>&1
import ensurepip, os, sys, sysconfig, venv
assert sys.version_info >= (3, 10)
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
PY
}
python=
find_python() {
    local candidate
    for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
        if command -v "$candidate" >/dev/null 2>&1 && python_fits "$candidate"; then
            python="$candidate"
            return 0
        fi
    done
    return 1
}
find_python || missing+=(python3 python3-dev python3-venv)

if ((${#missing[@]})); then
    sudo=
    if [[ "$(id -u)" != 0 ]]; then
        sudo="$(command -v sudo || true)"
    fi
    if ! command -v apt-get >/dev/null 2>&1 || { [[ "$(id -u)" != 0 ]] && [[ -z "$sudo" ]]; }; then
        say "missing, and I can not install it here: ${missing[*]}" >&2
        exit 1
    fi
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    $sudo apt-get update -qq
    $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    changed=yes
    find_python || { say "found no Python 3.10 or later with venv and headers" >&2; exit 1; }
fi

# ---- The virtual environment

if [[ ! -x .venv/bin/python ]] || ! .venv/bin/python -c '' 2>/dev/null || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    say "making .venv with $("$python" -c 'import sys; print(sys.executable, sys.version.split()[0])')"
    rm -rf .venv
    "$python" -m venv .venv
    changed=yes
fi
wanted="$(.venv/bin/python scripts/requirements.py)"
if [[ "$(cat .venv/requirements.installed 2>/dev/null || true)" != "$wanted" ]]; then
    say "installing into .venv:" $wanted
    .venv/bin/python -m pip install --quiet --disable-pip-version-check $wanted
    printf '%s\n' "$wanted" >.venv/requirements.installed
    changed=yes
fi

if [[ "$changed" == no ]]; then
    say "everything is there, nothing to do"
else
    say "done"
fi
