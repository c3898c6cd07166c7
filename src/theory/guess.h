/* SPDX-License-Identifier: MIT
 * Where searches for optima start (docs/theory.md, "Optimum"). */
#ifndef HSPEC_THEORY_GUESS_H
#define HSPEC_THEORY_GUESS_H

#include "theory/objective.h"

/** Start number k of the search, in the order in which they are worth trying: one by the support of the signal, then one
 *  at random, and so on. By the support: every head points at a point of P_theta, in all ways to share the heads out
 *  among the points as long as there are few, else as drawn; with bias and scale of Bayes' estimator or, for softmax1, of
 *  heads that speak at their own point alone. All starts are a little off, so that equal heads can part.
 *  @param x out [objective->n] */
void hspec_guess_make(const hspec_signal *signal, hspec_activation activation, const hspec_objective *objective,
                      uint64_t seed, size_t k, double *x);

#endif
