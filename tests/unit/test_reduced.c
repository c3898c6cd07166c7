/* SPDX-License-Identifier: MIT
 * The reduced engine where its algebra is singular: heads that coincide, no residual, huge dimension; long runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"
#include "unit/training_case.h"

#include <math.h>

enum { H = 4, F = 2 };

typedef struct run {
    hspec_signal *signal;
    hspec_training *training;
    hspec_trajectory t;
} run;

static run run_reduced(hspec_activation activation, hspec_loss loss, size_t D, size_t B, double steps,
                       const double *alignment, const double *residual)
{
    static const double mean[F] = {1.0, 0.0};
    static const double variance[F] = {0.5, 2.0};
    const hspec_signal_params signal = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
    hspec_layer_params layer = hspec_layer_default(H);
    hspec_training_params params = hspec_training_default();
    hspec_error err;
    run r = {0};
    layer.activation = activation;
    layer.bias_per_head = 1;
    params.loss = loss;
    params.batch = B;
    params.time = steps / (double)D;
    params.records = 10;
    params.seeds = 3;
    params.learning_rate = 4.0;
    params.init.kind = HSPEC_INIT_ALIGNED;
    params.init.alignment = alignment;
    params.init.residual = residual;
    if (hspec_signal_create(&signal, &r.signal, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    const hspec_task_params task = {.tokens = 4, .dimension = D, .signal = r.signal};
    if (hspec_training_create(&task, &layer, &params, 0, &r.training, &err) != HSPEC_OK ||
        hspec_training_run(r.training, NULL, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_training_trajectory(r.training, &r.t);
    assert_int_equal(r.t.done, 11);
    return r;
}

static void run_end(run *r)
{
    hspec_training_free(r->training);
    hspec_signal_free(r->signal);
}

static double m_of(const run *r, size_t seed, size_t row, size_t h, size_t f)
{
    return r->t.alignment[((seed * r->t.rows + row) * H + h) * F + f];
}

static double r_of(const run *r, size_t seed, size_t row, size_t h, size_t j)
{
    return r->t.residual[((seed * r->t.rows + row) * H + h) * H + j];
}

/* Heads 0 and 2 start equal; so do 1 and 3. Twins must keep equal alignments, biases, and overlaps with everyone. */
static void assert_twins(const run *r, double tolerance)
{
    for (size_t k = 0; k < r->t.seeds; k++) {
        for (size_t row = 0; row < r->t.rows; row++) {
            for (size_t h = 0; h < 2; h++) {
                const double *bias = r->t.bias + (k * r->t.rows + row) * H;
                assert_true(fabs(bias[h] - bias[h + 2]) <= tolerance);
                for (size_t f = 0; f < F; f++) {
                    assert_true(fabs(m_of(r, k, row, h, f) - m_of(r, k, row, h + 2, f)) <= tolerance);
                }
                for (size_t j = 0; j < H; j++) {
                    assert_true(isfinite(r_of(r, k, row, h, j)));
                    assert_true(fabs(r_of(r, k, row, h, j) - r_of(r, k, row, h + 2, j)) <= tolerance);
                }
            }
        }
        const size_t last = r->t.rows - 1; /* the run went somewhere, and the pairs differ from each other */
        assert_true(fabs(m_of(r, k, last, 0, 0) - m_of(r, k, 0, 0, 0)) > 1e-3);
        assert_true(fabs(m_of(r, k, last, 0, 0) - m_of(r, k, last, 1, 0)) > 1e-3);
        assert_true(r_of(r, k, last, 0, 0) > 1e-4);
    }
}

static const double twins_m[H * F] = {0.5, 0.1, -0.2, 0.3, 0.5, 0.1, -0.2, 0.3};
static const double zero_r[H * H] = {0.0};
/* Heads 0, 2 hold one direction, heads 1, 3 another, with an overlap. */
static const double twins_r[H * H] = {0.6, 0.2, 0.6, 0.2, 0.2, 0.3, 0.2, 0.3, 0.6, 0.2, 0.6, 0.2, 0.2, 0.3, 0.2, 0.3};

static void test_equal_heads_stay_equal(void **state)
{
    (void)state;
    for (int a = 0; a < 3; a++) {
        for (int token = 0; token < 2; token++) {
            const hspec_loss loss = token ? HSPEC_LOSS_TOKEN : HSPEC_LOSS_LOCATION;
            for (size_t B = 1; B <= 3; B += 2) {
                run r = run_reduced((hspec_activation)a, loss, 20000, B, 40000, twins_m, B == 1 ? zero_r : twins_r);
                assert_twins(&r, 1e-12);
                run_end(&r);
            }
        }
    }
}

/* A million steps. At D = 1e5 they are t = 10: what rounding may part has no time to grow by instability. */
static void test_equal_heads_for_a_million_steps(void **state)
{
    (void)state;
    run r = run_reduced(HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION, 100000, 1, case_patience(1e6), twins_m, zero_r);
    assert_twins(&r, 1e-12);
    run_end(&r);
    r = run_reduced(HSPEC_SOFTMAX1, HSPEC_LOSS_TOKEN, 100000, 1, case_patience(1e5), twins_m, twins_r);
    assert_twins(&r, 1e-12);
    run_end(&r);
}

/* At D = 1000 a million steps are t = 1000. r stays finite, symmetric and positive semidefinite. */
static void test_a_million_steps_stay_sound(void **state)
{
    (void)state;
    run r = run_reduced(HSPEC_BAYES, HSPEC_LOSS_LOCATION, 1000, 1, case_patience(1e6), twins_m, zero_r);
    for (size_t k = 0; k < r.t.seeds; k++) {
        for (size_t row = 0; row < r.t.rows; row++) {
            for (size_t h = 0; h < H; h++) {
                assert_true(isfinite(m_of(&r, k, row, h, 0)) && isfinite(r_of(&r, k, row, h, h)));
                for (size_t j = 0; j < H; j++) {
                    const double r_hj = r_of(&r, k, row, h, j);
                    const double bound = sqrt(r_of(&r, k, row, h, h) * r_of(&r, k, row, j, j));
                    assert_true(r_hj == r_of(&r, k, row, j, h));
                    assert_true(fabs(r_hj) <= bound * (1.0 + 1e-12));
                }
            }
        }
    }
    run_end(&r);
}

/* At D = 1e12 a few steps change nothing that is seen, and the residual gains about steps (eta/D)^2 D sum d^2. */
static void test_huge_dimension(void **state)
{
    (void)state;
    run r = run_reduced(HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION, 1000000000000U, 1, 1000, twins_m, zero_r);
    for (size_t k = 0; k < r.t.seeds; k++) {
        assert_true(fabs(m_of(&r, k, 10, 0, 0) - 0.5) < 1e-7 && m_of(&r, k, 10, 0, 0) != 0.5);
        const double gain = r_of(&r, k, 10, 0, 0);
        assert_true(gain > 1000.0 * 16.0 * 1e-12 * 1e-4 && gain < 1000.0 * 16.0 * 1e-12);
        assert_true(fabs(r_of(&r, k, 10, 0, 0) - r_of(&r, k, 10, 0, 2)) <= 1e-12 * gain);
    }
    run_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_heads_stay_equal),
        cmocka_unit_test(test_equal_heads_for_a_million_steps),
        cmocka_unit_test(test_a_million_steps_stay_sound),
        cmocka_unit_test(test_huge_dimension),
    };
    return cmocka_run_group_tests_name("reduced", tests, NULL, NULL);
}
