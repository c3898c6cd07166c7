/* SPDX-License-Identifier: MIT
 * Integrated order parameters against simulated ones, and against what is known in closed form.
 * Comparisons with SGD: 4 standard errors and 5e-3, at ten times, as many as 40 seeds allow; seeds are fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { H = 3, SEEDS = 40, RECORDS = 10 };

static const double start_m[H] = {0.8, 0.4, -0.5};
static const double start_r[H * H] = {0.10, 0.02, 0.00, 0.02, 0.05, -0.01, 0.00, -0.01, 0.08};
static const double zero_r[H * H];
static const double zero_b[H];

static hspec_signal *flipped(double nu, double p)
{
    const hspec_signal_params params = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = nu, .probability = p};
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_signal_create(&params, &signal, NULL), HSPEC_OK);
    return signal;
}

static hspec_theory_params theory_params(hspec_limit limit)
{
    return (hspec_theory_params){.limit = limit, .nodes = 65536, .tolerance = 1e-6};
}

static hspec_theory *integrate(const hspec_task_params *task, const hspec_layer_params *layer,
                               const hspec_training_params *training, const hspec_theory_params *params,
                               const hspec_order *start)
{
    hspec_error err;
    hspec_theory *theory = NULL;
    if (hspec_theory_create(task, layer, training, params, start, 0, &theory, &err) != HSPEC_OK ||
        hspec_theory_run(theory, NULL, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    return theory;
}

/* ---- against the reduced engine ------------------------------------------------------------------------------------ */

static double worst; /* |theory - mean| over what is allowed */

/* One number of every seed at one row against the theory. */
static void compare(const double *values, size_t stride, double theory, const char *name, double t)
{
    double mean = 0;
    double squares = 0;
    for (size_t k = 0; k < SEEDS; k++) {
        mean += values[k * stride] / SEEDS;
    }
    for (size_t k = 0; k < SEEDS; k++) {
        squares += (values[k * stride] - mean) * (values[k * stride] - mean);
    }
    const double allowed = 4 * sqrt(squares / (SEEDS - 1) / SEEDS) + 5e-3;
    worst = fmax(worst, fabs(theory - mean) / allowed);
    if (!(fabs(theory - mean) < allowed)) {
        fail_msg("%s at t = %g: theory %.5f, simulated %.5f, allowed %.5f", name, t, theory, mean, allowed);
    }
}

static void theory_and_simulation(hspec_activation activation, size_t batch, int per_head)
{
    const size_t D = getenv("HSPEC_LAW_FULL") ? 100000 : 10000;
    hspec_error err;
    hspec_signal *signal = flipped(4.0, 0.7);
    hspec_layer_params layer = hspec_layer_default(H);
    layer.activation = activation;
    layer.bias_per_head = per_head;
    hspec_training_params training = hspec_training_default();
    training.batch = batch;
    training.time = 10;
    training.seeds = SEEDS;
    training.records = RECORDS;
    training.init = (hspec_init_params){.kind = HSPEC_INIT_ALIGNED, .alignment = start_m, .residual = start_r};
    const hspec_task_params task = {.tokens = 5, .dimension = D, .signal = signal};
    hspec_training *simulated = NULL;
    if (hspec_training_create(&task, &layer, &training, 0, &simulated, &err) != HSPEC_OK ||
        hspec_training_run(simulated, NULL, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_trajectory s;
    hspec_training_trajectory(simulated, &s);
    const hspec_order start = {start_m, start_r, s.bias, s.scale[0]};
    const hspec_theory_params params = theory_params(HSPEC_LIMIT_SGD);
    hspec_theory *theory = integrate(&task, &layer, &training, &params, &start);
    hspec_theory_trajectory t;
    hspec_theory_view(theory, &t);
    assert_int_equal(t.done, RECORDS + 1);
    worst = 0;
    const size_t T = s.rows;
    for (size_t row = 0; row < T; row++) {
        assert_true(t.step[row] == s.step[row] && t.time[row] == s.time[row]);
        for (size_t h = 0; h < H; h++) {
            compare(s.alignment + row * H + h, T * H, t.alignment[row * H + h], "m", t.time[row]);
            compare(s.bias + row * H + h, T * H, t.bias[row * H + h], "b", t.time[row]);
            for (size_t j = 0; j < H; j++) {
                compare(s.residual + (row * H + h) * H + j, T * H * H, t.residual[(row * H + h) * H + j], "r",
                        t.time[row]);
            }
        }
        compare(s.scale + row, T, t.scale[row], "s", t.time[row]);
    }
    printf("  activation %d, B %zu, bias per head %d: worst %.2f of what is allowed\n", (int)activation, batch,
           per_head, worst);
    hspec_theory_free(theory);
    hspec_training_free(simulated);
    hspec_signal_free(signal);
}

static void test_softmax(void **state)
{
    (void)state;
    theory_and_simulation(HSPEC_SOFTMAX, 1, 0);
    theory_and_simulation(HSPEC_SOFTMAX, 4, 0);
}

static void test_softmax1(void **state)
{
    (void)state;
    theory_and_simulation(HSPEC_SOFTMAX1, 1, 1);
    theory_and_simulation(HSPEC_SOFTMAX1, 4, 0);
}

static void test_bayes(void **state)
{
    (void)state;
    theory_and_simulation(HSPEC_BAYES, 1, 1);
    theory_and_simulation(HSPEC_BAYES, 4, 1);
}

/* ---- closed forms (docs/theory.md, "Small weights") ----------------------------------------------------------------- */

/* Softmax, mu = 0, r = 0, the flow: at the origin deviations between heads along feature f grow at rate
 * (2/(L H)) (1 - 1/L) (1 - 2/L) C_ff, and the mean at -(2/(L H)) (1 - 1/L) (1 - C_ff (1 - 3/L)). */
static void test_growth_at_the_origin(void **state)
{
    (void)state;
    static const double none[2] = {0.0, 0.0};
    static const double variance[2] = {5.0, 2.0};
    enum { L = 5, F = 2 };
    const hspec_signal_params gaussian = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = none, .variance = variance};
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_signal_create(&gaussian, &signal, NULL), HSPEC_OK);
    const hspec_task_params task = {.tokens = L, .dimension = 1000, .signal = signal};
    const hspec_layer_params layer = hspec_layer_default(H);
    hspec_training_params training = hspec_training_default();
    training.time = 5;
    training.records = 1;
    hspec_theory_params params = theory_params(HSPEC_LIMIT_FLOW);
    params.tolerance = 1e-8;
    for (int mode = 0; mode < 2; mode++) { /* 0: deviations, 1: the mean */
        const double e = 1e-3;
        const double m[H * F] = {e, -e, mode ? e : -e, mode ? -e : e, mode ? e : 0, mode ? -e : 0};
        const hspec_order start = {m, zero_r, zero_b, 1};
        hspec_theory *theory = integrate(&task, &layer, &training, &params, &start);
        hspec_theory_trajectory t;
        hspec_theory_view(theory, &t);
        for (size_t f = 0; f < F; f++) {
            const double unit = 2.0 / (L * H) * (1 - 1.0 / L);
            const double rate = mode ? -unit * (1 - variance[f] * (1 - 3.0 / L)) : unit * (1 - 2.0 / L) * variance[f];
            const double measured = log(t.alignment[H * F + f] / m[f]) / training.time;
            printf("  %s, feature %zu: rate %.5f, closed form %.5f\n", mode ? "mean" : "deviation", f, measured, rate);
            assert_true(fabs(measured - rate) < 1e-3 * unit + 0.01 * fabs(rate));
        }
        hspec_theory_free(theory);
    }
    hspec_signal_free(signal);
}

/* ---- what must hold for every trajectory ---------------------------------------------------------------------------- */

static int warnings;

static int count_warnings(void *user, const hspec_event *event)
{
    (void)user;
    warnings += event->kind == HSPEC_EVENT_WARNING;
    return 0;
}

static int stop_at_once(void *user, const hspec_event *event)
{
    (void)user;
    return event->kind == HSPEC_EVENT_PROGRESS;
}

/* The flow goes downhill; from r = 0 it stays there. In the limit of SGD r grows from 0 and has no negative eigenvalue.
 * Two of three heads that start equal stay equal to the last bit, and that is said. */
static void test_invariants(void **state)
{
    (void)state;
    hspec_signal *signal = flipped(4.0, 0.7);
    const hspec_task_params task = {.tokens = 5, .dimension = 1000, .signal = signal};
    const hspec_layer_params layer = hspec_layer_default(H);
    hspec_training_params training = hspec_training_default();
    training.time = 60;
    training.records = 30;
    const double m[H] = {0.1, -0.1, 0.1};
    const hspec_order start = {m, zero_r, zero_b, 1};
    for (int limit = 0; limit < 2; limit++) {
        hspec_theory_params params = theory_params(limit ? HSPEC_LIMIT_FLOW : HSPEC_LIMIT_SGD);
        params.nodes = 16384;
        hspec_theory *theory = NULL;
        const hspec_monitor monitor = {count_warnings, NULL};
        const hspec_monitor stopper = {stop_at_once, NULL};
        assert_int_equal(hspec_theory_create(&task, &layer, &training, &params, &start, 2, &theory, NULL), HSPEC_OK);
        warnings = 0;
        assert_int_equal(hspec_theory_run(theory, &stopper, NULL), HSPEC_ESTOPPED);
        assert_int_equal(hspec_theory_run(theory, &monitor, NULL), HSPEC_OK);
        hspec_theory_trajectory t;
        hspec_theory_view(theory, &t);
        assert_int_equal(t.done, t.rows);
        for (size_t row = 0; row < t.rows; row++) {
            const double *r = t.residual + row * H * H;
            assert_true(t.alignment[row * H] == t.alignment[row * H + 2]);
            assert_true(r[0] == r[8] && r[2] == r[0]); /* they coincide */
            assert_true(limit ? r[0] == 0 && r[4] == 0 : row == 0 || (r[0] > 0 && r[4] > 0));
            assert_true(r[0] * r[4] - r[1] * r[1] >= -1e-15);
            assert_true(t.loss_error[row] > 0 && t.loss_error[row] < 3e-3);
            if (row > 0 && limit) {
                assert_true(t.loss[row] < t.loss[row - 1] + 2 * t.loss_error[row]);
            }
        }
        assert_true(t.loss[t.rows - 1] < 0.72 && fabs(t.loss[0] - 0.8) < 0.1);
        hspec_theory_free(theory);
        theory = NULL;
        assert_int_equal(hspec_theory_create(&task, &layer, &training, &params, &start, 1, &theory, NULL), HSPEC_OK);
        assert_int_equal(hspec_theory_run(theory, &monitor, NULL), HSPEC_OK);
        assert_int_equal(warnings, 1);
        hspec_theory_free(theory);
    }
    hspec_signal_free(signal);
}

/* Bayes: biases are recorded with mean 0, whatever they start with; their differences are what counts. */
static void test_common_shift(void **state)
{
    (void)state;
    hspec_signal *signal = flipped(4.0, 0.7);
    const hspec_task_params task = {.tokens = 5, .dimension = 1000, .signal = signal};
    hspec_layer_params layer = hspec_layer_default(H);
    layer.activation = HSPEC_BAYES;
    hspec_training_params training = hspec_training_default();
    training.time = 2;
    training.records = 4;
    static const double bias[H] = {1, 1, 1.5};
    const hspec_order start = {start_m, start_r, bias, 1};
    for (int train = 0; train < 2; train++) {
        layer.bias_train = train;
        hspec_theory_params params = theory_params(HSPEC_LIMIT_SGD);
        params.nodes = 1024;
        hspec_theory *theory = integrate(&task, &layer, &training, &params, &start);
        hspec_theory_trajectory t;
        hspec_theory_view(theory, &t);
        for (size_t row = 0; row < t.rows; row++) {
            const double *b = t.bias + row * H;
            assert_true(fabs(b[0] + b[1] + b[2]) < 1e-14);
            assert_true(row > 0 && train ? b[0] != b[1] : b[0] == b[1] && fabs(b[2] - b[0] - 0.5) < 1e-15);
        }
        hspec_theory_free(theory);
    }
    hspec_signal_free(signal);
}

/* With a residual the flow integrates R, the limit of SGD integrates r. At the largest batch eta^2 / B is 1e-6: both must
 * say the same. The roots differ by a rotation, that is by the error of the nodes: 1e-5 here. */
static void test_flow_with_a_residual(void **state)
{
    (void)state;
    hspec_signal *signal = flipped(4.0, 0.7);
    const hspec_task_params task = {.tokens = 5, .dimension = 1000, .signal = signal};
    hspec_layer_params layer = hspec_layer_default(H);
    layer.activation = HSPEC_SOFTMAX1;
    hspec_training_params training = hspec_training_default();
    training.batch = 1000000;
    training.time = 20;
    training.records = 4;
    const hspec_order start = {start_m, start_r, zero_b, 1};
    hspec_theory *theory[2];
    hspec_theory_trajectory t[2];
    for (int limit = 0; limit < 2; limit++) {
        const hspec_theory_params params = theory_params(limit ? HSPEC_LIMIT_FLOW : HSPEC_LIMIT_SGD);
        theory[limit] = integrate(&task, &layer, &training, &params, &start);
        hspec_theory_view(theory[limit], &t[limit]);
    }
    double apart = 0;
    const size_t n = t[0].rows;
    for (size_t i = 0; i < n * H * H; i++) {
        apart = fmax(apart, fabs(t[1].residual[i] - t[0].residual[i]));
    }
    for (size_t i = 0; i < n * H; i++) {
        apart = fmax(apart, fabs(t[1].alignment[i] - t[0].alignment[i]));
        apart = fmax(apart, fabs(t[1].bias[i] - t[0].bias[i]));
    }
    const double *last = t[1].residual + (n - 1) * H * H;
    printf("  flow and limit of SGD at B = 1e6: %.1e apart; r[0][0] from %.3f to %.3f\n", apart, start_r[0], last[0]);
    assert_true(apart < 2e-4);
    assert_true(fabs(last[0] - start_r[0]) > 0.02); /* it moved */
    hspec_theory_free(theory[0]);
    hspec_theory_free(theory[1]);
    hspec_signal_free(signal);
}

static void test_refusals(void **state)
{
    (void)state;
    hspec_error err;
    hspec_signal *signal = flipped(4.0, 0.7);
    const hspec_task_params task = {.tokens = 5, .dimension = 1000, .signal = signal};
    const hspec_layer_params layer = hspec_layer_default(H);
    const hspec_training_params training = hspec_training_default();
    const double bad_r[H * H] = {1, 2, 0, 2, 1, 0, 0, 0, 1};
    const double bad_m[H] = {0, NAN, 0};
    hspec_theory *theory = NULL;
    struct {
        hspec_theory_params params;
        hspec_order start;
        const char *says;
    } cases[] = {
        {theory_params(HSPEC_LIMIT_SGD), {start_m, bad_r, zero_b, 1}, "not positive semidefinite"},
        {theory_params(HSPEC_LIMIT_SGD), {bad_m, zero_r, zero_b, 1}, "theory.start.alignment.1.0: found nan"},
        {theory_params(HSPEC_LIMIT_SGD), {start_m, zero_r, zero_b, INFINITY}, "must be finite"},
        {{.limit = (hspec_limit)7, .nodes = 100, .tolerance = 1e-6}, {start_m, zero_r, zero_b, 1}, "theory.limit"},
        {{.nodes = 10, .tolerance = 1e-6}, {start_m, zero_r, zero_b, 1}, "theory.nodes: found 10"},
        {{.nodes = 100, .tolerance = 0}, {start_m, zero_r, zero_b, 1}, "theory.tolerance: found 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            hspec_theory_create(&task, &layer, &training, &cases[i].params, &cases[i].start, 1, &theory, &err),
            HSPEC_EARG);
        assert_non_null(strstr(err.message, cases[i].says));
        assert_null(theory);
    }
    hspec_signal_free(signal);
}

/* Three heads against one, in the flow without a residual: at nu = 9, L = 5 a minimum, where the split stays; at nu = 2,
 * L = 3 none, and the third head crosses over. */
static void test_uneven_split(void **state)
{
    (void)state;
    enum { FOUR = 4 };
    static const double apart[FOUR] = {0.3, 0.2, 0.1, -0.2};
    static const double none[FOUR * FOUR] = {0};
    static const double at_rest[FOUR] = {0};
    for (int stays = 0; stays < 2; stays++) {
        hspec_signal *signal = flipped(stays ? 9.0 : 2.0, 0.5);
        const hspec_layer_params layer = hspec_layer_default(FOUR);
        hspec_training_params training = hspec_training_default();
        training.time = 800;
        training.records = 20;
        const hspec_task_params task = {.tokens = stays ? 5 : 3, .dimension = 1000, .signal = signal};
        const hspec_order start = {apart, none, at_rest, 1};
        hspec_theory_params params = theory_params(HSPEC_LIMIT_FLOW);
        params.nodes = 8192;
        hspec_theory *theory = integrate(&task, &layer, &training, &params, &start);
        hspec_theory_trajectory t;
        hspec_theory_view(theory, &t);
        const double *m = t.alignment + (t.rows - 1) * FOUR;
        printf("  nu %g: %.2f %.2f %.2f %.2f, loss %.4f +- %.0e\n", stays ? 9.0 : 2.0, m[0], m[1], m[2], m[3],
               t.loss[t.rows - 1], t.loss_error[t.rows - 1]);
        assert_true(m[0] > 1 && m[1] > 1 && m[3] < -1);
        assert_true(stays ? m[2] > 1 : m[2] < -1);
        hspec_theory_free(theory);
        hspec_signal_free(signal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax),      cmocka_unit_test(test_softmax1),
        cmocka_unit_test(test_bayes),        cmocka_unit_test(test_growth_at_the_origin),
        cmocka_unit_test(test_invariants),   cmocka_unit_test(test_common_shift),
        cmocka_unit_test(test_uneven_split), cmocka_unit_test(test_flow_with_a_residual),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("theory", tests, NULL, NULL);
}
