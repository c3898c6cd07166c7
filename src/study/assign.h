/* SPDX-License-Identifier: MIT
 * The linear assignment problem: the cheapest way to pair n rows with n columns. */
#ifndef HSPEC_STUDY_ASSIGN_H
#define HSPEC_STUDY_ASSIGN_H

#include "headspec.h"

/** Scratch space for problems of up to a given size. */
typedef struct hspec_assign hspec_assign;

/** @param size largest n that will be solved, >= 1. @return OK, EARG, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_assign_create(size_t size, hspec_assign **assign, hspec_error *err);
void hspec_assign_free(hspec_assign *assign);

/** Finds the permutation that minimizes sum_i cost[i][column[i]], in O(n^3) (shortest augmenting paths with the
 *  potentials of Jonker and Volgenant). Equal input gives equal output; of several optima the same one is always found.
 *
 *  @param n      in  1 <= n <= size
 *  @param cost   in  [n][n], finite
 *  @param column out [n], a permutation of 0..n-1
 *  @param total  out the minimum; NULL if not wanted
 *  @return OK; EARG (n); ENONFINITE (the message names row and column). Outputs untouched on error.
 *  Never allocates. */
HSPEC_MUST_USE hspec_status hspec_assign_solve(hspec_assign *assign, size_t n, const double *cost, size_t *column,
                                               double *total, hspec_error *err);

#endif
