/* SPDX-License-Identifier: MIT
 * The script of a figure, and where everything stands in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "figure_sample.h"
#include "io/figure_gnuplot.h"
#include "io/figure_layout.h"

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
        figure_sample a = figure_sample_make(yaml);
        hspec_figure_options options = hspec_figure_default();
        options.width = 8.6;
        hspec_figure *figure = figure_sample_create(&a, &options);
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
        figure_sample_release(&a);
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
    figure_sample a = figure_sample_make(figure_sample_flipped);
    hspec_figure_options options = hspec_figure_default();
    options.title = "it's a_b `touch x` $(y) \"z\"";
    hspec_figure *figure = figure_sample_create(&a, &options);
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
    assert_non_null(
        strstr(script, "$mean_1_1 << EOD\n0 0.17 0.0409005551 0.299099445\n2 0.171 0.0419005551 0.300099445\n"));
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
    figure_sample_release(&a);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legend),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
