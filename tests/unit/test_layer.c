/* SPDX-License-Identifier: MIT
 * Attention, loss and gradients of one sequence against the long double reference and central differences. */
#include "unit/problem.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_extreme_scores),
        cmocka_unit_test(test_central_differences),
    };
    return cmocka_run_group_tests_name("layer", tests, NULL, NULL);
}
