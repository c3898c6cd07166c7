/* SPDX-License-Identifier: MIT
 * Exponential growth of the deviation between heads: where it is seen, and the line through its logarithm
 * (docs/theory.md, "Phases"). */
#ifndef HSPEC_STUDY_GROWTH_H
#define HSPEC_STUDY_GROWTH_H

#include <stddef.h>

/** Fewest rows to which a line is fitted. */
#define HSPEC_GROWTH_POINTS 5

typedef struct hspec_growth_line {
    double slope; /**< NaN: no line */
    double error; /**< standard error of the slope, from the scatter about the line */
} hspec_growth_line;

/** Least squares through (t, y). @param t in [n], not all equal @param y in [n] @return NaNs for n < 3 or what is not
 *  finite */
hspec_growth_line hspec_growth_fit(size_t n, const double *t, const double *y);

/** Standard deviation over heads of the alignments with one feature, divided by H. @param m in [H], `stride` apart */
double hspec_growth_deviation(size_t H, const double *m, size_t stride);

/** The rows of one feature in which its deviation grows and the pattern over heads stays as it is.
 *  @param rows      in  rows in the linear regime, from row 0 on
 *  @param alignment in  [rows][H][F]
 *  @param deviation in  [rows][F]
 *  @param first     out the first row; untouched if there are too few
 *  @return how many rows, 0: fewer than HSPEC_GROWTH_POINTS */
size_t hspec_growth_window(size_t rows, size_t H, size_t F, const double *alignment, const double *deviation, size_t f,
                           size_t *first);

#endif
