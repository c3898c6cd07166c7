/* SPDX-License-Identifier: MIT
 * Growth rates of stability against closed forms, against the loss on other nodes, and against integrated trajectories.
 * Tolerances on other nodes: 5 standard errors, as the rates report them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_H = 6, MAX_F = 4 };

typedef struct subject {
    hspec_signal *signal;
    hspec_task_params task;
    hspec_layer_params layer;
    hspec_training_params training;
    hspec_theory_params params;
    hspec_stability *stability;
    hspec_stability_report report;
} subject;

static subject prepare(size_t F, const double *mean, const double *variance, size_t tokens, size_t heads,
                       hspec_limit limit)
{
    const hspec_signal_params gaussian = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
    subject s = {.layer = hspec_layer_default(heads), .training = hspec_training_default()};
    assert_int_equal(hspec_signal_create(&gaussian, &s.signal, NULL), HSPEC_OK);
    s.task = (hspec_task_params){.tokens = tokens, .dimension = 1000, .signal = s.signal};
    s.params = (hspec_theory_params){.limit = limit, .nodes = 16384, .tolerance = 1e-8};
    return s;
}

static void find(subject *s, hspec_stability_at at)
{
    hspec_error err;
    if (hspec_stability_create(&s->task, &s->layer, &s->training, &s->params, at, 0, &s->stability, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_stability_view(s->stability, &s->report);
}

static void finish(subject *s)
{
    hspec_stability_free(s->stability);
    hspec_signal_free(s->signal);
}

static void close_to(double found, double wanted, double allowed, const char *what)
{
    printf("  %s: %.6f, wanted %.6f, allowed %.1e\n", what, found, wanted, allowed);
    assert_true(allowed > 0 && allowed < 0.1);
    assert_true(fabs(found - wanted) < allowed);
}

/* ---- closed forms (docs/theory.md, "Small weights") ----------------------------------------------------------------- */

static void test_origin(void **state)
{
    (void)state;
    static const double mean[2] = {0.7, 0}, variance[2] = {0.5, 5};
    static const size_t sizes[3][2] = {{3, 2}, {5, 3}, {6, 4}}; /* L, H */
    for (size_t i = 0; i < 3; i++) {
        const double L = (double)sizes[i][0], H = (double)sizes[i][1], eta = 1.5;
        subject s = prepare(2, mean, variance, sizes[i][0], sizes[i][1], HSPEC_LIMIT_FLOW);
        s.training.learning_rate = eta;
        find(&s, HSPEC_STABILITY_ORIGIN);
        const hspec_stability_report *r = &s.report;
        const double unit = eta * 2 / (L * H) * (1 - 1 / L);
        printf("  L = %g, H = %g\n", L, H);
        for (size_t k = 0; k < 2; k++) { /* feature 1 has the larger C_ff */
            const size_t f = 1 - k;
            const double C = f ? 5 : 0.5 + 0.7 * 0.7;
            assert_true(r->deviation[k].feature == f);
            const double deviation = unit * (1 - 2 / L) * C, together = -unit * (1 - C * (1 - 3 / L));
            close_to(r->deviation[k].rate, deviation, 5 * r->deviation[k].rate_error + 1e-4 * unit, "deviations");
            close_to(r->mean[k].rate, together, 5 * r->mean[k].rate_error + 1e-4 * unit, "mean");
            /* what the report has as closed form takes its own vectors, which the nodes turn a little */
            close_to(r->deviation[k].closed_form, deviation, 1e-3 * deviation, "closed form");
            close_to(r->mean[k].closed_form, together, 1e-3 * unit, "closed form");
            assert_true(L == 3 || r->mean[k].feature == f); /* L = 3: the mean falls alike along both */
        }
        close_to(r->gradient[0], -2 / (L * H) * (1 - 1 / L) * 0.7, 5 * r->gradient_error[0] + 1e-9, "gradient");
        close_to(r->residual_rate, 0, 5 * r->residual_rate_error, "residual rate");
        assert_true(fabs(r->loss - (1 - 1 / L)) < 1e-12 && r->residual == 0);
        finish(&s);
    }
}

/* With noise of SGD the mean residual at the origin is eta / (B H L) while it is small; the residual of deviations grows
 * at (eta^2/B) (4/(H L)^2) (1 - 1/L), of which the square of the update gives the share 1 - 2/L. */
static void test_residual_at_the_origin(void **state)
{
    (void)state;
    static const double mean[1] = {0}, variance[1] = {1.5};
    for (size_t B = 1; B <= 4; B *= 4) {
        const double L = 5, H = 3, eta = 0.05;
        subject s = prepare(1, mean, variance, 5, 3, HSPEC_LIMIT_SGD);
        s.training.learning_rate = eta;
        s.training.batch = B;
        find(&s, HSPEC_STABILITY_ORIGIN);
        const double settles = eta / ((double)B * H * L);
        const double grows = eta * eta / (double)B * 4 / (H * H * L * L) * (1 - 1 / L) * (1 - 2 / L);
        close_to(s.report.residual, settles, 0.03 * settles, "mean residual");
        close_to(s.report.residual_growth - 2 * s.report.residual_rate, grows, 0.05 * grows, "growth by noise");
        finish(&s);
    }
    const double L = 5, H = 3, eta = 0.4;
    subject s = prepare(1, mean, variance, 5, 3, HSPEC_LIMIT_SGD);
    s.training.learning_rate = eta;
    find(&s, HSPEC_STABILITY_ORIGIN);
    const double grows = eta * eta * 4 / (H * H * L * L) * (1 - 1 / L);
    close_to(s.report.residual_growth, grows, 0.1 * grows + 10 * s.report.residual_rate_error, "growth in all");
    finish(&s);
}

/* ---- the loss itself, on other nodes --------------------------------------------------------------------------------- */

/* -eta times second differences of the loss, heads at (1, 1, -2) times the vector of the mode. */
static void test_curvature_of_the_loss(void **state)
{
    (void)state;
    enum { H = 3, F = 2 };
    static const double mean[F] = {1.2, 0}, variance[F] = {0.5, 6}, pattern[H] = {1, 1, -2};
    static const double place[3] = {-1, 0, 1};
    subject s = prepare(F, mean, variance, 4, H, HSPEC_LIMIT_SGD);
    s.params.nodes = 65536;
    find(&s, HSPEC_STABILITY_UNSPECIALIZED);
    const hspec_stability_report *r = &s.report;
    for (size_t k = 0; k < r->deviation_modes; k++) {
        double m[3][H * F], residual[H * H], loss[3];
        const double bias[H] = {0}, step = 0.02;
        hspec_order states[3];
        for (size_t i = 0; i < H * H; i++) {
            residual[i] = r->residual;
        }
        for (size_t i = 0; i < 3; i++) {
            for (size_t j = 0; j < H * F; j++) {
                m[i][j] =
                    r->alignment[j % F] + place[i] * step * pattern[j / F] / sqrt(6) * r->deviation[k].vector[j % F];
            }
            states[i] = (hspec_order){m[i], residual, bias, 1};
        }
        assert_int_equal(hspec_population_loss(&s.task, &s.layer, s.params.nodes, 7, 0, 3, states, loss, NULL, NULL),
                         HSPEC_OK);
        const double rate = -s.training.learning_rate * (loss[0] - 2 * loss[1] + loss[2]) / (step * step);
        close_to(rate, r->deviation[k].rate, 5 * sqrt(2) * r->deviation[k].rate_error, "curvature");
    }
    finish(&s);
}

/* ---- directions of noise --------------------------------------------------------------------------------------------- */

/* A feature that the data do not have is a direction of noise. Softmax has no use for it, and bayes does not mind. */
static void test_residual_rate(void **state)
{
    (void)state;
    static const double mean[2] = {1.5, 0}, variance[2] = {0.5, 0};
    for (int activation = 0; activation < 3; activation++) {
        for (int limit = 0; limit < 2; limit++) {
            subject s = prepare(2, mean, variance, 5, 3, limit ? HSPEC_LIMIT_FLOW : HSPEC_LIMIT_SGD);
            s.layer.activation = (hspec_activation)activation;
            find(&s, HSPEC_STABILITY_UNSPECIALIZED);
            const hspec_stability_report *r = &s.report;
            size_t k = 0;
            while (r->deviation[k].feature != 1) {
                k++;
            }
            const double allowed = 5 * hypot(r->residual_rate_error, r->deviation[k].rate_error);
            close_to(r->residual_rate, r->deviation[k].rate, allowed, "rate of noise");
            if (activation == HSPEC_BAYES) { /* for any equal heads */
                close_to(r->residual_rate, 0, 5 * r->residual_rate_error, "bayes");
            }
            assert_true(!limit || activation != HSPEC_SOFTMAX || r->residual_rate < -3 * r->residual_rate_error);
            assert_true(!limit || r->residual_growth == 2 * r->residual_rate);
            finish(&s);
        }
    }
}

/* ---- trajectories ---------------------------------------------------------------------------------------------------- */

/* The theory starts at the point, its heads parted by 1e-5: deviations grow at the predicted rates, each feature at its
 * own, in the predicted order. As hierarchy.yaml: a mean, and three fluctuations. */
static void growth(hspec_limit limit, size_t heads, size_t nodes)
{
    enum { F = MAX_F };
    static const double mean[F] = {1.5, 0, 0, 0}, variance[F] = {0, 9, 3, 5};
    static const double pattern[MAX_H] = {1.3, 0.2, -0.4, -1.1, 0.6, -0.6};
    static const size_t order[3] = {1, 3, 2};
    subject s = prepare(F, mean, variance, 6, heads, limit);
    s.training.learning_rate = 4;
    s.training.time = 12;
    s.training.records = 4;
    s.params.nodes = nodes;
    find(&s, HSPEC_STABILITY_UNSPECIALIZED);
    const hspec_stability_report *r = &s.report;
    double m[MAX_H * F], residual[MAX_H * MAX_H];
    const double bias[MAX_H] = {0};
    for (size_t h = 0; h < heads; h++) {
        for (size_t f = 0; f < F; f++) {
            m[h * F + f] = r->alignment[f] + (f ? 1e-5 * pattern[(h + f) % heads] : 0);
        }
        for (size_t j = 0; j < heads; j++) {
            residual[h * heads + j] = r->residual;
        }
    }
    const hspec_order start = {m, residual, bias, 1};
    hspec_theory *theory = NULL;
    hspec_error err;
    if (hspec_theory_create(&s.task, &s.layer, &s.training, &s.params, &start, 0, &theory, &err) != HSPEC_OK ||
        hspec_theory_run(theory, NULL, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_theory_trajectory t;
    hspec_theory_view(theory, &t);
    printf("  limit %s, H = %zu, r = %.4f\n", limit == HSPEC_LIMIT_SGD ? "sgd" : "flow", heads, r->residual);
    assert_true(limit == HSPEC_LIMIT_FLOW ? r->residual == 0 : r->residual > 0.1);
    for (size_t k = 0; k < 3; k++) {
        const size_t f = order[k];
        assert_int_equal(r->deviation[k].feature, f);
        double squares[2] = {0};
        for (size_t row = 0; row < 2; row++) { /* the mean over heads is 0 only at the start */
            const double *at = t.alignment + (row ? t.rows - 1 : 0) * heads * F;
            double sum = 0;
            for (size_t h = 0; h < heads; h++) {
                sum += at[h * F + f] / (double)heads;
            }
            for (size_t h = 0; h < heads; h++) {
                squares[row] += pow(at[h * F + f] - sum, 2);
            }
        }
        const double measured = log(squares[1] / squares[0]) / 2 / s.training.time;
        char what[64];
        (void)snprintf(what, sizeof what, "growth of feature %zu (nodes: +- %.4f)", f, r->deviation[k].rate_error);
        close_to(measured, r->deviation[k].rate, 0.02 * r->deviation[k].rate, what);
    }
    hspec_theory_free(theory);
    finish(&s);
}

static void test_growth(void **state)
{
    (void)state;
    growth(HSPEC_LIMIT_FLOW, 4, 16384);
    growth(HSPEC_LIMIT_SGD, 4, 8192);
    if (getenv("HSPEC_LAW_FULL")) {
        growth(HSPEC_LIMIT_FLOW, 6, 262144);
        growth(HSPEC_LIMIT_SGD, 6, 262144);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_origin),
        cmocka_unit_test(test_residual_at_the_origin),
        cmocka_unit_test(test_curvature_of_the_loss),
        cmocka_unit_test(test_residual_rate),
        cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests_name("stability", tests, NULL, NULL);
}
