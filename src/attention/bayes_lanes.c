/* SPDX-License-Identifier: MIT
 * Bayes-softmax: p_hl = exp(chi_hl + b_h) / sum_h'l' exp(chi_h'l' + b_h'), a = H p (docs/theory.md, "Activations"). */
#include "attention/loss_lanes.h"

HSPEC_INLINE void bayes_forward(hspec_kernel *k, size_t L)
{
    vd max = vd_max_score(k, L, 0) + vd_load(k->bias);
    for (size_t h = 1; h < k->heads; h++) {
        max = vd_max(max, vd_max_score(k, L, h) + vd_load(HSPEC_AT(k->bias, h)));
    }
    for (size_t h = 0; h < k->heads; h++) {
        vd_shift_scores(k, L, h, vd_load(HSPEC_AT(k->bias, h)) - max);
    }
    vd_exp_all(k, L);
    vd sum = vd_set(0.0);
    for (size_t h = 0; h < k->heads; h++) {
        sum = sum + vd_sum_head(k, L, h);
        vd_store(HSPEC_AT(k->rest, h), vd_set(0.0));
    }
    const vd inverse = 1.0 / sum;
    for (size_t h = 0; h < k->heads; h++) {
        vd_scale_head(k, L, h, inverse);
    }
    vd_store(k->gain, vd_set((double)k->heads));
}

/** abar_l = sum_h p_hl:  d_hl = p_hl (g_l - sum_h'l' p_h'l' g_l'),  db_h = sum_l d_hl. */
HSPEC_INLINE void bayes_backward(hspec_kernel *k, size_t L)
{
    vd mean = vd_set(0.0);
    for (size_t h = 0; h < k->heads; h++) {
        mean = mean + vd_mean_gradient(k, L, h);
    }
    for (size_t h = 0; h < k->heads; h++) {
        vd_store(HSPEC_AT(k->db, h), vd_score_gradient(k, L, h, vd_set(1.0), mean));
    }
    vd_store(k->ds, vd_set(0.0));
}

HSPEC_ACTIVATION_EXPORT(bayes);
