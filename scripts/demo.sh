#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The main job: from an experiment file to a figure.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/deps.sh build plot
scripts/build.sh
mkdir -p demo
build/headspec train experiments/two_phases.yaml -o demo/two_phases.h5 --force
build/headspec plot demo/two_phases.h5 -o demo/two_phases.svg
build/headspec plot demo/two_phases.h5 -o demo/two_phases.png
cat <<'END'

archive  demo/two_phases.h5
figure   demo/two_phases.svg
         demo/two_phases.png

What to see: three heads learn where the signal is. At first all of them follow the mean of the signal and rise
together: the unspecialized phase. After t = 200 one head of each seed parts from the others and, at about t = 300, turns
negative: it has specialized on the sequences in which the signal is flipped, and the loss falls a second time.
END
