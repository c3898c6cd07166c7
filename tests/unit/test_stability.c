/* SPDX-License-Identifier: MIT
 * Stability of equal heads: rates against second differences of the loss on the same nodes, what the point must fulfil,
 * and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/dense.h"
#include "theory/flow.h"
#include "theory/rates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { H = 3, F = 2, L = 4, NODES = 4096 };
static const double mean[F] = {1.2, 0}, variance[F] = {0.5, 6};

/** One experiment. */
typedef struct subject {
    hspec_signal *signal;
    hspec_task_params task;
    hspec_layer_params layer;
    hspec_training_params training;
    hspec_theory_params params;
} subject;

static subject prepare(size_t heads, hspec_activation activation, hspec_limit limit)
{
    const hspec_signal_params gaussian = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
    subject s = {.layer = hspec_layer_default(heads), .training = hspec_training_default()};
    assert_int_equal(hspec_signal_create(&gaussian, &s.signal, NULL), HSPEC_OK);
    s.task = (hspec_task_params){.tokens = L, .dimension = 10000, .signal = s.signal};
    s.layer.activation = activation;
    s.training.learning_rate = 0.8;
    s.params = (hspec_theory_params){.limit = limit, .nodes = NODES, .tolerance = 1e-6};
    return s;
}

static hspec_stability *find(const subject *s, hspec_stability_at at, hspec_stability_report *report)
{
    hspec_error err;
    hspec_stability *stability = NULL;
    if (hspec_stability_create(&s->task, &s->layer, &s->training, &s->params, at, 2, &stability, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_stability_view(stability, report);
    return stability;
}

/* ---- rates --------------------------------------------------------------------------------------------------------- */

/** -eta times the second derivative of the loss along `size` times (m, b, s) moves, from losses at five points, on the
 *  nodes of the slope (seed 2) at r = 0. */
static double curvature(const subject *s, const hspec_stability_report *r, const double *dm, const double *db,
                        double ds)
{
    const hspec_nodes_params nodes = {.nodes = NODES, .randomizations = 1, .seed = 2, .closed = 1};
    static const double place[5] = {-2, -1, 0, 1, 2}, weight[5] = {-1.0 / 12, 4.0 / 3, -2.5, 4.0 / 3, -1.0 / 12};
    const double step = 0.01;
    double m[5][H * F], b[5][H], loss[5 * 64], sum = 0;
    hspec_field_state states[5];
    hspec_field field;
    assert_int_equal(hspec_field_create(s->signal, &s->layer, L, &nodes, 5, 1, &field, NULL), HSPEC_OK);
    assert_true(field.places.size <= 64);
    for (size_t i = 0; i < 5; i++) {
        for (size_t h = 0; h < H; h++) {
            for (size_t f = 0; f < F; f++) {
                m[i][h * F + f] = r->alignment[f] + place[i] * step * dm[h * F + f];
            }
            b[i][h] = r->bias + place[i] * step * db[h];
        }
        states[i] = (hspec_field_state){m[i], NULL, b[i], r->scale + place[i] * step * ds};
    }
    hspec_field_evaluate(&field, 5, states, HSPEC_FIELD_LOSS, loss, NULL);
    for (size_t i = 0; i < 5; i++) {
        sum += weight[i] * loss[i * field.places.size + field.places.loss];
    }
    hspec_field_free(&field);
    return -s->training.learning_rate * sum / (step * step);
}

/** Along every mode: heads together with (1, 1, 1) / sqrt 3, and against each other in two ways. */
static void rates_of(hspec_activation activation, int per_head, hspec_stability_at at)
{
    static const double pattern[3][H] = {{1, 1, 1}, {1, -1, 0}, {1, 1, -2}}, length[3] = {3, 2, 6};
    subject s = prepare(H, activation, HSPEC_LIMIT_FLOW);
    s.layer.bias_per_head = per_head || activation == HSPEC_BAYES;
    hspec_stability_report r;
    hspec_stability *stability = find(&s, at, &r);
    double largest = 0, worst = 0;
    for (size_t way = 0; way < 3; way++) {
        const size_t modes = way ? r.deviation_modes : r.mean_modes;
        for (size_t k = 0; k < modes; k++) {
            const hspec_stability_mode *mode = way ? &r.deviation[k] : &r.mean[k];
            const int has_bias = way ? modes > F : r.mean_bias;
            double dm[H * F], db[H] = {0};
            for (size_t h = 0; h < H; h++) {
                const double share = pattern[way][h] / sqrt(length[way]);
                for (size_t f = 0; f < F; f++) {
                    dm[h * F + f] = share * mode->vector[f];
                }
                /* one number for all heads is as long as one */
                db[h] = !has_bias ? 0 : (way || s.layer.bias_per_head ? share : 1) * mode->vector[F];
            }
            const double ds = !way && r.mean_scale ? mode->vector[modes - 1] : 0;
            const double rate = curvature(&s, &r, dm, db, ds);
            largest = fmax(largest, fabs(rate));
            worst = fmax(worst, fabs(rate - mode->rate));
        }
    }
    printf("  activation %d, bias per head %d, at %d: rates up to %.4f, off by %.1e\n", (int)activation, per_head,
           (int)at, largest, worst);
    assert_true(worst < 1e-6 * largest);
    hspec_stability_free(stability);
    hspec_signal_free(s.signal);
}

static void test_rates_are_curvatures(void **state)
{
    (void)state;
    for (int at = 0; at < 2; at++) {
        rates_of(HSPEC_SOFTMAX, 0, (hspec_stability_at)at);
        rates_of(HSPEC_SOFTMAX1, 0, (hspec_stability_at)at);
        rates_of(HSPEC_SOFTMAX1, 1, (hspec_stability_at)at);
        rates_of(HSPEC_BAYES, 1, (hspec_stability_at)at);
    }
}

/** The block with a residual, which is not at rest here: its diagonal against second differences of the loss. */
static void test_rates_with_residual(void **state)
{
    (void)state;
    enum { POINTS = 5 };
    static const double place[POINTS] = {-2, -1, 0, 1, 2},
                        weight[POINTS] = {-1.0 / 12, 4.0 / 3, -2.5, 4.0 / 3, -1.0 / 12};
    static const double together[F] = {0.6, 0.2}, none[H] = {0};
    const double step = 0.01;
    const hspec_nodes_params nodes = {.nodes = NODES, .randomizations = 1, .seed = 2, .noise = 1, .closed = 1};
    subject s = prepare(H, HSPEC_SOFTMAX, HSPEC_LIMIT_FLOW);
    hspec_setup setup;
    hspec_rates rates;
    hspec_field field;
    assert_int_equal(hspec_setup_create(&s.task, &s.layer, &s.training, &setup, NULL), HSPEC_OK);
    assert_int_equal(hspec_rates_create(&setup, &nodes, 1, &rates, NULL), HSPEC_OK);
    assert_int_equal(hspec_field_create(s.signal, &s.layer, L, &nodes, POINTS, 1, &field, NULL), HSPEC_OK);
    for (int sign = -1; sign <= 1; sign += 2) { /* heads that share noise, and heads that hold opposite noise */
        const hspec_rates_state at = {together, 0.5, 0.2 * sign, 0, 1};
        double r[H * H], root[H * H], scratch[2 * H * H], block[F * F];
        for (size_t i = 0; i < (size_t)H * H; i++) {
            r[i] = i % (H + 1) == 0 ? at.residual_own : at.residual_other;
        }
        assert_true(hspec_dense_symmetric_root(H, r, root, scratch) >= 0);
        hspec_rates_block(&rates, &at, block);
        for (size_t f = 0; f < F; f++) {
            double m[POINTS][H * F], loss[POINTS * 64], sum = 0;
            hspec_field_state states[POINTS];
            for (size_t i = 0; i < POINTS; i++) {
                for (size_t j = 0; j < (size_t)H * F; j++) {
                    m[i][j] = together[j % F];
                }
                m[i][f] += place[i] * step / sqrt(2);
                m[i][F + f] -= place[i] * step / sqrt(2);
                states[i] = (hspec_field_state){m[i], root, none, 1};
            }
            assert_true(field.places.size <= 64);
            hspec_field_evaluate(&field, POINTS, states, HSPEC_FIELD_LOSS, loss, NULL);
            for (size_t i = 0; i < POINTS; i++) {
                sum += weight[i] * loss[i * field.places.size + field.places.loss];
            }
            const double rate = -s.training.learning_rate * sum / (step * step);
            assert_true(fabs(block[f * F + f] - rate) < 1e-6);
            assert_true(fabs(rate) > 1e-3);
        }
    }
    hspec_field_free(&field);
    hspec_rates_free(&rates);
    hspec_setup_free(&setup);
    hspec_signal_free(s.signal);
}

/* ---- the point ----------------------------------------------------------------------------------------------------- */

/** dy/dt of three heads, in full. @param y [n] = (m, r in triangles, b, s) of softmax in limit sgd */
static void slope_of(hspec_flow *flow, const hspec_stability_report *r, const double *dm, double *slope)
{
    double y[H * F + H * (H + 1) / 2];
    for (size_t i = 0; i < H * F; i++) {
        y[i] = r->alignment[i % F] + dm[i];
    }
    for (size_t i = H * F; i < sizeof y / sizeof *y; i++) {
        y[i] = r->residual;
    }
    assert_int_equal(flow->variables, sizeof y / sizeof *y);
    assert_int_equal(hspec_flow_slope(flow, y, slope), 0);
}

/* In the limit of SGD the equations of motion stand still at the point, r included. A deviation along the feature of
 * mean 0 changes nothing in the slope of r to first order: its rate at fixed r is that of the whole system. */
static void test_rest_with_residual(void **state)
{
    (void)state;
    enum { N = H * F + H * (H + 1) / 2 };
    subject s = prepare(H, HSPEC_SOFTMAX, HSPEC_LIMIT_SGD);
    hspec_stability_report r;
    hspec_stability *stability = find(&s, HSPEC_STABILITY_UNSPECIALIZED, &r);
    hspec_setup setup;
    hspec_flow flow;
    /* heads that differ, so that nothing is averaged over them */
    const double zero[H * H] = {0}, apart[H * F] = {1, 0, 2, 0, 3, 0};
    const hspec_order start = {apart, zero, zero, 1};
    const hspec_nodes_params nodes = {.nodes = NODES, .randomizations = 1, .seed = 2};
    assert_int_equal(hspec_setup_create(&s.task, &s.layer, &s.training, &setup, NULL), HSPEC_OK);
    assert_int_equal(hspec_flow_create(&setup, HSPEC_LIMIT_SGD, &nodes, &start, 1, &flow, NULL), HSPEC_OK);
    double rest[N], slope[3][N], largest = 0;
    const double none[H * F] = {0};
    slope_of(&flow, &r, none, rest);
    for (size_t i = 0; i < N; i++) {
        largest = fmax(largest, fabs(rest[i]));
    }
    printf("  r %.6f, largest slope %.1e\n", r.residual, largest);
    assert_true(r.residual > 0 && largest < 1e-9);
    double moved[3] = {0};
    for (size_t k = 0; k < 3; k++) { /* along feature 1 by e and 2 e; along feature 0 by e, for comparison */
        const double e = k == 1 ? 2e-3 : 1e-3;
        double dm[H * F] = {0};
        dm[k < 2 ? 1 : 0] = e;
        dm[k < 2 ? F + 1 : F] = -e;
        slope_of(&flow, &r, dm, slope[k]);
        for (size_t i = H * F; i < N; i++) {
            moved[k] = fmax(moved[k], fabs(slope[k][i] - rest[i]));
        }
    }
    printf("  slope of r: %.2e by e, %.2e by 2 e, %.2e along the mean\n", moved[0], moved[1], moved[2]);
    assert_true(fabs(moved[1] / moved[0] - 4) < 0.05 && moved[2] > 10 * moved[0]);
    const double measured = (slope[0][1] - slope[0][F + 1]) / 2e-3;
    assert_true(r.deviation[0].feature == 1 && fabs(measured - r.deviation[0].rate) < 1e-4 * measured);
    hspec_flow_free(&flow);
    hspec_setup_free(&setup);
    hspec_stability_free(stability);
    hspec_signal_free(s.signal);
}

static int same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* What is sorted, normalized, and the same for any number of threads. */
static void test_order(void **state)
{
    (void)state;
    subject s = prepare(H, HSPEC_SOFTMAX1, HSPEC_LIMIT_SGD);
    hspec_stability_report r, other;
    hspec_stability *stability = find(&s, HSPEC_STABILITY_UNSPECIALIZED, &r), *again = NULL;
    assert_int_equal(hspec_stability_create(&s.task, &s.layer, &s.training, &s.params, HSPEC_STABILITY_UNSPECIALIZED, 1,
                                            &again, NULL),
                     HSPEC_OK);
    hspec_stability_view(again, &other);
    assert_true(r.at == HSPEC_STABILITY_UNSPECIALIZED && r.heads == H && r.features == F);
    assert_true(r.mean_modes == F + 2 && r.mean_bias && r.mean_scale && r.deviation_modes == F);
    assert_true(r.loss == other.loss && r.residual == other.residual && r.residual_rate == other.residual_rate);
    assert_true(r.loss > 0.3 && r.loss < 0.75 && r.loss_error > 0 && r.loss_error < 0.02);
    for (int block = 0; block < 2; block++) {
        const size_t n = block ? r.deviation_modes : r.mean_modes;
        const hspec_stability_mode *mode = block ? r.deviation : r.mean, *twin = block ? other.deviation : other.mean;
        for (size_t k = 0; k < n; k++) {
            double squares = 0;
            assert_true(k == 0 || mode[k].rate <= mode[k - 1].rate);
            assert_true(mode[k].rate == twin[k].rate && mode[k].rate_error == twin[k].rate_error);
            assert_true(same(mode[k].time, twin[k].time) && isnan(mode[k].closed_form));
            for (size_t i = 0; i < n; i++) {
                squares += mode[k].vector[i] * mode[k].vector[i];
                assert_true(fabs(mode[k].vector[i]) <= mode[k].vector[mode[k].feature]);
            }
            assert_true(fabs(squares - 1) < 1e-12);
        }
    }
    for (size_t f = 0; f < F; f++) {
        assert_true(fabs(r.gradient[f]) < 1e-9 && r.gradient_error[f] == 0);
    }
    hspec_stability_free(again);
    hspec_stability_free(stability);
    hspec_signal_free(s.signal);
}

/* ---- predicted times ----------------------------------------------------------------------------------------------- */

static void test_times(void **state)
{
    (void)state;
    subject s = prepare(H, HSPEC_SOFTMAX, HSPEC_LIMIT_FLOW);
    s.training.batch = 2;
    s.training.init.scale = 0.05;
    hspec_stability_report r;
    hspec_stability *stability = find(&s, HSPEC_STABILITY_ORIGIN, &r);
    const double rate = r.deviation[0].rate, t = log(0.5 * 100 / 0.05) / rate;
    assert_true(r.at == HSPEC_STABILITY_ORIGIN && r.level == 0.5);
    assert_true(r.deviation[0].feature == 1 && fabs(r.deviation[0].time - t) < 1e-9 * t);
    assert_true(fabs(r.deviation[0].samples - 2 * 10000 * t) < 1e-6 * t);
    assert_true(r.gradient[0] < -1e-3 && fabs(r.gradient[1]) < 1e-12);
    hspec_stability_free(stability);
    /* a given start: deviations of 0.1 sqrt(2/3) along feature 1, none along feature 0 */
    const double m0[H * F] = {0.3, 0.1, 0.3, -0.1, 0.3, 0};
    s.training.init = (hspec_init_params){.kind = HSPEC_INIT_ALIGNED, .alignment = m0};
    stability = find(&s, HSPEC_STABILITY_ORIGIN, &r);
    const double given = log(0.5 / (0.1 * sqrt(2.0 / 3))) / rate;
    assert_true(fabs(r.deviation[0].time - given) < 1e-9 * given && r.deviation[0].rate == rate);
    assert_true(r.deviation[1].rate > 0 && isnan(r.deviation[1].time) && isnan(r.deviation[1].samples));
    hspec_stability_free(stability);
    /* no start at all */
    s.training.init = (hspec_init_params){.kind = HSPEC_INIT_RANDOM, .scale = 0};
    stability = find(&s, HSPEC_STABILITY_ORIGIN, &r);
    assert_true(isnan(r.deviation[0].time));
    hspec_stability_free(stability);
    hspec_signal_free(s.signal);
}

/* One head has nobody to deviate from; without a mean all heads stay at the origin. */
static void test_corners(void **state)
{
    (void)state;
    subject s = prepare(1, HSPEC_SOFTMAX, HSPEC_LIMIT_SGD);
    hspec_stability_report r;
    hspec_stability *stability = find(&s, HSPEC_STABILITY_UNSPECIALIZED, &r);
    assert_true(r.deviation_modes == 0 && r.mean_modes == F && isnan(r.residual_rate) && isnan(r.residual_growth));
    assert_true(r.alignment[0] > 0.3 && fabs(r.alignment[1]) < 1e-12 && r.residual > 0);
    hspec_stability_free(stability);
    hspec_signal_free(s.signal);
    const hspec_signal_params symmetric = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = 4, .probability = 0.5};
    assert_int_equal(hspec_signal_create(&symmetric, &s.signal, NULL), HSPEC_OK);
    s.task.signal = s.signal;
    s.layer.heads = H;
    stability = find(&s, HSPEC_STABILITY_UNSPECIALIZED, &r);
    assert_true(r.at == HSPEC_STABILITY_ORIGIN && r.alignment[0] == 0 && fabs(r.gradient[0]) < 1e-15);
    hspec_stability_free(stability);
    hspec_signal_free(s.signal);
    hspec_stability_free(NULL);
}

/* A learning rate far too large: the noise of SGD drives the residual away. A strong signal: the bias creeps. */
static void test_no_rest(void **state)
{
    (void)state;
    subject s = prepare(H, HSPEC_SOFTMAX1, HSPEC_LIMIT_SGD);
    hspec_error err;
    hspec_stability *stability = NULL;
    s.params.nodes = 1024;
    s.training.learning_rate = 1000;
    assert_int_equal(hspec_stability_create(&s.task, &s.layer, &s.training, &s.params, HSPEC_STABILITY_UNSPECIALIZED, 1,
                                            &stability, &err),
                     HSPEC_ENONFINITE);
    assert_non_null(strstr(err.message, "the flow of equal heads does not come to rest: at t = "));
    assert_non_null(strstr(err.message, "the largest number is residual = "));
    assert_null(stability);
    hspec_signal_free(s.signal);
    const hspec_signal_params strong = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = 100, .probability = 0.9};
    assert_int_equal(hspec_signal_create(&strong, &s.signal, NULL), HSPEC_OK);
    s.task.signal = s.signal;
    s.training.learning_rate = 1;
    hspec_stability_report r;
    stability = find(&s, HSPEC_STABILITY_UNSPECIALIZED, &r);
    assert_true(r.bias > 5 && fabs(r.gradient[0]) < 1e-8 && r.loss > 0.09 && r.loss < 0.2);
    hspec_stability_free(stability);
    hspec_signal_free(s.signal);
}

static void test_refusals(void **state)
{
    (void)state;
    const subject s = prepare(H, HSPEC_SOFTMAX, HSPEC_LIMIT_FLOW);
    const struct {
        hspec_theory_params params;
        int at, threads;
        const char *says;
    } cases[] = {
        {{.limit = (hspec_limit)5, .nodes = 64}, 0, 0, "theory.limit: found 5"},
        {{.nodes = 63}, 0, 0, "theory.nodes: found 63, allowed 64 to 2^40"},
        {{.nodes = 64}, 2, 0, "at: found 2, allowed unspecialized, origin"},
        {{.nodes = 64}, 0, -1, "threads: found -1"},
    };
    hspec_error err;
    hspec_stability *stability = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(hspec_stability_create(&s.task, &s.layer, &s.training, &cases[i].params,
                                                (hspec_stability_at)cases[i].at, cases[i].threads, &stability, &err),
                         HSPEC_EARG);
        assert_non_null(strstr(err.message, cases[i].says));
        assert_null(stability);
    }
    assert_int_equal(
        hspec_stability_create(&s.task, NULL, &s.training, &s.params, HSPEC_STABILITY_ORIGIN, 1, &stability, &err),
        HSPEC_EARG);
    hspec_layer_params none = s.layer;
    none.heads = 0;
    assert_int_equal(
        hspec_stability_create(&s.task, &none, &s.training, &s.params, HSPEC_STABILITY_ORIGIN, 1, &stability, &err),
        HSPEC_EARG);
    hspec_signal_free(s.signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates_are_curvatures),
        cmocka_unit_test(test_rates_with_residual),
        cmocka_unit_test(test_rest_with_residual),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_no_rest),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("stability", tests, NULL, NULL);
}
