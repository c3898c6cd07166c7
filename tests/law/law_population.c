/* SPDX-License-Identifier: MIT
 * The population loss: small weights, direct sampling of tokens, standard errors, the bound for softmax.
 * Every comparison is held at 5 standard errors (6e-7 two-sided; fewer than 200 comparisons). Seeds are fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"
#include "law/naive.h"
#include "law/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { H_MAX = 6, F_MAX = 2 };

static const double points[3][2] = {{2.0, 0.0}, {0.0, 1.5}, {-1.0, 1.0}};
static const double weights[3] = {0.5, 0.3, 0.2};
static const double gaussian_mean[2] = {1.0, -0.5};
static const double gaussian_variance[2] = {0.5, 2.0};

static hspec_signal_params discrete(void)
{
    return (hspec_signal_params){
        .kind = HSPEC_SIGNAL_DISCRETE, .features = 2, .points = 3, .theta = points[0], .weights = weights};
}

static hspec_signal_params gaussian(void)
{
    return (hspec_signal_params){
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = 2, .mean = gaussian_mean, .variance = gaussian_variance};
}

/* Many points: on a spiral, with unequal weights. */
static hspec_signal_params spiral(void)
{
    enum { K = 24 };
    static double theta[K][2];
    static double weight[K];
    for (size_t k = 0; k < K; k++) {
        const double x = (double)k / K;
        theta[k][0] = 3.0 * x * cos(9.0 * x);
        theta[k][1] = 3.0 * x * sin(9.0 * x);
        weight[k] = 2.0 * ((double)k + 1.0) / (K * (K + 1.0));
    }
    return (hspec_signal_params){
        .kind = HSPEC_SIGNAL_DISCRETE, .features = 2, .points = K, .theta = theta[0], .weights = weight};
}

static hspec_signal_params flipped(double nu, double p)
{
    return (hspec_signal_params){.kind = HSPEC_SIGNAL_FLIPPED, .strength = nu, .probability = p};
}

/* Loss of n states at once. */
static void losses(const hspec_signal_params *params, hspec_activation activation, size_t L, size_t H, size_t nodes,
                   uint64_t seed, int threads, size_t n, const hspec_order *states, double *loss, double *error)
{
    hspec_error err;
    hspec_signal *signal = NULL;
    hspec_layer_params layer = hspec_layer_default(H);
    layer.activation = activation;
    if (hspec_signal_create(params, &signal, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    const hspec_task_params task = {.tokens = L, .dimension = 1000, .signal = signal};
    if (hspec_population_loss(&task, &layer, nodes, seed, threads, n, states, loss, error, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_signal_free(signal);
}

/* ---- small weights (docs/theory.md, "Small weights") -------------------------------------------------------------- */

static const double small_m[3][2] = {{0.9, -0.3}, {0.2, 0.8}, {-0.5, 0.4}};
static const double small_r[3][3] = {{1.0, 0.3, -0.2}, {0.3, 0.7, 0.1}, {-0.2, 0.1, 0.5}};

/* The two parts of the expansion at m = small_m, r = small_r: E = 1 - 1/L + first x + second x^2 + O(x^3) at x m, x^2 r. */
static void small_weight_parts(const hspec_signal_params *params, double L, double *first, double *second)
{
    double mu[2];
    double C[2][2];
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_signal_create(params, &signal, NULL), HSPEC_OK);
    hspec_signal_moments(signal, mu, C[0]);
    hspec_signal_free(signal);
    double mean[2] = {0.0, 0.0};
    double own = 0.0;
    double rbar = 0.0;
    for (size_t h = 0; h < 3; h++) {
        for (size_t f = 0; f < 2; f++) {
            mean[f] += small_m[h][f] / 3.0;
            for (size_t g = 0; g < 2; g++) {
                own += small_m[h][f] * C[f][g] * small_m[h][g] / 3.0;
            }
        }
        for (size_t j = 0; j < 3; j++) {
            rbar += small_r[h][j] / 9.0;
        }
    }
    double common = 0.0;
    double square = 0.0;
    for (size_t f = 0; f < 2; f++) {
        square += mean[f] * mean[f];
        for (size_t g = 0; g < 2; g++) {
            common += mean[f] * C[f][g] * mean[g];
        }
    }
    *first = -(1.0 - 1.0 / L) * 2.0 / L * (mu[0] * mean[0] + mu[1] * mean[1]);
    *second = (1.0 - 1.0 / L) / L * (square + rbar + common / L - (1.0 - 2.0 / L) * own);
}

enum { REPEATS = 24 };

/* On the same nodes E(2x) - 2 E(x) + E(0) = 2 second x^2 + third x^3: what is linear in x cancels, with its noise.
 * Returns the estimate of `second` and its standard error over independent nodes. */
static double second_order(const hspec_signal_params *params, size_t L, double x, double *error)
{
    double m[3][6];
    double r[3][9];
    const double zero[3] = {0.0, 0.0, 0.0};
    const double sizes[3] = {0.0, x, 2.0 * x};
    hspec_order states[3];
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 6; k++) {
            m[i][k] = sizes[i] * small_m[k / 2][k % 2];
        }
        for (size_t k = 0; k < 9; k++) {
            r[i][k] = sizes[i] * sizes[i] * small_r[k / 3][k % 3];
        }
        states[i] = (hspec_order){m[i], r[i], zero, 1.0};
    }
    double estimates[REPEATS];
    for (size_t k = 0; k < REPEATS; k++) {
        double loss[3];
        losses(params, HSPEC_SOFTMAX, L, 3, 32768, 100 + k, 0, 3, states, loss, NULL);
        assert_true(fabs(loss[0] - (1.0 - 1.0 / (double)L)) < 1e-12); /* all weights zero: attention 1/L */
        estimates[k] = (loss[2] - 2.0 * loss[1] + loss[0]) / (2.0 * x * x);
    }
    *error = sqrt(stats_variance(estimates, REPEATS) / REPEATS);
    return stats_average(estimates, REPEATS);
}

static void test_small_weights(void **state)
{
    (void)state;
    const hspec_signal_params signals[2] = {discrete(), gaussian()};
    for (size_t i = 0; i < 2; i++) {
        for (size_t L = 2; L <= 6; L += 2) {
            double first;
            double second;
            small_weight_parts(&signals[i], (double)L, &first, &second);
            double gap[2];
            double error[2];
            const double sizes[2] = {0.02, 0.005};
            for (size_t k = 0; k < 2; k++) {
                gap[k] = second_order(&signals[i], L, sizes[k], &error[k]) - second;
            }
            printf("  signal %zu, L %zu: second order %.5f, off by %.5f +- %.5f at %g and %.5f +- %.5f at %g\n", i, L,
                   second, gap[0], error[0], sizes[0], gap[1], error[1], sizes[1]);
            /* What is left is of third order: at a quarter of the size, a quarter of it is left. */
            assert_true(5.0 * error[1] < 0.004); /* the terms of the sum are near 0.1 each */
            assert_true(fabs(gap[0]) <= 5.0 * error[0] + 1.5 * sizes[0]);
            assert_true(fabs(gap[1]) <= 5.0 * error[1] + 0.35 * fabs(gap[0]));
            /* The first order, from two opposite states far below the second. */
            const double x = 0.01;
            double m[2][6];
            const double r[9] = {0.0};
            const double zero[3] = {0.0, 0.0, 0.0};
            for (size_t k = 0; k < 6; k++) {
                m[0][k] = x * small_m[k / 2][k % 2];
                m[1][k] = -m[0][k];
            }
            const hspec_order states[2] = {{m[0], r, zero, 1.0}, {m[1], r, zero, 1.0}};
            double loss[2];
            double se[2];
            losses(&signals[i], HSPEC_SOFTMAX, L, 3, 1 << 19, 9, 0, 2, states, loss, se);
            assert_true(fabs((loss[0] - loss[1]) / (2.0 * x) - first) <= 5.0 * se[0] / x + x);
            assert_true(5.0 * se[0] / x + x < 0.1 * fabs(first) + 0.02);
        }
    }
}

/* ---- against sampled tokens ------------------------------------------------------------------------------------------ */

static void test_against_sampled_tokens(void **state)
{
    (void)state;
    static const double m[3][2] = {{1.2, -0.3}, {0.4, 0.9}, {-0.8, 0.2}};
    static const double r[9] = {0.8, 0.3, -0.2, 0.3, 0.6, 0.1, -0.2, 0.1, 0.4};
    static const double r_rank_one[9] = {0.5, 0.5, 0.25, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125};
    const double bias[3] = {0.4, -0.3, 1.1};
    const hspec_signal_params signals[4] = {flipped(4.0, 0.7), gaussian(), discrete(), spiral()};
    const hspec_activation activations[3] = {HSPEC_SOFTMAX, HSPEC_SOFTMAX1, HSPEC_BAYES};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 3; j++) {
            const size_t F = naive_features(&signals[i]);
            naive_case c = {.signal = signals[i], .layer = hspec_layer_default(3)};
            double alignment[6];
            for (size_t k = 0; k < 3 * F; k++) {
                alignment[k] = m[k / F][k % F];
            }
            c.task.tokens = 3 + j;
            c.task.dimension = 8 + j; /* E does not depend on D: the smaller, the cheaper */
            c.layer.activation = activations[j];
            c.training = hspec_training_default();
            c.training.init.kind = HSPEC_INIT_ALIGNED;
            c.training.init.alignment = alignment;
            c.training.init.residual = i == 2 ? r_rank_one : r;
            double sampled_error;
            const double sampled = naive_loss(&c, 17 + 3 * i + j, 200000, bias, 1.3, &sampled_error);
            double loss;
            double error;
            const hspec_order order = {alignment, c.training.init.residual, bias, 1.3};
            losses(&signals[i], activations[j], c.task.tokens, 3, 1 << 18, 5, 0, 1, &order, &loss, &error);
            printf("  signal %zu, activation %zu: %.5f +- %.5f, sampled %.5f +- %.5f\n", i, j, loss, error, sampled,
                   sampled_error);
            assert_true(error > 0.0 && error < 0.003);
            assert_true(fabs(loss - sampled) <= 5.0 * sqrt(error * error + sampled_error * sampled_error));
        }
    }
}

/* ---- standard errors, threads, many states ----------------------------------------------------------------------------- */

static void test_standard_error(void **state)
{
    (void)state;
    const double m[2] = {1.0, -0.5};
    const double r[4] = {0.5, 0.1, 0.1, 0.4};
    const double bias[2] = {0.0, 0.0};
    const hspec_order order = {m, r, bias, 1.0};
    const hspec_signal_params signal = flipped(4.0, 0.6);
    enum { N = 400 };
    double loss[N];
    double error[N];
    for (size_t k = 0; k < N; k++) {
        losses(&signal, HSPEC_SOFTMAX1, 4, 2, 2048, 1000 + k, 1, 1, &order, &loss[k], &error[k]);
    }
    /* 400 losses give their deviation within 3.5 %; errors from few blocks scatter more, but their mean is good. */
    const double ratio = sqrt(stats_variance(loss, N)) / stats_average(error, N);
    printf("  deviation over reported error %.3f\n", ratio);
    assert_true(ratio > 0.8 && ratio < 1.25);
    double reference;
    double reference_error;
    losses(&signal, HSPEC_SOFTMAX1, 4, 2, 1 << 20, 1, 0, 1, &order, &reference, &reference_error);
    const double mean_error = sqrt(stats_variance(loss, N) / N);
    assert_true(fabs(stats_average(loss, N) - reference) <= 5.0 * hypot(mean_error, reference_error));
}

static void test_threads_and_states(void **state)
{
    (void)state;
    enum { N = 5 };
    double m[N][4];
    double r[N][4];
    const double bias[2] = {0.2, -0.2};
    hspec_order states[N];
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < 4; k++) {
            m[i][k] = 0.3 * (double)i - 0.2 * (double)k;
            r[i][k] = k == 0 || k == 3 ? 0.1 * (double)i : 0.03 * (double)i;
        }
        states[i] = (hspec_order){m[i], r[i], bias, 0.9};
    }
    const hspec_signal_params signal = discrete();
    double loss[N];
    double error[N];
    for (int a = 0; a < 3; a++) {
        losses(&signal, (hspec_activation)a, 5, 2, 5000, 3, 1, N, states, loss, error);
        for (int threads = 2; threads <= 5; threads++) {
            double other[N];
            double other_error[N];
            losses(&signal, (hspec_activation)a, 5, 2, 5000, 3, threads, N, states, other, other_error);
            assert_memory_equal(loss, other, sizeof loss);
            assert_memory_equal(error, other_error, sizeof error);
        }
        for (size_t i = 0; i < N; i++) { /* one state alone meets the same nodes */
            double alone;
            losses(&signal, (hspec_activation)a, 5, 2, 5000, 3, 2, 1, &states[i], &alone, NULL);
            assert_true(alone == loss[i]);
        }
    }
}

/* ---- softmax cannot be silent (docs/theory.md, "Population loss") --------------------------------------------------- */

static double uniform(uint64_t *s)
{
    *s = *s * 6364136223846793005U + 1442695040888963407U;
    return (double)(*s >> 11) * 0x1p-53;
}

static void test_softmax_bound(void **state)
{
    (void)state;
    const double p[] = {0.1, 0.3, 0.5, 0.8};
    const double nu[] = {0.5, 4.0, 100.0};
    const double zero[4] = {0.0, 0.0, 0.0, 0.0};
    enum { STATES = 30 };
    uint64_t s = 4;
    for (size_t i = 0; i < COUNT(p); i++) {
        for (size_t j = 0; j < COUNT(nu); j++) {
            const size_t H = 1 + (i + j) % 4;
            const size_t L = 2 + (i + 2 * j) % 5;
            double m[STATES][4];
            double r[STATES][16];
            hspec_order states[STATES];
            for (size_t k = 0; k < STATES; k++) {
                for (size_t h = 0; h < H; h++) {
                    m[k][h] = pow(10.0, 3.0 * uniform(&s) - 2.0) * (uniform(&s) < 0.5 ? 1.0 : -1.0);
                    for (size_t g = 0; g < H; g++) {
                        r[k][h * H + g] = h == g && k % 2 ? 2.0 * uniform(&s) : 0.0;
                    }
                }
                states[k] = (hspec_order){m[k], r[k], zero, 1.0};
            }
            double loss[STATES];
            double error[STATES];
            const hspec_signal_params signal = flipped(nu[j], p[i]);
            losses(&signal, HSPEC_SOFTMAX, L, H, 16384, 11, 0, STATES, states, loss, error);
            const double bound = p[i] * (1.0 - p[i]) * (double)L / (double)(L - 1);
            for (size_t k = 0; k < STATES; k++) {
                assert_true(loss[k] >= bound - 5.0 * error[k]);
            }
        }
    }
}

/* At large nu two heads of opposite sides reach the bound for p = 1/2, and softmax1 leaves it far below. */
static void test_softmax_bound_is_sharp(void **state)
{
    (void)state;
    const double m[2] = {0.5, -0.5};
    const double r[4] = {0.0, 0.0, 0.0, 0.0};
    const double silent[2] = {5.0, 5.0};
    const hspec_signal_params signal = flipped(400.0, 0.5);
    const hspec_order soft = {m, r, silent, 1.0};
    const hspec_order soft1 = {m, r, silent, 2.0};
    double loss;
    double error;
    losses(&signal, HSPEC_SOFTMAX, 5, 2, 1 << 16, 12, 0, 1, &soft, &loss, &error);
    const double bound = 0.25 * 5.0 / 4.0;
    assert_true(loss >= bound - 5.0 * error && loss < 1.06 * bound);
    losses(&signal, HSPEC_SOFTMAX1, 5, 2, 1 << 16, 12, 0, 1, &soft1, &loss, &error);
    assert_true(loss < 0.05 * bound);
}

/* ---- errors ------------------------------------------------------------------------------------------------------------ */

static void test_errors(void **state)
{
    (void)state;
    hspec_signal *signal = NULL;
    const hspec_signal_params params = flipped(4.0, 0.5);
    assert_int_equal(hspec_signal_create(&params, &signal, NULL), HSPEC_OK);
    const hspec_task_params task = {.tokens = 3, .dimension = 100, .signal = signal};
    const hspec_layer_params layer = hspec_layer_default(2);
    double m[2] = {0.1, NAN};
    const double good[2] = {0.1, 0.2};
    const double r[4] = {1.0, 0.0, 0.0, 1.0};
    const double bias[2] = {0.0, 0.0};
    const hspec_order states[2] = {{good, r, bias, 1.0}, {m, r, bias, 1.0}};
    double loss[2] = {-7.5, -7.5};
    double error[2] = {-7.5, -7.5};
    hspec_error err;
    memset(&err, 0, sizeof err);
    assert_int_equal(hspec_population_loss(&task, &layer, 128, 1, 1, 2, states, loss, error, &err), HSPEC_ENONFINITE);
    assert_non_null(strchr(err.message, '1')); /* which state */
    assert_int_equal(hspec_population_loss(&task, &layer, 32, 1, 1, 1, states, loss, error, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "64"));
    assert_int_equal(hspec_population_loss(&task, &layer, 128, 1, 1, 1, NULL, loss, error, NULL), HSPEC_EARG);
    assert_int_equal(hspec_population_loss(&task, &layer, 128, 1, 1, 1, states, NULL, error, NULL), HSPEC_EARG);
    assert_int_equal(hspec_population_loss(NULL, &layer, 128, 1, 1, 1, states, loss, error, NULL), HSPEC_EARG);
    const double indefinite[4] = {1.0, 1.5, 1.5, 1.0};
    const hspec_order bad = {good, indefinite, bias, 1.0};
    assert_int_equal(hspec_population_loss(&task, &layer, 128, 1, 1, 1, &bad, loss, error, NULL), HSPEC_EARG);
    assert_true(loss[0] == -7.5 && loss[1] == -7.5 && error[0] == -7.5 && error[1] == -7.5);
    hspec_signal_free(signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_weights),  cmocka_unit_test(test_against_sampled_tokens),
        cmocka_unit_test(test_standard_error), cmocka_unit_test(test_threads_and_states),
        cmocka_unit_test(test_softmax_bound),  cmocka_unit_test(test_softmax_bound_is_sharp),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests_name("population", tests, NULL, NULL);
}
