/* SPDX-License-Identifier: MIT
 * The reduced engine: SGD at finite D simulated exactly in law at a cost that does not depend on D
 * (docs/theory.md, "Reduced engine").
 *
 * State of a seed: m [H][F] and R [H][H], lower triangular, r = R R^T; b [H], s. One block holds 8 seeds, one per lane;
 * its seeds are independent, so that each native vector of them (a part) goes its way alone.
 */
#ifndef HSPEC_SGD_REDUCED_H
#define HSPEC_SGD_REDUCED_H

#include "core/bartlett.h"
#include "sgd/setup.h"

/** Everything a part needs; arrays are [...][W], lane innermost, and point at the first lane of the part. */
typedef struct hspec_reduced {
    const hspec_setup *setup;
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
} hspec_reduced;

typedef struct hspec_reduced_ops {
    size_t width; /**< lanes in a part */
    /** Steps from .. to - 1 of all parts. @param part inout [W / width] */
    void (*advance)(hspec_reduced *part, uint64_t from, uint64_t to);
} hspec_reduced_ops;

HSPEC_DECLARE_LEVELS(hspec_reduced_ops, hspec_reduced_ops_table);

#endif
