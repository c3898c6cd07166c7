/* SPDX-License-Identifier: MIT
 * Both engines in the corners of what is allowed: divergence, hardly any dimension or a huge one, many heads and tokens,
 * what must not move, what must stay equal, and drift over a million steps. */
#include "unit/training_case.h"

#include <stdio.h>

static const hspec_engine engines[] = {HSPEC_ENGINE_REDUCED, HSPEC_ENGINE_EXPLICIT};

/* ---- divergence ------------------------------------------------------------------------------------------------------ */

/* The scale of softmax1 grows by a factor in each step: rows are finite for a while. */
static void test_divergence(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        training_case c = case_make(50, 4, 3, 2);
        c.params.engine = engines[e];
        c.layer.activation = HSPEC_SOFTMAX1;
        c.params.learning_rate = 4050;
        case_steps(&c, 4000);
        c.params.records = 2000;
        hspec_trajectory t;
        hspec_error err, again;
        hspec_training *training = case_create(&c, &t);
        assert_int_equal(hspec_training_run(training, NULL, &err), HSPEC_ENONFINITE);
        assert_int_equal(err.status, HSPEC_ENONFINITE);
        hspec_training_trajectory(training, &t);
        assert_true(t.done > 1 && t.done < t.rows);
        case_assert_sound(&t); /* earlier rows stay as they were */
        assert_true(case_s(&t, 0, t.done - 1) != 1);
        /* The message names the first seed that is not finite, and both times. */
        size_t seed = 0;
        for (int bad = 0; !bad; seed += !bad) {
            assert_true(seed < t.seeds);
            bad = !isfinite(case_s(&t, seed, t.done)) || !isfinite(case_r(&t, seed, t.done)[0]);
            for (size_t i = 0; i < 9; i++) {
                bad = bad || !isfinite(case_r(&t, seed, t.done)[i]) || !isfinite(case_m(&t, seed, t.done)[i % 6]);
            }
        }
        char wanted[200];
        snprintf(wanted, sizeof wanted,
                 "training diverged: seed %zu is not finite at t = %g (finite at t = %g); a smaller "
                 "training.learning_rate (now 4050)",
                 seed + 1, t.time[t.done], t.time[t.done - 1]);
        if (!strstr(err.message, wanted)) {
            fail_msg("'%s' does not say '%s'", err.message, wanted);
        }
        /* There is nothing to go on from. */
        const size_t done = t.done;
        assert_int_equal(hspec_training_run(training, NULL, &again), HSPEC_ENONFINITE);
        assert_string_equal(again.message, err.message);
        hspec_training_state saved = {.step = 77};
        assert_int_equal(hspec_training_checkpoint(training, &saved, &again), HSPEC_ENONFINITE);
        assert_true(saved.step == 77);
        hspec_training_trajectory(training, &t);
        assert_int_equal(t.done, done);
        hspec_training_free(training);
        case_free(&c);
    }
}

/* A learning rate near the end of what doubles hold: everything at once. */
static void test_divergence_at_once(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        for (int token = 0; token < 2; token++) {
            training_case c = case_make(50, 4, 3, 2);
            c.params.engine = engines[e];
            c.params.loss = token ? HSPEC_LOSS_TOKEN : HSPEC_LOSS_LOCATION;
            c.params.learning_rate = 1e300;
            hspec_trajectory t;
            hspec_error err;
            hspec_training *training = case_create(&c, &t);
            assert_int_equal(hspec_training_run(training, NULL, &err), HSPEC_ENONFINITE);
            hspec_training_trajectory(training, &t);
            assert_int_equal(t.done, 1);
            case_assert_sound(&t);
            hspec_training_free(training);
            case_free(&c);
        }
    }
}

/* ---- sizes ----------------------------------------------------------------------------------------------------------- */

/* n = D - F - H directions outside of the heads: 0, 1, 2, 3; fewer tokens than heads and more. */
static void test_few_dimensions(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        for (size_t n = 0; n < 4; n++) {
            for (int token = 0; token < 2; token++) {
                for (int a = 0; a < 3; a++) {
                    for (size_t B = 1; B <= 4; B += 3) {
                        const size_t L = 2 + (n + B) % 4, H = 1 + (n * 2 + B) % 5, F = 1 + n % 3;
                        training_case c = case_make(F + H + n, L, H, F);
                        c.params.engine = engines[e];
                        c.params.loss = token ? HSPEC_LOSS_TOKEN : HSPEC_LOSS_LOCATION;
                        c.layer.activation = (hspec_activation)a;
                        c.params.batch = B;
                        c.params.learning_rate = 0.3;
                        c.params.seeds = 9;
                        case_steps(&c, case_patience(1000));
                        hspec_trajectory t;
                        hspec_training *training = case_run(&c, &t);
                        case_assert_sound(&t);
                        for (size_t k = 0; k < 9; k++) { /* heads moved, and not out of sight */
                            assert_true(case_r(&t, k, 4)[0] != case_r(&t, k, 0)[0] && case_r(&t, k, 4)[0] < 1e3);
                        }
                        hspec_training_free(training);
                        case_free(&c);
                    }
                }
            }
        }
    }
}

/* D = 10^12: with a random start m is of order scale / sqrt(D), r of order scale^2; steps are tiny. */
static void test_huge_dimension(void **state)
{
    (void)state;
    for (int token = 0; token < 2; token++) {
        training_case c = case_make((size_t)1000000000000, 5, 4, 3);
        c.params.loss = token ? HSPEC_LOSS_TOKEN : HSPEC_LOSS_LOCATION;
        c.params.batch = 2;
        case_steps(&c, 3000);
        hspec_trajectory t;
        hspec_training *training = case_run(&c, &t);
        case_assert_sound(&t);
        for (size_t k = 0; k < t.seeds; k++) {
            for (size_t i = 0; i < 16; i++) {
                const double r = case_r(&t, k, 4)[i], wanted = i % 5 == 0 ? 0.01 : 0;
                assert_true(fabs(r - wanted) < 1e-7 && (i % 5 != 0 || r != case_r(&t, k, 0)[i]));
            }
            for (size_t i = 0; i < 12; i++) {
                assert_true(fabs(case_m(&t, k, 0)[i]) < 1e-6 && case_m(&t, k, 4)[i] != case_m(&t, k, 0)[i]);
            }
        }
        hspec_training_free(training);
        case_free(&c);
    }
}

static void test_many_heads_and_tokens(void **state)
{
    (void)state;
    const struct {
        size_t D, L, H, F, B;
    } sizes[] = {
        {500, 64, 64, 4, 1}, {68, 64, 64, 4, 2}, {300, 2, 64, 1, 1}, {300, 200, 2, 1, 3}, {1000, 7, 33, 3, 11}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int e = 0; e < 2; e++) {
            for (int token = 0; token < 2; token++) {
                training_case c = case_make(sizes[i].D, sizes[i].L, sizes[i].H, sizes[i].F);
                c.params.engine = engines[e];
                c.params.loss = token ? HSPEC_LOSS_TOKEN : HSPEC_LOSS_LOCATION;
                c.params.batch = sizes[i].B;
                c.layer.activation = (hspec_activation)(i % 3);
                c.params.seeds = e ? 1 : 3;
                case_steps(&c, 6);
                hspec_trajectory t;
                hspec_training *training = case_run(&c, &t);
                case_assert_sound(&t);
                assert_true(case_m(&t, 0, 4)[0] != case_m(&t, 0, 0)[0]);
                hspec_training_free(training);
                case_free(&c);
            }
        }
    }
}

/* ---- what must not move, and what must stay equal -------------------------------------------------------------------- */

/* Biases and scale over all rows: what moves and what does not. */
static void check_layer(const training_case *c, int bias_moves, int bias_equal, int scale_moves)
{
    hspec_trajectory t;
    hspec_training *training = case_run(c, &t);
    for (size_t k = 0; k < t.seeds; k++) {
        const double *first = case_b(&t, k, 0);
        for (size_t row = 1; row < t.rows; row++) {
            const double *b = case_b(&t, k, row);
            double sum = 0;
            for (size_t h = 0; h < t.heads; h++) {
                assert_true((b[h] != first[h]) == bias_moves);
                assert_true(h == 0 || (b[h] == b[0]) == bias_equal);
                sum += b[h];
            }
            assert_true(c->layer.activation != HSPEC_BAYES || fabs(sum) < 1e-14);
            assert_true((case_s(&t, k, row) != case_s(&t, k, 0)) == scale_moves);
        }
    }
    hspec_training_free(training);
}

static void test_bias_and_scale(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        for (size_t B = 1; B <= 10; B += 9) {
            training_case c = case_make(60, 4, 3, 2);
            c.params.engine = engines[e];
            c.params.batch = B;
            c.layer.bias_init = 0.4;
            c.layer.scale_init = 1.2;
            check_layer(&c, 0, 1, 0); /* softmax has neither */
            c.layer.activation = HSPEC_SOFTMAX1;
            check_layer(&c, 1, 1, 1); /* the bias is shared: equal over heads, to the last bit */
            c.layer.bias_per_head = 1;
            check_layer(&c, 1, 0, 1);
            c.layer.scale_train = 0;
            check_layer(&c, 1, 0, 0);
            c.layer.bias_train = 0;
            check_layer(&c, 0, 1, 0);
            c.layer.scale_train = 1;
            check_layer(&c, 0, 1, 1);
            c.layer.activation = HSPEC_BAYES;
            check_layer(&c, 0, 1, 0);
            c.layer.bias_train = 1;
            c.layer.bias_per_head = 0;
            check_layer(&c, 1, 0, 0); /* always one per head */
            case_free(&c);
        }
    }
}

/* Heads that start equal stay equal to the last bit, wherever they stand, also where rounding would part them: at D = 1000
 * a million steps of bayes from equal heads are far beyond the time at which that would show. */
static void assert_twins(const hspec_trajectory *t, const size_t *twin)
{
    const size_t H = t->heads, F = t->features;
    for (size_t k = 0; k < t->seeds; k++) {
        for (size_t row = 0; row < t->rows; row++) {
            const double *m = case_m(t, k, row), *r = case_r(t, k, row), *b = case_b(t, k, row);
            for (size_t h = 0; h < H; h++) {
                for (size_t f = 0; f < F; f++) {
                    assert_true(m[h * F + f] == m[twin[h] * F + f]);
                }
                for (size_t j = 0; j < H; j++) {
                    assert_true(r[h * H + j] == r[twin[h] * H + j]);
                }
                assert_true(b[h] == b[twin[h]]);
                assert_true(row == 0 || h == 0 || twin[h] != h || m[h * F] != m[0]); /* the others do part */
            }
        }
    }
}

static void test_equal_heads(void **state)
{
    (void)state;
    enum { H = 7 };
    const size_t twin[H] = {0, 1, 0, 1, 4, 0, 1}, alone[H] = {0, 1, 2, 3, 4, 5, 6}, one[H] = {0};
    const double position[H] = {0.5, -0.3, 0.5, -0.3, 0.2, 0.5, -0.3};
    double r0[H * H], apart[H * H];
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) { /* rank 3: the twins coincide outside the signal, too */
            const double x = (double)twin[h], y = (double)twin[j];
            r0[h * H + j] = 0.3 + 0.1 * x * y + (twin[h] == twin[j] ? 0.2 : 0);
            apart[h * H + j] = h == j ? 0.5 : 0;
        }
    }
    const double *residuals[] = {NULL, r0, apart};
    for (int e = 0; e < 2; e++) {
        for (int a = 0; a < 3; a++) {
            for (int token = 0; token < 2; token++) {
                for (int i = 0; i < 4; i++) {
                    training_case c = case_make(60, 5, H, 1);
                    c.params.engine = engines[e];
                    c.params.loss = token ? HSPEC_LOSS_TOKEN : HSPEC_LOSS_LOCATION;
                    c.params.batch = 1 + (size_t)i;
                    c.params.learning_rate = 0.5;
                    c.layer.activation = (hspec_activation)a;
                    c.layer.bias_per_head = 1;
                    c.params.init.kind = HSPEC_INIT_ALIGNED;
                    c.params.init.alignment = position;
                    if (i < 3) {
                        c.params.init.residual = residuals[i];
                    } else { /* all heads at 0 */
                        c.params.init = (hspec_init_params){.kind = HSPEC_INIT_RANDOM, .scale = 0};
                    }
                    case_steps(&c, case_patience(2000));
                    hspec_trajectory t;
                    hspec_training *training = case_run(&c, &t);
                    assert_twins(&t, i < 2 ? twin : i == 2 ? alone : one);
                    hspec_training_free(training);
                    case_free(&c);
                }
            }
        }
    }
    for (int a = 0; a < 3; a++) {
        const double m0[3] = {0.1, 0.1, 0.1};
        training_case c = case_make(1000, 5, 3, 1);
        c.layer.activation = (hspec_activation)a;
        c.params.init.kind = HSPEC_INIT_ALIGNED;
        c.params.init.alignment = m0;
        case_steps(&c, case_patience(1e6));
        hspec_trajectory t;
        hspec_training *training = case_run(&c, &t);
        assert_twins(&t, one);
        case_assert_sound(&t);
        hspec_training_free(training);
        case_free(&c);
    }
}

/* ---- drift ----------------------------------------------------------------------------------------------------------- */

/* A million steps that hardly move anything: what is left is the rounding of a million factorizations. */
static void test_drift(void **state)
{
    (void)state;
    const double m0[3] = {0.4, 0.1, -0.3}, r0[9] = {1, 0.5, 0.2, 0.5, 0.8, -0.1, 0.2, -0.1, 0.3};
    training_case c = case_make(1000, 5, 3, 1);
    c.params.init = (hspec_init_params){.kind = HSPEC_INIT_ALIGNED, .alignment = m0, .residual = r0};
    c.params.learning_rate = 1e-13;
    case_steps(&c, case_patience(1e6));
    hspec_trajectory t;
    hspec_training *training = case_run(&c, &t);
    double drift = 0;
    for (size_t k = 0; k < t.seeds; k++) {
        for (size_t i = 0; i < 9; i++) {
            drift = fmax(drift, fabs(case_r(&t, k, t.rows - 1)[i] - r0[i]));
        }
    }
    printf("  largest drift of r in %.0f steps: %.2g\n", (double)t.step[t.rows - 1], drift);
    assert_true(drift < 1e-10);
    hspec_training_free(training);
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_divergence_at_once),
        cmocka_unit_test(test_few_dimensions),
        cmocka_unit_test(test_huge_dimension),
        cmocka_unit_test(test_many_heads_and_tokens),
        cmocka_unit_test(test_bias_and_scale),
        cmocka_unit_test(test_equal_heads),
        cmocka_unit_test(test_drift),
    };
    return cmocka_run_group_tests_name("corners", tests, NULL, NULL);
}
