#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing for the given purposes; silent when none is.
# usage: deps.sh PURPOSE...   (build, plot, test, full, bench)
# shellcheck disable=SC2034 # the lists are read by name
set -euo pipefail

build=(gcc libc6-dev cmake ninja-build pkg-config libyaml-dev libhdf5-dev libcjson-dev libsundials-dev libnlopt-dev)
plot=(gnuplot-nox)
test=(gnuplot-nox binutils hdf5-tools libcmocka-dev librandom123-dev python3 python3-numpy python3-h5py python3-scipy)
full=(clang clang-tidy clang-format libomp-dev valgrind)
bench=(python3 python3-numpy python3-torch)

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] && return
    # Another package may provide it: pkgconf stands for pkg-config, gnuplot-qt for gnuplot-nox.
    case $1 in
    pkg-config) command -v pkg-config ;;
    gnuplot-nox) command -v gnuplot ;;
    *) false ;;
    esac >/dev/null 2>&1
}

if ! command -v dpkg-query >/dev/null; then
    exit 0 # not Debian: CMake says what it misses
fi
missing=()
for purpose in "$@"; do
    declare -n packages=$purpose
    for package in "${packages[@]}"; do
        if ! installed "$package" && [[ " ${missing[*]} " != *" $package "* ]]; then
            missing+=("$package")
        fi
    done
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        as_root=(sudo)
    else
        echo "These Debian packages are missing: ${missing[*]}" >&2
        echo "Install them as root, then try again:" >&2
        echo "    apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
fi
echo "Installing missing packages: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { "${as_root[@]}" apt-get update &&
    "${as_root[@]}" apt-get install --yes --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "These packages could not be installed: ${missing[*]}" >&2
    exit 1
fi
