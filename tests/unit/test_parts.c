/* SPDX-License-Identifier: MIT
 * The parts of the population loss: they add up, equal heads share equally, and what is known in closed form. Sampled
 * tokens are in tests/law/law_parts.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "theory/population.h"

#include <math.h>
#include <string.h>

enum { H_MAX = 4, F_MAX = 2, COUNT_MAX = 2 * (H_MAX + 1) };

static hspec_signal *discrete(void)
{
    static const double theta[3][2] = {{2.0, 0.0}, {0.0, 1.5}, {-1.0, 1.0}};
    static const double weights[3] = {0.5, 0.3, 0.2};
    const hspec_signal_params params = {
        .kind = HSPEC_SIGNAL_DISCRETE, .features = 2, .points = 3, .theta = theta[0], .weights = weights};
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_signal_create(&params, &signal, NULL), HSPEC_OK);
    return signal;
}

static const double residual[H_MAX * H_MAX] = {0.5, 0.1, 0.0, 0.2, 0.1, 0.4, 0.1, 0.0,
                                               0.0, 0.1, 0.3, 0.0, 0.2, 0.0, 0.0, 0.6};
static const double alignment[H_MAX * F_MAX] = {1.2, -0.3, 0.4, 0.9, -0.8, 0.2, 0.1, 0.5};

/* The leading block of residual. */
static void residual_of(size_t H, double *r)
{
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) {
            r[h * H + j] = residual[h * H_MAX + j];
        }
    }
}

/* Shares add up to the parts, and the parts to the loss of the same nodes; nodes are shared with the loss. */
static void test_add_up(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    const double bias[H_MAX] = {0.3, -0.2, 1.0, 0.0};
    for (int activation = 0; activation < 3; activation++) {
        for (size_t H = 1; H <= H_MAX; H++) {
            const hspec_task_params task = {.tokens = 2 + H, .dimension = 100, .signal = signal};
            hspec_layer_params layer = hspec_layer_default(H);
            layer.activation = (hspec_activation)activation;
            double r[H_MAX * H_MAX];
            residual_of(H, r);
            const hspec_order order = {alignment, r, bias, 1.3};
            double parts[COUNT_MAX];
            double all[COUNT_MAX + 1];
            assert_int_equal(hspec_population_parts(&task, &layer, 2048, 3, 0, 1, &order, parts, NULL, NULL), HSPEC_OK);
            const hspec_population_asked asked = {HSPEC_FIELD_PARTS, 0, 2 * H + 3};
            assert_int_equal(hspec_population_evaluate(&task, &layer, 2048, 3, 0, 1, &order, asked, all, NULL, NULL),
                             HSPEC_OK);
            assert_memory_equal(parts, all + 1, (2 * H + 2) * sizeof *parts);
            double missed = 0.0;
            double noise = 0.0;
            for (size_t h = 0; h < H; h++) {
                missed += parts[1 + h];
                noise += parts[H + 2 + h];
            }
            assert_true(parts[0] > 0.01 && parts[H + 1] > 0.01);
            assert_true(fabs(missed - parts[0]) < 1e-14 && fabs(noise - parts[H + 1]) < 1e-14);
            assert_true(fabs(parts[0] + parts[H + 1] - all[0]) < 1e-14);
            /* the loss on its own nodes */
            double loss;
            double loss_error;
            double error[COUNT_MAX];
            assert_int_equal(hspec_population_loss(&task, &layer, 1 << 15, 4, 0, 1, &order, &loss, &loss_error, NULL),
                             HSPEC_OK);
            assert_int_equal(hspec_population_parts(&task, &layer, 1 << 15, 3, 0, 1, &order, parts, error, NULL),
                             HSPEC_OK);
            for (size_t i = 0; i < 2 * H + 2; i++) {
                assert_true(error[i] > 0.0 && error[i] < 3e-3);
            }
            const double both = loss_error + error[0] + error[H + 1];
            assert_true(fabs(parts[0] + parts[H + 1] - loss) < 6.0 * both);
        }
    }
    hspec_signal_free(signal);
}

/* Without weights: missed (1 - 1/L)^2, noise (L - 1)/L^2, each head an equal share. With s = 2 softmax1 of b = 0 gives
 * 2/(L + 1) to each token. */
static void test_no_weights(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    const double zero[H_MAX * H_MAX] = {0.0};
    const size_t H = 3;
    for (size_t L = 2; L <= 11; L += 3) {
        for (int activation = 0; activation < 3; activation++) {
            const hspec_task_params task = {.tokens = L, .dimension = 100, .signal = signal};
            hspec_layer_params layer = hspec_layer_default(H);
            layer.activation = (hspec_activation)activation;
            const hspec_order order = {zero, zero, zero, 2.0};
            const double a = activation == HSPEC_SOFTMAX1 ? 2.0 / ((double)L + 1.0) : 1.0 / (double)L;
            double parts[COUNT_MAX];
            double error[COUNT_MAX];
            assert_int_equal(hspec_population_parts(&task, &layer, 64, 1, 1, 1, &order, parts, error, NULL), HSPEC_OK);
            for (size_t i = 0; i <= H; i++) {
                const double share = i == 0 ? 1.0 : 1.0 / (double)H;
                assert_true(fabs(parts[i] - share * (1.0 - a) * (1.0 - a)) < 1e-15);
                assert_true(fabs(parts[H + 1 + i] - share * ((double)L - 1.0) * a * a) < 1e-15);
                assert_true(error[i] < 1e-15 && error[H + 1 + i] < 1e-15);
            }
        }
    }
    hspec_signal_free(signal);
}

/* Heads that coincide have equal shares whatever the number of nodes, and so have heads that are all alike in law; a
 * silent head misses, and lets nothing in. */
static void test_heads(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    const hspec_task_params task = {.tokens = 5, .dimension = 100, .signal = signal};
    const double m[6] = {0.7, 0.2, -0.5, 1.0, 0.7, 0.2}; /* heads 0 and 2 */
    const double alike[6] = {0.7, 0.2, 0.7, 0.2, 0.7, 0.2};
    const double r[9] = {0.5, 0.1, 0.5, 0.1, 0.4, 0.1, 0.5, 0.1, 0.5};
    const double r_alike[9] = {0.5, 0.1, 0.1, 0.1, 0.5, 0.1, 0.1, 0.1, 0.5};
    const double bias[3] = {0.2, 0.5, 0.2};
    const double bias_alike[3] = {0.2, 0.2, 0.2};
    for (int activation = 0; activation < 3; activation++) {
        hspec_layer_params layer = hspec_layer_default(3);
        layer.activation = (hspec_activation)activation;
        const hspec_order order[2] = {{m, r, bias, 1.2}, {alike, r_alike, bias_alike, 1.2}};
        double parts[2][8];
        assert_int_equal(hspec_population_parts(&task, &layer, 512, 1, 2, 2, order, parts[0], NULL, NULL), HSPEC_OK);
        for (size_t i = 0; i < 2; i++) {
            assert_true(fabs(parts[i][1] - parts[i][3]) < 1e-14 && fabs(parts[i][5] - parts[i][7]) < 1e-14);
        }
        assert_true(fabs(parts[0][1] - parts[0][2]) > 1e-4 && fabs(parts[0][5] - parts[0][6]) > 1e-4);
        assert_true(fabs(parts[1][1] - parts[1][2]) < 1e-14 && fabs(parts[1][5] - parts[1][6]) < 1e-14);
    }
    hspec_layer_params layer = hspec_layer_default(3);
    layer.activation = HSPEC_SOFTMAX1;
    const double silent[3] = {0.2, 60.0, 0.2};
    const hspec_order order = {m, r, silent, 1.2};
    double parts[8];
    assert_int_equal(hspec_population_parts(&task, &layer, 4096, 1, 2, 1, &order, parts, NULL, NULL), HSPEC_OK);
    assert_true(parts[2] > parts[1] && parts[6] >= 0.0 && parts[6] < 1e-15 && parts[5] > 1e-3);
    hspec_signal_free(signal);
}

/* Many states meet the same nodes; threads do not matter. */
static void test_states_and_threads(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    const hspec_task_params task = {.tokens = 4, .dimension = 100, .signal = signal};
    hspec_layer_params layer = hspec_layer_default(2);
    layer.activation = HSPEC_SOFTMAX1;
    enum { N = 300, EACH = 6 };
    static double m[N][4];
    static double parts[N][2 * 3];
    static double error[N][2 * 3];
    static double other[N][2 * 3];
    static double other_error[N][2 * 3];
    static hspec_order states[N];
    const double r[4] = {0.5, 0.2, 0.2, 0.3};
    const double bias[2] = {0.1, -0.1};
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < 4; k++) {
            m[i][k] = sin((double)(7 * i + 3 * k));
        }
        states[i] = (hspec_order){m[i], r, bias, 1.0};
    }
    assert_int_equal(hspec_population_parts(&task, &layer, 256, 5, 1, N, states, parts[0], error[0], NULL), HSPEC_OK);
    assert_int_equal(hspec_population_parts(&task, &layer, 256, 5, 3, N, states, other[0], other_error[0], NULL),
                     HSPEC_OK);
    assert_memory_equal(parts, other, sizeof parts);
    assert_memory_equal(error, other_error, sizeof error);
    for (size_t i = 0; i < N; i += 37) {
        double alone[EACH];
        assert_int_equal(hspec_population_parts(&task, &layer, 256, 5, 2, 1, &states[i], alone, NULL, NULL), HSPEC_OK);
        assert_memory_equal(alone, parts[i], sizeof alone);
    }
    hspec_signal_free(signal);
}

static void test_errors(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    hspec_task_params task = {.tokens = 3, .dimension = 100, .signal = signal};
    const hspec_layer_params layer = hspec_layer_default(1);
    const double m[2] = {0.1, 0.2};
    const double infinite[2] = {INFINITY, 0.0};
    const double r[1] = {1.0};
    const double negative[1] = {-1.0};
    const double bias[1] = {0.0};
    hspec_order order[2] = {{m, r, bias, 1.0}, {infinite, r, bias, 1.0}};
    double parts[8];
    double error[8];
    for (size_t i = 0; i < 8; i++) {
        parts[i] = error[i] = -7.5;
    }
    hspec_error err;
    assert_int_equal(hspec_population_parts(NULL, &layer, 64, 1, 1, 1, order, parts, error, &err), HSPEC_EARG);
    assert_int_equal(hspec_population_parts(&task, NULL, 64, 1, 1, 1, order, parts, error, &err), HSPEC_EARG);
    assert_int_equal(hspec_population_parts(&task, &layer, 64, 1, 1, 1, NULL, parts, error, &err), HSPEC_EARG);
    assert_int_equal(hspec_population_parts(&task, &layer, 64, 1, 1, 1, order, NULL, error, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "hspec_population_parts: "));
    assert_int_equal(hspec_population_parts(&task, &layer, 63, 1, 1, 1, order, parts, error, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "nodes: found 63"));
    assert_int_equal(hspec_population_parts(&task, &layer, 64, 1, 1, 2, order, parts, error, &err), HSPEC_ENONFINITE);
    assert_non_null(strstr(err.message, "states[1]"));
    order[1] = (hspec_order){m, negative, bias, 1.0};
    assert_int_equal(hspec_population_parts(&task, &layer, 64, 1, 1, 2, order, parts, error, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "states[1].residual"));
    task.tokens = 1;
    assert_int_equal(hspec_population_parts(&task, &layer, 64, 1, 1, 1, order, parts, error, NULL), HSPEC_EARG);
    for (size_t i = 0; i < 8; i++) {
        assert_true(parts[i] == -7.5 && error[i] == -7.5);
    }
    hspec_signal_free(signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_up), cmocka_unit_test(test_no_weights),
        cmocka_unit_test(test_heads),  cmocka_unit_test(test_states_and_threads),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
