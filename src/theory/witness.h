/* SPDX-License-Identifier: MIT
 * Nodes that a search has not seen: what minima lose on them, and whether a residual would lower it (docs/theory.md,
 * "Optimum"). They are independent sets, the same for all states, so that differences are known better than losses. */
#ifndef HSPEC_THEORY_WITNESS_H
#define HSPEC_THEORY_WITNESS_H

#include "theory/objective.h"

#define HSPEC_WITNESS_SETS 8

typedef struct hspec_witness {
    hspec_objective silent, noisy; /* without a residual, and with one */
    double *gradient, *x;          /* [n] */
    double *A, *V;                 /* [H][H] */
    hspec_arena arena;
} hspec_witness;

/** @param silent nodes without a residual @param noisy and with one @return OK, ENOMEM */
hspec_status hspec_witness_create(const hspec_signal *signal, const hspec_layer_params *layer, size_t tokens,
                                  double silent, double noisy, uint64_t seed, int threads, hspec_witness *witness,
                                  hspec_error *err);
void hspec_witness_free(hspec_witness *witness);
/** The loss on every set. @param residual is R among the variables x? the nodes are others @param loss out [sets] */
void hspec_witness_losses(hspec_witness *witness, int residual, const double *x, double *loss);
/** Mean and standard error of one number of every set. @param values [sets] */
double hspec_witness_mean(const double *values, double *error);
/** At x, without a residual: the least eigenvalue of dE/dr at r = 0, the rate at which the loss changes with a residual.
 *  @param error out its standard error @param direction out [H] its eigenvector */
double hspec_witness_residual(hspec_witness *witness, const double *x, double *error, double *direction);

#endif
