#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the symbols of the library (docs/naming.md):
#   1. every exported symbol is called hspec_<module>..., where module is a file of src/ (train.c: training);
#   2. exactly the functions marked HSPEC_API in the header are exported;
#   3. every other symbol that files share starts with hspec_ too;
#   4. nothing in the library prints, exits, reads the environment or the clock, or draws from the C library's generator.
# usage: check-names.sh SHARED_LIBRARY STATIC_LIBRARY with-io|without-io
set -euo pipefail
shared=$1 static=$2 io=$3
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
    echo "$*"
    failed=1
}

nm -D --defined-only "$shared" | awk '$2 != "A" {print $3}' | grep -vE '^(_init|_fini|__bss_start|_edata|_end)$' |
    sort -u >"$work/exported" || true
[ -s "$work/exported" ] || complain "$shared exports nothing"

find src -name '*.c' | sed 's|.*/||; s|\.c$||; s|^train$|training|' | sort -u >"$work/modules"
while read -r symbol; do
    name=${symbol#hspec_}
    found=0
    if [ "$name" != "$symbol" ]; then
        while read -r module; do
            if [ "$name" = "$module" ] || [ "${name#"$module"_}" != "$name" ]; then
                found=1
                break
            fi
        done <"$work/modules"
    fi
    [ $found = 1 ] || complain "exported: $symbol: the part after hspec_ must begin with the name of a file in src/"
done <"$work/exported"

# The part on archives is built with HEADSPEC_IO only.
left_out=$([ "$io" = with-io ] || echo archive.h)
find include -name '*.h' ! -name "$left_out" -exec cat {} + | tr '\n' ' ' | grep -oE 'HSPEC_API [^;({]*\(' | grep -oE 'hspec_[a-z0-9_]+\($' | tr -d '(' | sort -u >"$work/declared"
while read -r symbol; do
    complain "declared HSPEC_API but not exported: $symbol"
done < <(comm -13 "$work/exported" "$work/declared")
while read -r symbol; do
    complain "exported but not declared HSPEC_API in include/headspec.h or its parts: $symbol"
done < <(comm -23 "$work/exported" "$work/declared")

while read -r symbol; do
    complain "shared between files: $symbol: must begin with hspec_"
done < <(nm --defined-only "$static" 2>/dev/null | awk '$2 ~ /^[A-Z]$/ {print $3}' | grep -v '^hspec_' | sort -u)

banned='_?exit|_Exit|quick_exit|abort|getenv|secure_getenv|time|clock|clock_gettime|gettimeofday|rand|srand|random|drand48'
banned+='|(__)?v?printf(_chk)?|puts|putchar|perror|stdout|stderr|stdin'
while read -r symbol; do
    complain "the library must not use $symbol"
done < <(nm -u "$static" 2>/dev/null | awk '$1 == "U" {print $2}' | grep -xE "$banned" | sort -u)

echo "$(wc -l <"$work/exported") exported symbols, $(wc -l <"$work/declared") declared functions"
exit $failed
