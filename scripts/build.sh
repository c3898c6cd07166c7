#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the program: build/headspec.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/deps.sh build
scripts/configure-build.sh release
echo "build/headspec is ready."
