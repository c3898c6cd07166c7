#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs a build folder into a new prefix and builds a program against it, with pkg-config and with CMake.
# usage: run.sh BUILD COMPILER WITH_PROGRAM(ON|OFF)
set -euo pipefail
build=$1 compiler=$2 with_program=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/log"
mv "$work/first" "$work/prefix" # the installation may be moved
libdir=$(dirname "$(find "$work/prefix" -name headspec.pc)")

echo "pkg-config:"
export PKG_CONFIG_PATH=$libdir
flags=$(pkg-config --cflags --libs headspec)
# shellcheck disable=SC2086 # several words on purpose
"$compiler" -std=c17 -Wall -Wextra -Werror "$here/consumer.c" -o "$work/consumer" $flags -lm
LD_LIBRARY_PATH=$(dirname "$libdir") "$work/consumer"

echo "CMake package:"
cmake -S "$here" -B "$work/build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/prefix" >>"$work/log"
cmake --build "$work/build" >>"$work/log"
"$work/build/consumer"

if [ "$with_program" = ON ]; then
    echo "program:"
    "$work/prefix/bin/headspec" --version
fi
