/* SPDX-License-Identifier: MIT
 * JSON output. */
#include "cli/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"

/* Puts `item` (NULL: there was no memory for it) under `key`. */
static hspec_status json_put(cJSON *object, const char *key, cJSON *item, hspec_error *err)
{
    if (!item || !cJSON_AddItemToObject(object, key, item)) {
        cJSON_Delete(item);
        return hspec_error_memory(err, sizeof *item);
    }
    return HSPEC_OK;
}

hspec_status hspec_json_object(cJSON **object, hspec_error *err)
{
    cJSON *item = cJSON_CreateObject();
    if (!item) {
        return hspec_error_memory(err, sizeof *item);
    }
    *object = item;
    return HSPEC_OK;
}

cJSON *hspec_json_item(double value)
{
    if (!isfinite(value)) {
        return cJSON_CreateNull();
    }
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) {
            break;
        }
    }
    return cJSON_CreateRaw(digits);
}

hspec_status hspec_json_number(cJSON *object, const char *key, double value, hspec_error *err)
{
    return json_put(object, key, hspec_json_item(value), err);
}

hspec_status hspec_json_integer(cJSON *object, const char *key, uint64_t value, hspec_error *err)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    return json_put(object, key, cJSON_CreateRaw(digits), err);
}

hspec_status hspec_json_text(cJSON *object, const char *key, const char *value, hspec_error *err)
{
    return json_put(object, key, cJSON_CreateString(value), err);
}

hspec_status hspec_json_flag(cJSON *object, const char *key, int value, hspec_error *err)
{
    return json_put(object, key, cJSON_CreateBool(value), err);
}

hspec_status hspec_json_child(cJSON *object, const char *key, cJSON **child, hspec_error *err)
{
    cJSON *item = cJSON_CreateObject();
    HSPEC_TRY(json_put(object, key, item, err));
    *child = item;
    return HSPEC_OK;
}

hspec_status hspec_json_list(cJSON *object, const char *key, cJSON **list, hspec_error *err)
{
    cJSON *item = cJSON_CreateArray();
    HSPEC_TRY(json_put(object, key, item, err));
    *list = item;
    return HSPEC_OK;
}

/* Appends `item` (NULL: there was no memory for it) to `list`. */
static hspec_status json_append(cJSON *list, cJSON *item, hspec_error *err)
{
    if (!item || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return hspec_error_memory(err, sizeof *item);
    }
    return HSPEC_OK;
}

hspec_status hspec_json_numbers(cJSON *object, const char *key, const double *values, size_t n, hspec_error *err)
{
    cJSON *list = NULL;
    HSPEC_TRY(hspec_json_list(object, key, &list, err));
    for (size_t i = 0; i < n; i++) {
        HSPEC_TRY(json_append(list, hspec_json_item(values[i]), err));
    }
    return HSPEC_OK;
}

hspec_status hspec_json_matrix(cJSON *object, const char *key, const double *values, size_t rows, size_t columns,
                               hspec_error *err)
{
    cJSON *list = NULL;
    HSPEC_TRY(hspec_json_list(object, key, &list, err));
    for (size_t i = 0; i < rows; i++) {
        cJSON *row = cJSON_CreateArray();
        HSPEC_TRY(json_append(list, row, err));
        for (size_t j = 0; j < columns; j++) {
            HSPEC_TRY(json_append(row, hspec_json_item(values[i * columns + j]), err));
        }
    }
    return HSPEC_OK;
}

hspec_status hspec_json_texts(cJSON *object, const char *key, char *const *values, size_t n, hspec_error *err)
{
    cJSON *list = NULL;
    HSPEC_TRY(hspec_json_list(object, key, &list, err));
    for (size_t i = 0; i < n; i++) {
        HSPEC_TRY(json_append(list, cJSON_CreateString(values[i]), err));
    }
    return HSPEC_OK;
}

hspec_status hspec_json_print(const cJSON *object, hspec_error *err)
{
    char *text = cJSON_Print(object);
    if (!text) {
        return hspec_error_set(err, HSPEC_ENOMEM, "memory: the JSON text could not be made");
    }
    int failed = fputs(text, stdout) < 0 || putchar('\n') == EOF;
    int code = errno;
    cJSON_free(text);
    if (failed) {
        return hspec_error_set(err, HSPEC_EIO, "standard output: %s", strerror(code));
    }
    return HSPEC_OK;
}
