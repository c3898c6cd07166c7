/* SPDX-License-Identifier: MIT
 * The two parts of the loss of one native vector of nodes (docs/theory.md, "Parts of the loss").
 *
 *      missed = (1 - abar_e)^2 = sum_h missed_h,         missed_h = (1/H) (1 - a_he) (1 - abar_e)
 *      noise  = sum_{l != e} abar_l^2 = sum_h noise_h,   noise_h  = (1/H) sum_{l != e} a_hl abar_l
 */
#ifndef HSPEC_THEORY_PARTS_LANES_H
#define HSPEC_THEORY_PARTS_LANES_H

#include "attention/kernel.h"
#include "core/lanes.h"

/** Adds weight times missed, missed_h, noise, noise_h of a kernel after its forward pass, with the target at l = 0.
 *  There abar_e - 1 = v_e, and abar_l = v_l elsewhere. @param sums inout [2][1 + H][W] */
HSPEC_INLINE void vd_add_parts(const hspec_kernel *k, size_t L, double weight, double *sums)
{
    const size_t H = k->heads;
    const double share = weight / (double)H;
    const vd gain = vd_load(k->gain), missing = -vd_load(k->v);
    double *missed = sums, *noise = HSPEC_AT(sums, H + 1);
    vd square = vd_set(0.0);
    for (size_t l = 1; l < L; l++) {
        const vd v = vd_load(HSPEC_AT(k->v, l));
        square = square + v * v;
    }
    vd_store(missed, vd_load(missed) + weight * (missing * missing));
    vd_store(noise, vd_load(noise) + weight * square);
    for (size_t h = 0; h < H; h++) {
        const double *p = HSPEC_AT(k->p, h * L);
        vd sum = vd_set(0.0);
        for (size_t l = 1; l < L; l++) {
            sum = sum + vd_load(HSPEC_AT(p, l)) * vd_load(HSPEC_AT(k->v, l));
        }
        double *missed_h = HSPEC_AT(missed, 1 + h), *noise_h = HSPEC_AT(noise, 1 + h);
        vd_store(missed_h, vd_load(missed_h) + share * ((1.0 - gain * vd_load(p)) * missing));
        vd_store(noise_h, vd_load(noise_h) + share * (gain * sum));
    }
}

#endif
