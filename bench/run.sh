#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs all benchmarks and their peers on one core and prints costs and ratios. usage: run.sh [quick]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/deps.sh build
scripts/configure-build.sh release bench
python=${HEADSPEC_PYTHON:-/usr/bin/python3}
results=$(mktemp)
trap 'rm -f "$results"' EXIT
# One thread each; and the peers choose the kernels of their linear algebra by themselves.
run=(env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1)

failed=0
for program in build/bench/bench_*; do
    [ -x "$program" ] || continue
    echo "== $(basename "$program")"
    "${run[@]}" "$program" "$@" | tee -a "$results" || failed=1
done
for peer in bench/peers/*.py; do
    [ -e "$peer" ] || continue
    name=$(basename "$peer" .py)
    # A peer names what it needs in a line "# needs: module module".
    missing=""
    for module in $(sed -n 's/^# needs: *//p' "$peer"); do
        "$python" -c "import $module" 2>/dev/null || missing+=" $module"
    done
    if [ -n "$missing" ]; then
        echo "== $name: not run,$missing cannot be imported by $python (Debian: apt-get install python3-numpy python3-torch)"
        continue
    fi
    echo "== $name"
    "${run[@]}" "$python" "$peer" "$@" | tee -a "$results" || failed=1
done

echo
echo "cost, and how many times that of headspec"
awk '$1 == "RESULT" && NF == 5 {
    if (!($2 in seen)) { order[++n] = $2; seen[$2] = 1 }
    rows[$2] = rows[$2] "\n" $3 " " $4 " " $5
    if ($3 == "headspec") own[$2] = $4
}
END {
    if (n == 0) { print "no results"; exit 1 }
    for (i = 1; i <= n; i++) {
        print "\n" order[i]
        count = split(substr(rows[order[i]], 2), lines, "\n")
        for (j = 1; j <= count; j++) {
            split(lines[j], f, " ")
            ratio = (order[i] in own && own[order[i]] > 0) ? sprintf("%8.2f x", f[2] / own[order[i]]) : ""
            printf "    %-24s %12.4g %-16s %s\n", f[1], f[2], f[3], ratio
        }
    }
}' "$results" || failed=1
exit $failed
