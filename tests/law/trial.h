/* SPDX-License-Identifier: MIT
 * Many seeds of one experiment from one implementation, and the comparison of two such samples in law. */
#ifndef HSPEC_TESTS_TRIAL_H
#define HSPEC_TESTS_TRIAL_H

#include "law/naive.h"

/** Chance that a whole run of comparisons rejects although every law agrees (Bonferroni over comparisons, Holm within). */
#define TRIAL_LEVEL 1e-3
/** Comparisons that share the level in one executable; more are refused. */
#define TRIAL_COMPARISONS 128

typedef enum trial_source { TRIAL_NAIVE, TRIAL_EXPLICIT, TRIAL_REDUCED } trial_source;

/** Recorded quantities: m [H][F], r (lower triangle with diagonal), b [H], s, in this order. */
typedef struct trial {
    trial_source source;
    size_t seeds, rows, columns;
    size_t H, F;
    double *time; /**< [rows] */
    double *x;    /**< [rows][columns][seeds] */
} trial;

/** Runs `seeds` seeds. Ends the process when the library reports an error. @param seed which random numbers */
trial trial_run(const naive_case *c, trial_source source, size_t seeds, uint64_t seed);
void trial_free(trial *t);
/** One quantity at one row, over all seeds: [seeds]. */
const double *trial_column(const trial *t, size_t row, size_t column);
/** Columns of m_hf, r_hj, b_h, s. */
size_t trial_m(const trial *t, size_t h, size_t f);
size_t trial_r(const trial *t, size_t h, size_t j);
size_t trial_b(const trial *t, size_t h);
size_t trial_s(const trial *t);

/** Compares two samples of the same experiment: mean (Welch), variance (Brown-Forsythe) and law (Kolmogorov-Smirnov) of
 *  every quantity at every row from first_row on; the same of random directions in the space of all of them; and means
 *  of products of pairs within a row and of one quantity at neighbouring rows. Holm's correction over all these, at
 *  TRIAL_LEVEL / TRIAL_COMPARISONS.
 *  @return 1 if the laws agree; 0 otherwise, with what differs most printed. */
int trial_agree(const char *name, const trial *a, const trial *b, size_t first_row);

#endif
