/* SPDX-License-Identifier: MIT
 * A source of figures whose numbers are known. */
#ifndef HSPEC_TESTS_FIGURE_SAMPLE_H
#define HSPEC_TESTS_FIGURE_SAMPLE_H

#include <stddef.h>

#include "io/figure.h"

typedef struct figure_sample {
    hspec_figure_source source;
    hspec_experiment *experiment;
    hspec_signal *signal;
    double *time, *alignment, *residual, *bias, *scale, *loss;
} figure_sample;

/** Alignment of planted head h: (100 seed + 10 head + feature + row) / 1000. In odd seeds the heads stand the other way
 *  round. Residual, bias, scale and loss are 1, 2, 3 and 4 more than that of feature 0 (and head 0). */
double figure_planted(size_t s, size_t t, size_t h, size_t f);

/** Experiments: softmax1, F = 1, H = 3, S = 4, B = 2; and bayes, F = 2 of which the second may flip, H = 2, S = 3.
 *  Both have 11 rows at t = 0, 1, ... */
extern const char *const figure_sample_flipped, *const figure_sample_gaussian;

figure_sample figure_sample_make(const char *yaml);
void figure_sample_release(figure_sample *a);
/** Fails the test if the figure cannot be made. */
hspec_figure *figure_sample_create(const figure_sample *a, const hspec_figure_options *options);

#endif
