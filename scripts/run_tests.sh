#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# All tests of the project, each runner's own closing line in sight:
#
#   scripts/run_tests.sh [seconds a stress test may run, 10 if not given]
#
# Sanitizers slow a program 2 to 25 times; what they find they find early, so they get half the time.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${1:-10}"
began=$SECONDS
times=()

step() { # step <title> <command...>
    local title="$1" start=$SECONDS
    shift
    printf '\n==== %s\n' "$title"
    "$@"
    times+=("$(printf '%5d s  %s' $((SECONDS - start)) "$title")")
}

# TSan's memory map leaves room for 28 random bits in an address; where the kernel takes more, it can start
# only without randomisation.
plain() {
    if [[ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -gt 28 ]] && setarch -R true 2>/dev/null; then
        setarch -R "$@"
    else
        "$@"
    fi
}

short=$((seconds > 2 ? seconds / 2 : 1))

step "layers, licences, ORDER comments" make checks
step "gcc -O2: unit, stress, header" make check-release TEST_SECONDS="$seconds"
step "exported symbols, ABI" scripts/check_abi.sh build/release
step "clang -O2: build without a warning" make release-clang
step "ctest of the clang build" env EAGRE_TEST_SECONDS=1 ctest --preset release-clang -L 'unit|abi' --timeout 300
step "ASan + UBSan + LSan" make check-dev TEST_SECONDS="$short"
# clang's UBSan knows faults that gcc's lets pass: arithmetic on null pointers.
step "clang, ASan + UBSan" make dev-clang
step "ctest of that build" env EAGRE_TEST_SECONDS=1 ctest --preset dev-clang -L 'unit|abi' --timeout 300
step "TSan" plain make check-tsan TEST_SECONDS="$short"
step "Python" make test-python TEST_SECONDS="$seconds"
step "Python over ASan + UBSan" make test-python-asan TEST_SECONDS="$short"
step "bugs planted on purpose" make planted
step "fuzzers" make fuzz TEST_SECONDS="$seconds"
step "README" .venv/bin/python scripts/check_readme.py

printf '\n==== times\n'
printf '%s\n' "${times[@]}"
printf 'all tests passed in %d s\n' $((SECONDS - began))
