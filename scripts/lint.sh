#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Layout, static analysis, and the rules on sources. usage: lint.sh [FILE.c...] (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/deps.sh build test full
failed=0
scripts/check-sources.sh || failed=1
scripts/format.sh --check "$@" || failed=1

# clang-tidy reads how each file is compiled; Clang's own build gives it flags that it knows. One file a run: in a run
# over several files its check of va_list complains without a cause.
cmake --preset clang >/dev/null
files=("$@")
if [ ${#files[@]} -eq 0 ]; then
    mapfile -t files < <(find src tests/unit tests/law examples bench -name '*.c' | sort)
fi
printf '%s\0' "${files[@]}" | grep -z '\.c$' |
    xargs -0 -P "${JOBS:-$(nproc)}" -n 1 clang-tidy -p build-clang --quiet 2> >(grep -vE '^[0-9]+ warnings? generated|^Suppressed|^Use -header-filter' >&2) ||
    failed=1
[ $failed = 0 ] && echo "lint: nothing to say"
exit $failed
