#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What libeagre.so promises its hosts:
#
#   scripts/check_abi.sh [--update] [build folder, build/release if not given]
#
#   1. it exports exactly the functions in abi/symbols.txt (--update writes that list anew)
#   2. SONAME, nodelete, full RELRO, no executable stack
#   3. against abi/baseline/*.xml, where there is one, nothing was taken away (--update writes none: a
#      baseline is made at a release, see CONTRIBUTING.md)
#   4. every function of the header says what it does, who owns what, which threads may call it, how it
#      fails and since when (that it compiles as C90 and as C++ is a test of tests/abi)
set -euo pipefail
cd "$(dirname "$0")/.."

update=no
if [[ "${1:-}" == --update ]]; then
    update=yes
    shift
fi
build="${1:-build/release}"
library="$build/libeagre.so"
header=abi/include/eagre/eagre.h
faults=0
fault() { printf 'check_abi: %s\n' "$*"; faults=$((faults + 1)); }

[[ -f "$library" ]] || { echo "check_abi: $library is not built (make release)" >&2; exit 1; }

# ---- 1. symbols

exported="$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u)"
if [[ "$update" == yes ]]; then
    printf '%s\n' "$exported" >abi/symbols.txt
    echo "check_abi: wrote abi/symbols.txt ($(wc -l <abi/symbols.txt) functions)"
elif [[ ! -f abi/symbols.txt ]]; then
    fault "no abi/symbols.txt: write it with scripts/check_abi.sh --update"
elif ! diff -u abi/symbols.txt <(printf '%s\n' "$exported"); then
    fault "exports are not those of abi/symbols.txt (--update, when that was meant)"
fi
if grep -vE '^eagre_[a-z]' <<<"$exported"; then
    fault "exported, but not named eagre_..."
fi

# ---- 2. how it is linked

dynamic="$(readelf -dW "$library")"
grep -q 'SONAME.*\[libeagre\.so\.0\]' <<<"$dynamic" || fault "SONAME is not libeagre.so.0"
grep -q 'NODELETE' <<<"$dynamic" || fault "not linked with -z nodelete: dlclose would crash"
grep -q 'BIND_NOW\|FLAGS_1.*NOW' <<<"$dynamic" || fault "not linked with -z now"
segments="$(readelf -lW "$library")"
grep -q GNU_RELRO <<<"$segments" || fault "not linked with -z relro"
grep 'GNU_STACK' <<<"$segments" | grep -q 'RWE' && fault "wants an executable stack"

# ---- 3. the baseline

shopt -s nullglob
for baseline in abi/baseline/*.xml; do
    status=0
    # No --headers-dir1 beside an XML baseline: abidiff 2.2 aborts.
    abidiff --headers-dir2 abi/include --drop-private-types --suppressions abi/eagre.abignore \
        "$baseline" "$library" || status=$?
    if ((status & 3)); then
        fault "abidiff itself failed on $baseline ($status)"
    elif ((status & 8)); then
        fault "an incompatible change since $baseline"
    elif ((status & 4)); then
        fault "the interface changed, compatibly, since $baseline: renew it in the same commit"
    fi
done

# ---- 4. the header

python=.venv/bin/python
[[ -x "$python" ]] || python=python3
"$python" scripts/check_header.py "$header" abi/symbols.txt || faults=$((faults + 1))

if ((faults)); then
    echo "check_abi: $faults faults"
    exit 1
fi
echo "check_abi: $(wc -l <<<"$exported") functions, no faults"
