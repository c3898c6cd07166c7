/* SPDX-License-Identifier: MIT
 * softmax: p_hl = exp(chi_hl) / sum_l' exp(chi_hl'), a = p (docs/theory.md, "Activations"). */
#include "attention/loss_lanes.h"

HSPEC_INLINE void softmax_forward(hspec_kernel *k, size_t L)
{
    for (size_t h = 0; h < k->heads; h++) {
        vd_shift_scores(k, L, h, -vd_max_score(k, L, h));
    }
    vd_exp_all(k, L);
    for (size_t h = 0; h < k->heads; h++) {
        vd_scale_head(k, L, h, 1.0 / vd_sum_head(k, L, h));
        vd_store(HSPEC_AT(k->rest, h), vd_set(0.0));
    }
    vd_store(k->gain, vd_set(1.0));
}

/** abar_l = (1/H) sum_h p_hl, dp_hl/dchi_hl' = p_hl ([l = l'] - p_hl'):  d_hl = (1/H) p_hl (g_l - sum_l' p_hl' g_l'). */
HSPEC_INLINE void softmax_backward(hspec_kernel *k, size_t L)
{
    const vd factor = vd_set(1.0 / (double)k->heads);
    for (size_t h = 0; h < k->heads; h++) {
        (void)vd_score_gradient(k, L, h, factor, vd_mean_gradient(k, L, h));
        vd_store(HSPEC_AT(k->db, h), vd_set(0.0));
    }
    vd_store(k->ds, vd_set(0.0));
}

HSPEC_ACTIVATION_EXPORT(softmax);
