/* SPDX-License-Identifier: MIT
 * The parser of command lines on a table of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/options.h"

static const hspec_option table[] = {
    HSPEC_OPTION_OUTPUT("FILE", "where"),
    HSPEC_OPTION_SET,
    {"level", 'l', "X", 0, "a number"},
    {"count", 0, "N", 0, "a whole number"},
    {"kind", 0, "a|bc|d", 0, "a choice"},
    HSPEC_OPTION_QUIET,
    HSPEC_OPTION_THREADS,
    HSPEC_OPTION_END,
};
static const char *const names[] = {"FIRST", "SECOND", NULL};
static const hspec_cli_command command = {
    .name = "try", .usage = "FIRST SECOND", .options = table, .arguments = names, .arguments_max = 4};

typedef struct line {
    hspec_arguments arguments;
    hspec_status status;
    int help, version;
    hspec_error err;
} line;

/* Parses "headspec try" and these words; the list ends with NULL. */
static line parse(const char *const *words)
{
    line parsed = {.status = HSPEC_OK};
    char *argv[16] = {(char *)"/some/where/headspec", (char *)"try"};
    int argc = 2;
    for (; words[argc - 2]; argc++) {
        assert_true(argc < 15);
        argv[argc] = (char *)words[argc - 2];
    }
    parsed.status =
        hspec_options_parse(&command, argc, argv, &parsed.arguments, &parsed.help, &parsed.version, &parsed.err);
    return parsed;
}
#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void expect_refusal(line parsed, const char *message)
{
    assert_int_equal(parsed.status, HSPEC_EARG);
    assert_int_equal(parsed.err.status, HSPEC_EARG);
    assert_string_equal(parsed.err.message, message);
    hspec_options_free(&parsed.arguments);
}

static void test_forms(void **state)
{
    (void)state;
    const line forms[] = {
        PARSE("a", "b", "-o", "x", "--level", "-2.5"),
        PARSE("--output", "x", "a", "--level=-2.5", "b"),
        PARSE("-ox", "-l-2.5", "a", "b"),
        PARSE("a", "--output=x", "b", "-l=-2.5"),
        PARSE("-o=x", "-l", "-2.5", "--", "a", "b"),
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        line parsed = forms[i];
        assert_int_equal(parsed.status, HSPEC_OK);
        assert_int_equal(parsed.arguments.positional_count, 2);
        assert_string_equal(parsed.arguments.positional[0], "a");
        assert_string_equal(parsed.arguments.positional[1], "b");
        assert_string_equal(hspec_options_text(&parsed.arguments, "output", "y"), "x");
        double level = 0;
        assert_int_equal(hspec_options_number(&parsed.arguments, "level", -10, 10, &level, &parsed.err), HSPEC_OK);
        assert_true(level == -2.5);
        assert_false(hspec_options_given(&parsed.arguments, "quiet"));
        hspec_options_free(&parsed.arguments);
    }
}

static void test_dashes(void **state)
{
    (void)state;
    line parsed = PARSE("-", "--quiet", "--", "--quiet", "--", "-o");
    assert_int_equal(parsed.status, HSPEC_OK);
    assert_int_equal(parsed.arguments.positional_count, 4);
    assert_string_equal(parsed.arguments.positional[0], "-");
    assert_string_equal(parsed.arguments.positional[1], "--quiet");
    assert_string_equal(parsed.arguments.positional[2], "--");
    assert_string_equal(parsed.arguments.positional[3], "-o");
    assert_true(hspec_options_given(&parsed.arguments, "quiet"));
    hspec_options_free(&parsed.arguments);
}

static void test_repeated(void **state)
{
    (void)state;
    line parsed = PARSE("a", "--set", "x=1", "b", "--set=y=2=3", "--set", "x=4");
    assert_int_equal(parsed.status, HSPEC_OK);
    const char **values = NULL;
    size_t count = 0;
    assert_int_equal(hspec_options_list(&parsed.arguments, "set", &values, &count, &parsed.err), HSPEC_OK);
    assert_int_equal(count, 3);
    assert_string_equal(values[0], "x=1");
    assert_string_equal(values[1], "y=2=3");
    assert_string_equal(values[2], "x=4");
    free(values);
    hspec_options_free(&parsed.arguments);
}

static void test_absent(void **state)
{
    (void)state;
    line parsed = PARSE("a", "b", "c", "d");
    assert_int_equal(parsed.status, HSPEC_OK);
    double level = 7;
    uint64_t whole = 8;
    int threads = 9;
    assert_int_equal(hspec_options_number(&parsed.arguments, "level", 0, 1, &level, NULL), HSPEC_OK);
    assert_int_equal(hspec_options_integer(&parsed.arguments, "count", 0, 1, &whole, NULL), HSPEC_OK);
    assert_int_equal(hspec_options_threads(&parsed.arguments, &threads, NULL), HSPEC_OK);
    assert_true(level == 7);
    assert_int_equal(whole, 8);
    assert_int_equal(threads, 0);
    assert_null(hspec_options_text(&parsed.arguments, "output", NULL));
    hspec_options_free(&parsed.arguments);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_refusal(PARSE("a"), "try: SECOND is missing; usage: headspec try FIRST SECOND");
    expect_refusal(PARSE("a", "b", "c", "d", "e"),
                   "try: 'e' is one argument too many; usage: headspec try FIRST SECOND");
    expect_refusal(PARSE("a", "b", "--levle=1"),
                   "try: unknown option '--levle'; did you mean '--level'?; see 'headspec try --help'");
    expect_refusal(PARSE("a", "b", "-x"), "try: unknown option '-x'; see 'headspec try --help'");
    expect_refusal(PARSE("a", "b", "--lev", "1"), "try: unknown option '--lev'; did you mean '--level'?; see 'headspec "
                                                  "try --help'");
    expect_refusal(PARSE("a", "b", "--level"), "try: --level needs a value: X");
    expect_refusal(PARSE("a", "b", "--output", "--quiet"), "try: --output needs a value: FILE");
    expect_refusal(PARSE("a", "b", "-o", ""), "try: --output: found nothing, allowed: FILE");
    expect_refusal(PARSE("a", "b", "-o", "x", "-oy"), "try: --output is given twice; once is allowed");
    expect_refusal(PARSE("a", "b", "--quiet=1"), "try: --quiet takes no value, found '--quiet=1'");
    expect_refusal(PARSE("a", "b", "--kind", "b"), "try: --kind: found 'b', allowed: a|bc|d");
    expect_refusal(PARSE("a", "b", "--kind", "a|bc"), "try: --kind: found 'a|bc', allowed: a|bc|d");
}

static void test_choices(void **state)
{
    (void)state;
    static const char *const choices[] = {"a", "bc", "d"};
    for (size_t i = 0; i < 3; i++) {
        line parsed = PARSE("a", "b", "--kind", choices[i]);
        assert_int_equal(parsed.status, HSPEC_OK);
        assert_string_equal(hspec_options_text(&parsed.arguments, "kind", ""), choices[i]);
        hspec_options_free(&parsed.arguments);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "x",  "1x", "0x10",  "010", "1e",  "nan",
                                      "inf", "1 ", " 1", "1e400", "-1",  "101", "1,5"};
    for (size_t i = 1; i < sizeof bad / sizeof *bad; i++) {
        line parsed = PARSE("a", "b", "--level", bad[i], "--count", bad[i]);
        double level = 5;
        uint64_t whole = 5;
        assert_int_equal(parsed.status, HSPEC_OK);
        assert_int_equal(hspec_options_number(&parsed.arguments, "level", 0, 100, &level, &parsed.err), HSPEC_EARG);
        assert_int_equal(hspec_options_integer(&parsed.arguments, "count", 0, 100, &whole, &parsed.err), HSPEC_EARG);
        assert_true(level == 5);
        assert_int_equal(whole, 5);
        hspec_options_free(&parsed.arguments);
    }
    line parsed = PARSE("a", "b", "--level", "1.5e1", "--count", "18446744073709551615");
    double level = 0;
    uint64_t whole = 0;
    assert_int_equal(hspec_options_number(&parsed.arguments, "level", 15, 15, &level, NULL), HSPEC_OK);
    assert_int_equal(hspec_options_integer(&parsed.arguments, "count", 0, UINT64_MAX, &whole, NULL), HSPEC_OK);
    assert_true(level == 15);
    assert_true(whole == UINT64_MAX);
    hspec_options_free(&parsed.arguments);
    parsed = PARSE("a", "b", "--count", "1.5");
    assert_int_equal(hspec_options_integer(&parsed.arguments, "count", 0, 100, &whole, &parsed.err), HSPEC_EARG);
    assert_string_equal(parsed.err.message, "try: --count: found '1.5', allowed: a whole number from 0 to 100");
    hspec_options_free(&parsed.arguments);
}

static void test_help(void **state)
{
    (void)state;
    line parsed = PARSE("--help", "--nonsense");
    assert_int_equal(parsed.status, HSPEC_OK);
    assert_true(parsed.help && !parsed.version);
    hspec_options_free(&parsed.arguments);
    parsed = PARSE("a", "--version");
    assert_int_equal(parsed.status, HSPEC_OK);
    assert_true(parsed.version && !parsed.help);
    hspec_options_free(&parsed.arguments);
}

static void test_command_line(void **state)
{
    (void)state;
    line parsed = PARSE("a b", "it's", "--set", "x=[1, 2]", "--set=y=$HOME");
    assert_int_equal(parsed.status, HSPEC_OK);
    assert_string_equal(parsed.arguments.command_line,
                        "headspec try 'a b' 'it'\\''s' --set 'x=[1, 2]' '--set=y=$HOME'");
    hspec_options_free(&parsed.arguments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),   cmocka_unit_test(test_dashes),   cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_absent),  cmocka_unit_test(test_refusals), cmocka_unit_test(test_choices),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_help),     cmocka_unit_test(test_command_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
