/* SPDX-License-Identifier: MIT
 * softmax1: p_hl = exp(chi_hl) / (exp(b_h) + sum_l' exp(chi_hl')), a = s p (docs/theory.md, "Activations"). */
#include "attention/loss_lanes.h"

HSPEC_INLINE void softmax1_forward(hspec_kernel *k, size_t L)
{
    for (size_t h = 0; h < k->heads; h++) {
        /* The shift is the maximum over the scores AND the bias; the term of the bias is shifted like all others. */
        const vd bias = vd_load(HSPEC_AT(k->bias, h));
        const vd shift = -vd_max(vd_max_score(k, L, h), bias);
        vd_shift_scores(k, L, h, shift);
        vd_store(HSPEC_AT(k->rest, h), bias + shift);
    }
    vd_exp_all(k, L);
    for (size_t h = 0; h < k->heads; h++) {
        vd rest = vd_load(HSPEC_AT(k->rest, h));
        vd_exp_nonpositive(1, &rest);
        const vd inverse = 1.0 / (rest + vd_sum_head(k, L, h));
        vd_scale_head(k, L, h, inverse);
        vd_store(HSPEC_AT(k->rest, h), rest * inverse);
    }
    vd_store(k->gain, vd_load(k->scale));
}

/** With M_h = sum_l p_hl g_l and p_h0 = 1 - sum_l p_hl:
 *  d_hl = (s/H) p_hl (g_l - M_h),  db_h = -(s/H) p_h0 M_h,  ds = (1/H) sum_h M_h. */
HSPEC_INLINE void softmax1_backward(hspec_kernel *k, size_t L)
{
    const double inverse = 1.0 / (double)k->heads;
    const vd factor = vd_load(k->scale) * inverse;
    vd total = vd_set(0.0);
    for (size_t h = 0; h < k->heads; h++) {
        const vd mean = vd_mean_gradient(k, L, h);
        (void)vd_score_gradient(k, L, h, factor, mean);
        vd_store(HSPEC_AT(k->db, h), -factor * vd_load(HSPEC_AT(k->rest, h)) * mean);
        total = total + mean;
    }
    vd_store(k->ds, total * inverse);
}

HSPEC_ACTIVATION_EXPORT(softmax1);
