/* SPDX-License-Identifier: MIT
 * The parts of a loss as JSON, beside the numbers of the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/shares.h"

#include <math.h>
#include <string.h>

static const char yaml[] = "task: {tokens: 5, signal: {kind: flipped, strength: 4, probability: 0.7}}\n"
                           "layer: {heads: 2, activation: softmax1}\n"
                           "theory: {nodes: 1024}\n";
static const double m[2] = {1.5, -1.0};
static const double r[4] = {0.1, 0.0, 0.0, 0.2};
static const double b[2] = {0.5, 0.5};

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static void test_json(void **state)
{
    (void)state;
    hspec_experiment *experiment = NULL;
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_experiment_parse(yaml, strlen(yaml), "test", NULL, 0, &experiment, NULL), HSPEC_OK);
    assert_int_equal(hspec_signal_create(&experiment->signal, &signal, NULL), HSPEC_OK);
    experiment->task.signal = signal;
    const hspec_order order = {m, r, b, 1.5};
    hspec_shares shares;
    assert_int_equal(hspec_shares_create(experiment, &order, 1, &shares, NULL), HSPEC_OK);
    double parts[6];
    double error[6];
    assert_int_equal(
        hspec_population_parts(&experiment->task, &experiment->layer, 1024, 1, 2, 1, &order, parts, error, NULL),
        HSPEC_OK);
    assert_int_equal(shares.heads, 2);
    assert_memory_equal(shares.parts, parts, sizeof parts);
    assert_memory_equal(shares.error, error, sizeof error);

    cJSON *object = NULL;
    assert_int_equal(hspec_json_object(&object, NULL), HSPEC_OK);
    assert_int_equal(hspec_shares_json(&shares, object, NULL), HSPEC_OK);
    char *printed = cJSON_PrintUnformatted(object); /* numbers are read back as they were */
    cJSON_Delete(object);
    object = cJSON_Parse(printed);
    cJSON_free(printed);
    assert_int_equal(cJSON_GetArraySize(object), 3);
    assert_true(number(object, "missed") == parts[0] && number(object, "noise") == parts[3]);
    const cJSON *heads = cJSON_GetObjectItemCaseSensitive(object, "heads");
    assert_int_equal(cJSON_GetArraySize(heads), 2);
    for (int h = 0; h < 2; h++) {
        const cJSON *head = cJSON_GetArrayItem(heads, h);
        assert_int_equal(cJSON_GetArraySize(head), 2);
        assert_true(number(head, "missed") == parts[1 + h] && number(head, "noise") == parts[4 + h]);
    }
    cJSON_Delete(object);
    hspec_shares_free(&shares);
    assert_null(shares.parts);

    /* a state that cannot be leaves nothing behind */
    const double infinite[2] = {INFINITY, 0.0};
    const hspec_order bad = {infinite, r, b, 1.0};
    assert_int_equal(hspec_shares_create(experiment, &bad, 1, &shares, NULL), HSPEC_ENONFINITE);
    assert_null(shares.parts);
    hspec_signal_free(signal);
    hspec_experiment_free(experiment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json)};
    return cmocka_run_group_tests_name("shares", tests, NULL, NULL);
}
