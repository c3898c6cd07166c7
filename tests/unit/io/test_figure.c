/* SPDX-License-Identifier: MIT
 * Figures: words, numbers, layout, script, the finish of an SVG, and gnuplot when it is missing or fails. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/figure.h"
#include "io/figure_gnuplot.h"
#include "io/figure_layout.h"
#include "io/figure_render.h"
#include "io/figure_svg.h"
#include "io/figure_text.h"

/* ---- words -------------------------------------------------------------------------------------------------------- */

static void assert_text(hspec_text *text, const char *expected)
{
    char *found = hspec_text_take(text);
    assert_string_equal(found, expected);
    free(found);
}

static void test_escape(void **unused)
{
    (void)unused;
    hspec_text text = {0};
    hspec_figure_text_escape(&text, "two_phases^2 {x} @a &b ~c \\n 'q' `ls` ν\n\t.");
    assert_text(&text, "two\\_phases\\^2 \\{x\\} \\@a \\&b \\~c \\\\n 'q' `ls` ν  .");
    assert_int_equal(hspec_figure_text_length("two\\_phases\\{", 13), 11);
}

static void test_numbers(void **unused)
{
    (void)unused;
    const struct {
        double value;
        const char *words;
    } cases[] = {
        {0.0, "0"},           {1000.0, "1000"},        {0.7, "0.7"},      {-1.5, "−1.5"},
        {1e12, "10^{12}"},    {2.5e-7, "2.5×10^{−7}"}, {-1e5, "−10^{5}"}, {99999.0, "99999"},
        {999999.9, "10^{6}"}, {1.2e9, "1.2×10^{9}"},   {0.001, "0.001"},  {1.0 / 3.0, "0.333333"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hspec_text text = {0};
        hspec_figure_text_number(&text, cases[i].value);
        assert_text(&text, cases[i].words);
    }
}

static void test_wrap(void **unused)
{
    (void)unused;
    hspec_text text = {0};
    const char *markup = "one {/:Italic two} 10^{12} four";
    assert_int_equal(hspec_figure_text_length(markup, strlen(markup)), strlen("one two 1012 four"));
    hspec_figure_text_wrap(&text, markup, 100);
    assert_text(&text, markup);
    hspec_figure_text_wrap(&text, markup, 12);
    assert_text(&text, "one {/:Italic two} 10^{12}\nfour");
    hspec_figure_text_wrap(&text, markup, 7);
    assert_text(&text, "one {/:Italic two}\n10^{12}\nfour");
    hspec_figure_text_wrap(&text, markup, 1); /* a word stays whole */
    assert_text(&text, "one\n{/:Italic two}\n10^{12}\nfour");
    hspec_figure_text_wrap(&text, "", 10);
    assert_text(&text, "");
}

static void test_utf8(void **unused)
{
    (void)unused;
    assert_true(hspec_figure_text_utf8("plain, ν, \xe2\x88\x92, \xf0\x9d\x9b\xbc"));
    const char *const bad[] = {"\xff", "a\xc3",       "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                               "\x80", "\xef\xbf\xbf"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(hspec_figure_text_utf8(bad[i]));
    }
    assert_true(hspec_figure_text_font("DejaVu Sans-2.0_x"));
    assert_false(hspec_figure_text_font(""));
    assert_false(hspec_figure_text_font("a\"b"));
    assert_false(hspec_figure_text_font("a<b"));
    assert_false(hspec_figure_text_font("a'b"));
}

/* ---- a source whose numbers are known ----------------------------------------------------------------------------- */

typedef struct {
    hspec_figure_source source;
    hspec_experiment *experiment;
    hspec_signal *signal;
    double *time, *alignment, *residual, *bias, *scale, *loss;
} sample;

/* value = 100 seed + 10 head + feature + t, each divided by 1000, with the heads of odd seeds reversed. */
static double planted(size_t s, size_t t, size_t h, size_t f)
{
    return 1e-3 * (100.0 * (double)s + 10.0 * (double)h + (double)f + (double)t);
}

static sample make(const char *yaml)
{
    sample a = {0};
    hspec_error err = {0};
    assert_int_equal(hspec_experiment_parse(yaml, strlen(yaml), "test", NULL, 0, &a.experiment, &err), HSPEC_OK);
    assert_int_equal(hspec_signal_create(&a.experiment->signal, &a.signal, &err), HSPEC_OK);
    size_t S = a.experiment->training.seeds, T = a.experiment->training.records + 1;
    size_t H = a.experiment->layer.heads, F = hspec_signal_features(a.signal);
    a.time = calloc(T, sizeof(double));
    a.alignment = calloc(S * T * H * F, sizeof(double));
    a.residual = calloc(S * T * H * H, sizeof(double));
    a.bias = calloc(S * T * H, sizeof(double));
    a.scale = calloc(S * T, sizeof(double));
    a.loss = calloc(S * T, sizeof(double));
    assert_true(a.time && a.alignment && a.residual && a.bias && a.scale && a.loss);
    for (size_t t = 0; t < T; t++) {
        a.time[t] = (double)t;
        for (size_t s = 0; s < S; s++) {
            for (size_t h = 0; h < H; h++) {
                size_t at = (s * T + t) * H + (s % 2 ? H - 1 - h : h);
                for (size_t f = 0; f < F; f++) {
                    a.alignment[at * F + f] = planted(s, t, h, f);
                }
                a.residual[at * H + (s % 2 ? H - 1 - h : h)] = planted(s, t, h, 0) + 1.0;
                a.bias[at] = planted(s, t, h, 0) + 2.0;
            }
            a.scale[s * T + t] = planted(s, t, 0, 0) + 3.0;
            a.loss[s * T + t] = planted(s, t, 0, 0) + 4.0;
        }
    }
    a.source = (hspec_figure_source){.experiment = a.experiment, .signal = a.signal, .loss = a.loss};
    a.source.trajectory = (hspec_trajectory){.seeds = S, .rows = T, .heads = H, .features = F, .done = T};
    a.source.trajectory.time = a.time;
    a.source.trajectory.alignment = a.alignment;
    a.source.trajectory.residual = a.residual;
    a.source.trajectory.bias = a.bias;
    a.source.trajectory.scale = a.scale;
    return a;
}

static void release(sample *a)
{
    hspec_experiment_free(a->experiment);
    hspec_signal_free(a->signal);
    free(a->time);
    free(a->alignment);
    free(a->residual);
    free(a->bias);
    free(a->scale);
    free(a->loss);
}

static const char *const flipped = "task:\n  tokens: 5\n  dimension: 100\n"
                                   "  signal: {kind: flipped, strength: 4, probability: 0.7}\n"
                                   "layer: {heads: 3, activation: softmax1}\n"
                                   "training: {seeds: 4, records: 10, time: 10, batch: 2}\n";
static const char *const gaussian = "task:\n  tokens: 6\n"
                                    "  signal: {kind: gaussian, mean: [1.5, 0], variance: [0, 9]}\n"
                                    "layer: {heads: 2, activation: bayes}\n"
                                    "training: {seeds: 3, records: 10, time: 10, learning_rate: 0.5}\n";

static hspec_figure *create(const sample *a, const hspec_figure_options *options)
{
    hspec_figure *figure = NULL;
    hspec_error err = {0};
    if (hspec_figure_create(&a->source, options, &figure, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    return figure;
}

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * (1.0 + fabs(expected)))) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

static void test_panels(void **unused)
{
    (void)unused;
    sample a = make(flipped);
    hspec_figure_options options = hspec_figure_default();
    hspec_error err = {0};
    assert_int_equal(hspec_figure_parse_panels("alignment,loss,residual,bias,scale", &options, &err), HSPEC_OK);
    hspec_figure *figure = create(&a, &options);
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
            double mean = 0.15 + planted(0, t, 2 - j, 0), deviation = 0.1 * sqrt(5.0 / 3.0);
            assert_close(figure->panels[0].series[j].mean[t], mean);
            assert_close(figure->panels[0].series[j].deviation[t], deviation);
            assert_close(figure->panels[0].series[j].single[3 * 11 + t], planted(3, t, 2 - j, 0));
            assert_close(figure->panels[2].series[j].mean[t], mean + 1.0);
            assert_int_equal(figure->panels[0].series[j].head, j);
        }
        /* softmax1 with a shared bias: one curve. */
        assert_close(figure->panels[1].series[0].mean[t], 0.15 + planted(0, t, 0, 0) + 4.0);
        assert_close(figure->panels[4].series[0].mean[t], 0.15 + planted(0, t, 0, 0) + 3.0);
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
    figure = create(&a, &options);
    for (size_t j = 0; j < 3; j++) {
        assert_close(figure->panels[0].series[j].mean[0], 0.15 + planted(0, 0, 1, 0));
        assert_close(figure->panels[0].series[j].single[0], planted(0, 0, j, 0));
    }
    assert_non_null(strstr(figure->note, "Heads are not matched over seeds."));
    hspec_figure_free(figure);
    release(&a);
}

static void test_features_and_signs(void **unused)
{
    (void)unused;
    sample a = make(gaussian);
    /* Feature 1 has mean 0 and may flip. */
    for (size_t t = 0; t < 11; t++) {
        for (size_t h = 0; h < 2; h++) {
            a.alignment[((1 * 11 + t) * 2 + h) * 2 + 1] *= -1.0;
        }
    }
    hspec_figure_options options = hspec_figure_default();
    hspec_figure *figure = create(&a, &options);
    assert_int_equal(figure->panel_count, 3);
    for (size_t j = 0; j < 2; j++) {
        assert_close(figure->panels[0].series[j].mean[10], 0.1 + planted(0, 10, 1 - j, 0));
        assert_close(figure->panels[1].series[j].mean[10], 0.1 + planted(0, 10, 1 - j, 1));
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
    figure = create(&a, &options);
    assert_string_equal(figure->note, "Heads are numbered as at the start, the same in every seed.");
    assert_close(figure->panels[0].series[0].single[11], planted(1, 0, 1, 0));
    assert_close(figure->panels[1].series[0].single[11], -planted(1, 0, 1, 1));
    hspec_figure_free(figure);
    a.experiment->training.init.alignment = kept;
    release(&a);
}

static void test_axis(void **unused)
{
    (void)unused;
    sample a = make(flipped);
    hspec_figure_options options = hspec_figure_default();
    options.xscale = HSPEC_FIGURE_LOG;
    hspec_figure *figure = create(&a, &options);
    assert_int_equal(figure->xlog, 1);
    assert_int_equal(figure->points, 10); /* without N = 0 */
    assert_close(figure->x[0], 2.0);
    assert_close(figure->panels[0].series[0].mean[0], 0.15 + planted(0, 1, 2, 0));
    hspec_figure_free(figure);
    options.xscale = HSPEC_FIGURE_AXIS_AUTO;
    a.experiment->training.spacing = HSPEC_SPACING_LOG;
    figure = create(&a, &options);
    assert_int_equal(figure->xlog, 1);
    hspec_figure_free(figure);
    /* Only the start is recorded: nothing on a log axis, a point on a linear one. */
    a.source.trajectory.done = 1;
    hspec_error err = {0};
    options.xscale = HSPEC_FIGURE_LOG;
    assert_int_equal(hspec_figure_create(&a.source, &options, &figure, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "xscale"));
    options.xscale = HSPEC_FIGURE_AXIS_AUTO;
    figure = create(&a, &options);
    assert_int_equal(figure->points, 1);
    hspec_figure_free(figure);
    release(&a);

    /* Many rows are thinned evenly along the axis; first and last stay. */
    a = make("task: {tokens: 5, signal: {kind: flipped, strength: 4}}\nlayer: {heads: 1}\n"
             "training: {seeds: 2, records: 20000, time: 20000}\n");
    for (int log_axis = 0; log_axis < 2; log_axis++) {
        options.xscale = log_axis ? HSPEC_FIGURE_LOG : HSPEC_FIGURE_LINEAR;
        figure = create(&a, &options);
        assert_in_range(figure->points, 400, 1000);
        assert_close(figure->x[0], log_axis);
        assert_close(figure->x[figure->points - 1], 20000.0);
        for (size_t i = 1; i < figure->points; i++) {
            assert_true(figure->x[i] > figure->x[i - 1]);
        }
        hspec_figure_free(figure);
    }
    release(&a);
}

static void test_one_seed_and_many(void **unused)
{
    (void)unused;
    sample a = make("task: {tokens: 5, signal: {kind: flipped, strength: 4}}\nlayer: {heads: 2}\n"
                    "training: {seeds: 1, records: 10, time: 10}\n");
    hspec_figure_options options = hspec_figure_default();
    hspec_figure *figure = create(&a, &options);
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
    release(&a);

    a = make("task: {tokens: 5, signal: {kind: flipped, strength: 4}}\nlayer: {heads: 2}\n"
             "training: {seeds: 100, records: 10, time: 10}\n");
    figure = create(&a, &options);
    assert_int_equal(figure->singles, 32);
    assert_non_null(strstr(figure->note, "32 of the 100 seeds are drawn singly."));
    /* The last single seed is seed 99. */
    assert_close(figure->panels[1].series[0].single[31 * 11], planted(99, 0, 0, 0) + 4.0);
    hspec_figure_free(figure);
    release(&a);
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

    sample a = make(flipped);
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
    figure = create(&a, &options);
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
    assert_string_equal(err.message, "loss of seed 1 in row 5 is nan");
    release(&a);
}

/* ---- layout and script -------------------------------------------------------------------------------------------- */

/* Nothing of the legend leaves the figure, and lines do not lie on each other. */
static void test_legend(void **unused)
{
    (void)unused;
    for (size_t heads = 1; heads <= 130; heads += 43) {
        char yaml[300];
        (void)snprintf(yaml, sizeof yaml,
                       "task: {tokens: 5, dimension: 1000, signal: {kind: flipped, strength: 4}}\nlayer: {heads: %zu}\n"
                       "training: {seeds: 2, records: 2, time: 2}\n",
                       heads);
        sample a = make(yaml);
        hspec_figure_options options = hspec_figure_default();
        options.width = 8.6;
        hspec_figure *figure = create(&a, &options);
        hspec_figure_layout layout;
        hspec_error err = {0};
        assert_int_equal(hspec_figure_layout_make(figure, &layout, &err), HSPEC_OK);
        hspec_figure_legend_item *items = calloc(heads + 3, sizeof *items);
        size_t lines = 0, count = hspec_figure_layout_legend(figure, &layout, items, &lines);
        assert_int_equal(count, heads > 1 ? heads + 3 : 2);
        for (size_t i = 0; i < count; i++) {
            assert_true(items[i].x >= layout.left - 1e-9);
            assert_true(items[i].x + items[i].sample < layout.width - layout.right);
            assert_true(items[i].y > layout.top && items[i].y < layout.title_y);
            if (i > 0) {
                double step = items[i - 1].y - items[i].y;
                assert_true(step == 0.0 ? items[i].x > items[i - 1].x + items[i - 1].sample : step > layout.em);
            }
        }
        free(items);
        hspec_figure_layout_release(&layout);
        hspec_figure_free(figure);
        release(&a);
    }
}

static size_t occurrences(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

static void test_script(void **unused)
{
    (void)unused;
    sample a = make(flipped);
    hspec_figure_options options = hspec_figure_default();
    options.title = "it's a_b `touch x` $(y) \"z\"";
    hspec_figure *figure = create(&a, &options);
    hspec_error err = {0};
    char *script = NULL;
    assert_int_equal(hspec_figure_gnuplot_script(figure, HSPEC_FIGURE_SVG, "it's\nmine.svg", "name", &script, &err),
                     HSPEC_OK);
    assert_non_null(strstr(script, "\nset terminal svg size 605,"));
    assert_non_null(strstr(script, " name 'name' "));
    assert_non_null(strstr(script, "\nset output 'it''s'.\"\\012\".'mine.svg'\n"));
    assert_non_null(strstr(script, "set label 'it''s a\\_b `touch x` $(y) \"z\"' at screen"));
    assert_int_equal(occurrences(script, "\nplot "), 2);
    assert_int_equal(occurrences(script, "<< EOD\n"), 8); /* mean and seeds of 3 heads and of the loss */
    assert_int_equal(occurrences(script, "\nEOD\n"), 8);
    assert_int_equal(occurrences(script, "with filledcurves"), 4);
    /* The first head: planted head 2. Mean and mean -+ deviation at N/D = 2, then the single seeds. */
    assert_non_null(strstr(script, "$mean_1_1 << EOD\n0 0.17 0.0409006 0.299099\n2 0.171 0.0419006 0.300099\n"));
    assert_non_null(strstr(script, "$seeds_1_1 << EOD\n0 0.02\n2 0.021\n"));
    assert_non_null(strstr(script, "20 0.03\n\n0 0.12\n"));
    assert_non_null(strstr(script, "\nset xrange [0:20]\n"));
    assert_null(strstr(script, "logscale"));
    free(script);

    assert_int_equal(hspec_figure_gnuplot_script(figure, HSPEC_FIGURE_PNG, NULL, "name", &script, &err), HSPEC_OK);
    assert_non_null(strstr(script, "\nset terminal pngcairo size 1890,"));
    assert_null(strstr(script, "set output"));
    free(script);
    assert_int_equal(hspec_figure_gnuplot_script(figure, HSPEC_FIGURE_PDF, NULL, "name", &script, &err), HSPEC_OK);
    assert_non_null(strstr(script, "\nset terminal pdfcairo size 16cm,"));
    free(script);
    hspec_figure_free(figure);
    release(&a);
}

static void test_formats(void **unused)
{
    (void)unused;
    hspec_figure_format format = HSPEC_FIGURE_FORMATS;
    hspec_error err = {0};
    assert_int_equal(hspec_figure_gnuplot_format("a.b/c.SVG", &format, &err), HSPEC_OK);
    assert_int_equal(format, HSPEC_FIGURE_SVG);
    assert_int_equal(hspec_figure_gnuplot_format("x.pdf", &format, &err), HSPEC_OK);
    assert_int_equal(format, HSPEC_FIGURE_PDF);
    assert_int_equal(hspec_figure_gnuplot_format(".png", &format, &err), HSPEC_OK);
    assert_int_equal(format, HSPEC_FIGURE_PNG);
    const char *const bad[] = {"a", "a.jpg", "a.svg/b", "a.", "svg", "a.svgz"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(hspec_figure_gnuplot_format(bad[i], &format, &err), HSPEC_EARG);
        assert_non_null(strstr(err.message, ".svg, .pdf and .png"));
    }
}

/* ---- SVG ---------------------------------------------------------------------------------------------------------- */

static void test_svg(void **unused)
{
    (void)unused;
    hspec_error err = {0};
    char *name = NULL, *other = NULL;
    assert_int_equal(hspec_figure_svg_name("x/2 ph<\".svg", "content", &name, &err), HSPEC_OK);
    assert_int_equal(strncmp(name, "figure_2_ph___", 14), 0);
    assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
    assert_int_equal(hspec_figure_svg_name("y/2 ph<\".svg", "contenu", &other, &err), HSPEC_OK);
    assert_string_not_equal(name, other);
    free(name);
    free(other);

    const char *svg =
        "<g id=\"canvas\"><circle id='gpPt1'/><use xlink:href='#gpPt1' id='gpPt2'/>"
        "<text>a id=\"b\" <tspan>url(#c)</tspan></text><rect fill=\"url(#gpPat1)\"/><g id=\"me_plot_1\"/></g>";
    const char *expected = "<g id=\"me_canvas\"><circle id='me_gpPt1'/><use xlink:href='#me_gpPt1' id='me_gpPt2'/>"
                           "<text xml:space=\"preserve\">a id=\"b\" <tspan>url(#c)</tspan></text>"
                           "<rect fill=\"url(#me_gpPat1)\"/><g id=\"me_plot_1\"/></g>";
    char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(hspec_figure_svg_finish(svg, strlen(svg), "me", &bytes, &size, &err), HSPEC_OK);
    assert_string_equal(bytes, expected);
    assert_int_equal(size, strlen(expected));
    free(bytes);
}

/* ---- gnuplot ------------------------------------------------------------------------------------------------------ */

static char warning[300];

static int note(void *user, const hspec_event *event)
{
    (void)user;
    if (event->kind == HSPEC_EVENT_WARNING) {
        (void)snprintf(warning, sizeof warning, "%s", event->message);
    }
    return 0;
}

/* Runs a shell script in the place of gnuplot. */
static hspec_status run_instead(const char *commands, hspec_figure_format format, char **bytes, size_t *size,
                                hspec_error *err)
{
    char path[] = "test_figure_gnuplot_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    (void)fprintf(file, "#!/bin/sh\n%s\n", commands);
    assert_int_equal(fchmod(fd, 0700), 0);
    assert_int_equal(fclose(file), 0);
    char program[64], variable[] = "GREETING=hello";
    (void)snprintf(program, sizeof program, "./%s", path);
    char *const environment[] = {variable, NULL};
    const hspec_gnuplot gnuplot = {program, environment};
    const hspec_monitor monitor = {note, NULL};
    warning[0] = '\0';
    hspec_status status = hspec_figure_render(&gnuplot, "plot x\n", format, "me", &monitor, bytes, size, err);
    assert_int_equal(unlink(path), 0);
    return status;
}

static void test_gnuplot(void **unused)
{
    (void)unused;
    hspec_error err = {0};
    char *bytes = NULL;
    size_t size = 0;
    hspec_gnuplot gnuplot = {NULL, NULL};
    assert_int_equal(hspec_figure_render(&gnuplot, "", HSPEC_FIGURE_SVG, "me", NULL, &bytes, &size, &err),
                     HSPEC_EEXTERNAL);
    assert_non_null(strstr(err.message, "gnuplot-nox"));
    gnuplot.program = "./no such program";
    assert_int_equal(hspec_figure_render(&gnuplot, "", HSPEC_FIGURE_SVG, "me", NULL, &bytes, &size, &err),
                     HSPEC_EEXTERNAL);
    assert_string_equal(err.message, "./no such program: cannot be started: No such file or directory");

    /* The script comes by standard input, the figure goes back by standard output; the environment is ours. */
    assert_int_equal(run_instead("cat; echo \"$1 $GREETING\"", HSPEC_FIGURE_PNG, &bytes, &size, &err), HSPEC_OK);
    assert_string_equal(bytes, "plot x\n-d hello\n");
    assert_int_equal(size, 16);
    assert_string_equal(warning, "");
    free(bytes);
    bytes = NULL;
    assert_int_equal(run_instead("printf \"<g id='a'/>\"", HSPEC_FIGURE_SVG, &bytes, &size, &err), HSPEC_OK);
    assert_string_equal(bytes, "<g id='me_a'/>");
    free(bytes);
    bytes = NULL;
    /* More than a pipe holds, on both sides. */
    assert_int_equal(
        run_instead("head -c 300000 /dev/zero | tr '\\0' x | tee /dev/stderr", HSPEC_FIGURE_PDF, &bytes, &size, &err),
        HSPEC_OK);
    assert_int_equal(size, 300000);
    free(bytes);
    bytes = NULL;
    assert_int_equal(run_instead("echo figure; echo; echo careful >&2", HSPEC_FIGURE_PDF, &bytes, &size, &err),
                     HSPEC_OK);
    assert_string_equal(warning, "gnuplot: careful");
    free(bytes);
    bytes = NULL;

    assert_int_equal(
        run_instead("echo figure; echo 'line 3: invalid' >&2; exit 3", HSPEC_FIGURE_PDF, &bytes, &size, &err),
        HSPEC_EEXTERNAL);
    assert_non_null(strstr(err.message, "failed with status 3: line 3: invalid"));
    assert_int_equal(run_instead("kill -9 $$", HSPEC_FIGURE_PDF, &bytes, &size, &err), HSPEC_EEXTERNAL);
    assert_non_null(strstr(err.message, "ended by signal 9"));
    assert_int_equal(run_instead("true", HSPEC_FIGURE_PDF, &bytes, &size, &err), HSPEC_EEXTERNAL);
    assert_non_null(strstr(err.message, "wrote no figure"));
    assert_int_equal(
        run_instead("echo 'unknown or ambiguous terminal type' >&2; exit 1", HSPEC_FIGURE_PDF, &bytes, &size, &err),
        HSPEC_EEXTERNAL);
    assert_non_null(strstr(err.message, "pdfcairo"));
    assert_non_null(strstr(err.message, "gnuplot-nox"));
    assert_null(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape),   cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_wrap),     cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_panels),   cmocka_unit_test(test_features_and_signs),
        cmocka_unit_test(test_axis),     cmocka_unit_test(test_one_seed_and_many),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_legend),
        cmocka_unit_test(test_script),   cmocka_unit_test(test_formats),
        cmocka_unit_test(test_svg),      cmocka_unit_test(test_gnuplot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
