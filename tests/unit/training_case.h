/* SPDX-License-Identifier: MIT
 * A training run to vary, shared by the tests of training. */
#ifndef HSPEC_TESTS_TRAINING_CASE_H
#define HSPEC_TESTS_TRAINING_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct training_case {
    hspec_signal *signal;
    hspec_task_params task;
    hspec_layer_params layer;
    hspec_training_params params;
} training_case;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CASE_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CASE_SANITIZED
#endif

/** n steps, or a small part of them where tools that watch memory make each one slow. */
static inline double case_patience(double n)
{
#if defined(CASE_SANITIZED)
    return n / 20;
#else
    return getenv("HSPEC_VALGRIND") ? n / 100 : n;
#endif
}

/** F features, each with a mean and a variance of its own; short, with a few seeds. */
static inline training_case case_make(size_t D, size_t L, size_t H, size_t F)
{
    static const double mean[4] = {1.0, -0.5, 0.0, 0.3}, variance[4] = {0.5, 2.0, 1.0, 0.0};
    const hspec_signal_params params = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
    training_case c = {.layer = hspec_layer_default(H), .params = hspec_training_default()};
    hspec_error err;
    if (hspec_signal_create(&params, &c.signal, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    c.task = (hspec_task_params){.tokens = L, .dimension = D, .signal = c.signal};
    c.params.seeds = 3;
    c.params.records = 4;
    c.params.time = 40.0 / (double)D;
    return c;
}

static inline void case_free(training_case *c)
{
    hspec_signal_free(c->signal);
    c->signal = NULL;
}

static inline void case_steps(training_case *c, double steps)
{
    c->params.time = steps / (double)c->task.dimension;
}

static inline hspec_training *case_create(const training_case *c, hspec_trajectory *t)
{
    hspec_error err;
    hspec_training *training = NULL;
    if (hspec_training_create(&c->task, &c->layer, &c->params, 1, &training, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_training_trajectory(training, t);
    return training;
}

static inline hspec_training *case_run(const training_case *c, hspec_trajectory *t)
{
    hspec_error err;
    hspec_training *training = case_create(c, t);
    if (hspec_training_run(training, NULL, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_training_trajectory(training, t);
    assert_int_equal(t->done, t->rows);
    return training;
}

/* Places in a trajectory. */
static inline const double *case_m(const hspec_trajectory *t, size_t seed, size_t row)
{
    return t->alignment + (seed * t->rows + row) * t->heads * t->features;
}

static inline const double *case_r(const hspec_trajectory *t, size_t seed, size_t row)
{
    return t->residual + (seed * t->rows + row) * t->heads * t->heads;
}

static inline const double *case_b(const hspec_trajectory *t, size_t seed, size_t row)
{
    return t->bias + (seed * t->rows + row) * t->heads;
}

static inline double case_s(const hspec_trajectory *t, size_t seed, size_t row)
{
    return t->scale[seed * t->rows + row];
}

/** Rows 0 .. done - 1 hold finite numbers; r is symmetric, and no entry is larger than its diagonal allows. */
static inline void case_assert_sound(const hspec_trajectory *t)
{
    const size_t H = t->heads, F = t->features;
    for (size_t k = 0; k < t->seeds; k++) {
        for (size_t row = 0; row < t->done; row++) {
            const double *m = case_m(t, k, row), *r = case_r(t, k, row), *b = case_b(t, k, row);
            for (size_t i = 0; i < H * F; i++) {
                assert_true(isfinite(m[i]));
            }
            for (size_t h = 0; h < H; h++) {
                assert_true(isfinite(b[h]) && r[h * H + h] >= 0);
                for (size_t j = 0; j < H; j++) {
                    const double bound = sqrt(r[h * H + h]) * sqrt(r[j * H + j]);
                    assert_true(r[h * H + j] == r[j * H + h]);
                    assert_true(fabs(r[h * H + j]) <= bound * (1 + 1e-12) + 1e-300);
                }
            }
            assert_true(isfinite(case_s(t, k, row)));
        }
    }
}

#endif
