/* SPDX-License-Identifier: MIT
 * Spikes k*_1..k*_F in R^D: orthogonal, |k*_f|^2 = D (docs/theory.md, "Data"). */
#ifndef HSPEC_MODEL_SPIKES_H
#define HSPEC_MODEL_SPIKES_H

#include "core/random.h"
#include "core/status.h"

/** Completes an orthonormal family: rows first .. n - 1 of Q are drawn at random, orthogonal to all rows before them.
 *  @param Q inout [n][stride], rows of D numbers, the first `first` of them orthonormal; n <= D
 *  @param stride a multiple of HSPEC_NORMALS_GRAIN, at least D; what lies behind D is set to 0 */
void hspec_spikes_complete(hspec_stream stream, size_t first, size_t n, size_t D, size_t stride, double *Q);

/** @param spikes in [F][D] @return OK or EARG: which product is off and by how much (1e-8 D is allowed). */
hspec_status hspec_spikes_check(size_t F, size_t D, const double *spikes, hspec_error *err);

#endif
