#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every unit test of the optimized build (preset test) under valgrind.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/configure-build.sh test
failed=0 count=0
cd build-test/tests
export HEADSPEC_SOURCE_DIR=$OLDPWD HSPEC_VALGRIND=1
for program in test_*; do
    count=$((count + 1))
    if ! valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
        --show-leak-kinds=definite "./$program" >"valgrind-$program.log" 2>&1; then
        cat "valgrind-$program.log"
        echo "FAILED under valgrind: $program"
        failed=1
    fi
done
echo "valgrind: $count programs"
[ $count -gt 0 ] && [ $failed = 0 ]
