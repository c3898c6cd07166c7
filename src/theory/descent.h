/* SPDX-License-Identifier: MIT
 * From a start down to a minimum of an objective within bounds (docs/theory.md, "Optimum"). */
#ifndef HSPEC_THEORY_DESCENT_H
#define HSPEC_THEORY_DESCENT_H

#include "theory/objective.h"

/** How far down, and how hard it was. */
typedef struct hspec_descent {
    double loss;        /**< E at the end */
    double slope;       /**< the largest |dE/dx_i| there that does not point out of bounds */
    size_t evaluations; /**< of E and its gradient */
    int second;         /**< did the second method have to help? */
} hspec_descent;

/** @param low in [n] @param high in [n]
 *  @param x inout [n]: moved into the bounds first; the lowest point that was seen
 *  @param scratch [2][n]
 *  @return OK; ENOMEM; ENONFINITE (the loss at the start); EUNSUPPORTED (built without NLopt) */
hspec_status hspec_descent_run(hspec_objective *objective, const double *low, const double *high, double *x,
                               double *scratch, hspec_descent *descent, hspec_error *err);

#endif
