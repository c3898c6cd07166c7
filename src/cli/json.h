/* SPDX-License-Identifier: MIT
 * JSON output: one object on standard output. */
#ifndef HSPEC_CLI_JSON_H
#define HSPEC_CLI_JSON_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "headspec.h"

/* Build the object with cJSON's own calls or with these, which return ENOMEM instead of NULL.
 * Numbers that are not finite become null. */
/** A number with the fewest digits, 15 to 17, that read back as the same number; NULL: no memory. */
cJSON *hspec_json_item(double value);
hspec_status hspec_json_object(cJSON **object, hspec_error *err);
hspec_status hspec_json_number(cJSON *object, const char *key, double value, hspec_error *err);
/** Every digit is printed, also above 2^53. */
hspec_status hspec_json_integer(cJSON *object, const char *key, uint64_t value, hspec_error *err);
hspec_status hspec_json_text(cJSON *object, const char *key, const char *value, hspec_error *err);
hspec_status hspec_json_flag(cJSON *object, const char *key, int value, hspec_error *err);
/** values [n] */
hspec_status hspec_json_numbers(cJSON *object, const char *key, const double *values, size_t n, hspec_error *err);
/** values [rows][columns], as a list of rows */
hspec_status hspec_json_matrix(cJSON *object, const char *key, const double *values, size_t rows, size_t columns,
                               hspec_error *err);
hspec_status hspec_json_texts(cJSON *object, const char *key, char *const *values, size_t n, hspec_error *err);
/** A new object (list) under `key`, owned by `object`. */
hspec_status hspec_json_child(cJSON *object, const char *key, cJSON **child, hspec_error *err);
hspec_status hspec_json_list(cJSON *object, const char *key, cJSON **list, hspec_error *err);

/** Prints the object and a newline on standard output. The caller still owns it. @return OK, ENOMEM, EIO. */
hspec_status hspec_json_print(const cJSON *object, hspec_error *err);

#endif
