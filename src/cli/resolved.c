/* SPDX-License-Identifier: MIT
 * An experiment as it will run. */
#include "cli/resolved.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "io/config_parse.h"
#include "io/config_tree.h"
#include "io/text.h"

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void copy_value(const hspec_experiment *experiment, size_t offset, void *value, size_t bytes)
{
    memcpy(value, (const char *)experiment + offset, bytes);
}

void hspec_resolved_real(hspec_text *text, double x)
{
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof digits, "%.*g", precision, x);
        if (strtod(digits, NULL) == x) {
            break;
        }
    }
    hspec_text_add(text, "%s", digits);
}

static size_t length_of(const hspec_experiment *experiment, hspec_config_length length)
{
    switch (length) {
    case HSPEC_LENGTH_F:
        return experiment->signal.features;
    case HSPEC_LENGTH_K:
        return experiment->signal.points;
    case HSPEC_LENGTH_H:
        return experiment->layer.heads;
    case HSPEC_LENGTH_NONE:
        break;
    }
    return 1;
}

/* Lists of numbers; a vector is one row without the outer brackets. */
static void add_list(hspec_text *text, const double *x, size_t rows, size_t columns, int matrix)
{
    hspec_text_add(text, "%s", matrix ? "[" : "");
    for (size_t i = 0; i < rows; i++) {
        hspec_text_add(text, "%s[", i ? ", " : "");
        for (size_t j = 0; j < columns; j++) {
            hspec_text_add(text, "%s", j ? ", " : "");
            hspec_resolved_real(text, x[i * columns + j]);
        }
        hspec_text_add(text, "]");
    }
    hspec_text_add(text, "%s", matrix ? "]" : "");
}

static void add_value(hspec_text *text, const hspec_experiment *experiment, const hspec_config_row *row)
{
    size_t size = 0;
    uint64_t seed = 0;
    double real = 0;
    unsigned name = 0;
    int flag = 0;
    const double *list = NULL;
    switch (row->type) {
    case HSPEC_CONFIG_SIZE:
        copy_value(experiment, row->offset, &size, sizeof size);
        hspec_text_add(text, "%zu", size);
        break;
    case HSPEC_CONFIG_SEED:
        copy_value(experiment, row->offset, &seed, sizeof seed);
        hspec_text_add(text, "%" PRIu64, seed);
        break;
    case HSPEC_CONFIG_REAL:
        copy_value(experiment, row->offset, &real, sizeof real);
        hspec_resolved_real(text, real);
        break;
    case HSPEC_CONFIG_SWITCH:
        copy_value(experiment, row->offset, &flag, sizeof flag);
        hspec_text_add(text, "%s", flag ? "true" : "false");
        break;
    case HSPEC_CONFIG_NAME:
        copy_value(experiment, row->offset, &name, sizeof name);
        hspec_text_add(text, "%s", row->names->items[name].name);
        break;
    case HSPEC_CONFIG_VECTOR:
    case HSPEC_CONFIG_MATRIX:
    case HSPEC_CONFIG_DIAGONAL:
        copy_value(experiment, row->offset, &list, sizeof list);
        if (list) {
            int matrix = row->type != HSPEC_CONFIG_VECTOR;
            add_list(text, list, matrix ? length_of(experiment, row->rows) : 1, length_of(experiment, row->columns),
                     matrix);
        } else if (row->type == HSPEC_CONFIG_DIAGONAL) {
            copy_value(experiment, row->diagonal, &real, sizeof real);
            hspec_resolved_real(text, real);
        } else {
            hspec_text_add(text, "%s", row->absent ? row->absent : "");
        }
        break;
    case HSPEC_CONFIG_SECTION:
    case HSPEC_CONFIG_KINDS:
    case HSPEC_CONFIG_CHOICE:
        break;
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Does this experiment read the row? Decided by the kind of its section, the activation and the engine. */
static int applies(const hspec_experiment *experiment, const hspec_config_row *row)
{
    if (hspec_config_table_is_section(row)) {
        return 0;
    }
    if (row->activations && !(row->activations & (1U << (unsigned)experiment->layer.activation))) {
        return 0;
    }
    if (row->engines && !(row->engines & (1U << (unsigned)experiment->training.engine))) {
        return 0;
    }
    if (row->kinds == 0) {
        return 1;
    }
    const hspec_config_row *section = hspec_config_table_parent(row);
    const hspec_config_row *holder =
        section->type == HSPEC_CONFIG_KINDS ? hspec_config_table_next(section, NULL) : section;
    unsigned kind = 0;
    copy_value(experiment, holder->offset, &kind, sizeof kind);
    return (row->kinds & (1U << kind)) != 0;
}

/* Is there a node at the path? */
static int is_given(const hspec_config_node *node, const char *path)
{
    while (node) {
        char key[64] = "";
        size_t n = strcspn(path, ".");
        (void)strncat(key, path, n < sizeof key - 1 ? n : sizeof key - 1);
        node = hspec_config_tree_child(node, key);
        if (path[n] == '\0') {
            break;
        }
        path += n + 1;
    }
    return node != NULL;
}

void hspec_resolved_free(hspec_resolved_value *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++) {
        free(values[i].text);
    }
    free(values);
}

static hspec_status fill(const hspec_experiment *experiment, const hspec_config_node *root,
                         hspec_resolved_value *values, size_t *count, hspec_error *err)
{
    for (size_t i = 0; i < hspec_config_table_count; i++) {
        const hspec_config_row *row = &hspec_config_table_rows[i];
        if (!applies(experiment, row)) {
            continue;
        }
        hspec_text text = {0};
        add_value(&text, experiment, row);
        char *value = hspec_text_take(&text);
        if (!value) {
            return hspec_error_set(err, HSPEC_ENOMEM, "memory: the value of %s could not be written", row->path);
        }
        values[(*count)++] = (hspec_resolved_value){.row = row, .text = value, .given = is_given(root, row->path)};
    }
    return HSPEC_OK;
}

hspec_status hspec_resolved_list(const hspec_experiment *experiment, hspec_resolved_value **values, size_t *count,
                                 hspec_error *err)
{
    const hspec_config_source source = {.origin = experiment->name};
    hspec_config_node *root = NULL;
    HSPEC_TRY(hspec_config_parse_text(&source, 0, experiment->yaml, strlen(experiment->yaml), &root, err));
    size_t n = 0;
    hspec_resolved_value *list = calloc(hspec_config_table_count, sizeof *list);
    hspec_status status =
        list ? fill(experiment, root, list, &n, err) : hspec_error_memory(err, hspec_config_table_count * sizeof *list);
    hspec_config_tree_free(root);
    if (status != HSPEC_OK) {
        hspec_resolved_free(list, n);
        return status;
    }
    *values = list;
    *count = n;
    return HSPEC_OK;
}
