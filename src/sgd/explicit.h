/* SPDX-License-Identifier: MIT
 * The explicit engine: full keys and full tokens in R^D, one seed a block (docs/theory.md, "Online SGD").
 *
 * Tokens are made once and used twice (scores, update), in groups of as many sequences as stay in the cache, at most 8:
 * memory is O((H + L) D) whatever B. Rows are padded to `stride` numbers; what lies behind D is zero.
 */
#ifndef HSPEC_SGD_EXPLICIT_H
#define HSPEC_SGD_EXPLICIT_H

#include "core/random.h"
#include "sgd/setup.h"

typedef struct hspec_explicit {
    const hspec_setup *setup;
    hspec_stream stream;
    size_t stride; /* numbers in a row, a multiple of HSPEC_NORMALS_GRAIN */
    size_t group;  /* sequences made at a time, 1 to W */
    int single;    /* tokens are float, not double */
    double *k;     /* [H][stride] keys */
    double *sum;   /* [H][stride] sum over the batch of d x; only when the batch takes several groups */
    double *bias;  /* [H] */
    double scale;
    void *x;             /* [group][L][stride] tokens, double or float */
    hspec_kernel kernel; /* a lane is a sequence of the group */
    double *factor;      /* [group L][H] what the update multiplies the tokens with */
    double *normals;     /* [F padded] normals of one theta */
    double *theta_in;    /* [F][W] the same in lanes */
    double *theta;       /* [F][W] */
    uint64_t *words;     /* [W] */
    double *db, *ds;     /* [H], [1] sums over the batch */
    hspec_arena arena;
} hspec_explicit;

typedef struct hspec_explicit_ops {
    void (*advance)(hspec_explicit *block, uint64_t from, uint64_t to);
} hspec_explicit_ops;

HSPEC_DECLARE_LEVELS(hspec_explicit_ops, hspec_explicit_ops_table);

#endif
