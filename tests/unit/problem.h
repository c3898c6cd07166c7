/* SPDX-License-Identifier: MIT
 * Random problems for one layer, shared by the tests of the layer. */
#ifndef HSPEC_TESTS_PROBLEM_H
#define HSPEC_TESTS_PROBLEM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"
#include "unit/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define H_MAX REFERENCE_HEADS
#define L_MAX REFERENCE_TOKENS

static const hspec_activation activations[] = {HSPEC_SOFTMAX, HSPEC_SOFTMAX1, HSPEC_BAYES};

typedef struct problem {
    size_t H, L, target;
    double chi[H_MAX * L_MAX], bias[H_MAX], scale, gram[L_MAX * L_MAX];
} problem;

static inline double uniform(uint64_t *s)
{
    *s += 0x9E3779B97F4A7C15U;
    uint64_t z = *s;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static inline double normal(uint64_t *s)
{
    const double radius = sqrt(-2.0 * log(uniform(s)));
    return radius * cos(6.283185307179586477 * uniform(s));
}

static inline size_t between(size_t low, size_t high, uint64_t *s)
{
    return low + (size_t)(uniform(s) * (double)(high - low + 1));
}

/* Scores of the given spread; G is that of L random tokens in 12 dimensions, so that it is far from the identity. */
static inline void problem_draw(problem *p, size_t H, size_t L, double spread, uint64_t *s)
{
    p->H = H;
    p->L = L;
    p->target = between(0, L - 1, s);
    p->scale = 0.4 + uniform(s);
    double x[L_MAX][12];
    for (size_t l = 0; l < L; l++) {
        for (size_t i = 0; i < 12; i++) {
            x[l][i] = normal(s);
        }
    }
    for (size_t l = 0; l < L; l++) {
        for (size_t k = 0; k < L; k++) {
            double sum = 0.0;
            for (size_t i = 0; i < 12; i++) {
                sum += x[l][i] * x[k][i];
            }
            p->gram[l * L + k] = sum / 12.0;
        }
    }
    for (size_t h = 0; h < H; h++) {
        p->bias[h] = normal(s);
        for (size_t l = 0; l < L; l++) {
            p->chi[h * L + l] = spread * normal(s);
        }
    }
}

static inline hspec_layer *layer_make(hspec_activation activation, size_t H, size_t L)
{
    hspec_layer_params params = hspec_layer_default(H);
    params.activation = activation;
    params.bias_per_head = 1;
    hspec_layer *layer = NULL;
    hspec_error err;
    if (hspec_layer_create(&params, L, &layer, &err) != HSPEC_OK) {
        fail_msg("hspec_layer_create: %s", err.message);
    }
    return layer;
}

typedef struct gradient {
    double loss, d[H_MAX * L_MAX], db[H_MAX], ds;
} gradient;

static inline void gradient_of(hspec_layer *layer, const problem *p, int token, gradient *g)
{
    hspec_error err;
    if (hspec_layer_gradient(layer, p->chi, p->bias, p->scale, p->target, token ? p->gram : NULL, &g->loss, g->d, g->db,
                             &g->ds, &err) != HSPEC_OK) {
        fail_msg("hspec_layer_gradient: %s", err.message);
    }
}

#endif
