/* SPDX-License-Identifier: MIT
 * Optima against what is known of them (docs/theory.md, "Optimum"): bounds and limits of each activation, and the Bayes
 * risk. Losses have standard errors of 1e-5 to 1e-4; comparisons allow 4 of them and what the text says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int full(void)
{
    return getenv("HSPEC_LAW_FULL") != NULL;
}

static hspec_signal *make(const hspec_signal_params *params)
{
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_signal_create(params, &signal, NULL), HSPEC_OK);
    return signal;
}

static hspec_signal *flipped(double nu, double p)
{
    const hspec_signal_params params = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = nu, .probability = p};
    return make(&params);
}

typedef struct result {
    double loss, error, risk, risk_error;
    size_t minima;
} result;

/* The optimum; never below the Bayes risk, whatever the layer. */
static result solve(const hspec_signal *signal, size_t tokens, const hspec_layer_params *layer, size_t starts)
{
    hspec_error err;
    hspec_optimum *optimum = NULL;
    const hspec_task_params task = {.tokens = tokens, .dimension = 1000, .signal = signal};
    hspec_optimum_params params = hspec_optimum_default();
    params.nodes = full() ? 65536 : 8192;
    params.starts = full() ? 4 * starts : starts;
    result found = {0};
    hspec_optimum_minimum best;
    if (hspec_optimum_create(&task, layer, &params, 0, NULL, &optimum, &err) != HSPEC_OK ||
        hspec_bayes_risk(&task, 131072, 1, 0, &found.risk, &found.risk_error, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_optimum_view(optimum, 0, &best);
    found.loss = best.loss;
    found.error = best.loss_error;
    found.minima = hspec_optimum_minima(optimum);
    for (size_t i = 0; i < found.minima; i++) { /* minima with respect to a residual too */
        hspec_optimum_minimum each;
        hspec_optimum_view(optimum, i, &each);
        assert_true(isnan(each.residual_rate) || each.residual_rate > -1e-3 - 4 * each.residual_rate_error);
    }
    hspec_optimum_free(optimum);
    if (!(found.loss > found.risk - 4 * (found.error + found.risk_error) - 1e-9)) {
        fail_msg("optimum %.6f +- %.1e below the Bayes risk %.6f +- %.1e", found.loss, found.error, found.risk,
                 found.risk_error);
    }
    return found;
}

static hspec_layer_params layer_of(hspec_activation activation, size_t heads)
{
    hspec_layer_params layer = hspec_layer_default(heads);
    layer.activation = activation;
    return layer;
}

/* Softmax: E >= p (1 - p) L / (L - 1) at any nu; as nu grows, from above to min_j [p (1 - j/H)^2 + (1 - p) (j/H)^2]
 * L / (L - 1). */
static void test_softmax(void **state)
{
    (void)state;
    const double p = 0.4;
    const size_t L = 4;
    for (size_t H = 2; H <= 4; H++) {
        double last = 1;
        double limit = 1;
        for (size_t j = 0; j <= H; j++) {
            const double x = (double)j / (double)H;
            limit = fmin(limit, p * (1 - x) * (1 - x) + (1 - p) * x * x);
        }
        limit *= (double)L / (double)(L - 1);
        static const double strength[] = {1, 9, 100, 2500};
        for (size_t i = 0; i < 4; i++) {
            hspec_signal *signal = flipped(strength[i], p);
            const hspec_layer_params layer = layer_of(HSPEC_SOFTMAX, H);
            const result found = solve(signal, L, &layer, 12);
            assert_true(found.loss > p * (1 - p) * (double)L / (double)(L - 1) - 4 * found.error);
            assert_true(found.loss > limit - 4 * found.error && found.loss < last);
            last = found.loss;
            hspec_signal_free(signal);
        }
        printf("  H %zu: at nu = 2500 %.5f, infimum %.5f\n", H, last, limit);
        assert_true(last < limit + 2e-3);
    }
}

/* Softmax1 with b and s trained: to 0 as nu grows, for every H >= 2; not with s = 1, nor with b = 0. */
static void test_softmax1(void **state)
{
    (void)state;
    for (size_t H = 2; H <= 4; H++) {
        double last = 1;
        static const double strength[] = {9, 25, 100};
        for (size_t i = 0; i < 3; i++) {
            hspec_signal *signal = flipped(strength[i], 0.5);
            hspec_layer_params layer = layer_of(HSPEC_SOFTMAX1, H);
            const result found = solve(signal, 4, &layer, 12);
            assert_true(found.loss < last / 2);
            last = found.loss;
            if (i == 2) {
                layer.scale_train = 0;
                const result held = solve(signal, 4, &layer, 12);
                layer.scale_train = 1;
                layer.bias_train = 0;
                const result unbiased = solve(signal, 4, &layer, 12);
                printf("  H %zu: at nu = 100 %.1e, with s = 1 %.5f, with b = 0 %.5f\n", H, last, held.loss,
                       unbiased.loss);
                assert_true(held.loss > 0.1 && unbiased.loss > 0.1);
            }
            hspec_signal_free(signal);
        }
        assert_true(last < 2e-3);
    }
}

/* Bayes-softmax with as many heads as points, and one more, is at the Bayes risk, with unequal weights and norms. */
static void test_bayes_discrete(void **state)
{
    (void)state;
    static const double theta[3][2] = {{2.5, 0.5}, {-1.0, 1.0}, {0.0, -3.0}};
    static const double weights[3] = {0.5, 0.2, 0.3};
    const hspec_signal_params params = {
        .kind = HSPEC_SIGNAL_DISCRETE, .features = 2, .points = 3, .theta = theta[0], .weights = weights};
    hspec_signal *signal = make(&params);
    for (size_t H = 2; H <= 4; H++) {
        const hspec_layer_params layer = layer_of(HSPEC_BAYES, H);
        const result found = solve(signal, 5, &layer, 8);
        printf("  H %zu: %.5f, Bayes risk %.5f\n", H, found.loss, found.risk);
        assert_true(H < 3 ? found.loss > found.risk + 1e-2 : found.loss < found.risk + 1e-3);
    }
    hspec_signal_free(signal);
}

/* For a gaussian signal it comes nearer with every head. */
static void test_bayes_gaussian(void **state)
{
    (void)state;
    static const double mean[1] = {0.0};
    static const double variance[1] = {6.0};
    const hspec_signal_params params = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = 1, .mean = mean, .variance = variance};
    hspec_signal *signal = make(&params);
    double last = 1;
    for (size_t H = 1; H <= 4; H++) {
        const hspec_layer_params layer = layer_of(HSPEC_BAYES, H);
        const result found = solve(signal, 4, &layer, 12);
        printf("  H %zu: above the Bayes risk by %.1e\n", H, found.loss - found.risk);
        assert_true(found.loss - found.risk < last / 2);
        last = found.loss - found.risk;
    }
    assert_true(last < 2e-3);
    hspec_signal_free(signal);
}

/* The order of the activations at nu = 9, L = 5, H = 4; the uneven split is a minimum of its own. */
static void test_order(void **state)
{
    (void)state;
    hspec_signal *signal = flipped(9, 0.5);
    hspec_layer_params layer = layer_of(HSPEC_SOFTMAX, 4);
    const result softmax = solve(signal, 5, &layer, 24);
    assert_true(softmax.minima >= 2);
    layer.activation = HSPEC_SOFTMAX1;
    const result softmax1 = solve(signal, 5, &layer, 24);
    layer.activation = HSPEC_BAYES;
    const result bayes = solve(signal, 5, &layer, 8);
    printf("  softmax %.5f, softmax1 %.5f, bayes %.5f, Bayes risk %.5f\n", softmax.loss, softmax1.loss, bayes.loss,
           bayes.risk);
    assert_true(softmax.loss > softmax1.loss + 0.2 && softmax1.loss > bayes.loss + 0.05);
    assert_true(bayes.loss < bayes.risk + 1e-3);
    hspec_signal_free(signal);
}

/* One head to three others: found, and with a larger loss. */
static void test_uneven_split(void **state)
{
    (void)state;
    hspec_error err;
    hspec_signal *signal = flipped(9, 0.5);
    const hspec_layer_params layer = layer_of(HSPEC_SOFTMAX, 4);
    const hspec_task_params task = {.tokens = 5, .dimension = 1000, .signal = signal};
    hspec_optimum_params params = hspec_optimum_default();
    params.starts = 24;
    hspec_optimum *optimum = NULL;
    hspec_optimum_minimum best;
    if (hspec_optimum_create(&task, &layer, &params, 0, NULL, &optimum, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    size_t uneven = 0;
    size_t searches = 0;
    double loss = 0;
    hspec_optimum_view(optimum, 0, &best);
    for (size_t i = 0; i < hspec_optimum_minima(optimum); i++) {
        hspec_optimum_minimum found;
        hspec_optimum_view(optimum, i, &found);
        size_t positive = 0;
        for (size_t h = 0; h < 4; h++) {
            positive += found.order.alignment[h] > 0;
        }
        if (positive == 1 || positive == 3) {
            uneven++;
            loss = found.loss;
        } else if (i == 0) {
            assert_int_equal(positive, 2);
        }
        searches += found.count;
    }
    assert_int_equal(searches, params.starts);
    assert_int_equal(uneven, 1);
    printf("  even %.5f, uneven %.5f\n", best.loss, loss);
    assert_true(loss > best.loss + 0.03);
    hspec_optimum_free(optimum);
    hspec_signal_free(signal);
}

/* A residual can help: one head of softmax1, with a bias that is fixed and too large, looks at noise against that of the
 * two others. On other nodes too it is lower than the minimum without. */
static void test_residual(void **state)
{
    (void)state;
    hspec_signal *signal = flipped(2, 0.5);
    const hspec_task_params task = {.tokens = 2, .dimension = 1000, .signal = signal};
    hspec_layer_params layer = layer_of(HSPEC_SOFTMAX1, 3);
    layer.bias_init = 3;
    layer.bias_train = 0;
    hspec_optimum_params params = hspec_optimum_default();
    params.starts = 16;
    hspec_optimum *optimum = NULL;
    assert_int_equal(hspec_optimum_create(&task, &layer, &params, 0, NULL, &optimum, NULL), HSPEC_OK);
    assert_true(hspec_optimum_minima(optimum) >= 2);
    hspec_order orders[2];
    for (size_t i = 0; i < 2; i++) {
        hspec_optimum_minimum found;
        hspec_optimum_view(optimum, i, &found);
        orders[i] = found.order;
        double sum = 0;
        for (size_t h = 0; h < 3; h++) {
            sum += found.order.residual[4 * h];
        }
        printf("  %.5f +- %.1e, residual %.3f\n", found.loss, found.loss_error, sum);
        assert_true(i == 0 ? sum > 0.5 && isnan(found.residual_rate) : sum == 0 && found.residual_rate > 0);
    }
    double loss[2];
    double error[2];
    assert_int_equal(hspec_population_loss(&task, &layer, 200000, 77, 0, 2, orders, loss, error, NULL), HSPEC_OK);
    assert_true(loss[0] < loss[1] - 2e-3 && error[0] + error[1] < 5e-4);
    hspec_optimum_free(optimum);
    hspec_signal_free(signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_softmax),        cmocka_unit_test(test_softmax1),
                                       cmocka_unit_test(test_bayes_discrete), cmocka_unit_test(test_bayes_gaussian),
                                       cmocka_unit_test(test_order),          cmocka_unit_test(test_uneven_split),
                                       cmocka_unit_test(test_residual)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
