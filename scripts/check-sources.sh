#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the files of the repository:
#   1. a floor of src/ includes only from itself and from the floors below it; the lowest four include nothing but the
#      C standard library and OpenMP;
#   2. no C file is longer than 600 lines, and each begins with its licence.
set -euo pipefail
cd "$(dirname "$0")/.."
floors='core model attention sgd theory study io cli'
standard='assert complex ctype errno float inttypes limits math stdalign stdarg stdatomic stdbool stddef stdint stdio'
standard+=' stdlib string omp'
failed=0

mapfile -t sources < <(find src -name '*.[ch]' | sort)
mapfile -t others < <(find include tests examples bench -name '*.[ch]' | sort)

awk -v floors="$floors" -v standard="$standard" -v files="${sources[*]}" '
BEGIN {
    n = split(floors, name, " "); for (i = 1; i <= n; i++) rank[name[i]] = i
    n = split(standard, name, " "); for (i = 1; i <= n; i++) is_standard[name[i] ".h"] = 1
    n = split(files, name, " "); for (i = 1; i <= n; i++) exists[name[i]] = 1
}
function complain(text) { print FILENAME ":" FNR ": " text; failed = 1 }
FNR == 1 {
    split(FILENAME, part, "/"); floor = part[2]
    if (!(floor in rank)) complain(floor " is not a floor (" floors ")")
}
/^[ \t]*#[ \t]*include/ {
    if (match($0, /"[^"]+"/)) {
        target = substr($0, RSTART + 1, RLENGTH - 2)
        split(target, part, "/")
        if (target == "headspec.h") next
        if (!(("src/" target) in exists)) complain("\"" target "\" is not written from src/")
        else if (rank[part[1]] > rank[floor]) complain(floor " must not include from " part[1] ", which stands above it")
    } else if (match($0, /<[^>]+>/)) {
        target = substr($0, RSTART + 1, RLENGTH - 2)
        if (rank[floor] <= 4 && !(target in is_standard))
            complain("<" target ">: " floor " must need nothing beyond the C standard library")
    } else {
        complain("an include without a name")
    }
}
END { exit failed }' "${sources[@]}" || failed=1

awk '
function finish() {
    if (file != "" && lines > 600) { print file ": " lines " lines, at most 600 are allowed"; failed = 1 }
    if (file != "" && !licence) { print file ": the SPDX line is missing"; failed = 1 }
}
FNR == 1 { finish(); file = FILENAME; licence = 0 }
FNR <= 2 && /SPDX-License-Identifier: MIT/ { licence = 1 }
{ lines = FNR }
END { finish(); exit failed }' "${sources[@]}" "${others[@]}" || failed=1

echo "$((${#sources[@]} + ${#others[@]})) files"
exit $failed
