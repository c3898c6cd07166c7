/* SPDX-License-Identifier: MIT
 * The law of the random start in both engines, and the independence of seeds.
 * Each group of tests is held at 1e-4 by Holm's correction. Seeds are fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"
#include "law/stats.h"
#include "law/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { H = 3, F = 2, SEEDS = 4000, NUMBERS = H * F + H * (H + 1) / 2 };

static naive_case start_case(size_t D)
{
    static const double mean[F] = {1.0, 0.0};
    static const double variance[F] = {0.0, 1.0};
    naive_case c = {.layer = hspec_layer_default(H), .training = hspec_training_default()};
    c.signal.kind = HSPEC_SIGNAL_GAUSSIAN;
    c.signal.features = F;
    c.signal.mean = mean;
    c.signal.variance = variance;
    c.task.tokens = 3;
    c.task.dimension = D;
    c.training.time = 1.0 / (double)D;
    c.training.records = 1;
    c.training.init.scale = 0.7;
    return c;
}

/* m sqrt(D)/scale is standard normal; the Cholesky factor A of D r/scale^2 is that of a Wishart matrix with D - F
 * degrees of freedom: A_jj^2 ~ chi^2(D - F - j), j from 0, and standard normals below. All are independent. */
static void whiten(const trial *t, size_t k, double scale, double D, double *x)
{
    double A[H][H] = {{0.0}};
    for (size_t h = 0; h < H; h++) {
        for (size_t f = 0; f < F; f++) {
            *x++ = trial_column(t, 0, trial_m(t, h, f))[k] * sqrt(D) / scale;
        }
    }
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++) {
            double sum = trial_column(t, 0, trial_r(t, h, j))[k] * D / (scale * scale);
            for (size_t i = 0; i < j; i++) {
                sum -= A[h][i] * A[j][i];
            }
            A[h][j] = h == j ? sqrt(sum) : sum / A[j][j];
            *x++ = h == j ? sum : A[h][j];
        }
    }
}

static void assert_family(const double *p, size_t n, const char *what)
{
    double *adjusted = malloc(n * sizeof *adjusted);
    assert_non_null(adjusted);
    const size_t worst = stats_holm(p, n, adjusted);
    printf("  %-40s %3zu tests, smallest adjusted p %.2g (number %zu)\n", what, n, adjusted[worst], worst);
    const int good = adjusted[worst] >= 1e-4;
    free(adjusted);
    assert_true(good);
}

static void check_random_start(size_t D, trial_source source, uint64_t seed)
{
    static double x[NUMBERS][SEEDS];
    const naive_case c = start_case(D);
    trial t = trial_run(&c, source, SEEDS, seed);
    for (size_t k = 0; k < SEEDS; k++) {
        double one[NUMBERS];
        whiten(&t, k, c.training.init.scale, (double)D, one);
        for (size_t i = 0; i < NUMBERS; i++) {
            x[i][k] = one[i];
        }
    }
    double p[NUMBERS + NUMBERS * (NUMBERS - 1) / 2 + 2 * NUMBERS];
    size_t n = 0;
    const double standard[2] = {0.0, 1.0};
    size_t i = 0;
    for (; i < H * F; i++) {
        p[n++] = stats_ks_one(x[i], SEEDS, stats_normal_cdf, standard).p;
    }
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++, i++) {
            const double dof = (double)(D - F - j);
            p[n++] = h == j ? stats_ks_one(x[i], SEEDS, stats_chi2_cdf, &dof).p
                            : stats_ks_one(x[i], SEEDS, stats_normal_cdf, standard).p;
        }
    }
    assert_int_equal(i, NUMBERS);
    for (i = 0; i < NUMBERS; i++) {
        for (size_t j = 0; j < i; j++) {
            p[n++] = stats_correlation(x[i], x[j], SEEDS).p;
        }
        /* Neighbouring seeds, and seeds that share a lane of 8. */
        p[n++] = stats_correlation(x[i], x[i] + 1, SEEDS - 1).p;
        p[n++] = stats_correlation(x[i], x[i] + 8, SEEDS - 8).p;
    }
    trial_free(&t);
    char what[60];
    snprintf(what, sizeof what, "random start, D %zu, %s", D, source == TRIAL_REDUCED ? "reduced" : "explicit");
    assert_family(p, n, what);
}

static void test_random_start(void **state)
{
    (void)state;
    check_random_start(60, TRIAL_REDUCED, 1);
    check_random_start(60, TRIAL_EXPLICIT, 2);
    check_random_start(F + H, TRIAL_REDUCED, 3); /* the last head has one degree of freedom */
    check_random_start(F + H, TRIAL_EXPLICIT, 4);
    check_random_start(F + H + 1, TRIAL_REDUCED, 5);
}

/* At D = 1e12 the start is a Gaussian and scale^2 I up to 1e-6. */
static void test_random_start_in_huge_dimension(void **state)
{
    (void)state;
    naive_case c = start_case(1000000000000U);
    trial t = trial_run(&c, TRIAL_REDUCED, SEEDS, 6);
    double p[H * F];
    for (size_t i = 0; i < H * F; i++) {
        const double normal[2] = {0.0, 0.7e-6};
        p[i] = stats_ks_one(trial_column(&t, 0, i), SEEDS, stats_normal_cdf, normal).p;
    }
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++) {
            const double *r = trial_column(&t, 0, trial_r(&t, h, j));
            const double expected = h == j ? 0.49 : 0.0;
            const double deviation = 0.49e-6 * (h == j ? sqrt(2.0) : 1.0);
            for (size_t k = 0; k < SEEDS; k++) {
                assert_true(fabs(r[k] - expected) < 7.0 * deviation);
            }
            assert_true(fabs(stats_variance(r, SEEDS) / (deviation * deviation) - 1.0) < 0.15);
        }
    }
    trial_free(&t);
    assert_family(p, H * F, "random start, D 1e12, reduced");
}

/* The steps of neighbouring seeds, and of seeds 8 and 16 apart, are independent too. */
static void test_seeds_are_independent(void **state)
{
    (void)state;
    static const double alignment[H * F] = {0.5, 0.0, 0.2, 0.1, -0.1, 0.3};
    const trial_source sources[2] = {TRIAL_REDUCED, TRIAL_EXPLICIT};
    for (size_t i = 0; i < 2; i++) {
        naive_case c = start_case(30);
        c.training.init.kind = HSPEC_INIT_ALIGNED;
        c.training.init.alignment = alignment;
        c.training.init.residual_diagonal = 0.5;
        c.training.time = 2.0 / 30.0;
        trial t = trial_run(&c, sources[i], SEEDS, 7 + i);
        double p[3 * NUMBERS];
        size_t n = 0;
        for (size_t column = 0; column < NUMBERS; column++) {
            const double *x = trial_column(&t, 1, column);
            p[n++] = stats_correlation(x, x + 1, SEEDS - 1).p;
            p[n++] = stats_correlation(x, x + 8, SEEDS - 8).p;
            p[n++] = stats_correlation(x, x + 16, SEEDS - 16).p;
        }
        trial_free(&t);
        assert_family(p, n, i == 0 ? "steps of different seeds, reduced" : "steps of different seeds, explicit");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_start),
        cmocka_unit_test(test_random_start_in_huge_dimension),
        cmocka_unit_test(test_seeds_are_independent),
    };
    return cmocka_run_group_tests_name("starts", tests, NULL, NULL);
}
