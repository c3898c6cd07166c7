/* SPDX-License-Identifier: MIT
 * Words in figures: markup, numbers, lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/figure_text.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
