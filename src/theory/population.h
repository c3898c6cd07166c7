/* SPDX-License-Identifier: MIT
 * Expectations of the location loss over theta, c and u (docs/theory.md, "Population loss"): Monte Carlo nodes, the same
 * for every state that is asked for together. */
#ifndef HSPEC_THEORY_POPULATION_H
#define HSPEC_THEORY_POPULATION_H

#include "attention/kernel.h"
#include "model/signal.h"

/** Scratch space of one thread, seen from one part; arrays are [...][W], a lane is a node. */
typedef struct hspec_population {
    size_t H, L, F;
    const hspec_signal *signal;
    const hspec_activation_ops *activation;
    hspec_kernel kernel;
    uint64_t *keys;  /* [2][W] */
    double *normals; /* [L (F + H) + F] c [F][L], u [H][L], normals of theta [F] */
    uint64_t *words; /* [4] */
    double *theta;   /* [F] */
} hspec_population;

typedef struct hspec_population_ops {
    size_t width; /**< lanes in a part */
    /** Draws the nodes of one part of a block of lanes. */
    void (*draw)(hspec_population *population, uint64_t block);
    /** Adds the loss at one state and its square, summed over the lanes, to sums[0] and sums[1].
     *  @param m in [H][F] @param R in [H][H] lower triangular @param b in [H] */
    void (*add)(hspec_population *population, const double *m, const double *R, const double *b, double s,
                double *sums);
} hspec_population_ops;

HSPEC_DECLARE_LEVELS(hspec_population_ops, hspec_population_ops_table);

#endif
