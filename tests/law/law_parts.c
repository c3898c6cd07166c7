/* SPDX-License-Identifier: MIT
 * The parts of the population loss and the shares of the heads against sampled sequences, and the spread of the estimates
 * against their standard errors. Comparisons at 5 standard errors; fixed seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"
#include "law/stats.h"

#include <math.h>
#include <stdio.h>

enum { H = 3, F = 2, L = 5, EACH = 2 * (H + 1), SAMPLES = 200000 };

static const double alignment[H][F] = {{1.2, -0.3}, {0.4, 0.9}, {-0.8, 0.2}};
static const double root[H][H] = {{0.8, 0.0, 0.0}, {0.3, 0.6, 0.0}, {-0.2, 0.1, 0.5}};
static const double bias[H] = {0.4, -0.3, 0.6};
static const double mean[F] = {1.0, 0.0};
static const double variance[F] = {0.5, 2.0};
static const double scale = 1.2;

static double uniform(uint64_t *s)
{
    *s += 0x9E3779B97F4A7C15U;
    uint64_t z = *s;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *s)
{
    const double radius = sqrt(-2.0 * log(uniform(s)));
    return radius * cos(6.283185307179586477 * uniform(s));
}

/* Scores of one sequence with its target at e: a gaussian signal of two features, noise of covariance root root^T. */
static void draw_scores(size_t e, uint64_t *s, double chi[H][L])
{
    for (size_t l = 0; l < L; l++) {
        double c[F];
        double u[H];
        for (size_t f = 0; f < F; f++) {
            c[f] = normal(s) + (l == e ? mean[f] + sqrt(variance[f]) * normal(s) : 0.0);
        }
        for (size_t h = 0; h < H; h++) {
            u[h] = normal(s);
            chi[h][l] = 0.0;
            for (size_t f = 0; f < F; f++) {
                chi[h][l] += alignment[h][f] * c[f];
            }
            for (size_t j = 0; j <= h; j++) {
                chi[h][l] += root[h][j] * u[j];
            }
        }
    }
}

/* parts and their standard errors from sequences whose target stands anywhere. */
static void sample(hspec_activation activation, double *parts, double *error)
{
    hspec_layer_params params = hspec_layer_default(H);
    params.activation = activation;
    hspec_layer *layer = NULL;
    assert_int_equal(hspec_layer_create(&params, L, &layer, NULL), HSPEC_OK);
    uint64_t s = 11;
    double sum[EACH] = {0};
    double squares[EACH] = {0};
    for (size_t i = 0; i < SAMPLES; i++) {
        const size_t e = i % L;
        double chi[H][L];
        double a[H][L];
        double value[EACH] = {0};
        draw_scores(e, &s, chi);
        assert_int_equal(hspec_layer_attention(layer, chi[0], bias, scale, a[0], NULL), HSPEC_OK);
        for (size_t l = 0; l < L; l++) {
            double average = 0.0;
            for (size_t h = 0; h < H; h++) {
                average += a[h][l] / H;
            }
            value[l == e ? 0 : H + 1] += l == e ? (1.0 - average) * (1.0 - average) : average * average;
            for (size_t h = 0; h < H; h++) {
                value[(l == e ? 1 : H + 2) + h] += (l == e ? (1.0 - a[h][l]) * (1.0 - average) : a[h][l] * average) / H;
            }
        }
        for (size_t k = 0; k < EACH; k++) {
            sum[k] += value[k];
            squares[k] += value[k] * value[k];
        }
    }
    for (size_t k = 0; k < EACH; k++) {
        parts[k] = sum[k] / SAMPLES;
        error[k] = sqrt((squares[k] / SAMPLES - parts[k] * parts[k]) / SAMPLES);
    }
    hspec_layer_free(layer);
}

static void parts_of(hspec_activation activation, size_t nodes, uint64_t seed, double *parts, double *error)
{
    const hspec_signal_params signal_params = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_signal_create(&signal_params, &signal, NULL), HSPEC_OK);
    hspec_layer_params layer = hspec_layer_default(H);
    layer.activation = activation;
    const hspec_task_params task = {.tokens = L, .dimension = 100, .signal = signal};
    double r[H * H] = {0};
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) {
            for (size_t k = 0; k < H; k++) {
                r[h * H + j] += root[h][k] * root[j][k];
            }
        }
    }
    const hspec_order order = {alignment[0], r, bias, scale};
    assert_int_equal(hspec_population_parts(&task, &layer, nodes, seed, 0, 1, &order, parts, error, NULL), HSPEC_OK);
    hspec_signal_free(signal);
}

static void test_against_sampled_sequences(void **state)
{
    (void)state;
    for (int activation = 0; activation < 3; activation++) {
        double sampled[EACH];
        double sampled_error[EACH];
        double parts[EACH];
        double error[EACH];
        sample((hspec_activation)activation, sampled, sampled_error);
        parts_of((hspec_activation)activation, 1 << 17, 1, parts, error);
        for (size_t k = 0; k < EACH; k++) {
            printf("  activation %d, part %zu: %.5f +- %.5f, sampled %.5f +- %.5f\n", activation, k, parts[k], error[k],
                   sampled[k], sampled_error[k]);
            assert_true(error[k] < sampled_error[k] && sampled_error[k] < 1.5e-3);
            assert_true(fabs(parts[k] - sampled[k]) <= 5.0 * hypot(error[k], sampled_error[k]));
        }
    }
}

/* 100 estimates have their deviation within 7 %; the mean square of 100 errors of 7 degrees of freedom is good within 6 %. */
static void test_standard_error(void **state)
{
    (void)state;
    enum { N = 100 };
    static double parts[EACH][N];
    double squares[EACH] = {0};
    for (size_t i = 0; i < N; i++) {
        double one[EACH];
        double error[EACH];
        parts_of(HSPEC_SOFTMAX1, 1024, 100 + i, one, error);
        for (size_t k = 0; k < EACH; k++) {
            parts[k][i] = one[k];
            squares[k] += error[k] * error[k] / N;
        }
    }
    for (size_t k = 0; k < EACH; k++) {
        const double ratio = sqrt(stats_variance(parts[k], N) / squares[k]);
        printf("  part %zu: deviation over reported error %.3f\n", k, ratio);
        assert_true(ratio > 0.7 && ratio < 1.4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_sampled_sequences),
        cmocka_unit_test(test_standard_error),
    };
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
