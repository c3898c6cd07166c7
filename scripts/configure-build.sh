#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Configures and builds one preset of CMakePresets.json; shows the output of a step only when it fails.
# usage: configure-build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "failed: $*" >&2
        exit 1
    fi
}
run cmake --preset "$preset"
run cmake --build --preset "$preset" ${1:+--target "$@"}
grep -i 'warning' "$log" || true
