#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the files of the repository:
#   1. a floor of src/ includes only from itself and from the floors below it; the lowest four include nothing but the
#      C standard library and OpenMP;
#   2. no C file is longer than 600 lines, and each begins with its licence.
set -euo pipefail
cd "$(dirname "$0")/.."
floors=(core model attention sgd theory study io cli)
standard='assert|complex|ctype|errno|float|inttypes|limits|math|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|omp'
failed=0
complain() {
    echo "$*"
    failed=1
}
declare -A rank
for i in "${!floors[@]}"; do
    rank[${floors[$i]}]=$i
done

count=0
while IFS= read -r file; do
    count=$((count + 1))
    floor=${file#src/}
    floor=${floor%%/*}
    if [ -z "${rank[$floor]+x}" ]; then
        complain "$file: $floor is not a floor (${floors[*]})"
        continue
    fi
    while IFS=: read -r line include; do
        target=$(sed -E 's/^[^"<]*["<]([^">]+)[">].*/\1/' <<<"$include")
        case $include in
        *\"*)
            other=${target%%/*}
            if [ "$target" = headspec.h ]; then
                continue
            elif [ ! -f "src/$target" ] || [ -z "${rank[$other]+x}" ]; then
                complain "$file:$line: \"$target\" is not written from src/"
            elif [ "${rank[$other]}" -gt "${rank[$floor]}" ]; then
                complain "$file:$line: $floor must not include from $other, which stands above it"
            fi
            ;;
        *)
            if [ "${rank[$floor]}" -le 3 ] && ! grep -qxE "($standard)\.h" <<<"$target"; then
                complain "$file:$line: <$target>: $floor must need nothing beyond the C standard library"
            fi
            ;;
        esac
    done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$file")
done < <(find src -name '*.[ch]' | sort)

while IFS= read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 600 ] || complain "$file: $lines lines, at most 600 are allowed"
    grep -q 'SPDX-License-Identifier: MIT' <(head -n 2 "$file") || complain "$file: the SPDX line is missing"
done < <(find src include tests examples bench -name '*.[ch]' | sort)

echo "$count source files"
exit $failed
