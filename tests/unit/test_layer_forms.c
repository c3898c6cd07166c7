/* SPDX-License-Identifier: MIT
 * Forms of attention that are known exactly: vectors of softmax1, limits, the Bayes posterior; and wrong forms. */
#include "unit/problem.h"

/* ---- softmax1: known vectors, and wrong forms that the same checks must reject ---------------------------------- */

/* Attention of one softmax1 head with L scores, bias b, scale 1. */
typedef void (*softmax1_form)(size_t L, const double *chi, double b, double *p);

static void form_of_the_library(size_t L, const double *chi, double b, double *p)
{
    hspec_layer *layer = layer_make(HSPEC_SOFTMAX1, 1, L);
    assert_int_equal(hspec_layer_attention(layer, chi, &b, 1.0, p, NULL), HSPEC_OK);
    hspec_layer_free(layer);
}

/* Often seen: the scores are shifted by their maximum, but the 1 stays 1. */
static void form_unshifted_one(size_t L, const double *chi, double b, double *p)
{
    double top = chi[0];
    for (size_t l = 1; l < L; l++) {
        top = fmax(top, chi[l]);
    }
    double Z = exp(b);
    for (size_t l = 0; l < L; l++) {
        Z += exp(chi[l] - top);
    }
    for (size_t l = 0; l < L; l++) {
        p[l] = exp(chi[l] - top) / Z;
    }
}

/* No shift at all: right in small numbers, overflows in large ones. */
static void form_without_shift(size_t L, const double *chi, double b, double *p)
{
    double Z = exp(b);
    for (size_t l = 0; l < L; l++) {
        Z += exp(chi[l]);
    }
    for (size_t l = 0; l < L; l++) {
        p[l] = exp(chi[l]) / Z;
    }
}

static int check_one_three_six(softmax1_form form)
{
    const double chi[3] = {log(1.0), log(3.0), log(6.0)};
    double p[3];
    form(3, chi, 0.0, p);
    return fabs(p[0] - 1.0 / 11.0) < 1e-15 && fabs(p[1] - 3.0 / 11.0) < 1e-15 && fabs(p[2] - 6.0 / 11.0) < 1e-15;
}

static int check_silence(softmax1_form form)
{
    const double chi[3] = {-1000.0, -1000.0, -1000.0};
    double p[3];
    form(3, chi, 0.0, p);
    return p[0] == 0.0 && p[1] == 0.0 && p[2] == 0.0;
}

static int check_one_large(softmax1_form form)
{
    const double chi[3] = {710.0, 0.0, -3.0};
    double p[3];
    form(3, chi, 0.0, p);
    return fabs(p[0] - 1.0) < 1e-15 && p[1] >= 0.0 && p[1] < 1e-300 && p[2] >= 0.0 && p[2] < 1e-300;
}

static int check_large_bias(softmax1_form form)
{
    const double chi[2] = {709.0 + log(3.0), -5.0};
    double p[2];
    form(2, chi, 709.0, p);
    return fabs(p[0] - 0.75) < 1e-12 && p[1] >= 0.0 && p[1] < 1e-300;
}

/* dp_i/db = -p_i p_0 with p_0 = 1 - sum p, by central differences. */
static int check_bias_slope(softmax1_form form)
{
    const double chi[4] = {0.7, -1.2, 2.0, 0.1};
    const double step = 1e-5;
    double p[4];
    double up[4];
    double down[4];
    form(4, chi, 0.3, p);
    form(4, chi, 0.3 + step, up);
    form(4, chi, 0.3 - step, down);
    double p0 = exp(0.3) / (exp(0.3) + exp(0.7) + exp(-1.2) + exp(2.0) + exp(0.1));
    int good = fabs(p[0] + p[1] + p[2] + p[3] + p0 - 1.0) < 1e-14;
    for (size_t i = 0; i < 4; i++) {
        good = good && fabs((up[i] - down[i]) / (2.0 * step) + p[i] * p0) < 1e-9;
    }
    return good;
}

static void test_softmax1_vectors(void **state)
{
    (void)state;
    assert_true(check_one_three_six(form_of_the_library));
    assert_true(check_silence(form_of_the_library));
    assert_true(check_one_large(form_of_the_library));
    assert_true(check_large_bias(form_of_the_library));
    assert_true(check_bias_slope(form_of_the_library));
    /* Negative controls. */
    assert_false(check_one_three_six(form_unshifted_one));
    assert_false(check_silence(form_unshifted_one));
    assert_false(check_one_large(form_unshifted_one));
    assert_false(check_large_bias(form_unshifted_one));
    assert_false(check_bias_slope(form_unshifted_one));
    assert_false(check_one_large(form_without_shift));
    assert_false(check_large_bias(form_without_shift));
}

/* With b far below all scores softmax1 is softmax; with one head bayes is softmax, whatever b. */
static void test_limits_are_softmax(void **state)
{
    (void)state;
    static problem p;
    uint64_t s = 5;
    double soft[H_MAX * L_MAX];
    double other[H_MAX * L_MAX];
    for (size_t trial = 0; trial < 10; trial++) {
        problem_draw(&p, trial % 2 ? 1 : 5, 9, 2.0, &s);
        hspec_layer *layer = layer_make(HSPEC_SOFTMAX, p.H, p.L);
        assert_int_equal(hspec_layer_attention(layer, p.chi, NULL, 0.0, soft, NULL), HSPEC_OK);
        hspec_layer_free(layer);
        layer = layer_make(trial % 2 ? HSPEC_BAYES : HSPEC_SOFTMAX1, p.H, p.L);
        for (size_t h = 0; h < p.H; h++) {
            p.bias[h] = trial % 2 ? 3.0 : -2000.0;
        }
        assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, 1.0, other, NULL), HSPEC_OK);
        hspec_layer_free(layer);
        for (size_t i = 0; i < p.H * p.L; i++) {
            assert_true(fabs(soft[i] - other[i]) < 1e-14);
        }
    }
}

/* ---- bayes -------------------------------------------------------------------------------------------------------- */

static void test_bayes_common_shift(void **state)
{
    (void)state;
    static problem p;
    static gradient before;
    static gradient after;
    uint64_t s = 6;
    problem_draw(&p, 5, 8, 2.0, &s);
    hspec_layer *layer = layer_make(HSPEC_BAYES, 5, 8);
    const double shifts[] = {1.0, -37.5, 5000.0};
    for (size_t k = 0; k < COUNT(shifts); k++) {
        double a[40];
        double b[40];
        double shifted[5];
        assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, 1.0, a, NULL), HSPEC_OK);
        gradient_of(layer, &p, 1, &before);
        problem q = p;
        for (size_t h = 0; h < 5; h++) {
            shifted[h] = p.bias[h] + shifts[k];
            q.bias[h] = shifted[h];
        }
        assert_int_equal(hspec_layer_attention(layer, p.chi, shifted, 1.0, b, NULL), HSPEC_OK);
        gradient_of(layer, &q, 1, &after);
        const double tolerance = 1e-15 * (10.0 + fabs(shifts[k]));
        double sum = 0.0;
        for (size_t i = 0; i < 40; i++) {
            assert_true(fabs(a[i] - b[i]) <= 5.0 * tolerance);
            assert_true(fabs(before.d[i] - after.d[i]) <= 10.0 * tolerance);
            sum += a[i];
        }
        assert_true(fabs(sum - 5.0) < 1e-14 * 5.0); /* sum_l abar_l = 1 */
        double total = 0.0;
        for (size_t h = 0; h < 5; h++) {
            total += before.db[h];
        }
        assert_true(fabs(total) < 1e-14); /* a common shift changes nothing */
    }
    hspec_layer_free(layer);
}

/* The posterior of the position for a discrete signal, when the heads are its support. */
static void test_bayes_is_the_posterior(void **state)
{
    (void)state;
    enum { K = 4, F = 2, L = 6 };
    const double theta[K][F] = {{3.0, 0.0}, {0.0, 1.5}, {-1.0, 2.0}, {0.5, 0.5}};
    const double weight[K] = {0.5, 0.2, 0.2, 0.1};
    uint64_t s = 8;
    hspec_layer *layer = layer_make(HSPEC_BAYES, K, L);
    for (size_t trial = 0; trial < 20; trial++) {
        double c[F][L];
        double chi[K * L];
        double bias[K];
        double a[K * L];
        for (size_t l = 0; l < L; l++) {
            for (size_t f = 0; f < F; f++) {
                c[f][l] = normal(&s) + (l == 2 ? theta[trial % K][f] : 0.0);
            }
        }
        for (size_t k = 0; k < K; k++) {
            bias[k] = log(weight[k]) - 0.5 * (theta[k][0] * theta[k][0] + theta[k][1] * theta[k][1]);
            for (size_t l = 0; l < L; l++) {
                chi[k * L + l] = theta[k][0] * c[0][l] + theta[k][1] * c[1][l];
            }
        }
        assert_int_equal(hspec_layer_attention(layer, chi, bias, 1.0, a, NULL), HSPEC_OK);
        /* The likelihood of position l is the ratio of two Gaussian densities, averaged over the support. */
        long double likelihood[L];
        long double total = 0.0L;
        for (size_t l = 0; l < L; l++) {
            likelihood[l] = 0.0L;
            for (size_t k = 0; k < K; k++) {
                long double exponent = 0.0L;
                for (size_t f = 0; f < F; f++) {
                    const long double with = (long double)c[f][l] - theta[k][f];
                    const long double without = c[f][l];
                    exponent += 0.5L * (without * without - with * with);
                }
                likelihood[l] += weight[k] * expl(exponent);
            }
            total += likelihood[l];
        }
        for (size_t l = 0; l < L; l++) {
            double mean = 0.0;
            for (size_t k = 0; k < K; k++) {
                mean += a[k * L + l] / K;
            }
            assert_true(fabs(mean - (double)(likelihood[l] / total)) < 1e-14);
        }
    }
    hspec_layer_free(layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax1_vectors),
        cmocka_unit_test(test_limits_are_softmax),
        cmocka_unit_test(test_bayes_common_shift),
        cmocka_unit_test(test_bayes_is_the_posterior),
    };
    return cmocka_run_group_tests_name("layer forms", tests, NULL, NULL);
}
