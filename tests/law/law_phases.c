/* SPDX-License-Identifier: MIT
 * Phases of integrated trajectories: growth as it was fitted, as it is predicted, and as closed forms have it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** One trajectory and its phases. */
typedef struct subject {
    hspec_signal *signal;
    hspec_task_params task;
    hspec_layer_params layer;
    hspec_training_params training;
    hspec_theory_params params;
    hspec_theory *theory;
    hspec_phases *phases;
    hspec_phases_report report;
} subject;

static subject prepare(const hspec_signal_params *signal, size_t tokens, size_t heads, hspec_limit limit)
{
    subject s = {.layer = hspec_layer_default(heads), .training = hspec_training_default()};
    assert_int_equal(hspec_signal_create(signal, &s.signal, NULL), HSPEC_OK);
    s.task = (hspec_task_params){.tokens = tokens, .dimension = 1000, .signal = s.signal};
    s.params = (hspec_theory_params){.limit = limit, .nodes = 8192, .tolerance = 1e-6};
    return s;
}

static void integrate(subject *s, const double *m)
{
    static const double zero[64];
    const hspec_order start = {m, zero, zero, 1};
    hspec_error err;
    if (hspec_theory_create(&s->task, &s->layer, &s->training, &s->params, &start, 0, &s->theory, &err) != HSPEC_OK ||
        hspec_theory_run(s->theory, NULL, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_theory_trajectory t;
    hspec_theory_view(s->theory, &t);
    const hspec_phases_trajectory from = {t.done,      t.heads,    t.features, t.time,
                                          t.alignment, t.residual, t.bias,     t.scale};
    const hspec_phases_nodes nodes = {s->params.nodes, 2, 1, 33, s->params.limit};
    if (hspec_phases_create(&from, 0.5, &s->phases, &err) != HSPEC_OK ||
        hspec_phases_predict(s->phases, &from, &s->task, &s->layer, &s->training, &nodes, 0, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_phases_view(s->phases, &s->report);
}

static void finish(subject *s)
{
    hspec_phases_free(s->phases);
    hspec_theory_free(s->theory);
    hspec_signal_free(s->signal);
}

/* The fitted rate of one feature against the predicted one. */
static void agree(const subject *s, size_t f, double tolerance)
{
    const hspec_phases_feature *feature = &s->report.feature[f];
    printf("  feature %zu: learned at t = %.1f, growth %.5f +- %.5f, predicted %.5f +- %.5f, %zu rows\n", f,
           feature->learned, feature->growth, feature->growth_error, feature->predicted, feature->predicted_error,
           feature->points);
    assert_true(feature->points > 10);
    assert_true(fabs(feature->growth - feature->predicted) < tolerance * feature->predicted);
}

/* A mean and three fluctuations of variance 9, 5 and 3: deviations along each grow at a rate of its own, with and without
 * the noise of SGD (in which the state of equal heads has r > 0). */
static void test_hierarchy(void **state)
{
    (void)state;
    enum { H = 4, F = 4 };
    static const double mean[F] = {1.5, 0, 0, 0}, variance[F] = {0, 9, 5, 3};
    static const double pattern[H] = {1.3, 0.2, -0.4, -1.1};
    const hspec_signal_params gaussian = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
    double m[H * F] = {0};
    for (size_t h = 0; h < H; h++) {
        for (size_t f = 1; f < F; f++) {
            m[h * F + f] = 1e-4 * pattern[(h * f) % H];
        }
    }
    const int full = getenv("HSPEC_LAW_FULL") != NULL;
    for (int limit = 0; limit < 2; limit++) {
        subject s = prepare(&gaussian, 6, H, limit ? HSPEC_LIMIT_FLOW : HSPEC_LIMIT_SGD);
        s.training.learning_rate = 2;
        s.training.time = 60;
        s.training.records = 600;
        s.params.nodes = full ? 262144 : 16384;
        integrate(&s, m);
        printf("  limit %s\n", limit ? "flow" : "sgd");
        for (size_t f = 1; f < F; f++) {
            agree(&s, f, 0.02);
        }
        const hspec_phases_feature *feature = s.report.feature;
        assert_true(feature[1].growth > feature[2].growth && feature[2].growth > feature[3].growth);
        assert_true(feature[1].order == 1 && s.report.specialized == feature[1].learned);
        finish(&s);
    }
}

/* experiments/hierarchy.yaml from a small start: rates as predicted. Of the two fluctuations the larger one is learned first, each by heads on
 * both sides. Along the mean, which all heads follow, they part in between: because they have parted elsewhere. */
static void test_order(void **state)
{
    (void)state;
    enum { H = 6, F = 3 };
    static const double mean[F] = {1.5, 0, 0}, variance[F] = {0, 9, 3};
    static const double m[H * F] = {0, 3e-4, 1e-4,  0, -2e-4, 3e-4, 0, 1e-4,  -2e-4,
                                    0, 2e-4, -3e-4, 0, -3e-4, 2e-4, 0, -1e-4, -1e-4};
    const hspec_signal_params gaussian = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
    for (int limit = 0; limit < 2; limit++) {
        subject s = prepare(&gaussian, 6, H, limit ? HSPEC_LIMIT_FLOW : HSPEC_LIMIT_SGD);
        s.training.learning_rate = 4;
        s.training.time = 600;
        s.training.records = 1200;
        integrate(&s, m);
        agree(&s, 1, 0.02);
        agree(&s, 2, 0.02);
        const hspec_phases_feature *feature = s.report.feature;
        printf("  learned at t = %.1f, %.1f, %.1f\n", feature[0].learned, feature[1].learned, feature[2].learned);
        assert_true(feature[1].order == 1 && feature[0].order == 2 && feature[2].order == 3);
        assert_true(feature[1].split.positive > 0 && feature[1].split.negative > 0);
        assert_true(feature[2].split.positive > 0 && feature[2].split.negative > 0);
        assert_true(feature[0].split.negative == 0); /* the sign of the mean is known */
        finish(&s);
    }
}

/* Softmax, mu = 0, r = 0, the flow: eta (2/(L H)) (1 - 1/L) (1 - 2/L) C_ff (docs/theory.md, "Small weights"). */
static void test_origin(void **state)
{
    (void)state;
    enum { L = 5, H = 3, F = 2 };
    static const double mean[F] = {0, 0}, variance[F] = {5, 2};
    const hspec_signal_params gaussian = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
    const double m[H * F] = {1e-4, -1e-4, -2e-4, 5e-5, 1e-4, 5e-5};
    subject s = prepare(&gaussian, L, H, HSPEC_LIMIT_FLOW);
    s.training.time = 20;
    s.params.nodes = 65536;
    s.params.tolerance = 1e-8;
    integrate(&s, m);
    for (size_t f = 0; f < F; f++) {
        const double closed = 2.0 / (L * H) * (1 - 1.0 / L) * (1 - 2.0 / L) * variance[f];
        printf("  closed form %.5f\n", closed);
        agree(&s, f, 2e-3);
        assert_true(fabs(s.report.feature[f].growth - closed) < 0.01 * closed);
        assert_true(fabs(s.report.feature[f].predicted - closed) < 0.01 * closed);
    }
    finish(&s);
}

/* Points that do not lie along the features: a mean along both, and deviations of one that drive the other. The feature
 * that is not there at the start grows at first through the other one. */
static void test_features_that_mix(void **state)
{
    (void)state;
    enum { H = 3, F = 2 };
    static const double theta[6] = {3, 1, -1, 2, 0.5, -2};
    const hspec_signal_params discrete = {.kind = HSPEC_SIGNAL_DISCRETE, .features = F, .points = 3, .theta = theta};
    const double m[H * F] = {1e-4, 1e-6, -2e-4, 2e-6, 1e-4, -3e-6};
    subject s = prepare(&discrete, 4, H, HSPEC_LIMIT_FLOW);
    s.training.time = 60;
    s.training.records = 300;
    integrate(&s, m);
    agree(&s, 0, 0.02);
    agree(&s, 1, 0.02);
    finish(&s);
}

/* Bayes-softmax trains a bias for each head; along a feature of nonzero mean, biases and alignments deviate together. */
static void test_biases(void **state)
{
    (void)state;
    enum { H = 3 };
    const hspec_signal_params flipped = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = 4, .probability = 0.7};
    const double m[H] = {1.1e-3, 1e-3, 0.95e-3};
    subject s = prepare(&flipped, 5, H, HSPEC_LIMIT_FLOW);
    s.layer.activation = HSPEC_BAYES;
    s.training.time = 80;
    s.training.records = 400;
    integrate(&s, m);
    agree(&s, 0, 0.02);
    finish(&s);
}

/* experiments/rearrangement.yaml: three against one becomes two against two, through the third head. */
static void test_rearrangement(void **state)
{
    (void)state;
    enum { H = 4 };
    const hspec_signal_params flipped = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = 2, .probability = 0.5};
    const double m[H] = {0.3, 0.2, 0.1, -0.2};
    subject s = prepare(&flipped, 3, H, HSPEC_LIMIT_SGD);
    s.training.time = 200;
    integrate(&s, m);
    const hspec_phases_report *r = &s.report;
    assert_int_equal(r->crossings, 1);
    printf("  head %zu crosses at t = %.1f\n", r->crossing[0].head, r->crossing[0].time);
    assert_true(r->crossing[0].head == 2 && r->crossing[0].from == 1 && r->crossing[0].to == -1);
    assert_true(r->crossing[0].time > 10 && r->crossing[0].time < 20);
    const hspec_phases_split end = r->feature[0].split_at_end;
    assert_true(end.positive == 2 && end.negative == 2 && end.neither == 0);
    assert_true(r->feature[0].points == 0); /* it starts outside the linear regime */
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hierarchy),         cmocka_unit_test(test_order),  cmocka_unit_test(test_origin),
        cmocka_unit_test(test_features_that_mix), cmocka_unit_test(test_biases), cmocka_unit_test(test_rearrangement),
    };
    return cmocka_run_group_tests_name("phases", tests, NULL, NULL);
}
