/* SPDX-License-Identifier: MIT
 * Figures with a theory in them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "figure_sample.h"
#include "io/figure.h"
#include "io/figure_gnuplot.h"
#include "io/figure_layout.h"

enum { T = 11, H = 3 };
#define ABOVE 0.007

static double alignment[T * H], residual[T * H * H], bias[T * H], scale[T], loss[T];

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * (1.0 + fabs(expected)))) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

/* softmax1 with three heads; the theory is ABOVE what seed 2 does, with its heads in the order in which they are planted,
 * which is the other way round than in seed 2. */
static figure_sample make(size_t seed)
{
    figure_sample a = figure_sample_make(figure_sample_flipped);
    for (size_t t = 0; t < T; t++) {
        for (size_t h = 0; h < H; h++) {
            alignment[t * H + h] = figure_planted(1, t, h, 0) + ABOVE;
            residual[(t * H + h) * H + h] = figure_planted(1, t, h, 0) + 1.0 + ABOVE;
            bias[t * H + h] = 2.0 + ABOVE;
        }
        scale[t] = 3.0 + ABOVE;
        loss[t] = 4.0 + ABOVE;
    }
    a.source.theory.seed = seed;
    a.source.theory.trajectory = (hspec_theory_trajectory){.rows = T,
                                                           .heads = H,
                                                           .features = 1,
                                                           .done = T,
                                                           .time = a.time,
                                                           .alignment = alignment,
                                                           .residual = residual,
                                                           .loss = loss,
                                                           .bias = bias,
                                                           .scale = scale};
    a.source.levels[0] = (hspec_figure_level){"Bayes risk", 1.5};
    a.source.levels[1] = (hspec_figure_level){"optimum", 2.5};
    a.source.level_count = 2;
    return a;
}

static void write_script(const hspec_figure *figure, char **script)
{
    hspec_error err = {0};
    assert_int_equal(hspec_figure_gnuplot_script(figure, HSPEC_FIGURE_SVG, NULL, "x", script, &err), HSPEC_OK);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

/* After a random start: the one seed from which the theory starts. */
static void test_one_seed(void **unused)
{
    (void)unused;
    figure_sample a = make(2);
    hspec_figure_options options = hspec_figure_default();
    hspec_error err = {0};
    assert_int_equal(hspec_figure_parse_panels("alignment,loss,residual,bias,scale", &options, &err), HSPEC_OK);
    hspec_figure *figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->only, 2);
    assert_int_equal(figure->seeds, 1);
    assert_int_equal(figure->singles, 0);
    assert_int_equal(figure->theory_points, T);
    assert_string_equal(figure->points_words, "SGD, seed 2");
    assert_non_null(strstr(figure->title, "; theory and seed\xc2\xa0"
                                          "2"));
    assert_string_equal(figure->note, "The theory starts where seed 2 does. Heads are matched by their trajectories. "
                                      "After a random start noise decides when heads part, and which: compare theory "
                                      "and simulation up to a shift in time.");
    /* One role, one colour: role j is planted head 2 - j in both. */
    for (size_t t = 0; t < T; t++) {
        assert_close(figure->theory_x[t], 2.0 * (double)t);
        for (size_t j = 0; j < H; j++) {
            const hspec_figure_series *m = &figure->panels[0].series[j], *r = &figure->panels[2].series[j];
            assert_null(m->deviation);
            assert_close(m->mean[t], figure_planted(1, t, 2 - j, 0));
            assert_close(m->theory[t], figure_planted(1, t, 2 - j, 0) + ABOVE);
            assert_close(r->mean[t], figure_planted(1, t, 2 - j, 0) + 1.0);
            assert_close(r->theory[t], figure_planted(1, t, 2 - j, 0) + 1.0 + ABOVE);
        }
        assert_close(figure->panels[1].series[0].mean[t], figure_planted(1, t, 0, 0) + 4.0);
        assert_close(figure->panels[1].series[0].theory[t], loss[t]);
        assert_close(figure->panels[3].series[0].theory[t], bias[0]);
        assert_close(figure->panels[4].series[0].theory[t], scale[0]);
    }
    hspec_figure_free(figure);

    options.match = HSPEC_FIGURE_MATCH_NONE;
    figure = figure_sample_create(&a, &options);
    assert_non_null(strstr(figure->note, "Heads are not matched."));
    assert_close(figure->panels[0].series[0].mean[0], figure_planted(1, 0, 2, 0));
    assert_close(figure->panels[0].series[0].theory[0], figure_planted(1, 0, 0, 0) + ABOVE);
    char *script = NULL;
    write_script(figure, &script);
    assert_int_equal(occurrences(script, "with points"), 9);
    free(script);
    hspec_figure_free(figure);
    figure_sample_release(&a);
}

/* After a given start: the mean over all seeds. */
static void test_mean(void **unused)
{
    (void)unused;
    figure_sample a = make(0);
    static const double start[H] = {0.1, 0.2, 0.3};
    a.experiment->training.init.kind = HSPEC_INIT_ALIGNED;
    const double *kept = a.experiment->training.init.alignment;
    a.experiment->training.init.alignment = start;
    a.source.theory.limit = HSPEC_LIMIT_FLOW;
    hspec_figure_options options = hspec_figure_default();
    hspec_figure *figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->only, 0);
    assert_int_equal(figure->seeds, 4);
    assert_int_equal(figure->singles, 0);
    assert_string_equal(figure->points_words, "SGD, mean ± s.d.");
    assert_non_null(strstr(figure->title, "; theory (gradient flow) and 4\xc2\xa0seeds"));
    assert_string_equal(figure->note, "Heads are numbered as at the start, the same in every seed.");
    for (size_t t = 0; t < T; t++) {
        for (size_t j = 0; j < H; j++) {
            const hspec_figure_series *m = &figure->panels[0].series[j];
            assert_close(m->mean[t], 0.15 + figure_planted(0, t, 1, 0));
            assert_close(m->theory[t], alignment[t * H + j]);
            assert_non_null(m->deviation);
        }
    }
    /* The levels are in the loss panel alone, with room below. */
    assert_int_equal(figure->panels[0].level_count, 0);
    assert_int_equal(figure->panels[1].level_count, 2);
    assert_true(figure->panels[1].low < 1.5 - 0.1 * (figure->panels[1].high - 1.5));
    assert_true(figure->panels[1].high > 4.3);
    char *script = NULL;
    write_script(figure, &script);
    assert_int_equal(occurrences(script, "with filledcurves"), 4);
    assert_int_equal(occurrences(script, "with points"), 4);
    assert_int_equal(occurrences(script, "with lines"), 4);
    assert_int_equal(occurrences(script, "\n$theory_"), 4);
    assert_non_null(strstr(script, "$theory_2_1 << EOD\n0 4.007\n2 4.007\n"));
    assert_non_null(strstr(script, "set arrow from graph 0, first 1.5 to graph 1, first 1.5 nohead"));
    assert_non_null(strstr(script, "set label '{/*0.85 optimum}' at graph 0.015, first 2.5 left"));
    assert_non_null(strstr(script, "'SGD, mean ± s.d.'"));
    free(script);
    hspec_figure_free(figure);
    a.experiment->training.init.alignment = kept;
    figure_sample_release(&a);
}

/* Nothing was simulated: one line for each head, and no D. */
static void test_alone(void **unused)
{
    (void)unused;
    figure_sample a = make(0);
    a.source.theory = (hspec_figure_theory){.limit = HSPEC_LIMIT_SGD};
    a.source.trajectory.seeds = 1;
    a.source.alone = 1;
    hspec_figure_options options = hspec_figure_default();
    hspec_figure *figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->theory_points, 0);
    assert_string_equal(figure->note, "");
    assert_string_equal(figure->points_words, "");
    assert_null(figure->panels[0].series[0].theory);
    assert_null(strstr(figure->title, "{/:Italic D}"));
    assert_string_equal(figure->title + strlen(figure->title) - 8, "; theory");
    char *script = NULL;
    write_script(figure, &script);
    assert_null(strstr(script, "with points"));
    assert_null(strstr(script, "'theory'"));
    assert_non_null(strstr(script, "Bayes risk"));
    free(script);
    hspec_figure_free(figure);
    figure_sample_release(&a);
}

/* Points of different heads lie apart, evenly along the axis, and within each panel few of them. */
static void test_marks(void **unused)
{
    (void)unused;
    figure_sample a = figure_sample_make("task: {tokens: 5, signal: {kind: flipped, strength: 4}}\nlayer: {heads: 3}\n"
                                         "training: {seeds: 2, records: 3000, time: 3000}\n");
    static double zeros[3001 * 9];
    a.source.theory.seed = 1;
    a.source.theory.trajectory =
        (hspec_theory_trajectory){.rows = 3001, .heads = 3, .features = 1, .done = 2001, .time = a.time};
    a.source.theory.trajectory.alignment = a.source.theory.trajectory.residual = zeros;
    a.source.theory.trajectory.bias = a.source.theory.trajectory.scale = a.source.theory.trajectory.loss = zeros;
    hspec_figure_options options = hspec_figure_default();
    for (int log_axis = 0; log_axis < 2; log_axis++) {
        options.xscale = log_axis ? HSPEC_FIGURE_LOG : HSPEC_FIGURE_LINEAR;
        hspec_figure *figure = figure_sample_create(&a, &options);
        assert_close(figure->x_first, log_axis);
        assert_close(figure->x_last, 3000.0);
        assert_close(figure->theory_x[figure->theory_points - 1], 2000.0);
        for (size_t j = 0; j < 3; j++) {
            const hspec_figure_series *series = &figure->panels[0].series[j];
            assert_in_range(series->marks, log_axis ? 20 : 30, 34);
            for (size_t k = 2; k < series->marks; k++) {
                assert_true(series->mark[k] > series->mark[k - 1]);
                if (!log_axis) {
                    double gap = figure->x[series->mark[k]] - figure->x[series->mark[k - 1]];
                    assert_true(fabs(gap - 3000.0 / 32.0) < 8.0);
                    double other = figure->x[figure->panels[0].series[0].mark[k]];
                    assert_true(j == 0 || fabs(figure->x[series->mark[k]] - other) > 20.0);
                }
            }
        }
        hspec_figure_free(figure);
    }
    figure_sample_release(&a);
}

/* Nothing of the legend leaves the figure, and things do not lie on each other. */
static void test_legend(void **unused)
{
    (void)unused;
    for (size_t seed = 0; seed < 3; seed += 2) {
        figure_sample a = make(seed);
        hspec_figure_options options = hspec_figure_default();
        for (int wide = 0; wide < 2; wide++) {
            options.width = wide ? 16.0 : 8.6;
            hspec_figure *figure = figure_sample_create(&a, &options);
            hspec_figure_layout layout;
            hspec_error err = {0};
            assert_int_equal(hspec_figure_layout_make(figure, &layout, &err), HSPEC_OK);
            hspec_figure_legend_item items[H + 3];
            size_t lines = 0, count = hspec_figure_layout_legend(figure, &layout, items, &lines);
            assert_int_equal(count, H + 3);
            for (size_t i = 0; i < count; i++) {
                assert_true(items[i].x >= layout.left - 1e-9);
                assert_true(items[i].x + items[i].sample < layout.width - layout.right);
                assert_true(items[i].y > layout.top && items[i].y < layout.title_y);
                if (i > 0) {
                    double step = items[i - 1].y - items[i].y;
                    assert_true(step == 0.0 ? items[i].x > items[i - 1].x + items[i - 1].sample : step > layout.em);
                }
            }
            assert_string_equal(items[H + 1].words, "theory");
            assert_false(items[H + 1].mark);
            assert_string_equal(items[H + 2].words, seed ? "SGD, seed 2" : "SGD, mean ± s.d.");
            assert_true(items[H + 2].mark && items[H + 2].no_line);
            assert_int_equal(items[H + 2].band, seed == 0);
            hspec_figure_layout_release(&layout);
            hspec_figure_free(figure);
        }
        figure_sample_release(&a);
    }
}

static void assert_refused(const figure_sample *a, hspec_status status, const char *message)
{
    hspec_error err = {0};
    hspec_figure *figure = NULL;
    hspec_figure_options options = hspec_figure_default();
    assert_int_equal(hspec_figure_create(&a->source, &options, &figure, &err), status);
    assert_string_equal(err.message, message);
    assert_null(figure);
}

static void test_refusals(void **unused)
{
    (void)unused;
    static double time[T];
    figure_sample a = make(5);
    assert_refused(&a, HSPEC_EARG, "figure: the theory starts at seed 5, but there are 4");
    a.source.theory.seed = 1;
    a.source.theory.trajectory.heads = 2;
    assert_refused(&a, HSPEC_EARG, "figure: theory and simulation differ in their heads or features");
    a.source.theory.trajectory.heads = H;
    for (size_t t = 0; t < T; t++) {
        time[t] = a.time[t] * (t < 4 ? 1.0 : 1.5);
    }
    a.source.theory.trajectory.time = time;
    assert_refused(&a, HSPEC_EARG, "figure: row 4 is at time 6 in the theory, but 4 in the simulation");
    a.source.theory.trajectory.time = a.time;
    a.source.levels[1].value = NAN;
    assert_refused(&a, HSPEC_ENONFINITE, "optimum is nan");
    a.source.levels[1].value = 2.5;
    loss[3] = INFINITY;
    assert_refused(&a, HSPEC_ENONFINITE, "loss of the theory in row 3 is inf");
    figure_sample_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_seed), cmocka_unit_test(test_mean),   cmocka_unit_test(test_alone),
        cmocka_unit_test(test_marks),    cmocka_unit_test(test_legend), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
