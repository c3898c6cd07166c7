/* SPDX-License-Identifier: MIT
 * The Bayes risk against plain Monte Carlo: tokens are drawn, the posterior is summed from its definition, and nothing but
 * the parameters is shared with the library. Comparisons at 5 standard errors (below 1e-4 each, since those of the rule
 * come from 16 randomizations); fixed seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"
#include "law/stats.h"

#include <math.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { F_MAX = 4, K_MAX = 24, L_MAX = 60, SAMPLES = 200000 };

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

/* A signal as a list of points, or (K = 0) as a gaussian. */
typedef struct plain {
    size_t F, K;
    double theta[K_MAX][F_MAX], weight[K_MAX], mean[F_MAX], variance[F_MAX];
} plain;

static void draw_theta(const plain *p, double *theta, uint64_t *s)
{
    if (p->K == 0) {
        for (size_t f = 0; f < p->F; f++) {
            theta[f] = p->mean[f] + sqrt(p->variance[f]) * normal(s);
        }
        return;
    }
    double left = uniform(s);
    size_t k = 0;
    while (k + 1 < p->K && left >= p->weight[k]) {
        left -= p->weight[k++];
    }
    for (size_t f = 0; f < p->F; f++) {
        theta[f] = p->theta[k][f];
    }
}

/* E_theta exp(theta . c - |theta|^2 / 2) */
static double ratio(const plain *p, const double *c)
{
    double value = p->K == 0 ? 1.0 : 0.0;
    for (size_t f = 0; p->K == 0 && f < p->F; f++) {
        const double V = p->variance[f];
        const double mu = p->mean[f];
        value *= exp((V * c[f] * c[f] + 2.0 * mu * c[f] - mu * mu) / (2.0 * (1.0 + V))) / sqrt(1.0 + V);
    }
    for (size_t k = 0; k < p->K; k++) {
        double exponent = 0.0;
        for (size_t f = 0; f < p->F; f++) {
            exponent += p->theta[k][f] * c[f] - p->theta[k][f] * p->theta[k][f] / 2.0;
        }
        value += p->weight[k] * exp(exponent);
    }
    return value;
}

/* Mean of |p - 1_e|^2 over sequences whose target stands anywhere. */
static double sampled_risk(const plain *p, size_t L, uint64_t seed, double *error)
{
    uint64_t s = seed;
    double sum = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < SAMPLES; i++) {
        const size_t e = (size_t)((double)L * uniform(&s));
        double w[L_MAX];
        double total = 0.0;
        for (size_t l = 0; l < L; l++) {
            double c[F_MAX] = {0};
            if (l == e) {
                draw_theta(p, c, &s);
            }
            for (size_t f = 0; f < p->F; f++) {
                c[f] += normal(&s);
            }
            w[l] = ratio(p, c);
            total += w[l];
        }
        double loss = 0.0;
        for (size_t l = 0; l < L; l++) {
            const double v = w[l] / total - (l == e ? 1.0 : 0.0);
            loss += v * v;
        }
        sum += loss;
        squares += loss * loss;
    }
    const double mean = sum / SAMPLES;
    *error = sqrt((squares / SAMPLES - mean * mean) / SAMPLES);
    return mean;
}

static double risk_of(const plain *p, size_t L, size_t nodes, uint64_t seed, double *error)
{
    static double theta[K_MAX * F_MAX];
    for (size_t k = 0; k < p->K; k++) {
        for (size_t f = 0; f < p->F; f++) {
            theta[k * p->F + f] = p->theta[k][f];
        }
    }
    const hspec_signal_params params = {.kind = p->K == 0 ? HSPEC_SIGNAL_GAUSSIAN : HSPEC_SIGNAL_DISCRETE,
                                        .features = p->F,
                                        .points = p->K,
                                        .theta = theta,
                                        .weights = p->weight,
                                        .mean = p->mean,
                                        .variance = p->variance};
    hspec_signal *signal = NULL;
    hspec_error err;
    double risk = -1.0;
    if (hspec_signal_create(&params, &signal, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    const hspec_task_params task = {.tokens = L, .signal = signal};
    if (hspec_bayes_risk(&task, nodes, seed, 0, &risk, error, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_signal_free(signal);
    return risk;
}

static plain flipped(double nu, double p)
{
    return (plain){.F = 1, .K = 2, .theta = {{sqrt(nu)}, {-sqrt(nu)}}, .weight = {p, 1.0 - p}};
}

/* Points of a normal law with growing weights. */
static plain many_points(size_t K, size_t F, double size)
{
    uint64_t s = K;
    plain p = {.F = F, .K = K};
    for (size_t k = 0; k < K; k++) {
        p.weight[k] = 2.0 * ((double)k + 1.0) / ((double)K * ((double)K + 1.0));
        for (size_t f = 0; f < F; f++) {
            p.theta[k][f] = size * normal(&s);
        }
    }
    return p;
}

static void test_against_sampled_tokens(void **state)
{
    (void)state;
    const plain signals[] = {
        flipped(9.0, 0.5),
        flipped(4.0, 0.7),
        {.F = 2, .K = 3, .theta = {{2.0, 0.0}, {0.0, 1.5}, {-1.0, 1.0}}, .weight = {0.5, 0.3, 0.2}},
        many_points(7, 4, 1.5),  /* summed; more points than features */
        many_points(3, 4, 1.5),  /* fewer points than features */
        many_points(24, 3, 1.5), /* drawn */
        {.F = 3, .mean = {1.5, 0.0, 0.0}, .variance = {0.0, 9.0, 3.0}},
        {.F = 4, .mean = {0.0, 0.5, 0.0, -1.0}, .variance = {1.0, 1.0, 1.0, 1.0}},
    };
    const size_t tokens[] = {2, 5, 60};
    for (size_t i = 0; i < COUNT(signals); i++) {
        for (size_t j = 0; j < COUNT(tokens); j++) {
            if (tokens[j] == 60 && i % 3 != 0) {
                continue; /* sampling takes long */
            }
            double sampled_error;
            double error;
            const double sampled = sampled_risk(&signals[i], tokens[j], 100 * i + j, &sampled_error);
            const double risk = risk_of(&signals[i], tokens[j], 1 << 15, 1, &error);
            printf("  signal %zu, L %zu: %.5f +- %.5f, sampled %.5f +- %.5f\n", i, tokens[j], risk, error, sampled,
                   sampled_error);
            assert_true(error < sampled_error && sampled_error < 1.5e-3);
            assert_true(fabs(risk - sampled) <= 5.0 * hypot(error, sampled_error));
        }
    }
}

/* The spread over seeds is what the standard errors say, and their mean is right: 100 risks have their deviation within
 * 7 %, and the mean square of 100 errors of 15 degrees of freedom is good within 4 %. */
static void test_standard_error(void **state)
{
    (void)state;
    enum { N = 100 };
    const plain signals[] = {
        flipped(9.0, 0.5), many_points(24, 3, 1.5), {.F = 3, .mean = {1.5, 0.0, 0.0}, .variance = {0.0, 9.0, 3.0}}};
    const size_t tokens[] = {5, 1000};
    for (size_t i = 0; i < COUNT(signals); i++) {
        for (size_t j = 0; j < COUNT(tokens); j++) {
            double reference_error;
            const double reference = risk_of(&signals[i], tokens[j], 1 << 20, 1, &reference_error);
            double risk[N];
            double squares = 0.0;
            for (size_t k = 0; k < N; k++) {
                double error;
                risk[k] = risk_of(&signals[i], tokens[j], 4096, 1000 + k, &error);
                squares += error * error / N;
            }
            const double ratio_of = sqrt(stats_variance(risk, N) / squares);
            const double bias = stats_average(risk, N) - reference;
            printf("  signal %zu, L %zu: deviation over reported error %.3f; bias %.1e, error %.1e\n", i, tokens[j],
                   ratio_of, bias, sqrt(squares));
            assert_true(ratio_of > 0.7 && ratio_of < 1.35);
            /* The estimate is a smooth function of averages: its bias is of the order of their variance. */
            assert_true(fabs(bias) < 0.2 * sqrt(squares) + 5.0 * hypot(reference_error, sqrt(squares / N)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_sampled_tokens),
        cmocka_unit_test(test_standard_error),
    };
    return cmocka_run_group_tests_name("bayes", tests, NULL, NULL);
}
