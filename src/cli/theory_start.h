/* SPDX-License-Identifier: MIT
 * The state at t = 0 from which the theory starts. */
#ifndef HSPEC_CLI_THEORY_START_H
#define HSPEC_CLI_THEORY_START_H

#include "headspec.h"

typedef struct hspec_theory_start {
    hspec_order order; /**< points into `values` */
    double *values;
} hspec_theory_start;

/** theory.start of an experiment: a given state, or the state of a seed at t = 0. A seed that starts aligned starts at
 *  the given numbers themselves: heads that are equal there must be equal to the last digit. The row of a random start is
 *  taken from a recorded run or, when there is none, made as `train` would make it.
 *  @param run in  a run of this start, with row 0 of seed theory.start.seed; NULL: there is none
 *  @return OK; EARG, ENOMEM (of hspec_training_create). Free with hspec_theory_start_free. */
hspec_status hspec_theory_start_make(const hspec_experiment *experiment, const hspec_trajectory *run, int threads,
                                     hspec_theory_start *start, hspec_error *err);
void hspec_theory_start_free(hspec_theory_start *start);

/** The given state of an experiment: theory.start, or training.init where the theory starts at an aligned seed; NULL
 *  where it starts at a random one. */
const hspec_init_params *hspec_theory_start_given(const hspec_experiment *experiment);

#endif
