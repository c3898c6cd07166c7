#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and tests the project and ends with one line, "N passed, N failed".
#
#   (nothing)  the optimized build with all tests; unit and command-line tests under the address and undefined behaviour
#              sanitizers; the library alone (no files, no threads) with its unit tests; one thread
#   full       all that, the law tests with more seeds and sizes, then Clang, its sanitizers, the thread sanitizer,
#              valgrind, the shared library, and lint
#
# Jobs run side by side on all cores unless JOBS says otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-}
case $mode in
'') scripts/deps.sh build plot test ;;
full) scripts/deps.sh build plot test full ;;
*)
    echo "usage: test.sh [full]" >&2
    exit 2
    ;;
esac

jobs=${JOBS:-$(nproc)}
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

headline() {
    printf '\n== %s (%d s)\n' "$*" "$SECONDS"
}

# A step that is no ctest run counts as one test.
step() {
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $*"
        failed=$((failed + 1))
    fi
}

# tests PRESET [ctest options]: builds the preset and adds its tests to the sum.
tests() {
    local preset=$1 summary
    shift
    if ! scripts/configure-build.sh "$preset"; then
        failed=$((failed + 1))
        return
    fi
    ctest --preset "$preset" --parallel "$jobs" "$@" 2>&1 | tee "$log" || true
    summary=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" || true)
    if [[ $summary =~ ,\ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]; then
        failed=$((failed + BASH_REMATCH[1]))
        passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1]))
    else
        echo "FAILED: ctest with preset $preset did not finish"
        failed=$((failed + 1))
    fi
}

if [ "$mode" = full ]; then
    export HSPEC_LAW_FULL=1
fi
headline "optimized build, all tests"
tests test
headline "address and undefined behaviour sanitizers"
# Long tests of numbers run under sanitizers in the full mode; their code runs here, too, under shorter ones.
long=(--exclude-regex '^unit/test_(reduced|corners|stability|vecmath|bartlett|bayes|random_law)$')
[ "$mode" = full ] && long=()
tests asan --label-regex '^(unit|cli)$' "${long[@]}"
headline "the library alone"
tests embedded --label-regex '^(unit|house)$'
headline "one thread: compiles"
step scripts/configure-build.sh no-openmp

if [ "$mode" = full ]; then
    headline "one thread: tests"
    tests no-openmp --label-regex '^(unit|cli|python|house)$'
    headline "Clang"
    tests clang
    headline "Clang, address and undefined behaviour sanitizers"
    tests clang-asan --label-regex '^(unit|cli)$'
    headline "thread sanitizer"
    tests tsan --label-regex '^(unit|cli)$'
    headline "shared library"
    tests shared --label-regex '^(unit|cli|example|house)$'
    headline "assertions"
    tests debug --label-regex '^(unit|cli)$'
    headline "valgrind"
    step scripts/valgrind.sh
    headline "lint"
    step scripts/lint.sh
fi

printf '\nin %d s:\n%d passed, %d failed\n' "$SECONDS" "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
