/* SPDX-License-Identifier: MIT
 * What all activations share: the residual v, the loss and its derivative g with respect to the mean attention, and the
 * pair of functions that each activation exports. */
#ifndef HSPEC_ATTENTION_LOSS_LANES_H
#define HSPEC_ATTENTION_LOSS_LANES_H

#include "attention/kernel.h"
#include "core/vecmath.h"

/** v_l = (gain/H) sum_h p_hl - [l = target];  g = 2 v or 2 G v;  loss = g . v / 2. */
HSPEC_INLINE void vd_loss(hspec_kernel *k, size_t L)
{
    const size_t H = k->heads;
    const vd factor = vd_load(k->gain) / (double)H;
    for (size_t l = 0; l < L; l++) {
        vd sum = vd_load(HSPEC_AT(k->p, l));
        for (size_t h = 1; h < H; h++) {
            sum = sum + vd_load(HSPEC_AT(k->p, h * L + l));
        }
        vd_store(HSPEC_AT(k->v, l), factor * sum - vd_load(HSPEC_AT(k->target, l)));
    }
    vd twice = vd_set(0.0);
    for (size_t l = 0; l < L; l++) {
        const vd v = vd_load(HSPEC_AT(k->v, l));
        vd g = 2.0 * v;
        if (k->gram) {
            g = vd_set(0.0);
            for (size_t j = 0; j < L; j++) {
                g = g + vd_load(HSPEC_AT(k->gram, l * L + j)) * vd_load(HSPEC_AT(k->v, j));
            }
            g = 2.0 * g;
        }
        vd_store(HSPEC_AT(k->g, l), g);
        twice = twice + g * v;
    }
    vd_store(k->loss, 0.5 * twice);
}

/** sum_l p_hl g_l of one head. */
HSPEC_INLINE vd vd_mean_gradient(const hspec_kernel *k, size_t L, size_t h)
{
    vd sum = vd_set(0.0);
    for (size_t l = 0; l < L; l++) {
        sum = sum + vd_load(HSPEC_AT(k->p, h * L + l)) * vd_load(HSPEC_AT(k->g, l));
    }
    return sum;
}

/** max_l chi_hl of one head. */
HSPEC_INLINE vd vd_max_score(const hspec_kernel *k, size_t L, size_t h)
{
    vd max = vd_load(HSPEC_AT(k->chi, h * L));
    for (size_t l = 1; l < L; l++) {
        max = vd_max(max, vd_load(HSPEC_AT(k->chi, h * L + l)));
    }
    return max;
}

/** p_hl = chi_hl + shift of one head: what is to be exponentiated. */
HSPEC_INLINE void vd_shift_scores(hspec_kernel *k, size_t L, size_t h, vd shift)
{
    for (size_t l = 0; l < L; l++) {
        const size_t i = h * L + l;
        vd_store(HSPEC_AT(k->p, i), vd_load(HSPEC_AT(k->chi, i)) + shift);
    }
}

/** p_hl = exp(p_hl) of all heads; p has room for a last incomplete group of chains. */
HSPEC_INLINE void vd_exp_all(hspec_kernel *k, size_t L)
{
    const size_t n = k->heads * L;
    for (size_t i = n; i % HSPEC_CHAINS != 0; i++) {
        vd_store(HSPEC_AT(k->p, i), vd_set(0.0));
    }
    for (size_t i = 0; i < n; i += HSPEC_CHAINS) {
        vd x[HSPEC_CHAINS];
        for (size_t j = 0; j < HSPEC_CHAINS; j++) {
            x[j] = vd_load(HSPEC_AT(k->p, i + j));
        }
        vd_exp_nonpositive(HSPEC_CHAINS, x);
        for (size_t j = 0; j < HSPEC_CHAINS; j++) {
            vd_store(HSPEC_AT(k->p, i + j), x[j]);
        }
    }
}

/** sum_l p_hl of one head. */
HSPEC_INLINE vd vd_sum_head(const hspec_kernel *k, size_t L, size_t h)
{
    vd sum = vd_load(HSPEC_AT(k->p, h * L));
    for (size_t l = 1; l < L; l++) {
        sum = sum + vd_load(HSPEC_AT(k->p, h * L + l));
    }
    return sum;
}

/** p_hl *= factor. */
HSPEC_INLINE void vd_scale_head(hspec_kernel *k, size_t L, size_t h, vd factor)
{
    for (size_t l = 0; l < L; l++) {
        double *p = HSPEC_AT(k->p, h * L + l);
        vd_store(p, vd_load(p) * factor);
    }
}

/** d_hl = factor p_hl (g_l - mean), and their sum over l. */
HSPEC_INLINE vd vd_score_gradient(hspec_kernel *k, size_t L, size_t h, vd factor, vd mean)
{
    vd sum = vd_set(0.0);
    for (size_t l = 0; l < L; l++) {
        const size_t i = h * L + l;
        const vd d = factor * vd_load(HSPEC_AT(k->p, i)) * (vd_load(HSPEC_AT(k->g, l)) - mean);
        vd_store(HSPEC_AT(k->d, i), d);
        sum = sum + d;
    }
    return sum;
}

/** Exports the activation `name` from its `name_forward` (p, gain, rest) and `name_backward` (d, db, ds from p and g). */
#define HSPEC_ACTIVATION_EXPORT(name)                                                                                  \
    static void forward(hspec_kernel *k)                                                                               \
    {                                                                                                                  \
        HSPEC_WITH_TOKENS(k->tokens, (name##_forward(k, L), vd_loss(k, L)));                                           \
    }                                                                                                                  \
    static void gradient(hspec_kernel *k)                                                                              \
    {                                                                                                                  \
        HSPEC_WITH_TOKENS(k->tokens, (name##_forward(k, L), vd_loss(k, L), name##_backward(k, L)));                    \
    }                                                                                                                  \
    const hspec_activation_ops HSPEC_LEVELED(hspec_##name##_ops) = {HSPEC_VW, forward, gradient}

#endif
