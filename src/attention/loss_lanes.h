/* SPDX-License-Identifier: MIT
 * What all activations share: the residual v, the loss and its derivative g with respect to the mean attention, and the
 * pair of functions that each activation exports. */
#ifndef HSPEC_ATTENTION_LOSS_LANES_H
#define HSPEC_ATTENTION_LOSS_LANES_H

#include "attention/kernel.h"
#include "core/vecmath.h"

/** v_l = (gain/H) sum_h p_hl - [l = target];  g = 2 v or 2 G v;  loss = g . v / 2. */
HSPEC_INLINE void vd_loss(hspec_kernel *k)
{
    const size_t H = k->heads, L = k->tokens;
    const vd factor = vd_load(k->gain) / (double)H;
    for (size_t l = 0; l < L; l++) {
        vd sum = vd_load(k->p + l * HSPEC_W);
        for (size_t h = 1; h < H; h++) {
            sum = sum + vd_load(k->p + (h * L + l) * HSPEC_W);
        }
        vd_store(k->v + l * HSPEC_W, factor * sum - vd_load(k->target + l * HSPEC_W));
    }
    vd twice = vd_set(0.0);
    for (size_t l = 0; l < L; l++) {
        const vd v = vd_load(k->v + l * HSPEC_W);
        vd g = 2.0 * v;
        if (k->gram) {
            g = vd_set(0.0);
            for (size_t j = 0; j < L; j++) {
                g = g + vd_load(k->gram + (l * L + j) * HSPEC_W) * vd_load(k->v + j * HSPEC_W);
            }
            g = 2.0 * g;
        }
        vd_store(k->g + l * HSPEC_W, g);
        twice = twice + g * v;
    }
    vd_store(k->loss, 0.5 * twice);
}

/** sum_l p_hl g_l of one head. */
HSPEC_INLINE vd vd_mean_gradient(const hspec_kernel *k, size_t h)
{
    vd sum = vd_set(0.0);
    for (size_t l = 0; l < k->tokens; l++) {
        sum = sum + vd_load(k->p + (h * k->tokens + l) * HSPEC_W) * vd_load(k->g + l * HSPEC_W);
    }
    return sum;
}

/** max_l chi_hl of one head. */
HSPEC_INLINE vd vd_max_score(const hspec_kernel *k, size_t h)
{
    vd max = vd_load(k->chi + h * k->tokens * HSPEC_W);
    for (size_t l = 1; l < k->tokens; l++) {
        max = vd_max(max, vd_load(k->chi + (h * k->tokens + l) * HSPEC_W));
    }
    return max;
}

/** p_hl = exp(chi_hl + shift), and their sum over l. */
HSPEC_INLINE vd vd_exp_scores(hspec_kernel *k, size_t h, vd shift)
{
    vd sum = vd_set(0.0);
    for (size_t l = 0; l < k->tokens; l++) {
        const size_t at = (h * k->tokens + l) * HSPEC_W;
        const vd e = vd_exp_nonpositive(vd_load(k->chi + at) + shift);
        vd_store(k->p + at, e);
        sum = sum + e;
    }
    return sum;
}

/** p_hl *= factor. */
HSPEC_INLINE void vd_scale_head(hspec_kernel *k, size_t h, vd factor)
{
    for (size_t l = 0; l < k->tokens; l++) {
        double *p = k->p + (h * k->tokens + l) * HSPEC_W;
        vd_store(p, vd_load(p) * factor);
    }
}

/** d_hl = factor p_hl (g_l - mean), and their sum over l. */
HSPEC_INLINE vd vd_score_gradient(hspec_kernel *k, size_t h, vd factor, vd mean)
{
    vd sum = vd_set(0.0);
    for (size_t l = 0; l < k->tokens; l++) {
        const size_t at = (h * k->tokens + l) * HSPEC_W;
        const vd d = factor * vd_load(k->p + at) * (vd_load(k->g + l * HSPEC_W) - mean);
        vd_store(k->d + at, d);
        sum = sum + d;
    }
    return sum;
}

/** Exports the activation `name` from its `name_forward` (p, gain, rest) and `name_backward` (d, db, ds from p and g). */
#define HSPEC_ACTIVATION_EXPORT(name)                                                                                  \
    static void forward(hspec_kernel *k)                                                                               \
    {                                                                                                                  \
        name##_forward(k);                                                                                             \
        vd_loss(k);                                                                                                    \
    }                                                                                                                  \
    static void gradient(hspec_kernel *k)                                                                              \
    {                                                                                                                  \
        forward(k);                                                                                                    \
        name##_backward(k);                                                                                            \
    }                                                                                                                  \
    const hspec_activation_ops HSPEC_LEVELED(hspec_##name##_ops) = {forward, gradient}

#endif
