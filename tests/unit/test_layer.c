/* SPDX-License-Identifier: MIT
 * Attention, loss and gradients of one sequence against the long double reference, central differences, known vectors. */
// clang-format off: cmocka needs these before it
#include <cmocka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format on
#include "headspec.h"
#include "unit/reference.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define H_MAX REFERENCE_HEADS
#define L_MAX REFERENCE_TOKENS

static const hspec_activation activations[] = {HSPEC_SOFTMAX, HSPEC_SOFTMAX1, HSPEC_BAYES};

/* ---- one random problem --------------------------------------------------------------------------------------- */

typedef struct problem {
    size_t H, L, target;
    double chi[H_MAX * L_MAX], bias[H_MAX], scale, gram[L_MAX * L_MAX];
} problem;

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

static size_t between(size_t low, size_t high, uint64_t *s)
{
    return low + (size_t)(uniform(s) * (double)(high - low + 1));
}

/* Scores of the given spread; G is that of L random tokens in 12 dimensions, so that it is far from the identity. */
static void problem_draw(problem *p, size_t H, size_t L, double spread, uint64_t *s)
{
    p->H = H;
    p->L = L;
    p->target = between(0, L - 1, s);
    p->scale = 0.4 + uniform(s);
    double x[L_MAX][12];
    for (size_t l = 0; l < L; l++) {
        for (size_t i = 0; i < 12; i++) {
            x[l][i] = normal(s);
        }
    }
    for (size_t l = 0; l < L; l++) {
        for (size_t k = 0; k < L; k++) {
            double sum = 0.0;
            for (size_t i = 0; i < 12; i++) {
                sum += x[l][i] * x[k][i];
            }
            p->gram[l * L + k] = sum / 12.0;
        }
    }
    for (size_t h = 0; h < H; h++) {
        p->bias[h] = normal(s);
        for (size_t l = 0; l < L; l++) {
            p->chi[h * L + l] = spread * normal(s);
        }
    }
}

static hspec_layer *layer_make(hspec_activation activation, size_t H, size_t L)
{
    hspec_layer_params params = hspec_layer_default(H);
    params.activation = activation;
    params.bias_per_head = 1;
    hspec_layer *layer = NULL;
    hspec_error err;
    if (hspec_layer_create(&params, L, &layer, &err) != HSPEC_OK) {
        fail_msg("hspec_layer_create: %s", err.message);
    }
    return layer;
}

typedef struct gradient {
    double loss, d[H_MAX * L_MAX], db[H_MAX], ds;
} gradient;

static void gradient_of(hspec_layer *layer, const problem *p, int token, gradient *g)
{
    hspec_error err;
    if (hspec_layer_gradient(layer, p->chi, p->bias, p->scale, p->target, token ? p->gram : NULL, &g->loss, g->d, g->db,
                             &g->ds, &err) != HSPEC_OK) {
        fail_msg("hspec_layer_gradient: %s", err.message);
    }
}

/* ---- against the reference -------------------------------------------------------------------------------------- */

/* The scale of what is subtracted inside d: rounding is measured against it, since d itself may cancel to 0. */
static double natural_scale(const problem *p, int token, const reference_result *r)
{
    double a = 0.0;
    double g = 0.0;
    for (size_t l = 0; l < p->L; l++) {
        double sum = 0.0;
        for (size_t k = 0; k < p->L; k++) {
            double v = k == p->target ? 1.0 : 0.0;
            for (size_t h = 0; h < p->H; h++) {
                a = fmax(a, fabs((double)r->attention[h][k]));
                v += fabs((double)r->attention[h][k]) / (double)p->H;
            }
            sum += (token ? fabs(p->gram[l * p->L + k]) : (double)(l == k)) * v;
        }
        g = fmax(g, 2.0 / (double)p->H * sum);
    }
    return a * g;
}

static void compare_with_reference(hspec_activation activation, const problem *p, int token, double tolerance)
{
    static reference_result r;
    hspec_layer *layer = layer_make(activation, p->H, p->L);
    double a[H_MAX * L_MAX];
    gradient g;
    assert_int_equal(hspec_layer_attention(layer, p->chi, p->bias, p->scale, a, NULL), HSPEC_OK);
    gradient_of(layer, p, token, &g);
    hspec_layer_free(layer);
    reference_gradient(activation, p->H, p->L, p->chi, p->bias, p->scale, p->target, token ? p->gram : NULL, &r);
    const double unit = natural_scale(p, token, &r);
    double worst = fabs((double)(g.loss - r.loss)) / fmax(fabs((double)r.loss), (double)p->H * unit);
    worst = fmax(worst, fabs((double)(g.ds - r.ds)) / ((double)p->L * unit));
    for (size_t h = 0; h < p->H; h++) {
        double top = 0.0;
        for (size_t l = 0; l < p->L; l++) {
            top = fmax(top, fabs((double)r.attention[h][l]));
        }
        worst = fmax(worst, fabs((double)(g.db[h] - r.db[h])) / ((double)p->L * unit));
        for (size_t l = 0; l < p->L; l++) {
            const double error = fabs((double)(a[h * p->L + l] - r.attention[h][l]));
            worst = fmax(worst, top > 0.0 ? error / top : error);
            worst = fmax(worst, fabs((double)(g.d[h * p->L + l] - r.d[h][l])) / unit);
            if (!isfinite(a[h * p->L + l]) || !isfinite(g.d[h * p->L + l])) {
                worst = INFINITY;
            }
        }
    }
    if (!(worst <= tolerance)) {
        fail_msg("activation %d, H %zu, L %zu, token loss %d: error %g above %g", (int)activation, p->H, p->L, token,
                 worst, tolerance);
    }
}

static void test_reference(void **state)
{
    (void)state;
    static problem p;
    uint64_t s = 1;
    for (size_t trial = 0; trial < 40; trial++) {
        const double spread = trial % 3 == 0 ? 0.2 : trial % 3 == 1 ? 1.0 : 4.0;
        size_t H = between(1, H_MAX, &s);
        size_t L = between(2, L_MAX, &s);
        H = trial == 0 ? H_MAX : trial == 1 ? 1 : H;
        L = trial == 0 ? L_MAX : trial == 2 ? 2 : L;
        problem_draw(&p, H, L, spread, &s);
        for (size_t i = 0; i < COUNT(activations); i++) {
            compare_with_reference(activations[i], &p, 0, 1e-13);
            compare_with_reference(activations[i], &p, 1, 1e-13);
        }
    }
}

/* Scores up to 1e4 of either sign, saturated, tied and mixed. With bayes chi + b is rounded at 1e4: 2e-12. */
static void test_extreme_scores(void **state)
{
    (void)state;
    static problem p;
    uint64_t s = 2;
    for (size_t trial = 0; trial < 40; trial++) {
        problem_draw(&p, between(1, 6, &s), between(2, 20, &s), 1.0, &s);
        const size_t n = p.H * p.L;
        for (size_t i = 0; i < n; i++) {
            switch (trial % 5) {
            case 0: /* anywhere */
                p.chi[i] = 1e4 * (2.0 * uniform(&s) - 1.0);
                break;
            case 1: /* the two ends */
                p.chi[i] = uniform(&s) < 0.5 ? 1e4 : -1e4;
                break;
            case 2: /* all at the top, nearly tied */
                p.chi[i] = 1e4 - uniform(&s);
                break;
            case 3: /* all at the bottom, nearly tied */
                p.chi[i] = -1e4 + uniform(&s);
                break;
            default: /* one alone */
                p.chi[i] = i == 0 ? 1e4 : -1e4;
                break;
            }
        }
        for (size_t i = 0; i < COUNT(activations); i++) {
            compare_with_reference(activations[i], &p, 0, 4e-12);
            compare_with_reference(activations[i], &p, 1, 4e-12);
        }
    }
    /* The bias at its ends: a silent head, and one that never is. */
    for (size_t trial = 0; trial < 10; trial++) {
        problem_draw(&p, 4, 7, 3.0, &s);
        p.bias[0] = 1e4;
        p.bias[1] = -1e4;
        compare_with_reference(HSPEC_SOFTMAX1, &p, (int)(trial % 2), 1e-13);
        compare_with_reference(HSPEC_BAYES, &p, (int)(trial % 2), 4e-12);
    }
}

/* ---- central differences ---------------------------------------------------------------------------------------- */

static double loss_at(hspec_layer *layer, const problem *p, int token)
{
    static gradient g;
    gradient_of(layer, p, token, &g);
    return g.loss;
}

/* Fourth order: (8 (f(+h) - f(-h)) - (f(+2h) - f(-2h))) / 12h. With h = 2e-3 truncation is near 1e-11 and rounding
 * near 1e-13, both far below 1e-6 of any gradient here. */
static double difference(hspec_layer *layer, problem *p, double *x, int token)
{
    const double step = 2e-3;
    const double x0 = *x;
    double f[4];
    const double at[4] = {-2.0, -1.0, 1.0, 2.0};
    for (size_t i = 0; i < 4; i++) {
        *x = x0 + at[i] * step;
        f[i] = loss_at(layer, p, token);
    }
    *x = x0;
    return (8.0 * (f[2] - f[1]) - (f[3] - f[0])) / (12.0 * step);
}

static void assert_gradient(const char *what, hspec_activation activation, const double *analytic,
                            const double *numeric, size_t n, double floor)
{
    double error = 0.0;
    double norm = 0.0;
    for (size_t i = 0; i < n; i++) {
        error += (analytic[i] - numeric[i]) * (analytic[i] - numeric[i]);
        norm += numeric[i] * numeric[i];
    }
    if (!(sqrt(norm) > floor)) {
        fail_msg("%s, activation %d: the gradient %g is too small to be tested", what, (int)activation, sqrt(norm));
    }
    if (!(sqrt(error) <= 1e-6 * sqrt(norm))) {
        fail_msg("%s, activation %d: relative error %g", what, (int)activation, sqrt(error / norm));
    }
}

static void test_central_differences(void **state)
{
    (void)state;
    static problem p;
    static gradient g;
    static double numeric[H_MAX * L_MAX];
    uint64_t s = 3;
    for (size_t trial = 0; trial < 10; trial++) {
        problem_draw(&p, trial == 0 ? H_MAX : between(1, H_MAX, &s), trial == 0 ? L_MAX : between(2, L_MAX, &s),
                     0.5 + uniform(&s), &s);
        for (size_t i = 0; i < COUNT(activations); i++) {
            hspec_layer *layer = layer_make(activations[i], p.H, p.L);
            for (int token = 0; token < 2; token++) {
                gradient_of(layer, &p, token, &g);
                for (size_t k = 0; k < p.H * p.L; k++) {
                    numeric[k] = difference(layer, &p, &p.chi[k], token);
                }
                assert_gradient("scores", activations[i], g.d, numeric, p.H * p.L, 1e-5);
                for (size_t h = 0; h < p.H; h++) {
                    numeric[h] = difference(layer, &p, &p.bias[h], token);
                }
                if (activations[i] == HSPEC_SOFTMAX1 || (activations[i] == HSPEC_BAYES && p.H > 1)) {
                    assert_gradient("bias", activations[i], g.db, numeric, p.H, 1e-5);
                } else {
                    for (size_t h = 0; h < p.H; h++) { /* softmax has no bias; with one bayes head it cancels */
                        assert_true(fabs(g.db[h]) < 1e-14 && numeric[h] == numeric[h] && fabs(numeric[h]) < 1e-11);
                    }
                }
                numeric[0] = difference(layer, &p, &p.scale, token);
                if (activations[i] == HSPEC_SOFTMAX1) {
                    assert_gradient("scale", activations[i], &g.ds, numeric, 1, 1e-5);
                } else {
                    assert_true(g.ds == 0.0 && numeric[0] == 0.0);
                }
            }
            hspec_layer_free(layer);
        }
    }
}

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

/* ---- defaults and errors ------------------------------------------------------------------------------------------ */

static void test_defaults(void **state)
{
    (void)state;
    const hspec_layer_params params = hspec_layer_default(7);
    assert_int_equal(params.heads, 7);
    assert_int_equal(params.activation, HSPEC_SOFTMAX);
    assert_true(params.bias_init == 0.0 && params.scale_init == 1.0);
    assert_true(params.bias_train && params.scale_train && !params.bias_per_head);
}

static void test_bias_null_is_bias_init(void **state)
{
    (void)state;
    static problem p;
    uint64_t s = 9;
    problem_draw(&p, 3, 5, 1.0, &s);
    hspec_layer_params params = hspec_layer_default(3);
    params.activation = HSPEC_SOFTMAX1;
    params.bias_init = 0.75;
    hspec_layer *layer = NULL;
    assert_int_equal(hspec_layer_create(&params, 5, &layer, NULL), HSPEC_OK);
    const double bias[3] = {0.75, 0.75, 0.75};
    double a[15];
    double b[15];
    double loss[2];
    double d[15];
    assert_int_equal(hspec_layer_attention(layer, p.chi, NULL, 1.0, a, NULL), HSPEC_OK);
    assert_int_equal(hspec_layer_attention(layer, p.chi, bias, 1.0, b, NULL), HSPEC_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(hspec_layer_gradient(layer, p.chi, NULL, 1.0, 0, NULL, &loss[0], d, NULL, NULL, NULL), HSPEC_OK);
    assert_int_equal(hspec_layer_gradient(layer, p.chi, bias, 1.0, 0, NULL, &loss[1], d, NULL, NULL, NULL), HSPEC_OK);
    assert_true(loss[0] == loss[1]);
    hspec_layer_free(layer);
}

static void test_create_errors(void **state)
{
    (void)state;
    hspec_error err;
    hspec_layer *const mark = (hspec_layer *)&err; /* any address: it must stay */
    for (int i = 0; i < 7; i++) {
        hspec_layer_params params = hspec_layer_default(i == 0 ? 0 : 2);
        hspec_layer *layer = mark;
        hspec_layer **out = i == 6 ? NULL : &layer;
        params.activation = i == 1 ? (hspec_activation)77 : HSPEC_SOFTMAX1;
        params.bias_init = i == 2 ? NAN : 0.0;
        params.scale_init = i == 3 ? INFINITY : 1.0;
        err.message[0] = '\0';
        const hspec_status status = hspec_layer_create(i == 5 ? NULL : &params, i == 4 ? 1 : 4, out, &err);
        assert_int_equal(status, HSPEC_EARG);
        assert_int_equal(err.status, HSPEC_EARG);
        assert_true(strlen(err.message) > 10);
        assert_ptr_equal(layer, mark);
    }
    hspec_layer_free(NULL);
}

enum { BAD_H = 6, BAD_L = 9 };

typedef struct outputs {
    double a[BAD_H * BAD_L], loss, d[BAD_H * BAD_L], db[BAD_H], ds;
} outputs;

static void assert_untouched(const outputs *out)
{
    const double *x = (const double *)out;
    for (size_t i = 0; i < sizeof *out / sizeof *x; i++) {
        assert_true(x[i] == -7.5);
    }
}

static void test_nonfinite_scores_are_named(void **state)
{
    (void)state;
    static problem p;
    uint64_t s = 10;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < COUNT(activations); i++) {
        hspec_layer *layer = layer_make(activations[i], BAD_H, BAD_L);
        for (size_t k = 0; k < COUNT(bad); k++) {
            outputs out;
            hspec_error err;
            for (size_t j = 0; j < sizeof out / sizeof(double); j++) {
                ((double *)&out)[j] = -7.5;
            }
            problem_draw(&p, BAD_H, BAD_L, 1.0, &s);
            p.chi[4 * BAD_L + 7] = bad[k];
            for (int token = 0; token < 2; token++) {
                memset(&err, 0, sizeof err);
                assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, 1.0, out.a, &err), HSPEC_ENONFINITE);
                assert_non_null(strchr(err.message, '4'));
                assert_non_null(strchr(err.message, '7'));
                memset(&err, 0, sizeof err);
                assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1.0, 2, token ? p.gram : NULL, &out.loss,
                                                      out.d, out.db, &out.ds, &err),
                                 HSPEC_ENONFINITE);
                assert_int_equal(err.status, HSPEC_ENONFINITE);
                assert_non_null(strchr(err.message, '4'));
                assert_non_null(strchr(err.message, '7'));
                assert_untouched(&out);
            }
        }
        hspec_layer_free(layer);
    }
}

static void test_other_arguments(void **state)
{
    (void)state;
    static problem p;
    uint64_t s = 11;
    problem_draw(&p, BAD_H, BAD_L, 1.0, &s);
    hspec_layer *layer = layer_make(HSPEC_SOFTMAX1, BAD_H, BAD_L);
    outputs o;
    hspec_error err;
    for (size_t j = 0; j < sizeof o / sizeof(double); j++) {
        ((double *)&o)[j] = -7.5;
    }
    const size_t HL = BAD_L; /* one past the last target */
    assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1, HL, NULL, &o.loss, o.d, o.db, &o.ds, &err),
                     HSPEC_EARG);
    assert_non_null(strchr(err.message, '9'));
    assert_int_equal(hspec_layer_gradient(NULL, p.chi, p.bias, 1, 0, NULL, &o.loss, o.d, o.db, &o.ds, NULL),
                     HSPEC_EARG);
    assert_int_equal(hspec_layer_gradient(layer, NULL, p.bias, 1, 0, NULL, &o.loss, o.d, o.db, &o.ds, NULL),
                     HSPEC_EARG);
    assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1, 0, NULL, NULL, o.d, o.db, &o.ds, NULL), HSPEC_EARG);
    assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1, 0, NULL, &o.loss, NULL, o.db, &o.ds, NULL),
                     HSPEC_EARG);
    assert_int_equal(hspec_layer_attention(NULL, p.chi, p.bias, 1, o.a, NULL), HSPEC_EARG);
    assert_int_equal(hspec_layer_attention(layer, NULL, p.bias, 1, o.a, NULL), HSPEC_EARG);
    assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, 1, NULL, NULL), HSPEC_EARG);
    assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, NAN, o.a, NULL), HSPEC_ENONFINITE);
    p.bias[3] = NAN;
    assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, 1, o.a, &err), HSPEC_ENONFINITE);
    assert_non_null(strchr(err.message, '3'));
    p.bias[3] = 0.0;
    p.gram[5] = NAN;
    assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1, 0, p.gram, &o.loss, o.d, o.db, &o.ds, NULL),
                     HSPEC_ENONFINITE);
    assert_untouched(&o);
    hspec_layer_free(layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_extreme_scores),
        cmocka_unit_test(test_central_differences),
        cmocka_unit_test(test_softmax1_vectors),
        cmocka_unit_test(test_limits_are_softmax),
        cmocka_unit_test(test_bayes_common_shift),
        cmocka_unit_test(test_bayes_is_the_posterior),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_bias_null_is_bias_init),
        cmocka_unit_test(test_create_errors),
        cmocka_unit_test(test_nonfinite_scores_are_named),
        cmocka_unit_test(test_other_arguments),
    };
    return cmocka_run_group_tests_name("layer", tests, NULL, NULL);
}
