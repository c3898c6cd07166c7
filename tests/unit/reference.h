/* SPDX-License-Identifier: MIT
 * The layer in plain long double loops, straight from its definition. Every fast path is compared with it. */
#ifndef HSPEC_TESTS_REFERENCE_H
#define HSPEC_TESTS_REFERENCE_H

#include "headspec.h"

#include <math.h>
#include <stddef.h>

/* Sizes up to which the reference works. */
#define REFERENCE_HEADS 16
#define REFERENCE_TOKENS 64

typedef struct reference_result {
    long double attention[REFERENCE_HEADS][REFERENCE_TOKENS]; /* a_hl */
    long double silent[REFERENCE_HEADS];                      /* softmax1: exp(b_h) / (exp(b_h) + sum_l exp(chi_hl)) */
    long double loss;
    long double d[REFERENCE_HEADS][REFERENCE_TOKENS]; /* dloss/dchi_hl */
    long double db[REFERENCE_HEADS];                  /* dloss/db_h */
    long double ds;                                   /* dloss/ds */
} reference_result;

/* Attention (docs/theory.md, "Activations"). The largest exponent is subtracted everywhere, also from the bias. */
static inline void reference_attention(hspec_activation activation, size_t H, size_t L, const double *chi,
                                       const double *bias, double scale, reference_result *out)
{
    long double top = -INFINITY; /* bayes: one maximum for all heads */
    for (size_t h = 0; h < H; h++) {
        for (size_t l = 0; l < L; l++) {
            top = fmaxl(top, (long double)chi[h * L + l] + bias[h]);
        }
    }
    long double total = 0.0L;
    for (size_t h = 0; h < H; h++) {
        long double Z = 0.0L;
        long double largest = -INFINITY;
        for (size_t l = 0; l < L; l++) {
            total += expl((long double)chi[h * L + l] + bias[h] - top);
            largest = fmaxl(largest, chi[h * L + l]);
        }
        if (activation == HSPEC_SOFTMAX1) {
            largest = fmaxl(largest, bias[h]);
            Z = expl(bias[h] - largest);
        }
        for (size_t l = 0; l < L; l++) {
            Z += expl(chi[h * L + l] - largest);
        }
        out->silent[h] = activation == HSPEC_SOFTMAX1 ? expl(bias[h] - largest) / Z : 0.0L;
        for (size_t l = 0; l < L; l++) {
            out->attention[h][l] = expl(chi[h * L + l] - largest) / Z;
            if (activation == HSPEC_SOFTMAX1) {
                out->attention[h][l] *= scale;
            }
        }
    }
    if (activation == HSPEC_BAYES) {
        for (size_t h = 0; h < H; h++) {
            for (size_t l = 0; l < L; l++) {
                out->attention[h][l] = (long double)H * expl((long double)chi[h * L + l] + bias[h] - top) / total;
            }
        }
    }
}

/* da_hl / dchi_jk, the Jacobian of the attention, entry by entry. */
static inline long double reference_jacobian(hspec_activation activation, size_t H, double scale,
                                             const reference_result *at, size_t h, size_t l, size_t j, size_t k)
{
    const long double a = at->attention[h][l];
    const long double other = at->attention[j][k];
    const long double same = h == j && l == k ? a : 0.0L;
    if (activation == HSPEC_BAYES) {
        return same - a * other / (long double)H;
    }
    if (h != j) {
        return 0.0L;
    }
    return same - (activation == HSPEC_SOFTMAX1 ? a * other / (long double)scale : a * other);
}

/* Loss and gradients by the chain rule through the whole Jacobian (docs/theory.md, "Loss and gradients").
 * gram: [L][L] or NULL for the identity. softmax1: scale must not be 0. */
static inline void reference_gradient(hspec_activation activation, size_t H, size_t L, const double *chi,
                                      const double *bias, double scale, size_t target, const double *gram,
                                      reference_result *out)
{
    reference_attention(activation, H, L, chi, bias, scale, out);
    long double v[REFERENCE_TOKENS];
    long double Gv[REFERENCE_TOKENS];
    for (size_t l = 0; l < L; l++) {
        v[l] = l == target ? -1.0L : 0.0L;
        for (size_t h = 0; h < H; h++) {
            v[l] += out->attention[h][l] / (long double)H;
        }
    }
    out->loss = 0.0L;
    for (size_t l = 0; l < L; l++) {
        Gv[l] = gram == NULL ? v[l] : 0.0L;
        for (size_t k = 0; gram != NULL && k < L; k++) {
            Gv[l] += gram[l * L + k] * v[k];
        }
        out->loss += v[l] * Gv[l];
    }
    out->ds = 0.0L;
    for (size_t j = 0; j < H; j++) {
        out->db[j] = 0.0L;
        for (size_t k = 0; k < L; k++) {
            out->d[j][k] = 0.0L;
            for (size_t h = 0; h < H; h++) {
                if (h != j && activation != HSPEC_BAYES) {
                    continue; /* only bayes couples the heads */
                }
                for (size_t l = 0; l < L; l++) {
                    out->d[j][k] +=
                        2.0L / (long double)H * Gv[l] * reference_jacobian(activation, H, scale, out, h, l, j, k);
                }
            }
        }
        for (size_t k = 0; k < L; k++) {
            if (activation == HSPEC_BAYES) { /* b_h enters as chi_hl + b_h */
                out->db[j] += out->d[j][k];
            } else if (activation == HSPEC_SOFTMAX1) { /* da_hl/db_h = -a_hl silent_h, da_hl/ds = a_hl/s */
                out->db[j] -= 2.0L / (long double)H * Gv[k] * out->attention[j][k] * out->silent[j];
                out->ds += 2.0L / (long double)H * Gv[k] * out->attention[j][k] / (long double)scale;
            }
        }
    }
}

#endif
