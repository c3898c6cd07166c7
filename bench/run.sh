#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the benchmarks and runs them beside their peers, one core each. usage: run.sh [quick] [NAME]
# NAME: only groups whose name contains it (normals, explicit, reduced, reduced-any-D ...); nodes: errors, not times.
set -euo pipefail
cd "$(dirname "$0")/.."
options=()
for argument in "$@"; do
    case $argument in
    quick) options+=(--quick) ;;
    *) options+=(--only "$argument") ;;
    esac
done
scripts/deps.sh build bench
scripts/configure-build.sh release bench
if [ "${*: -1}" = nodes ]; then
    exec build/bench/nodes
fi
programs=(build/bench/bench_*)
for peer in bench/peers/*.c; do
    programs+=("build/bench/$(basename "$peer" .c)")
done
for peer in bench/peers/*_*.py; do
    programs+=("$peer")
done
# One thread each; and the peers choose the kernels of their linear algebra by themselves.
exec env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 \
    "${HEADSPEC_PYTHON:-/usr/bin/python3}" bench/pairs.py "${options[@]}" "${programs[@]}"
