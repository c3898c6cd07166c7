#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lays out all C files, or those that are named; --check only says which are not.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
if [ "${1:-}" = --check ]; then
    mode=(--dry-run --Werror)
    shift
fi
if [ $# -gt 0 ]; then
    clang-format "${mode[@]}" "$@"
else
    find src include tests examples bench -name '*.[ch]' -print0 | xargs -0 clang-format "${mode[@]}"
fi
