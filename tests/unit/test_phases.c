/* SPDX-License-Identifier: MIT
 * Phases of trajectories that are made by hand, so that every answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"
#include "study/growth.h"

#include <math.h>
#include <string.h>

enum { ROWS = 200, H_MAX = 6, F_MAX = 3 };

/* NaN is near nothing. */
static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("found %.17g, expected %.17g +- %g", found, expected, tolerance);
    }
}

static double times[ROWS];
static double m[ROWS * H_MAX * F_MAX];

static hspec_phases_trajectory made(size_t rows, size_t H, size_t F)
{
    memset(m, 0, sizeof m);
    for (size_t i = 0; i < rows; i++) {
        times[i] = 0.5 * (double)i;
    }
    return (hspec_phases_trajectory){.rows = rows, .heads = H, .features = F, .time = times, .alignment = m};
}

static double *at(const hspec_phases_trajectory *t, size_t row, size_t h, size_t f)
{
    return &m[(row * t->heads + h) * t->features + f];
}

static hspec_phases *read_phases(const hspec_phases_trajectory *t, double level, hspec_phases_report *report)
{
    hspec_error err = {0};
    hspec_phases *phases = NULL;
    if (hspec_phases_create(t, level, &phases, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    hspec_phases_view(phases, report);
    return phases;
}

/* ---- learning ------------------------------------------------------------------------------------------------------ */

/* Two heads at mean +- d(t): the deviation is d itself. Feature 1 passes 0.5 at t = 20.25, feature 0 at t = 60.5, and
 * feature 2 has a common motion only. */
static void test_learning(void **state)
{
    (void)state;
    const hspec_phases_trajectory t = made(ROWS, 2, 3);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t h = 0; h < 2; h++) {
            const double sign = h ? -1 : 1;
            *at(&t, i, h, 0) = 1 + sign * (0.5 + 0.01 * (times[i] - 60.5));
            *at(&t, i, h, 1) = sign * (0.5 + 0.02 * (times[i] - 20.25));
            *at(&t, i, h, 2) = 0.1 * times[i];
        }
    }
    hspec_phases_report r;
    hspec_phases *phases = read_phases(&t, 0.5, &r);
    assert_int_equal(r.rows, ROWS);
    assert_int_equal(r.learned, 2);
    assert_true(r.order[0] == 1 && r.order[1] == 0);
    near(r.feature[0].learned, 60.5, 1e-10);
    near(r.feature[1].learned, 20.25, 1e-10);
    assert_true(isnan(r.feature[2].learned) && r.feature[2].order == 0);
    assert_true(r.feature[0].order == 2 && r.feature[1].order == 1);
    assert_true(r.specialized == r.feature[1].learned);
    near(r.deviation[(ROWS - 1) * 3 + 1], 0.5 + 0.02 * (99.5 - 20.25), 1e-12);
    hspec_phases_free(phases);

    phases = read_phases(&t, 5, &r); /* a level that nothing reaches */
    assert_int_equal(r.learned, 0);
    assert_true(isnan(r.specialized) && r.crossings == 0);
    assert_true(r.owner[0] == 3 && r.owner[1] == 3);
    hspec_phases_free(phases);

    phases = read_phases(&t, 0.09, &r); /* one that feature 1 passes before the start: it is learned at t = 0 */
    assert_true(r.feature[1].learned == 0);
    hspec_phases_free(phases);
}

/* The population standard deviation: (3, 1, 1, -1) has variance 2. */
static void test_deviation(void **state)
{
    (void)state;
    const double values[8] = {3, 9, 1, 9, 1, 9, -1, 9};
    near(hspec_growth_deviation(4, values, 2), sqrt(2), 1e-14);
    assert_true(hspec_growth_deviation(4, values + 1, 2) == 0);
    assert_true(hspec_growth_deviation(1, values, 1) == 0);
}

/* ---- sides --------------------------------------------------------------------------------------------------------- */

/* Heads 0 and 1 take the two sides of feature 0 at t = 10, heads 2 and 3 those of feature 1 at t = 50, head 4 none. */
static void test_splits_and_owners(void **state)
{
    (void)state;
    const hspec_phases_trajectory t = made(ROWS, 5, 2);
    for (size_t i = 0; i < ROWS; i++) {
        const double early = times[i] >= 10 ? 2 : 0, late = times[i] >= 50 ? 3 : 0;
        *at(&t, i, 0, 0) = early;
        *at(&t, i, 1, 0) = -early;
        *at(&t, i, 2, 1) = late;
        *at(&t, i, 2, 0) = late / 3; /* a bit of feature 0, too, but less than of feature 1 */
        *at(&t, i, 3, 1) = -late;
        *at(&t, i, 4, 0) = *at(&t, i, 4, 1) = 0.049;
    }
    hspec_phases_report r;
    hspec_phases *phases = read_phases(&t, 0.5, &r);
    const hspec_phases_split first = r.feature[0].split, end = r.feature[0].split_at_end, second = r.feature[1].split;
    assert_true(first.positive == 1 && first.negative == 1 && first.neither == 3);
    assert_true(end.positive == 2 && end.negative == 1 && end.neither == 2);
    assert_true(second.positive == 1 && second.negative == 1 && second.neither == 3);
    static const int at_learning[10] = {1, -1, 0, 0, 0, 0, 0, 1, -1, 0}, at_end[10] = {1, -1, 1, 0, 0, 0, 0, 1, -1, 0};
    assert_memory_equal(r.side_at_learning, at_learning, sizeof at_learning);
    assert_memory_equal(r.side_at_end, at_end, sizeof at_end);
    static const size_t owner[5] = {0, 0, 1, 1, 2};
    assert_memory_equal(r.owner, owner, sizeof owner);
    hspec_phases_free(phases);
}

/* Three heads stay; the fourth comes from the side of two others, with noise about zero on its way. Its last zero is at
 * t = 30.25, and it is counted once. A head that trembles about zero, or does not reach the side, does not cross. */
static void test_crossings(void **state)
{
    (void)state;
    const hspec_phases_trajectory t = made(ROWS, 6, 1);
    for (size_t i = 0; i < ROWS; i++) {
        *at(&t, i, 0, 0) = *at(&t, i, 1, 0) = 1.2;
        *at(&t, i, 2, 0) = -1.2;
        *at(&t, i, 3, 0) = (times[i] < 29 ? 0.04 : 0.02) * (30.25 - times[i]); /* slower near zero */
        *at(&t, i, 4, 0) = i % 2 ? 0.049 : -0.049;
        *at(&t, i, 5, 0) = 0.3 - 0.003 * times[i] - 0.02; /* ends at -0.0185 */
    }
    *at(&t, 57, 3, 0) = -0.02; /* t = 28.5: below zero, and back */
    hspec_phases_report r;
    hspec_phases *phases = read_phases(&t, 0.5, &r);
    assert_int_equal(r.crossings, 1);
    const hspec_phases_crossing one = r.crossing[0];
    assert_true(one.head == 3 && one.feature == 0 && one.from == 1 && one.to == -1);
    near(one.time, 30.25, 1e-10);
    hspec_phases_free(phases);

    for (size_t i = 0; i < ROWS; i++) { /* to and fro: listed in the order of time, over the heads */
        *at(&t, i, 3, 0) = cos(times[i] / 10 + 0.01);
        *at(&t, i, 5, 0) = -cos(times[i] / 10 + 0.11);
    }
    phases = read_phases(&t, 0.5, &r);
    assert_int_equal(r.crossings, 6);
    for (size_t i = 0; i < 6; i++) {
        const size_t pair = i / 2;
        const double turn = 10 * ((double)pair + 0.5) * 3.14159265358979, shift = i % 2 ? 0.1 : 1.1;
        assert_true(r.crossing[i].head == (i % 2 ? 3 : 5));
        near(r.crossing[i].time, turn - shift, 1e-3);
        assert_true(r.crossing[i].from == -r.crossing[i].to);
        assert_true(r.crossing[i].from == ((i / 2) % 2 == (i % 2 ? 0 : 1) ? 1 : -1));
    }
    hspec_phases_free(phases);

    for (size_t i = 0; i < ROWS; i++) { /* before heads have parted there are no sides: 0.2 of the level */
        for (size_t h = 0; h < 6; h++) {
            *at(&t, i, h, 0) = i < 100 ? 0.1 * (h % 2 ? 1 : 0.9) : h % 2 ? -2 : 2;
        }
    }
    phases = read_phases(&t, 0.5, &r);
    assert_int_equal(r.learned, 1);
    assert_int_equal(r.crossings, 0);
    hspec_phases_free(phases);
}

/* ---- growth -------------------------------------------------------------------------------------------------------- */

/* Deviations 1e-4 exp(rate t) until they saturate; a pattern over the heads that is not that of two sides. */
static void test_growth(void **state)
{
    (void)state;
    static const double pattern[4] = {1.5, 0.5, -0.7, -1.3}, rate[3] = {0.3, 0.11, -0.2};
    const hspec_phases_trajectory t = made(ROWS, 4, 3);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t h = 0; h < 4; h++) {
            for (size_t f = 0; f < 3; f++) {
                *at(&t, i, h, f) = 0.7 + pattern[h] * fmin(1e-4 * exp(rate[f] * times[i]), 0.6);
            }
        }
    }
    hspec_phases_report r;
    hspec_phases *phases = read_phases(&t, 0.5, &r);
    for (size_t f = 0; f < 2; f++) {
        near(r.feature[f].growth, rate[f], 1e-9);
        assert_true(r.feature[f].growth_error < 1e-9);
        assert_true(r.feature[f].first == 0 && r.feature[f].points > 40);
        assert_true(isnan(r.feature[f].predicted));
    }
    hspec_phases *higher = NULL; /* a higher level does not stretch the linear regime */
    assert_int_equal(hspec_phases_create(&t, 20, &higher, NULL), HSPEC_OK);
    hspec_phases_report other;
    hspec_phases_view(higher, &other);
    assert_int_equal(other.feature[0].points, r.feature[0].points);
    hspec_phases_free(higher);
    assert_int_equal(r.feature[0].points, r.feature[1].points); /* the fastest ends the linear regime of all */
    const size_t end = r.feature[0].points;
    assert_true(r.deviation[(end - 1) * 3] < 0.1 && r.deviation[end * 3] >= 0.1);
    assert_true(isnan(r.feature[2].growth) && r.feature[2].points == 0); /* it decays */
    hspec_phases_free(phases);

    for (size_t i = 0; i < 20; i++) { /* at first another pattern, and a dip: the fit begins behind both */
        for (size_t h = 0; h < 4; h++) {
            *at(&t, i, h, 0) = pattern[(h + 1) % 4] * 1e-4;
            *at(&t, i, h, 1) = pattern[h] * 1e-4 * exp(0.11 * times[20]) * (1 + 0.05 * (double)(20 - i));
        }
    }
    phases = read_phases(&t, 0.5, &r);
    assert_int_equal(r.feature[0].first, 20);
    assert_int_equal(r.feature[1].first, 20);
    near(r.feature[0].growth, rate[0], 1e-9);
    near(r.feature[1].growth, rate[1], 1e-9);
    hspec_phases_free(phases);
}

/* Behind a new pattern the deviation only decays, though it is least before: that is no growth. */
static void test_decay(void **state)
{
    (void)state;
    const hspec_phases_trajectory t = made(40, 3, 1);
    for (size_t i = 0; i < 40; i++) {
        *at(&t, i, i < 10 ? 0 : 1, 0) = i < 10 ? 1e-5 : 1e-2 * exp(-0.1 * times[i]);
    }
    hspec_phases_report r;
    hspec_phases *phases = read_phases(&t, 0.5, &r);
    assert_true(isnan(r.feature[0].growth) && isnan(r.feature[0].growth_error));
    assert_true(r.feature[0].points == 0 && r.feature[0].first == 0);
    hspec_phases_free(phases);
}

/* The standard error of a line, against one worked out by hand: residuals 0.1 (1, -2, 1) about a slope of 2. */
static void test_line(void **state)
{
    (void)state;
    const double t[3] = {1, 2, 3}, y[3] = {2.1, 3.8, 6.1};
    const hspec_growth_line line = hspec_growth_fit(3, t, y);
    near(line.slope, 2, 1e-12);
    near(line.error, sqrt(0.06 / 2), 1e-12);
    assert_true(isnan(hspec_growth_fit(2, t, y).slope));
    const double bad[3] = {1, -INFINITY, 2};
    assert_true(isnan(hspec_growth_fit(3, t, bad).slope));
}

/* A line through few rows is no measurement. */
static void test_few_rows(void **state)
{
    (void)state;
    for (size_t rows = 1; rows < 8; rows++) {
        const hspec_phases_trajectory t = made(rows, 2, 1);
        for (size_t i = 0; i < rows; i++) {
            *at(&t, i, 0, 0) = 1e-3 * exp(times[i]);
            *at(&t, i, 1, 0) = -1e-3 * exp(times[i]);
        }
        hspec_phases_report r;
        hspec_phases *phases = read_phases(&t, 0.5, &r);
        assert_int_equal(r.feature[0].points, rows >= HSPEC_GROWTH_POINTS ? rows : 0);
        assert_true(rows >= HSPEC_GROWTH_POINTS ? fabs(r.feature[0].growth - 1) < 1e-9 : isnan(r.feature[0].growth));
        hspec_phases_free(phases);
    }
}

/* ---- what is odd --------------------------------------------------------------------------------------------------- */

static void test_one_head(void **state)
{
    (void)state;
    const hspec_phases_trajectory t = made(ROWS, 1, 2);
    for (size_t i = 0; i < ROWS; i++) {
        *at(&t, i, 0, 0) = *at(&t, i, 0, 1) = times[i];
    }
    hspec_phases_report r;
    hspec_phases *phases = read_phases(&t, 0.5, &r);
    assert_true(r.learned == 0 && r.crossings == 0 && r.owner[0] == 2);
    assert_true(isnan(r.specialized) && r.feature[0].points == 0 && isnan(r.feature[1].growth));
    hspec_phases_free(phases);
}

/* A run that was stopped, in an array that was made for more: rows from the first that is not finite are not read. */
static void test_rows_that_are_not_finite(void **state)
{
    (void)state;
    const hspec_phases_trajectory t = made(ROWS, 2, 1);
    for (size_t i = 0; i < ROWS; i++) {
        *at(&t, i, 0, 0) = 0.01 * times[i];
        *at(&t, i, 1, 0) = -0.01 * times[i];
    }
    *at(&t, 150, 1, 0) = NAN;
    hspec_phases_report r;
    hspec_phases *phases = read_phases(&t, 0.5, &r);
    assert_int_equal(r.rows, 150);
    near(r.feature[0].learned, 50, 1e-10);
    hspec_phases_free(phases);
    times[60] = NAN;
    phases = read_phases(&t, 0.5, &r);
    assert_int_equal(r.rows, 60);
    assert_int_equal(r.learned, 0);
    hspec_phases_free(phases);
}

static void test_refusals(void **state)
{
    (void)state;
    hspec_error err;
    hspec_phases *phases = NULL;
    hspec_phases_trajectory t = made(ROWS, 2, 1);
    static const double levels[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(hspec_phases_create(&t, levels[i], &phases, &err), HSPEC_EARG);
        assert_non_null(strstr(err.message, "level: found"));
    }
    times[5] = times[4];
    assert_int_equal(hspec_phases_create(&t, 0.5, &phases, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "time[5]: found 2 after 2"));
    *at(&t, 0, 1, 0) = INFINITY;
    assert_int_equal(hspec_phases_create(&t, 0.5, &phases, &err), HSPEC_ENONFINITE);
    t.rows = 0;
    assert_int_equal(hspec_phases_create(&t, 0.5, &phases, &err), HSPEC_EARG);
    assert_int_equal(hspec_phases_create(NULL, 0.5, &phases, NULL), HSPEC_EARG);
    assert_null(phases);
    hspec_phases_free(NULL);
}

/* The prediction wants what the phases were read from, and all of it. */
static void test_refusals_of_predictions(void **state)
{
    (void)state;
    static double residual[ROWS * 4], bias[ROWS * 2], scale[ROWS];
    hspec_error err;
    hspec_phases_trajectory t = made(ROWS, 2, 1);
    for (size_t i = 0; i < ROWS; i++) {
        *at(&t, i, 0, 0) = 1e-3 * exp(0.05 * times[i]);
        scale[i] = 1;
    }
    hspec_phases_report r;
    hspec_phases *phases = read_phases(&t, 0.5, &r);
    assert_true(r.feature[0].points > 0);
    const hspec_signal_params flipped = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = 4, .probability = 0.5};
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_signal_create(&flipped, &signal, NULL), HSPEC_OK);
    const hspec_task_params task = {.tokens = 3, .dimension = 100, .signal = signal};
    const hspec_layer_params layer = hspec_layer_default(2), other = hspec_layer_default(3);
    const hspec_training_params training = hspec_training_default();
    const hspec_phases_nodes good = {64, 1, 0, 2, HSPEC_LIMIT_SGD};
    static const hspec_phases_nodes bad[] = {
        {63, 1, 0, 2, HSPEC_LIMIT_SGD}, {64, 0, 0, 2, HSPEC_LIMIT_SGD}, {64, 1, 0, 1, HSPEC_LIMIT_SGD}};
    assert_int_equal(hspec_phases_predict(phases, &t, &task, &layer, &training, &good, 1, &err), HSPEC_EARG);
    t.residual = residual;
    t.bias = bias;
    t.scale = scale;
    assert_int_equal(hspec_phases_predict(phases, &t, &task, &other, &training, &good, 1, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "a layer of 3 heads"));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(hspec_phases_predict(phases, &t, &task, &layer, &training, &bad[i], 1, &err), HSPEC_EARG);
    }
    assert_int_equal(hspec_phases_predict(phases, &t, &task, &layer, &training, &good, -1, &err), HSPEC_EARG);
    residual[0] = NAN;
    assert_int_equal(hspec_phases_predict(phases, &t, &task, &layer, &training, &good, 1, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "not finite in row 0"));
    residual[0] = 0;
    assert_int_equal(hspec_phases_predict(phases, &t, &task, &layer, &training, &good, 1, &err), HSPEC_OK);
    hspec_phases_view(phases, &r);
    const double first = r.feature[0].predicted;
    assert_true(isnan(r.feature[0].predicted_error));
    const hspec_phases_nodes own = {64, 4, 1, 2, HSPEC_LIMIT_SGD}, all = {64, 4, 0, 2, HSPEC_LIMIT_SGD};
    assert_int_equal(hspec_phases_predict(phases, &t, &task, &layer, &training, &own, 1, &err), HSPEC_OK);
    hspec_phases_view(phases, &r);
    const double error = r.feature[0].predicted_error;
    assert_true(r.feature[0].predicted == first && error > 0); /* on the first set, whatever the others give */
    assert_int_equal(hspec_phases_predict(phases, &t, &task, &layer, &training, &all, 1, &err), HSPEC_OK);
    hspec_phases_view(phases, &r);
    assert_true(r.feature[0].predicted != first);
    near(r.feature[0].predicted_error, error / 2, 1e-12 * error);
    assert_true(isfinite(r.feature[0].predicted) && r.feature[0].predicted > 0);
    hspec_phases_free(phases);
    hspec_signal_free(signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_deviation),
        cmocka_unit_test(test_splits_and_owners),
        cmocka_unit_test(test_crossings),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_decay),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_one_head),
        cmocka_unit_test(test_rows_that_are_not_finite),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refusals_of_predictions),
    };
    return cmocka_run_group_tests_name("phases", tests, NULL, NULL);
}
