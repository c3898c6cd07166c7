/* SPDX-License-Identifier: MIT
 * A small run with numbers that can be told apart, for the tests of archives. */
#ifndef UNIT_IO_ARCHIVE_SAMPLE_H
#define UNIT_IO_ARCHIVE_SAMPLE_H

#include "io/archive.h"
#include "io/archive_sgd.h"
#include "io/archive_theory.h"

enum { SAMPLE_S = 3, SAMPLE_T = 5, SAMPLE_H = 2, SAMPLE_F = 2, SAMPLE_N = 11 };

#define SAMPLE_CREATED "2026-01-31T12:34:56Z"
#define SAMPLE_COMMAND "headspec train 'two words.yaml' -o a.h5"
extern const char *const sample_config;

typedef struct sample {
    uint64_t step[SAMPLE_T];
    double time[SAMPLE_T];
    double alignment[SAMPLE_S][SAMPLE_T][SAMPLE_H][SAMPLE_F];
    double residual[SAMPLE_S][SAMPLE_T][SAMPLE_H][SAMPLE_H];
    double loss[SAMPLE_S][SAMPLE_T];
    double bias[SAMPLE_S][SAMPLE_T][SAMPLE_H];
    double scale[SAMPLE_S][SAMPLE_T];
    double values[SAMPLE_S][SAMPLE_N];
    hspec_trajectory trajectory;
    hspec_training_state state;
    hspec_archive_theory theory; /* the numbers of seed 1, and the loss as its own error */
} sample;

/** Fills all arrays and the views of them; `done` rows are valid, the rest is NaN. */
void sample_fill(sample *run, size_t done);
/** An archive of the run; asserts that it works. */
hspec_archive *sample_archive(const sample *run);
/** The same with the theory beside it. */
hspec_archive *sample_archive_theory(const sample *run);
/** Writes one without theory; asserts that it works. */
void sample_write(const char *path, size_t done);

#endif
