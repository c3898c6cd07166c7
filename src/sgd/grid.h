/* SPDX-License-Identifier: MIT
 * The record grid: at which steps a trajectory has its rows. Simulation and theory share it. */
#ifndef HSPEC_SGD_GRID_H
#define HSPEC_SGD_GRID_H

#include "headspec.h"

/** Rows 0 .. records; row 0 is step 0, the last row is `steps`, and all are different.
 *  linear: round(k steps / records). log: geometric from max(1, steps / 10^4) in row 1 on.
 *  @param records in 1 .. steps @param step out [records + 1] */
void hspec_grid_fill(uint64_t steps, size_t records, hspec_spacing spacing, uint64_t *step);

#endif
