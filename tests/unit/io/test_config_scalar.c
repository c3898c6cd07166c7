/* SPDX-License-Identifier: MIT
 * Numbers as whole tokens, and the nearest names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/config_nearest.h"
#include "io/config_scalar.h"
#include "io/text.h"

static void reads_integers(void **state)
{
    (void)state;
    static const struct {
        const char *token;
        hspec_config_scalar status;
        uint64_t value;
    } cases[] = {
        {"0", HSPEC_SCALAR_OK, 0},
        {"-0", HSPEC_SCALAR_OK, 0},
        {"+7", HSPEC_SCALAR_OK, 7},
        {"1e6", HSPEC_SCALAR_OK, 1000000},
        {"1E+6", HSPEC_SCALAR_OK, 1000000},
        {"1.5e3", HSPEC_SCALAR_OK, 1500},
        {"120e-1", HSPEC_SCALAR_OK, 12},
        {"5.", HSPEC_SCALAR_OK, 5},
        {"5.000", HSPEC_SCALAR_OK, 5},
        {".5e1", HSPEC_SCALAR_OK, 5},
        {"0.00012e5", HSPEC_SCALAR_OK, 12},
        {"0e999999999999", HSPEC_SCALAR_OK, 0},
        {"9007199254740993", HSPEC_SCALAR_OK, 9007199254740993U}, /* 2^53 + 1 is not rounded */
        {"18446744073709551615", HSPEC_SCALAR_OK, UINT64_MAX},
        {"1844674407370955161.5e1", HSPEC_SCALAR_OK, UINT64_MAX},
        {"18446744073709551616", HSPEC_SCALAR_TOO_LARGE, 0},
        {"1e20", HSPEC_SCALAR_TOO_LARGE, 0},
        {"1e999999999999", HSPEC_SCALAR_TOO_LARGE, 0},
        {"1e-999999999999", HSPEC_SCALAR_NOT_WHOLE, 0},
        {"2.5", HSPEC_SCALAR_NOT_WHOLE, 0},
        {"-2.5", HSPEC_SCALAR_NOT_WHOLE, 0},
        {"-2", HSPEC_SCALAR_NEGATIVE, 0},
        {"-1e999", HSPEC_SCALAR_NEGATIVE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 0;
        assert_int_equal(hspec_config_scalar_integer(cases[i].token, &value), cases[i].status);
        assert_true(value == cases[i].value);
    }
}

static void reads_reals(void **state)
{
    (void)state;
    static const struct {
        const char *token;
        double value;
    } cases[] = {
        {"0.1", 0.1},
        {"-0.1", -0.1},
        {"+.5", 0.5},
        {"5.", 5},
        {"1e-320", 1e-320},
        {"1e-999", 0},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"0.30000000000000004", 0.30000000000000004},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 77;
        assert_int_equal(hspec_config_scalar_real(cases[i].token, &value), HSPEC_SCALAR_OK);
        assert_true(value == cases[i].value);
    }
    double value = 77;
    assert_int_equal(hspec_config_scalar_real("1e309", &value), HSPEC_SCALAR_TOO_LARGE);
    assert_int_equal(hspec_config_scalar_real("-1e309", &value), HSPEC_SCALAR_TOO_LARGE);
    assert_true(value == 77);
}

static void refuses_tokens(void **state)
{
    (void)state;
    static const char *const tokens[] = {"",    " ",   "5 ",  " 5",    "10abc", "010",  "00",  "0x10", "1_000",
                                         "1,5", ".",   "+",   "-",     "e5",    ".e5",  "1e",  "1e+",  "1e5.",
                                         "--1", "+-1", "inf", ".inf",  "nan",   ".nan", "NaN", "1..2", "1.2.3",
                                         "1d5", "0b1", "0o7", "1e5e5", "true",  "-010"};
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        uint64_t whole = 77;
        double real = 77;
        assert_int_equal(hspec_config_scalar_integer(tokens[i], &whole), HSPEC_SCALAR_NOT_NUMBER);
        assert_int_equal(hspec_config_scalar_real(tokens[i], &real), HSPEC_SCALAR_NOT_NUMBER);
        assert_true(whole == 77 && real == 77);
    }
}

static void measures_names(void **state)
{
    (void)state;
    assert_int_equal(hspec_config_nearest_distance("tokens", "tokens"), 0);
    assert_int_equal(hspec_config_nearest_distance("tokns", "tokens"), 1);
    assert_int_equal(hspec_config_nearest_distance("tkoens", "tokens"), 1);
    assert_int_equal(hspec_config_nearest_distance("", "tokens"), 6);
    assert_int_equal(hspec_config_nearest_distance("kitten", "sitting"), 3);
    char name[60];
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_true(hspec_config_nearest_distance(name, "tokens") == SIZE_MAX);
    assert_true(hspec_config_nearest_close("tokns", 1));
    assert_false(hspec_config_nearest_close("tokns", 3));
    assert_false(hspec_config_nearest_close(name, SIZE_MAX));
}

static void grows_texts(void **state)
{
    (void)state;
    hspec_text text = {0};
    for (int i = 0; i < 1000; i++) {
        hspec_text_add(&text, "%d,", i);
    }
    hspec_text_append(&text, "end\0", 4);
    assert_false(text.failed);
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4 + 4);
    assert_int_equal(strlen(text.data), text.length - 1);
    assert_string_equal(text.data + text.length - 8, "999,end");
    char *taken = hspec_text_take(&text);
    assert_non_null(taken);
    assert_null(text.data);
    free(taken);
    taken = hspec_text_take(&text);
    assert_string_equal(taken, "");
    free(taken);
    hspec_text_append(&text, "x", SIZE_MAX); /* more than there can be: everything after it is dropped */
    assert_true(text.failed);
    hspec_text_add(&text, "y");
    assert_null(hspec_text_take(&text));
    assert_false(text.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_integers), cmocka_unit_test(reads_reals), cmocka_unit_test(refuses_tokens),
        cmocka_unit_test(measures_names), cmocka_unit_test(grows_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
