/* SPDX-License-Identifier: MIT
 * The reference page, the help and the starting experiments. `test_reference --write` writes docs/experiment.md anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "headspec.h"
#include "io/config_table.h"
#include "io/reference.h"
#include "same.h"

#define PAGE HEADSPEC_SOURCE_DIR "/docs/experiment.md"

static hspec_text read_page(void)
{
    hspec_text page = {0};
    FILE *file = fopen(PAGE, "rb");
    if (file) {
        char buffer[4096];
        size_t n;
        while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) {
            hspec_text_append(&page, buffer, n);
        }
        (void)fclose(file);
    }
    return page;
}

static void page_is_fresh(void **state)
{
    (void)state;
    hspec_text expected = {0};
    hspec_reference_markdown(&expected);
    assert_false(expected.failed);
    hspec_text found = read_page();
    if (!found.data || strcmp(found.data, expected.data) != 0) {
        fail_msg("%s is stale: run test_reference --write", PAGE);
    }
    hspec_text_free(&expected);
    hspec_text_free(&found);
}

static void page_and_help_name_every_key(void **state)
{
    (void)state;
    hspec_text page = {0};
    hspec_text help = {0};
    hspec_reference_markdown(&page);
    hspec_reference_help(&help);
    assert_false(page.failed || help.failed);
    assert_true(hspec_config_table_count > 40);
    for (size_t i = 1; i < hspec_config_table_count; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "`%s`", hspec_config_table_rows[i].path);
        assert_non_null(strstr(page.data, name));
        (void)snprintf(name, sizeof name, "  %s ", hspec_config_table_rows[i].path);
        assert_non_null(strstr(help.data, name));
    }
    for (const char *line = help.data; *line; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") <= 100);
        assert_true(line[strcspn(line, "\n") - 1] != ' ');
    }
    hspec_text_free(&page);
    hspec_text_free(&help);
}

/* Order and completeness that reader and page rely on. */
static void table_is_sound(void **state)
{
    (void)state;
    for (size_t i = 1; i < hspec_config_table_count; i++) {
        const hspec_config_row *row = &hspec_config_table_rows[i];
        assert_non_null(hspec_config_table_parent(row)); /* stands before it */
        assert_ptr_equal(hspec_config_table_find(row->path), row);
        assert_true(strlen(row->sentence) > 0 && row->sentence[strlen(row->sentence) - 1] != '.');
        assert_true(hspec_config_table_is_section(row) || row->fallback || row->example);
        assert_true(!row->fallback || strlen(row->fallback) < 32);
        assert_int_equal(row->type == HSPEC_CONFIG_NAME || row->type == HSPEC_CONFIG_CHOICE, row->names != NULL);
    }
}

static hspec_experiment *parse(const char *text)
{
    hspec_experiment *experiment = NULL;
    hspec_error err = {.message = ""};
    if (hspec_experiment_parse(text, strlen(text), "x.yaml", NULL, 0, &experiment, &err) != HSPEC_OK) {
        fail_msg("%s in\n%s", err.message, text);
    }
    return experiment;
}

static void templates_are_the_defaults(void **state)
{
    (void)state;
    static const char *const signals[] = {
        [HSPEC_SIGNAL_FLIPPED] = "{kind: flipped, strength: 4.0}",
        [HSPEC_SIGNAL_GAUSSIAN] = "{kind: gaussian, mean: [1.5, 0, 0], variance: [0, 9, 3]}",
        [HSPEC_SIGNAL_DISCRETE] = "{kind: discrete, points: [[3, 0], [0, 3]]}",
    };
    static const char *const activations[] = {
        [HSPEC_SOFTMAX] = "softmax", [HSPEC_SOFTMAX1] = "softmax1", [HSPEC_BAYES] = "bayes"};
    for (unsigned s = 0; s < 3; s++) {
        for (unsigned a = 0; a < 3; a++) {
            char *text = NULL;
            assert_int_equal(hspec_reference_template((hspec_signal_kind)s, (hspec_activation)a, &text, NULL),
                             HSPEC_OK);
            char bare[200];
            (void)snprintf(bare, sizeof bare, "task: {tokens: 5, signal: %s}\nlayer: {heads: 3, activation: %s}\n",
                           signals[s], activations[a]);
            hspec_experiment *found = parse(text);
            hspec_experiment *expected = parse(bare);
            const char *difference = same_difference(found, expected);
            if (difference) {
                fail_msg("%s differs in\n%s", difference, text);
            }
            hspec_experiment_free(found);
            hspec_experiment_free(expected);
            free(text);
        }
    }
}

/* Every key stands in the template, and each value that is in use is the default of the table. */
static void template_holds_every_key(void **state)
{
    (void)state;
    char *text = NULL;
    assert_int_equal(hspec_reference_template(HSPEC_SIGNAL_FLIPPED, HSPEC_SOFTMAX1, &text, NULL), HSPEC_OK);
    for (size_t i = 1; i < hspec_config_table_count; i++) {
        const hspec_config_row *row = &hspec_config_table_rows[i];
        char line[100];
        const char *value = row->fallback ? row->fallback : row->example;
        if (strcmp(row->path, "layer.activation") == 0) {
            value = "softmax1";
        }
        (void)snprintf(line, sizeof line, "%s:%s%s ", hspec_config_table_key(row), value ? " " : "",
                       value ? value : "");
        assert_non_null(strstr(text, line));
    }
    free(text);
}

static void template_refuses_wrong_kinds(void **state)
{
    (void)state;
    char *text = NULL;
    hspec_error err;
    assert_int_equal(hspec_reference_template((hspec_signal_kind)3, HSPEC_SOFTMAX, &text, &err), HSPEC_EARG);
    assert_int_equal(hspec_reference_template(HSPEC_SIGNAL_FLIPPED, (hspec_activation)3, &text, &err), HSPEC_EARG);
    assert_int_equal(hspec_reference_template(HSPEC_SIGNAL_FLIPPED, HSPEC_SOFTMAX, NULL, &err), HSPEC_EARG);
    assert_null(text);
}

static int write_page(void)
{
    hspec_text page = {0};
    hspec_reference_markdown(&page);
    FILE *file = page.failed ? NULL : fopen(PAGE, "wb");
    int ok = file && fwrite(page.data, 1, page.length, file) == page.length;
    ok = file && fclose(file) == 0 && ok;
    hspec_text_free(&page);
    (void)fprintf(stderr, ok ? "wrote %s\n" : "could not write %s\n", PAGE);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--write") == 0) {
        return write_page();
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_is_fresh),
        cmocka_unit_test(page_and_help_name_every_key),
        cmocka_unit_test(table_is_sound),
        cmocka_unit_test(templates_are_the_defaults),
        cmocka_unit_test(template_holds_every_key),
        cmocka_unit_test(template_refuses_wrong_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
