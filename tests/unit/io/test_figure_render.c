/* SPDX-License-Identifier: MIT
 * Running gnuplot, when it works, is missing or fails; the finish of an SVG. */
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

#include "io/figure_render.h"
#include "io/figure_svg.h"

static void test_svg(void **unused)
{
    (void)unused;
    hspec_error err = {0};
    char *name = NULL, *other = NULL;
    assert_int_equal(hspec_figure_svg_name("x/2 ph<\".svg", "content", &name, &err), HSPEC_OK);
    assert_int_equal(strncmp(name, "figure_2_ph___", 14), 0);
    assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
    char *plain = NULL;
    assert_int_equal(hspec_figure_svg_name("a-b.c_d-\xc3\xa9.svg", "content", &plain, &err), HSPEC_OK);
    assert_int_equal(strncmp(plain, "a_b_c_d____", 11), 0);
    assert_int_equal(strspn(plain, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(plain));
    free(plain);
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
    assert_int_equal(run_instead("cat $2; echo \"$1 $GREETING\"", HSPEC_FIGURE_PNG, &bytes, &size, &err), HSPEC_OK);
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
        cmocka_unit_test(test_svg),
        cmocka_unit_test(test_gnuplot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
