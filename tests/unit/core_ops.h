/* SPDX-License-Identifier: MIT
 * The lane functions of src/core, which are inline there, as plain functions at every instruction-set level. */
#ifndef HSPEC_TESTS_CORE_OPS_H
#define HSPEC_TESTS_CORE_OPS_H

#include "core/bartlett.h"
#include "core/level.h"

#include <stddef.h>
#include <stdint.h>

/** Arrays are aligned to HSPEC_ALIGN; n is a multiple of CORE_OPS_GRAIN. */
#define CORE_OPS_GRAIN 64

typedef struct core_ops {
    void (*exp)(const double *x, double *y, size_t n);
    void (*exp_nonpositive)(const double *x, double *y, size_t n);
    void (*log)(const double *x, double *y, size_t n);
    void (*sincos_turn)(const double *r, double *sine, double *cosine, size_t n);
    void (*quantile)(const double *u, double *x, size_t n);
    void (*uniform)(const uint64_t *words, double *u, size_t n);
    void (*log_single)(const float *x, float *y, size_t n);
    void (*sincos_turn_single)(const float *r, float *sine, float *cosine, size_t n);
    /** A inout [n][m][W] */
    void (*lq)(size_t n, size_t m, double *A);
    /** keys in [2][W], normals in [normals][W], words in [words][W], A out [order][columns][W] */
    void (*bartlett)(const hspec_bartlett *b, const uint64_t *keys, uint64_t c0, uint64_t c1, const double *normals,
                     const uint64_t *words, double *A);
} core_ops;

HSPEC_DECLARE_LEVELS(core_ops, core_ops_table);

#endif
