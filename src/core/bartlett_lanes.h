/* SPDX-License-Identifier: MIT
 * Bartlett factors for lanes: one draw per lane of a part. */
#ifndef HSPEC_CORE_BARTLETT_LANES_H
#define HSPEC_CORE_BARTLETT_LANES_H

#include "core/bartlett.h"
#include "core/lanes.h"
#include "core/random.h"

/** The diagonal entry for which the fast test could not decide: exact, in scalar arithmetic, rarely.
 *  u = (bits + u') / 2^21 with a fresh uniform u' refines the 21 bits that the fast test had.
 *  @param degrees those of this entry, >= 2 @param c1 the first counter of this entry */
static __attribute__((noinline, unused)) double vd_bartlett_exact(hspec_stream stream, uint64_t c0, uint64_t c1,
                                                                  double degrees, double x, uint64_t bits)
{
    const double u = ((double)bits + hspec_random_uniform(stream, c0, c1)) * 0x1p-21;
    double value;
    return hspec_random_chi2_try(degrees, x, u, &value) ? value : hspec_random_chi2(stream, c0, c1 + 1, degrees);
}

/** Draws a factor from given normals and words.
 *  chi^2 by Marsaglia and Tsang: t = c x, chi^2 = 2 d (1 + t)^3, accepted with probability exp f >= 1 - x^4 / (54 d) for
 *  |t| <= 1/2 (docs/theory.md, "Random numbers"), which 21 bits of a uniform nearly always decide.
 *  @param keys    in  [2][W] the stream of each lane, for the exact path: counters from (c0, c1) on, at most
 *                     HSPEC_BARTLETT_COUNTERS for each column
 *  @param normals in  [normals][W]
 *  @param words   in  [words][W]
 *  @param A       out [order][columns][W]; what lies above the diagonal is not written */
HSPEC_INLINE void vd_bartlett(const hspec_bartlett *b, const uint64_t *keys, uint64_t c0, uint64_t c1,
                              const double *normals, const uint64_t *words, double *A)
{
    const size_t K = b->columns;
    const double *below = HSPEC_AT(normals, K);
    for (size_t i = 0; i < b->order; i++) {
        for (size_t j = 0; j < i && j < K; j++, below += HSPEC_W) {
            vd_store(HSPEC_AT(A, i * K + j), vd_load(below));
        }
    }
    for (size_t j = 0; j < K; j++) {
        const vd x = vd_load(HSPEC_AT(normals, j));
        double *diagonal = HSPEC_AT(A, j * K + j);
        if (b->degrees - (double)j < 2) { /* one degree of freedom */
            vd_store(diagonal, vd_abs(x));
            continue;
        }
        const vu bits = (vu_load(HSPEC_AT(words, j / 3)) >> (21 * (j % 3))) & UINT64_C(0x1fffff);
        const vd upper = ((vd)(bits | UINT64_C(0x4330000000000000)) - 0x1p52 + 1.0) * 0x1p-21;
        const vd d = vd_load(HSPEC_AT(b->d, j)), t = vd_load(HSPEC_AT(b->c, j)) * x;
        const vd v = (1.0 + t) * (1.0 + t) * (1.0 + t);
        vd chi2 = 2.0 * d * v;
        const vd square = x * x;
        const vi sure = (upper <= 1.0 - square * square * vd_load(HSPEC_AT(b->bound, j))) & (vd_abs(t) <= 0.5);
        if (vi_any(~sure)) {
            for (size_t w = 0; w < HSPEC_VW; w++) {
                if (!sure[w]) {
                    const hspec_stream stream = {{keys[w], keys[HSPEC_W + w]}};
                    chi2[w] = vd_bartlett_exact(stream, c0, c1 + j * HSPEC_BARTLETT_COUNTERS, b->degrees - (double)j,
                                                x[w], bits[w]);
                }
            }
        }
        vd_store(diagonal, vd_sqrt(chi2));
    }
}

#endif
