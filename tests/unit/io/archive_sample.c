/* SPDX-License-Identifier: MIT */
#include "unit/io/archive_sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

const char *const sample_config = "task:\n"
                                  "  tokens: 5\n"
                                  "  signal: {kind: gaussian, mean: [1.5, 0], variance: [0, 9]} # \xc3\xa9t\xc3\xa9\n"
                                  "layer:\n"
                                  "  heads: 2\n"
                                  "  bias: {init: 0.5}\n"
                                  "training: {time: 4, seeds: 3, records: 4}\n";

/* [SAMPLE_S][SAMPLE_T][width] */
static void fill(double *array, size_t width, size_t done, double base)
{
    for (size_t i = 0; i < SAMPLE_S * SAMPLE_T * width; i++) {
        array[i] = i / width % SAMPLE_T < done ? base + 1.0 / (3.0 + (double)i) : NAN;
    }
}

void sample_fill(sample *run, size_t done)
{
    for (size_t t = 0; t < SAMPLE_T; t++) {
        run->step[t] = 1000 * t;
        run->time[t] = (double)t + (t ? 0.1 : 0);
    }
    fill(&run->alignment[0][0][0][0], SAMPLE_H * SAMPLE_F, done, -0.1);
    fill(&run->residual[0][0][0][0], SAMPLE_H * SAMPLE_H, done, 0.5);
    fill(&run->loss[0][0], 1, done, 0.25);
    fill(&run->bias[0][0][0], SAMPLE_H, done, -1);
    fill(&run->scale[0][0], 1, done, 1);
    for (size_t i = 0; i < SAMPLE_S * SAMPLE_N; i++) {
        (&run->values[0][0])[i] = -1e-300 * (double)i;
    }
    run->trajectory = (hspec_trajectory){.seeds = SAMPLE_S,
                                         .rows = SAMPLE_T,
                                         .heads = SAMPLE_H,
                                         .features = SAMPLE_F,
                                         .done = done,
                                         .step = run->step,
                                         .time = run->time,
                                         .alignment = &run->alignment[0][0][0][0],
                                         .residual = &run->residual[0][0][0][0],
                                         .bias = &run->bias[0][0][0],
                                         .scale = &run->scale[0][0]};
    run->state = (hspec_training_state){
        .step = run->step[done - 1], .seeds = SAMPLE_S, .size = SAMPLE_N, .values = &run->values[0][0]};
    run->theory = (hspec_archive_theory){.created = "later",
                                         .command = "headspec theory a.yaml",
                                         .config = sample_config,
                                         .bayes_risk = 0.125,
                                         .bayes_risk_error = 1e-5,
                                         .optimum_loss = 0.25};
    run->theory.trajectory = (hspec_theory_trajectory){.rows = SAMPLE_T,
                                                       .heads = SAMPLE_H,
                                                       .features = SAMPLE_F,
                                                       .done = done,
                                                       .step = run->step,
                                                       .time = run->time,
                                                       .alignment = &run->alignment[0][0][0][0],
                                                       .residual = &run->residual[0][0][0][0],
                                                       .loss = &run->loss[0][0],
                                                       .loss_error = &run->loss[0][0],
                                                       .bias = &run->bias[0][0][0],
                                                       .scale = &run->scale[0][0]};
}

hspec_archive *sample_archive(const sample *run)
{
    hspec_error err = {0};
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_create(&archive, &err), HSPEC_OK);
    assert_int_equal(hspec_archive_set_origin(archive, SAMPLE_CREATED, SAMPLE_COMMAND, sample_config, &err), HSPEC_OK);
    assert_int_equal(hspec_archive_sgd_put(archive, &run->trajectory, &run->loss[0][0], &run->state, &err), HSPEC_OK);
    assert_string_equal(err.message, "");
    return archive;
}

hspec_archive *sample_archive_theory(const sample *run)
{
    hspec_error err = {0};
    hspec_archive *archive = sample_archive(run);
    assert_int_equal(hspec_archive_theory_put(archive, &run->theory, &err), HSPEC_OK);
    assert_string_equal(err.message, "");
    return archive;
}

void sample_write(const char *path, size_t done)
{
    sample run;
    sample_fill(&run, done);
    hspec_archive *archive = sample_archive(&run);
    hspec_error err = {0};
    hspec_status status = hspec_archive_write(archive, path, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, HSPEC_OK);
    hspec_archive_free(archive);
}
