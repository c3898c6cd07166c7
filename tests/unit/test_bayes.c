/* SPDX-License-Identifier: MIT
 * The posterior of the position against plain sums and integrals; the Bayes risk against quadrature, limits, threads and
 * instruction sets. tests/law/law_bayes.c holds it against sampled tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/bayes.h"
#include "unit/levels.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { F_MAX = 3, K_MAX = 40, L_MAX = 12 };

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

static hspec_signal *make(const hspec_signal_params *params)
{
    hspec_signal *signal = NULL;
    hspec_error err;
    if (hspec_signal_create(params, &signal, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    return signal;
}

static hspec_signal_params flipped(double nu, double p)
{
    return (hspec_signal_params){.kind = HSPEC_SIGNAL_FLIPPED, .strength = nu, .probability = p};
}

static hspec_signal_params gaussian(size_t F, const double *mean, const double *variance)
{
    return (hspec_signal_params){.kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
}

/* Points of unequal norms and weights; arrays stay until the next call. */
static hspec_signal_params points(size_t K, size_t F, double size, uint64_t *s)
{
    static double theta[K_MAX * F_MAX];
    static double weights[K_MAX];
    double sum = 0.0;
    for (size_t k = 0; k < K; k++) {
        weights[k] = 0.1 + uniform(s);
        sum += weights[k];
        for (size_t f = 0; f < F; f++) {
            theta[k * F + f] = size * normal(s);
        }
    }
    for (size_t k = 0; k < K; k++) {
        weights[k] /= sum;
    }
    return (hspec_signal_params){
        .kind = HSPEC_SIGNAL_DISCRETE, .features = F, .points = K, .theta = theta, .weights = weights};
}

/* ---- posterior ------------------------------------------------------------------------------------------------------- */

/* ln E_theta exp(theta . c - |theta|^2 / 2) from its definition, in long double; *size: its largest term. */
static long double log_ratio(const hspec_signal_params *params, const double *c, long double *size)
{
    const size_t F = params->kind == HSPEC_SIGNAL_FLIPPED ? 1 : params->features;
    const size_t K = params->kind == HSPEC_SIGNAL_FLIPPED ? 2 : params->points;
    const double flip[2] = {sqrt(params->strength), -sqrt(params->strength)};
    const double chance[2] = {params->probability, 1.0 - params->probability};
    const double *theta = params->kind == HSPEC_SIGNAL_FLIPPED ? flip : params->theta;
    const double *weights = params->kind == HSPEC_SIGNAL_FLIPPED ? chance : params->weights;
    long double exponent[K_MAX];
    long double top = -INFINITY;
    for (size_t k = 0; k < K; k++) {
        exponent[k] = 0.0L;
        for (size_t f = 0; f < F; f++) {
            const long double t = theta[k * F + f];
            exponent[k] += t * c[f] - t * t / 2.0L;
            *size = fmaxl(*size, fabsl(t * c[f]) + t * t);
        }
        if (weights[k] > 0.0) {
            top = fmaxl(top, exponent[k]);
        }
    }
    long double sum = 0.0L;
    for (size_t k = 0; k < K; k++) {
        if (weights[k] > 0.0) {
            sum += weights[k] * expl(exponent[k] - top);
        }
    }
    return top + logl(sum);
}

/* p of the library against softmax of the given logarithms; an exponent of size x is known to 4 eps x. */
static void compare(const hspec_signal *signal, size_t L, const double *c, const long double *logarithm,
                    long double size)
{
    double p[L_MAX];
    assert_int_equal(hspec_bayes_posterior(signal, L, c, p, NULL), HSPEC_OK);
    long double top = -INFINITY;
    long double sum = 0.0L;
    double total = 0.0;
    for (size_t l = 0; l < L; l++) {
        top = fmaxl(top, logarithm[l]);
    }
    for (size_t l = 0; l < L; l++) {
        sum += expl(logarithm[l] - top);
    }
    for (size_t l = 0; l < L; l++) {
        const double error = fabs((double)(p[l] - expl(logarithm[l] - top) / sum));
        if (!(error <= 1e-14 + 8.0 * DBL_EPSILON * (double)size)) {
            fail_msg("L %zu, l %zu: %.17g is off by %g", L, l, p[l], error);
        }
        total += p[l];
    }
    assert_true(fabs(total - 1.0) < 1e-14);
}

static void test_points(void **state)
{
    (void)state;
    uint64_t s = 1;
    for (size_t trial = 0; trial < 300; trial++) {
        const size_t F = 1 + trial % F_MAX;
        const size_t K = 1 + (trial * 7) % K_MAX;
        const size_t L = 2 + trial % (L_MAX - 1);
        hspec_signal_params params = points(K, F, trial % 4 == 3 ? 20.0 : 1.5, &s);
        if (trial % 5 == 0) {
            params = flipped(0.5 + 20.0 * uniform(&s), trial % 15 == 0 ? 0.0 : trial % 15 == 5 ? 1.0 : uniform(&s));
        }
        const size_t features = trial % 5 == 0 ? 1 : F;
        /* ordinary tokens, and projections up to 1e4 of either sign */
        const double spread = trial % 2 ? 2.0 : 1e4;
        double c[F_MAX * L_MAX];
        long double logarithm[L_MAX];
        long double size = 1.0L;
        for (size_t l = 0; l < L; l++) {
            double one[F_MAX];
            for (size_t f = 0; f < features; f++) {
                one[f] = spread * (2.0 * uniform(&s) - 1.0);
                c[f * L + l] = one[f];
            }
            logarithm[l] = log_ratio(&params, one, &size);
        }
        hspec_signal *signal = make(&params);
        compare(signal, L, c, logarithm, size);
        hspec_signal_free(signal);
    }
}

/* The closed form of the gaussian law against the trapezoid rule over theta, feature by feature. */
static void test_gaussian(void **state)
{
    (void)state;
    const double mean[F_MAX] = {1.5, -0.4, 0.0};
    const double variance[F_MAX] = {0.3, 9.0, 0.0};
    const hspec_signal_params params = gaussian(F_MAX, mean, variance);
    hspec_signal *signal = make(&params);
    uint64_t s = 2;
    for (size_t trial = 0; trial < 40; trial++) {
        const size_t L = 2 + trial % 5;
        double c[F_MAX * L_MAX];
        long double logarithm[L_MAX];
        for (size_t l = 0; l < L; l++) {
            logarithm[l] = 0.0L;
            for (size_t f = 0; f < F_MAX; f++) {
                const double x = 3.0 * normal(&s);
                c[f * L + l] = x;
                if (variance[f] == 0.0) {
                    logarithm[l] += mean[f] * (x - mean[f] / 2.0);
                    continue;
                }
                /* The integrand is a gaussian of variance V / (1 + V): steps of 1/8 of that width are exact. */
                const double V = variance[f];
                const double middle = (mean[f] + V * x) / (1.0 + V);
                const double width = sqrt(V / (1.0 + V));
                long double sum = 0.0L;
                for (int i = -100; i <= 100; i++) {
                    const long double theta = middle + i * width / 8.0;
                    sum += expl(theta * x - theta * theta / 2.0L - (theta - mean[f]) * (theta - mean[f]) / (2.0L * V) -
                                x * x / 2.0L);
                }
                logarithm[l] += logl(sum * width / 8.0 / sqrtl(6.283185307179586477L * V)) + x * x / 2.0L;
            }
        }
        compare(signal, L, c, logarithm, 40.0L);
    }
    hspec_signal_free(signal);
}

static void test_gaussian_extremes(void **state)
{
    (void)state;
    const double mean[2] = {1e3, -1e3};
    const double variance[2] = {0.0, 1e6};
    const hspec_signal_params params = gaussian(2, mean, variance);
    hspec_signal *signal = make(&params);
    const double sizes[] = {1e4, 1e100};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        /* the last token is the largest in both features that count */
        const double c[6] = {-sizes[i], sizes[i] / 2.0, sizes[i], 0.0, sizes[i] / 2.0, -sizes[i]};
        double p[3];
        assert_int_equal(hspec_bayes_posterior(signal, 3, c, p, NULL), HSPEC_OK);
        assert_true(p[0] == 0.0 && p[1] == 0.0 && p[2] == 1.0);
    }
    /* equal tokens share */
    const double equal[4] = {1e4, 1e4, -1e4, -1e4};
    double p[2];
    assert_int_equal(hspec_bayes_posterior(signal, 2, equal, p, NULL), HSPEC_OK);
    assert_true(p[0] == 0.5 && p[1] == 0.5);
    hspec_signal_free(signal);
}

/* ---- Bayes-softmax at the support ------------------------------------------------------------------------------------ */

/* k_h = sum_f theta_hf k*_f, b_h = ln pi_h - |theta_h|^2 / 2: its mean attention is the posterior. */
static void test_bayes_softmax(void **state)
{
    (void)state;
    uint64_t s = 3;
    for (size_t trial = 0; trial < 60; trial++) {
        const size_t F = 1 + trial % F_MAX;
        const size_t K = 1 + trial % 12;
        const size_t L = 2 + trial % (L_MAX - 1);
        const hspec_signal_params params = points(K, F, trial % 3 ? 1.5 : 6.0, &s);
        hspec_signal *signal = make(&params);
        double c[F_MAX * L_MAX];
        for (size_t f = 0; f < F; f++) {
            for (size_t l = 0; l < L; l++) {
                c[f * L + l] = normal(&s) + (l == trial % L ? params.theta[f] : 0.0);
            }
        }
        double chi[12 * L_MAX];
        double bias[12];
        for (size_t h = 0; h < K; h++) {
            bias[h] = log(params.weights[h]);
            for (size_t f = 0; f < F; f++) {
                bias[h] -= params.theta[h * F + f] * params.theta[h * F + f] / 2.0;
            }
            for (size_t l = 0; l < L; l++) {
                chi[h * L + l] = 0.0;
                for (size_t f = 0; f < F; f++) {
                    chi[h * L + l] += params.theta[h * F + f] * c[f * L + l];
                }
            }
        }
        hspec_layer_params layer_params = hspec_layer_default(K);
        layer_params.activation = HSPEC_BAYES;
        hspec_layer *layer = NULL;
        double a[12 * L_MAX];
        double p[L_MAX];
        assert_int_equal(hspec_layer_create(&layer_params, L, &layer, NULL), HSPEC_OK);
        assert_int_equal(hspec_layer_attention(layer, chi, bias, 1.0, a, NULL), HSPEC_OK);
        assert_int_equal(hspec_bayes_posterior(signal, L, c, p, NULL), HSPEC_OK);
        for (size_t l = 0; l < L; l++) {
            double mean = 0.0;
            for (size_t h = 0; h < K; h++) {
                mean += a[h * L + l] / (double)K;
            }
            assert_true(fabs(mean - p[l]) < 1e-12);
        }
        hspec_layer_free(layer);
        hspec_signal_free(signal);
    }
}

/* ---- risk --------------------------------------------------------------------------------------------------------------- */

static double risk_of(const hspec_signal_params *params, size_t L, size_t nodes, uint64_t seed, int threads,
                      double *error)
{
    hspec_signal *signal = make(params);
    const hspec_task_params task = {.tokens = L, .signal = signal};
    double risk = -1.0;
    hspec_error err;
    if (hspec_bayes_risk(&task, nodes, seed, threads, &risk, error, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_signal_free(signal);
    return risk;
}

/* E (1 - p_e) for one feature by the trapezoid rule over theta and over all c_l on a grid of steps of 1/5, where it is
 * exact to rounding: the integrand is analytic in a strip of half-width pi / |theta|, of order 1. L is 2 or 3. */
static double quadrature(const hspec_signal_params *params, size_t L)
{
    enum { N = 100 };
    static double ratio[3][2 * N + 1];
    static double weight[2 * N + 1];
    const double step = 0.2;
    const int is_gaussian = params->kind == HSPEC_SIGNAL_GAUSSIAN;
    const double V = is_gaussian ? params->variance[0] : 0.0;
    const double flip[2] = {sqrt(params->strength), -sqrt(params->strength)};
    const double chance[2] = {params->probability, 1.0 - params->probability};
    const int kinds = is_gaussian ? 1 : 2;
    double total = 0.0;
    for (int i = 0; i <= 2 * N; i++) {
        const double z = step * (i - N);
        weight[i] = step * exp(-z * z / 2.0) / sqrt(6.283185307179586477);
    }
    for (int k = 0; k < kinds; k++) {
        for (int i = 0; i <= 2 * N; i++) {
            const double z = step * (i - N);
            /* the target: theta + z, of which the gaussian law knows mean and variance */
            const double x[2] = {is_gaussian ? params->mean[0] + sqrt(1.0 + V) * z : flip[k] + z, z};
            for (int j = 0; j < 2; j++) {
                if (is_gaussian) {
                    const double mu = params->mean[0];
                    ratio[j][i] =
                        exp((V * x[j] * x[j] + 2.0 * mu * x[j] - mu * mu) / (2.0 * (1.0 + V))) / sqrt(1.0 + V);
                } else {
                    long double size = 0.0L;
                    ratio[j][i] = exp((double)log_ratio(params, &x[j], &size));
                }
            }
        }
        double sum = 0.0;
        for (int i = 0; i <= 2 * N; i++) {
            for (int j = 0; j <= 2 * N; j++) {
                if (weight[i] * weight[j] < 1e-18) {
                    continue;
                }
                double inner = ratio[1][j] / (ratio[0][i] + ratio[1][j]);
                if (L == 3) {
                    inner = 0.0;
                    for (int m = 0; m <= 2 * N; m++) {
                        const double others = ratio[1][j] + ratio[1][m];
                        inner += weight[m] * others / (ratio[0][i] + others);
                    }
                }
                sum += weight[i] * weight[j] * inner;
            }
        }
        total += (is_gaussian ? 1.0 : chance[k]) * sum;
    }
    return total;
}

static void test_quadrature(void **state)
{
    (void)state;
    const double mean[1] = {0.7};
    const double variance[1] = {4.0};
    const hspec_signal_params signals[] = {flipped(9.0, 0.5), flipped(4.0, 0.7), flipped(1e-3, 0.2), flipped(9.0, 1.0),
                                           gaussian(1, mean, variance)};
    for (size_t i = 0; i < COUNT(signals); i++) {
        for (size_t L = 2; L <= 3; L++) {
            const double expected = quadrature(&signals[i], L);
            double error;
            const double risk = risk_of(&signals[i], L, 1 << 16, 1, 0, &error);
            printf("  signal %zu, L %zu: %.10f +- %.1e, off by %.1e\n", i, L, risk, error, risk - expected);
            assert_true(error < 2e-5);
            assert_true(fabs(risk - expected) < 4.0 * error + 1e-10); /* t of 15 degrees: 1e-3 a case */
        }
    }
}

/* A signal too weak to be seen; one that cannot be missed; a million tokens. */
static void test_limits(void **state)
{
    (void)state;
    const double zero[2] = {0.0, 0.0};
    const hspec_signal_params nothing = gaussian(2, zero, zero);
    const size_t tokens[] = {2, 3, 5, 100, 65536, 1000000};
    for (size_t i = 0; i < COUNT(tokens); i++) {
        const double L = (double)tokens[i];
        double error;
        double risk = risk_of(&nothing, tokens[i], 1, 1, 1, &error);
        assert_true(error < 1e-15 && fabs(risk - (1.0 - 1.0 / L)) < 3e-11);
        const hspec_signal_params weak = flipped(1e-8, 0.3);
        risk = risk_of(&weak, tokens[i], 1024, 1, 1, &error);
        assert_true(fabs(risk - (1.0 - 1.0 / L)) < 1e-7);
        const hspec_signal_params strong = flipped(1e6, 0.3);
        risk = risk_of(&strong, tokens[i], 1024, 1, 1, &error);
        assert_true(risk >= 0.0 && risk < 1e-30);
    }
    double last = 1.0;
    for (int i = -2; i <= 5; i++) { /* falls with the strength */
        const hspec_signal_params params = flipped(ldexp(1.0, i), 0.5);
        const double risk = risk_of(&params, 5, 4096, 1, 1, NULL);
        assert_true(risk > 0.0 && risk < last);
        last = risk;
    }
    assert_true(last < 5e-4); /* at strength 32 */
}

/* Points in a plane of many dimensions are the same as in two; a law of points is the same when one of them is given in
 * parts, so that there are enough of them to be drawn. */
static void test_same_law(void **state)
{
    (void)state;
    enum { MANY = 50, PARTS = 12 };
    const double plane[2][2] = {{3.0, 0.0}, {-1.0, 2.0}};
    const double weights[2] = {0.7, 0.3};
    static double wide[2][MANY];
    for (size_t f = 0; f < MANY; f++) { /* two orthonormal directions: 1 / sqrt(50) (1, 1, ...) and (1, -1, ...) */
        const double unit = 1.0 / sqrt((double)MANY);
        for (size_t k = 0; k < 2; k++) {
            wide[k][f] = unit * (plane[k][0] + (f % 2 ? -plane[k][1] : plane[k][1]));
        }
    }
    double split[PARTS][2];
    double split_weights[PARTS];
    for (size_t k = 0; k < PARTS; k++) {
        memcpy(split[k], plane[k % 2], sizeof split[k]);
        split_weights[k] = weights[k % 2] * 2.0 / PARTS;
    }
    assert_true(PARTS > HSPEC_BAYES_EXACT);
    const hspec_signal_params signals[3] = {
        {.kind = HSPEC_SIGNAL_DISCRETE, .features = 2, .points = 2, .theta = plane[0], .weights = weights},
        {.kind = HSPEC_SIGNAL_DISCRETE, .features = MANY, .points = 2, .theta = wide[0], .weights = weights},
        {.kind = HSPEC_SIGNAL_DISCRETE, .features = 2, .points = PARTS, .theta = split[0], .weights = split_weights}};
    double risk[3];
    double error[3];
    for (size_t i = 0; i < 3; i++) {
        risk[i] = risk_of(&signals[i], 5, 1 << 15, 3 + i, 0, &error[i]);
        printf("  form %zu: %.8f +- %.1e\n", i, risk[i], error[i]);
        assert_true(error[i] < 2e-4);
        assert_true(fabs(risk[i] - risk[0]) <= 5.0 * hypot(error[i], error[0]));
    }
}

static void test_threads(void **state)
{
    (void)state;
    uint64_t s = 5;
    const hspec_signal_params signals[] = {flipped(4.0, 0.6), points(30, 3, 1.5, &s)};
    for (size_t i = 0; i < COUNT(signals); i++) {
        double error;
        const double risk = risk_of(&signals[i], 4, 2048, 7, 1, &error);
        for (int threads = 0; threads <= 20; threads += 4) {
            double other;
            assert_true(risk_of(&signals[i], 4, 2048, 7, threads, &other) == risk);
            assert_true(other == error && error > 0.0);
        }
        assert_true(risk_of(&signals[i], 4, 2048, 8, 1, NULL) != risk);
    }
}

/* Every level gives the same number up to rounding. */
static void test_levels(void **state)
{
    (void)state;
    uint64_t s = 6;
    const double mean[3] = {1.0, 0.0, -0.5};
    const double variance[3] = {0.0, 2.0, 1.0};
    hspec_signal_params signals[3] = {gaussian(3, mean, variance), points(3, 2, 1.5, &s)};
    for (size_t i = 0; i < 3; i++) {
        if (i == 2) {
            signals[2] = points(37, 3, 1.5, &s);
        }
        hspec_signal *signal = make(&signals[i]);
        const hspec_task_params task = {.tokens = 6, .signal = signal};
        double first = 0.0;
        for (int level = 0; level < levels_here(); level++) {
            double risk;
            double error;
            assert_int_equal(hspec_bayes_integrate(HSPEC_PICK(hspec_bayes_ops_table, (hspec_level)level), &task, 4096,
                                                   1, 1, &risk, &error, NULL),
                             HSPEC_OK);
            first = level == 0 ? risk : first;
            assert_true(error > 0.0 && fabs(risk - first) < 1e-13);
        }
        hspec_signal_free(signal);
    }
}

/* ---- errors ------------------------------------------------------------------------------------------------------------- */

static void refused(hspec_status status, hspec_status expected, hspec_error *err, const char *text)
{
    assert_int_equal(status, expected);
    assert_int_equal(err->status, expected);
    if (!strstr(err->message, text)) {
        fail_msg("'%s' does not say '%s'", err->message, text);
    }
    memset(err, 0, sizeof *err);
}

static void test_errors(void **state)
{
    (void)state;
    const hspec_signal_params params = flipped(4.0, 0.5);
    hspec_signal *signal = make(&params);
    hspec_task_params task = {.tokens = 3, .signal = signal};
    double c[3] = {0.0, NAN, 1.0};
    double p[3] = {-7.5, -7.5, -7.5};
    double risk = -7.5;
    double error = -7.5;
    hspec_error err;
    refused(hspec_bayes_posterior(signal, 3, c, p, &err), HSPEC_ENONFINITE, &err, "c[f = 0][l = 1]: found nan");
    c[1] = -1e101;
    refused(hspec_bayes_posterior(signal, 3, c, p, &err), HSPEC_ENONFINITE, &err, "found -1e+101, allowed -1e+100");
    refused(hspec_bayes_posterior(signal, 1, c, p, &err), HSPEC_EARG, &err, "task.tokens: found 1, allowed 2");
    refused(hspec_bayes_posterior(NULL, 3, c, p, &err), HSPEC_EARG, &err, "NULL");
    refused(hspec_bayes_posterior(signal, 3, NULL, p, &err), HSPEC_EARG, &err, "NULL");
    refused(hspec_bayes_posterior(signal, 3, c, NULL, &err), HSPEC_EARG, &err, "NULL");
    refused(hspec_bayes_risk(NULL, 128, 1, 1, &risk, &error, &err), HSPEC_EARG, &err, "NULL");
    refused(hspec_bayes_risk(&task, 128, 1, 1, NULL, &error, &err), HSPEC_EARG, &err, "NULL");
    refused(hspec_bayes_risk(&task, 0, 1, 1, &risk, &error, &err), HSPEC_EARG, &err, "nodes: found 0, allowed 1");
    refused(hspec_bayes_risk(&task, (1 << 24) + 1, 1, 1, &risk, &error, &err), HSPEC_EARG, &err, "16777217");
    refused(hspec_bayes_risk(&task, 128, 1, -1, &risk, &error, &err), HSPEC_EARG, &err, "threads: found -1");
    task.tokens = 1;
    refused(hspec_bayes_risk(&task, 128, 1, 1, &risk, &error, &err), HSPEC_EARG, &err, "task.tokens: found 1");
    task.signal = NULL;
    refused(hspec_bayes_risk(&task, 128, 1, 1, &risk, &error, &err), HSPEC_EARG, &err, "NULL");
    assert_int_equal(hspec_bayes_risk(&task, 128, 1, 1, &risk, &error, NULL), HSPEC_EARG);
    assert_true(p[0] == -7.5 && p[1] == -7.5 && p[2] == -7.5 && risk == -7.5 && error == -7.5);
    hspec_signal_free(signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_gaussian),
        cmocka_unit_test(test_gaussian_extremes),
        cmocka_unit_test(test_bayes_softmax),
        cmocka_unit_test(test_quadrature),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_same_law),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests_name("bayes", tests, NULL, NULL);
}
