/* SPDX-License-Identifier: MIT
 * The reduced engine: SGD at finite D simulated exactly in law at a cost that does not depend on D
 * (docs/theory.md, "Reduced engine").
 *
 * State of a seed: m [H][F] and R [H][H], lower triangular, r = R R^T; b [H], s. One block holds 8 seeds, one per lane.
 */
#ifndef HSPEC_SGD_REDUCED_H
#define HSPEC_SGD_REDUCED_H

#include "sgd/setup.h"

/** Bartlett factor A of a Wishart matrix: [order][columns], lower trapezoidal, A A^T ~ Wishart_order(n), for any n >= 0
 *  (columns = min(order, n)). A_jj^2 ~ chi^2(n - j), j from 0; unit normals below. */
typedef struct hspec_bartlett {
    size_t order, columns;
    size_t normals; /* how many normals a draw takes: first one for each diagonal entry, then the entries below */
    size_t words;   /* how many words: 21 bits for each diagonal entry */
    double degrees; /* n */
    double *d;      /* [columns] Marsaglia-Tsang d of chi^2(n - j), 0 for the one with a single degree of freedom */
    double *c;      /* [columns] and 1 / sqrt(9 d) */
} hspec_bartlett;

/** Everything a block needs; arrays are [...][W], lane innermost. */
typedef struct hspec_reduced {
    const hspec_setup *setup;
    size_t first;            /* seed of lane 0 */
    hspec_kernel kernel;     /* its bias and scale are the state */
    double *m, *R;           /* [H][F], [H][H] */
    uint64_t *keys;          /* [2][W] */
    double *normals;         /* [n] all normals of a sequence: c, u, theta, then those of the Bartlett factor */
    uint64_t *words;         /* [n] */
    size_t normals_sequence; /* c, u and theta */
    size_t words_sequence;   /* 1 for a signal made of points, else 0 */
    hspec_bartlett bartlett; /* location: of the whole step, order min(H, B L); token: of one sequence, order L */
    size_t inside;           /* token: columns of V, min(H, n) */
    double *A;               /* [order][columns] */
    double *theta;           /* [F] */
    double *dm, *dR;         /* [H][F], [H][H] sums over the batch of d c^T and d u^T */
    double *db, *ds;         /* [H], [1] sums over the batch */
    double *T;               /* location: [H][H + L], the L factor of all d so far, then d */
    double *V;               /* token: [H][inside + L], the outside update so far, then room for d W */
    double *W;               /* token: [L][inside + columns] */
    double *X;               /* [H][2 H] = [R' | rate * outside] */
    hspec_arena arena;
} hspec_reduced;

typedef struct hspec_reduced_ops {
    void (*advance)(hspec_reduced *block, uint64_t from, uint64_t to);
} hspec_reduced_ops;

HSPEC_DECLARE_LEVELS(hspec_reduced_ops, hspec_reduced_ops_table);

#endif
