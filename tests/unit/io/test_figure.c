/* SPDX-License-Identifier: MIT
 * The numbers and words of a figure, and what is refused. */
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

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * (1.0 + fabs(expected)))) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

static void test_panels(void **unused)
{
    (void)unused;
    figure_sample a = figure_sample_make(figure_sample_flipped);
    hspec_figure_options options = hspec_figure_default();
    hspec_error err = {0};
    assert_int_equal(hspec_figure_parse_panels("alignment,loss,residual,bias,scale", &options, &err), HSPEC_OK);
    hspec_figure *figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->panel_count, 5);
    assert_int_equal(figure->points, 11);
    assert_int_equal(figure->singles, 4);
    assert_string_equal(figure->title, "softmax1, {/:Italic H}\xc2\xa0=\xc2\xa0"
                                       "3, {/:Italic L}\xc2\xa0=\xc2\xa0"
                                       "5, {/:Italic D}\xc2\xa0=\xc2\xa0"
                                       "100, {/:Italic B}\xc2\xa0=\xc2\xa0"
                                       "2; flipped signal, {/:Italic ν}\xc2\xa0=\xc2\xa0"
                                       "4, {/:Italic p}\xc2\xa0=\xc2\xa0"
                                       "0.7; 4\xc2\xa0seeds");
    /* Roles are ordered by alignment, largest first: role j is planted head 2 - j. */
    for (size_t t = 0; t < 11; t++) {
        assert_close(figure->x[t], 2.0 * (double)t); /* N/D = B t */
        for (size_t j = 0; j < 3; j++) {
            /* Mean and deviation of 0, 100, 200, 300. */
            double mean = 0.15 + figure_planted(0, t, 2 - j, 0), deviation = 0.1 * sqrt(5.0 / 3.0);
            assert_close(figure->panels[0].series[j].mean[t], mean);
            assert_close(figure->panels[0].series[j].deviation[t], deviation);
            assert_close(figure->panels[0].series[j].single[3 * 11 + t], figure_planted(3, t, 2 - j, 0));
            assert_close(figure->panels[2].series[j].mean[t], mean + 1.0);
            assert_int_equal(figure->panels[0].series[j].head, j);
        }
        /* softmax1 with a shared bias: one curve. */
        assert_close(figure->panels[1].series[0].mean[t], 0.15 + figure_planted(0, t, 0, 0) + 4.0);
        assert_close(figure->panels[4].series[0].mean[t], 0.15 + figure_planted(0, t, 0, 0) + 3.0);
    }
    const size_t counts[] = {3, 1, 3, 1, 1};
    for (size_t p = 0; p < 5; p++) {
        assert_int_equal(figure->panels[p].series_count, counts[p]);
        assert_true(figure->panels[p].low < figure->panels[p].high);
        for (size_t j = 0; j < counts[p]; j++) {
            const hspec_figure_series *series = &figure->panels[p].series[j];
            for (size_t t = 0; t < 11; t++) {
                assert_true(series->mean[t] - series->deviation[t] > figure->panels[p].low);
                assert_true(series->mean[t] + series->deviation[t] < figure->panels[p].high);
                assert_true(series->single[t] > figure->panels[p].low);
                assert_true(series->single[3 * 11 + t] < figure->panels[p].high);
            }
        }
    }
    assert_non_null(strstr(figure->note, "Heads are matched over seeds"));
    assert_non_null(strstr(figure->note, "mean and band mix these times."));
    hspec_figure_free(figure);

    /* Not matched: the odd seeds stand the other way round. */
    options.match = HSPEC_FIGURE_MATCH_NONE;
    figure = figure_sample_create(&a, &options);
    for (size_t j = 0; j < 3; j++) {
        assert_close(figure->panels[0].series[j].mean[0], 0.15 + figure_planted(0, 0, 1, 0));
        assert_close(figure->panels[0].series[j].single[0], figure_planted(0, 0, j, 0));
    }
    assert_non_null(strstr(figure->note, "Heads are not matched over seeds."));
    hspec_figure_free(figure);
    figure_sample_release(&a);
}

static void test_features_and_signs(void **unused)
{
    (void)unused;
    figure_sample a = figure_sample_make(figure_sample_gaussian);
    /* Feature 1 has mean 0 and may flip. */
    for (size_t t = 0; t < 11; t++) {
        for (size_t h = 0; h < 2; h++) {
            a.alignment[((1 * 11 + t) * 2 + h) * 2 + 1] *= -1.0;
        }
    }
    hspec_figure_options options = hspec_figure_default();
    hspec_figure *figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->panel_count, 3);
    for (size_t j = 0; j < 2; j++) {
        assert_close(figure->panels[0].series[j].mean[10], 0.1 + figure_planted(0, 10, 1 - j, 0));
        assert_close(figure->panels[1].series[j].mean[10], 0.1 + figure_planted(0, 10, 1 - j, 1));
    }
    assert_string_equal(figure->panels[1].label, "alignment  {/:Italic m_h}_{2}\n{/*0.85 mean 0, variance 9}");
    assert_string_equal(figure->panels[1].symbol, "{/:Italic m_h}_{2}");
    assert_non_null(strstr(figure->note, "signs of the symmetric feature 2 are flipped to agree."));
    assert_non_null(strstr(figure->title, "mean\xc2\xa0(1.5,\xc2\xa0"
                                          "0), variance\xc2\xa0(0,\xc2\xa0"
                                          "9)"));
    assert_non_null(strstr(figure->title, "{/:Italic η}\xc2\xa0=\xc2\xa0"
                                          "0.5"));
    hspec_figure_free(figure);

    /* A start that tells the heads and the sign apart leaves nothing to choose. */
    const double start[] = {0.1, 0.2, 0.3, 0.4};
    a.experiment->training.init.kind = HSPEC_INIT_ALIGNED;
    const double *kept = a.experiment->training.init.alignment;
    a.experiment->training.init.alignment = start;
    figure = figure_sample_create(&a, &options);
    assert_string_equal(figure->note, "Heads are numbered as at the start, the same in every seed.");
    assert_close(figure->panels[0].series[0].single[11], figure_planted(1, 0, 1, 0));
    assert_close(figure->panels[1].series[0].single[11], -figure_planted(1, 0, 1, 1));
    hspec_figure_free(figure);
    a.experiment->training.init.alignment = kept;
    figure_sample_release(&a);
}

static void test_axis(void **unused)
{
    (void)unused;
    figure_sample a = figure_sample_make(figure_sample_flipped);
    hspec_figure_options options = hspec_figure_default();
    options.xscale = HSPEC_FIGURE_LOG;
    hspec_figure *figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->xlog, 1);
    assert_int_equal(figure->points, 10); /* without N = 0 */
    assert_close(figure->x[0], 2.0);
    assert_close(figure->panels[0].series[0].mean[0], 0.15 + figure_planted(0, 1, 2, 0));
    hspec_figure_free(figure);
    options.xscale = HSPEC_FIGURE_AXIS_AUTO;
    a.experiment->training.spacing = HSPEC_SPACING_LOG;
    figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->xlog, 1);
    hspec_figure_free(figure);
    /* Only the start is recorded: nothing on a log axis, a point on a linear one. */
    a.source.trajectory.done = 1;
    hspec_error err = {0};
    options.xscale = HSPEC_FIGURE_LOG;
    assert_int_equal(hspec_figure_create(&a.source, &options, &figure, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "xscale"));
    options.xscale = HSPEC_FIGURE_AXIS_AUTO;
    figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->points, 1);
    hspec_figure_free(figure);
    figure_sample_release(&a);

    /* Many rows are thinned evenly along the axis; first and last stay. */
    a = figure_sample_make("task: {tokens: 5, signal: {kind: flipped, strength: 4}}\nlayer: {heads: 1}\n"
                           "training: {seeds: 2, records: 20000, time: 20000}\n");
    for (int log_axis = 0; log_axis < 2; log_axis++) {
        options.xscale = log_axis ? HSPEC_FIGURE_LOG : HSPEC_FIGURE_LINEAR;
        figure = figure_sample_create(&a, &options);
        assert_in_range(figure->points, 400, 1000);
        assert_close(figure->x[0], log_axis);
        assert_close(figure->x[figure->points - 1], 20000.0);
        for (size_t i = 1; i < figure->points; i++) {
            assert_true(figure->x[i] > figure->x[i - 1]);
        }
        hspec_figure_free(figure);
    }
    figure_sample_release(&a);
}

static void test_one_seed_and_many(void **unused)
{
    (void)unused;
    figure_sample a = figure_sample_make("task: {tokens: 5, signal: {kind: flipped, strength: 4}}\nlayer: {heads: 2}\n"
                                         "training: {seeds: 1, records: 10, time: 10}\n");
    hspec_figure_options options = hspec_figure_default();
    hspec_figure *figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->singles, 0);
    assert_null(figure->panels[0].series[0].deviation);
    assert_string_equal(figure->note, "");
    assert_non_null(strstr(figure->title, "; 1\xc2\xa0seed"));
    assert_null(strstr(figure->title, "seeds"));
    char *script = NULL;
    hspec_error err = {0};
    assert_int_equal(hspec_figure_gnuplot_script(figure, HSPEC_FIGURE_SVG, NULL, "x", &script, &err), HSPEC_OK);
    assert_null(strstr(script, "filledcurves"));
    assert_null(strstr(script, "'single seeds'"));
    assert_null(strstr(script, "s.d."));
    free(script);
    hspec_figure_free(figure);
    figure_sample_release(&a);

    a = figure_sample_make("task: {tokens: 5, signal: {kind: flipped, strength: 4}}\nlayer: {heads: 2}\n"
                           "training: {seeds: 100, records: 10, time: 10}\n");
    figure = figure_sample_create(&a, &options);
    assert_int_equal(figure->singles, 32);
    assert_non_null(strstr(figure->note, "32 of the 100 seeds are drawn singly."));
    /* The last single seed is seed 99. */
    assert_close(figure->panels[1].series[0].single[31 * 11], figure_planted(99, 0, 0, 0) + 4.0);
    hspec_figure_free(figure);
    figure_sample_release(&a);
}

static void test_refusals(void **unused)
{
    (void)unused;
    hspec_error err = {0};
    hspec_figure_options options = hspec_figure_default();
    const char *const bad[] = {"", "alignment,", "loss,loss", "los", "alignment loss", ",loss", "Loss"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(hspec_figure_parse_panels(bad[i], &options, &err), HSPEC_EARG);
        assert_non_null(strstr(err.message, "alignment, loss, residual, bias, scale"));
    }
    assert_int_equal(options.panel_count, 2);

    figure_sample a = figure_sample_make(figure_sample_flipped);
    hspec_figure *figure = NULL;
    const struct {
        double width, height, font_size;
        const char *font, *title, *words;
    } cases[] = {
        {3.9, 0.0, 9.0, "a", NULL, "size: found 3.9 x 0 cm, allowed are 4 to 200"},
        {16.0, -1.0, 9.0, "a", NULL, "size: found 16 x -1 cm"},
        {16.0, 201.0, 9.0, "a", NULL, "size: found 16 x 201 cm"},
        {NAN, 10.0, 9.0, "a", NULL, "size"},
        {16.0, 10.0, 3.0, "a", NULL, "font: found size 3, allowed are 4 to 72"},
        {16.0, 10.0, INFINITY, "a", NULL, "font: found size"},
        {16.0, 10.0, 9.0, "", NULL, "font: found the name ''"},
        {16.0, 10.0, 9.0, "a,b", NULL, "font: found the name 'a,b'"},
        {16.0, 10.0, 9.0, "a", "\xff", "title"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options = hspec_figure_default();
        options.width = cases[i].width;
        options.height = cases[i].height;
        options.font_size = cases[i].font_size;
        options.font = cases[i].font;
        options.title = cases[i].title;
        assert_int_equal(hspec_figure_create(&a.source, &options, &figure, &err), HSPEC_EARG);
        assert_non_null(strstr(err.message, cases[i].words));
        assert_null(figure);
    }
    /* Big enough in itself, but not for the panels. */
    options = hspec_figure_default();
    options.height = 5.0;
    options.font_size = 14.0;
    figure = figure_sample_create(&a, &options);
    char *script = NULL;
    assert_int_equal(hspec_figure_gnuplot_script(figure, HSPEC_FIGURE_SVG, NULL, "x", &script, &err), HSPEC_EARG);
    assert_null(script);
    assert_non_null(strstr(err.message, "size: 16 x 5 cm leaves"));
    assert_non_null(strstr(err.message, "make the figure larger"));
    hspec_figure_free(figure);

    options = hspec_figure_default();
    a.experiment->layer.activation = HSPEC_SOFTMAX;
    assert_int_equal(hspec_figure_parse_panels("bias", &options, &err), HSPEC_OK);
    assert_int_equal(hspec_figure_create(&a.source, &options, &figure, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "'bias', but softmax has none"));
    a.experiment->layer.activation = HSPEC_BAYES;
    assert_int_equal(hspec_figure_parse_panels("scale", &options, &err), HSPEC_OK);
    assert_int_equal(hspec_figure_create(&a.source, &options, &figure, &err), HSPEC_EARG);
    a.source.loss = NULL;
    options = hspec_figure_default();
    assert_int_equal(hspec_figure_create(&a.source, &options, &figure, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "'loss'"));
    a.source.loss = a.loss;
    a.loss[5] = NAN;
    assert_int_equal(hspec_figure_create(&a.source, &options, &figure, &err), HSPEC_ENONFINITE);
    assert_string_equal(err.message,
                        "panels: found 'loss', but the run was killed before the loss of row 5 was computed; "
                        "allowed: panels without it, such as alignment");
    figure_sample_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_panels),   cmocka_unit_test(test_features_and_signs),
        cmocka_unit_test(test_axis),     cmocka_unit_test(test_one_seed_and_many),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
