/* SPDX-License-Identifier: MIT
 * An experiment as it will run: every value that is read, and whether it is a default. */
#ifndef HSPEC_CLI_RESOLVED_H
#define HSPEC_CLI_RESOLVED_H

#include "headspec.h"
#include "io/config_table.h"
#include "io/text.h"

typedef struct hspec_resolved_value {
    const hspec_config_row *row;
    char *text; /**< YAML, and JSON unless it is a name or words */
    int given;  /**< by the file or --set, not by default */
} hspec_resolved_value;

/** The keys that this signal, activation, engine and init read, in the order of the table.
 *  @param values out [count]; free with hspec_resolved_free. @return OK, ENOMEM, ECONFIG. */
hspec_status hspec_resolved_list(const hspec_experiment *experiment, hspec_resolved_value **values, size_t *count,
                                 hspec_error *err);
void hspec_resolved_free(hspec_resolved_value *values, size_t count);

/** Adds a number with the fewest digits that give it back. */
void hspec_resolved_real(hspec_text *text, double x);

#endif
