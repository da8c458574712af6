#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds every tests/fuzz/fuzz_*.c with clang's libFuzzer, ASan and UBSan, and runs each for a while:
#
#   scripts/fuzz.sh [seconds for each, 60 if not given] [fuzzer ...]
#
# EAGRE_TEST_SEED=n makes a run like the last one. Inputs to begin with are in tests/fuzz/corpus_<name>; what is found goes to
# build/fuzz/corpus_<name>, a crash to build/fuzz/<name>-crash-*.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${1:-60}"
shift || true
out=build/fuzz
mkdir -p "$out"
flags=(-std=gnu11 -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
       -D_GNU_SOURCE -Icore -Iabi/include -Itests/support)

# The engine as the tests have it, with its coverage counted.
cmake --preset dev-clang -B "$out/engine" -DCMAKE_C_FLAGS=-fsanitize=fuzzer-no-link >"$out/engine.log" 2>&1 &&
    cmake --build "$out/engine" --target eagre_core_test --parallel "$(nproc)" >>"$out/engine.log" 2>&1 ||
    { tail -40 "$out/engine.log" >&2; exit 1; }

fuzz() { # fuzz <name>
    local name="$1" binary="$out/fuzz_$1" dictionary=()
    clang "${flags[@]}" "tests/fuzz/fuzz_$name.c" tests/support/*.c "$out/engine/tests/libeagre_core_test.a" \
        -lurcu-bp -lurcu-common -lck -lroaring -lm -o "$binary"
    mkdir -p "$out/corpus_$name"
    [[ -f "tests/fuzz/$name.dict" ]] && dictionary=("-dict=tests/fuzz/$name.dict")
    echo "==== fuzz_$name, $seconds s"
    # The background frees when it likes, which looks like a leak after each input: leaks are looked for at the end. A small quarantine keeps memory near.
    ASAN_OPTIONS=quarantine_size_mb=8 "$binary" "${dictionary[@]}" -detect_leaks=0 -max_len=4096 -timeout=20 -rss_limit_mb=4096 \
        -seed="${EAGRE_TEST_SEED:-0}" -max_total_time="$seconds" -print_final_stats=1 \
        -artifact_prefix="$out/$name-" "$out/corpus_$name" $(ls -d "tests/fuzz/corpus_$name" 2>/dev/null) >"$out/$name.log" 2>&1 ||
        { tail -60 "$out/$name.log" >&2; exit 1; }
    grep -E 'stat::number_of_executed_units|stat::new_units_added|cov:' "$out/$name.log" | tail -3
}

names=("$@")
if ((${#names[@]} == 0)); then
    for source in tests/fuzz/fuzz_*.c; do
        name="${source##*/fuzz_}"
        names+=("${name%.c}")
    done
fi
for name in "${names[@]}"; do
    fuzz "$name"
done
