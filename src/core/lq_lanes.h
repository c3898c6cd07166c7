/* SPDX-License-Identifier: MIT
 * hspec_dense_lq for lanes: one matrix per lane of a part. */
#ifndef HSPEC_CORE_LQ_LANES_H
#define HSPEC_CORE_LQ_LANES_H

#include "core/lanes.h"

/** A = L Q by Householder reflections, as hspec_dense_lq. Entries below 1e-100 count as zero.
 *  @param A inout [n][m][W], pointing at the part; on return the lower trapezoid holds L; what lies above it is left over, not zero. */
HSPEC_INLINE void vd_lq(size_t n, size_t m, double *A)
{
    for (size_t i = 0; i < n && i < m; i++) {
        double *row = A + i * m * HSPEC_W;
        const vd head = vd_load(row + i * HSPEC_W);
        vd tail = vd_set(0.0);
        for (size_t j = i + 1; j < m; j++) {
            const vd x = vd_load(row + j * HSPEC_W);
            tail = tail + x * x;
        }
        const vd alpha = vd_copysign(vd_sqrt(head * head + tail), head);
        /* The reflection I - beta v v^T with v = (first, rest of the row); v.v = -2 alpha first gives beta a form that
         * does not wait for first. Where the rest is zero there is nothing to reflect: beta = 0. */
        const vi some = tail > 1e-200;
        const vd sum = head + alpha;
        const vd first = -tail / vd_select(some, sum, vd_set(1.0));
        const vd beta = (vd)(some & (vi)(sum / vd_select(some, alpha * tail, vd_set(1.0))));
        for (size_t k = i + 1; k < n; k++) {
            double *other = A + k * m * HSPEC_W;
            vd lead = vd_load(other + i * HSPEC_W);
            vd dot = lead * first;
            for (size_t j = i + 1; j < m; j++) {
                dot = dot + vd_load(other + j * HSPEC_W) * vd_load(row + j * HSPEC_W);
            }
            dot = dot * beta;
            vd_store(other + i * HSPEC_W, lead - dot * first);
            for (size_t j = i + 1; j < m; j++) {
                vd_store(other + j * HSPEC_W, vd_load(other + j * HSPEC_W) - dot * vd_load(row + j * HSPEC_W));
            }
        }
        vd_store(row + i * HSPEC_W, alpha);
    }
}

#endif
