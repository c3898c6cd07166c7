/* SPDX-License-Identifier: MIT
 * hspec_dense_lq for lanes: one matrix per lane of a part. */
#ifndef HSPEC_CORE_LQ_LANES_H
#define HSPEC_CORE_LQ_LANES_H

#include "core/lanes.h"

/** A = L Q by Householder reflections, as hspec_dense_lq, for N parts side by side (a constant at every call): each
 *  reflection waits for a root and a division of its own. Entries below 1e-100 count as zero.
 *  @param A inout [n][m][W], pointing at the first part; on return the lower trapezoid holds L; what lies above it is
 *           left over, not zero. */
HSPEC_INLINE void vd_lq(size_t N, size_t n, size_t m, double *A)
{
    for (size_t i = 0; i < n && i < m; i++) {
        double *row = HSPEC_AT(A, i * m);
        vd first[HSPEC_PARTS], beta[HSPEC_PARTS], alpha[HSPEC_PARTS], tail[HSPEC_PARTS];
        for (size_t p = 0; p < N; p++) {
            tail[p] = vd_set(0.0);
        }
        for (size_t j = i + 1; j < m; j++) {
            for (size_t p = 0; p < N; p++) {
                const vd x = vd_load(HSPEC_AT(row, j) + p * HSPEC_VW);
                tail[p] = tail[p] + x * x;
            }
        }
        for (size_t p = 0; p < N; p++) {
            const vd head = vd_load(HSPEC_AT(row, i) + p * HSPEC_VW);
            alpha[p] = vd_copysign(vd_sqrt(head * head + tail[p]), head);
            /* The reflection I - beta v v^T with v = (first, rest of the row); v.v = -2 alpha first gives beta a form
             * that does not wait for first. Where the rest is zero there is nothing to reflect: beta = 0. */
            const vi some = tail[p] > 1e-200;
            const vd sum = head + alpha[p];
            first[p] = -tail[p] / vd_select(some, sum, vd_set(1.0));
            beta[p] = (vd)(some & (vi)(sum / vd_select(some, alpha[p] * tail[p], vd_set(1.0))));
        }
        for (size_t k = i + 1; k < n; k++) {
            double *other = HSPEC_AT(A, k * m);
            vd dot[HSPEC_PARTS];
            for (size_t p = 0; p < N; p++) {
                dot[p] = vd_load(HSPEC_AT(other, i) + p * HSPEC_VW) * first[p];
            }
            for (size_t j = i + 1; j < m; j++) {
                for (size_t p = 0; p < N; p++) {
                    dot[p] =
                        dot[p] + vd_load(HSPEC_AT(other, j) + p * HSPEC_VW) * vd_load(HSPEC_AT(row, j) + p * HSPEC_VW);
                }
            }
            for (size_t p = 0; p < N; p++) {
                double *lead = HSPEC_AT(other, i) + p * HSPEC_VW;
                dot[p] = dot[p] * beta[p];
                vd_store(lead, vd_load(lead) - dot[p] * first[p]);
            }
            for (size_t j = i + 1; j < m; j++) {
                for (size_t p = 0; p < N; p++) {
                    double *x = HSPEC_AT(other, j) + p * HSPEC_VW;
                    vd_store(x, vd_load(x) - dot[p] * vd_load(HSPEC_AT(row, j) + p * HSPEC_VW));
                }
            }
        }
        for (size_t p = 0; p < N; p++) {
            vd_store(HSPEC_AT(row, i) + p * HSPEC_VW, alpha[p]);
        }
    }
}

#endif
