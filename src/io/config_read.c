/* SPDX-License-Identifier: MIT
 * From the tree to the experiment, row by row of the table. */
#include "io/config_read.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/status.h"
#include "io/config_refuse.h"
#include "io/config_scalar.h"
#include "io/config_table.h"
#include "io/text.h"

_Static_assert(sizeof(hspec_activation) == sizeof(unsigned) && sizeof(hspec_noise) == sizeof(unsigned),
               "enums are stored as unsigned");

/* ---- Memory and places ------------------------------------------------------------------------------------------- */

typedef struct owned_block {
    struct owned_block *next;
    double data[]; /* aligned for doubles and pointers */
} owned_block;

void *hspec_config_read_allocate(hspec_experiment *experiment, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    owned_block *block = malloc(sizeof *block + bytes);
    if (!block) {
        return NULL;
    }
    block->next = experiment->owned;
    experiment->owned = block;
    return block->data;
}

void hspec_config_read_release(hspec_experiment *experiment)
{
    owned_block *block = experiment->owned;
    while (block) {
        owned_block *next = block->next;
        free(block);
        block = next;
    }
    experiment->owned = NULL;
}

static void *allocate(const hspec_config *config, size_t bytes, hspec_status *status)
{
    void *memory = hspec_config_read_allocate(config->experiment, bytes);
    *status = memory ? HSPEC_OK : hspec_error_memory(config->err, bytes);
    return memory;
}

static void store(const hspec_config *config, size_t offset, const void *value, size_t bytes)
{
    memcpy((char *)config->experiment + offset, value, bytes);
}

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

static size_t *length_of(const hspec_config *config, hspec_config_length length, const char **setter)
{
    hspec_experiment *e = config->experiment;
    static const char *const features[] = {[HSPEC_SIGNAL_FLIPPED] = "task.signal.strength",
                                           [HSPEC_SIGNAL_GAUSSIAN] = "task.signal.mean",
                                           [HSPEC_SIGNAL_DISCRETE] = "task.signal.points"};
    switch (length) {
    case HSPEC_LENGTH_F:
        *setter = features[e->signal.kind];
        return &e->signal.features;
    case HSPEC_LENGTH_K:
        *setter = "task.signal.points";
        return &e->signal.points;
    case HSPEC_LENGTH_H:
        *setter = "layer.heads";
        return &e->layer.heads;
    case HSPEC_LENGTH_NONE:
        break;
    }
    return NULL;
}

/* Sets a length, or compares with what has been set; `what` names what is counted. */
static hspec_status agree(const hspec_config *config, const hspec_config_node *node, const char *path,
                          hspec_config_length length, size_t found, const char *what)
{
    const char *setter = NULL;
    size_t *known = length_of(config, length, &setter);
    if (!known || *known == found) {
        return HSPEC_OK;
    }
    if (*known != 0) {
        return hspec_config_tree_fail(config->source, node->set, node->line, path, config->err,
                                      "found %zu %s%s, allowed: %zu (%s, set by %s)", found, what,
                                      found == 1 ? "" : "s", *known, hspec_config_table_length(length), setter);
    }
    *known = found;
    return HSPEC_OK;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int in_range(const hspec_config_row *row, double x)
{
    return (row->low_open ? x > row->low : x >= row->low) && (row->high_open ? x < row->high : x <= row->high);
}

static int is_plain(const hspec_config_node *node)
{
    return node->kind == HSPEC_NODE_SCALAR && node->style == YAML_PLAIN_SCALAR_STYLE;
}

static hspec_status read_real(const hspec_config *config, const hspec_config_row *row, const hspec_config_node *node,
                              const char *path, double *x)
{
    double value;
    if (!is_plain(node) || hspec_config_scalar_real(node->text, &value) != HSPEC_SCALAR_OK || !in_range(row, value)) {
        return hspec_config_refuse_value(config, node, row, path);
    }
    *x = value;
    return HSPEC_OK;
}

static hspec_status read_whole(const hspec_config *config, const hspec_config_row *row, const hspec_config_node *node)
{
    uint64_t value;
    if (!is_plain(node) || hspec_config_scalar_integer(node->text, &value) != HSPEC_SCALAR_OK ||
        !in_range(row, (double)value)) {
        return hspec_config_refuse_value(config, node, row, row->path);
    }
    if (row->type == HSPEC_CONFIG_SEED) {
        store(config, row->offset, &value, sizeof value);
        return HSPEC_OK;
    }
    if (value > SIZE_MAX) {
        return hspec_config_refuse_value(config, node, row, row->path);
    }
    size_t size = (size_t)value;
    store(config, row->offset, &size, sizeof size);
    return HSPEC_OK;
}

static hspec_status read_name(const hspec_config *config, const hspec_config_row *row, const hspec_config_node *node)
{
    for (unsigned i = 0; node->kind == HSPEC_NODE_SCALAR && i < row->names->count; i++) {
        if (strcmp(node->text, row->names->items[i].name) == 0) {
            store(config, row->offset, &i, sizeof i);
            return HSPEC_OK;
        }
    }
    return hspec_config_refuse_value(config, node, row, row->path);
}

static hspec_status read_switch(const hspec_config *config, const hspec_config_row *row, const hspec_config_node *node)
{
    int on = is_plain(node) && strcmp(node->text, "true") == 0;
    if (!on && !(is_plain(node) && strcmp(node->text, "false") == 0)) {
        return hspec_config_refuse_value(config, node, row, row->path);
    }
    store(config, row->offset, &on, sizeof on);
    return HSPEC_OK;
}

/* The numbers of one list, [node->count], into x. */
static hspec_status read_items(const hspec_config *config, const hspec_config_row *row, const hspec_config_node *node,
                               const char *path, double *x)
{
    for (size_t i = 0; i < node->count; i++) {
        hspec_text item = {0};
        hspec_text_add(&item, "%s.%zu", path, i);
        hspec_status status = item.failed ? hspec_error_memory(config->err, strlen(path) + 24)
                                          : read_real(config, row, node->items[i], item.data, &x[i]);
        hspec_text_free(&item);
        HSPEC_TRY(status);
    }
    return HSPEC_OK;
}

static hspec_status read_vector(const hspec_config *config, const hspec_config_row *row, const hspec_config_node *node)
{
    if (node->kind != HSPEC_NODE_LIST || node->count == 0) {
        return hspec_config_refuse_value(config, node, row, row->path);
    }
    HSPEC_TRY(agree(config, node, row->path, row->columns, node->count, "number"));
    hspec_status status;
    double *x = allocate(config, node->count * sizeof *x, &status);
    HSPEC_TRY(status);
    HSPEC_TRY(read_items(config, row, node, row->path, x));
    store(config, row->offset, &x, sizeof x);
    return HSPEC_OK;
}

static hspec_status read_matrix(const hspec_config *config, const hspec_config_row *row, const hspec_config_node *node)
{
    if (node->kind != HSPEC_NODE_LIST || node->count == 0) {
        return hspec_config_refuse_value(config, node, row, row->path);
    }
    HSPEC_TRY(agree(config, node, row->path, row->rows, node->count, "row"));
    double *x = NULL;
    for (size_t i = 0; i < node->count; i++) {
        const hspec_config_node *line = node->items[i];
        hspec_text path = {0};
        hspec_text_add(&path, "%s.%zu", row->path, i);
        hspec_status status = path.failed ? hspec_error_memory(config->err, strlen(row->path) + 24) : HSPEC_OK;
        if (status == HSPEC_OK && (line->kind != HSPEC_NODE_LIST || line->count == 0)) {
            status =
                hspec_config_tree_fail(config->source, line->set, line->line, path.data, config->err,
                                       "found %s, allowed: a list of %s numbers", hspec_config_tree_found(line).text,
                                       hspec_config_table_length(row->columns));
        }
        if (status == HSPEC_OK) {
            status = agree(config, line, path.data, row->columns, line->count, "number");
        }
        if (status == HSPEC_OK && !x) {
            x = allocate(config, node->count * line->count * sizeof *x, &status);
        }
        if (status == HSPEC_OK) {
            hspec_config_row item = *row;
            hspec_config_table_item_range(row, &item.low, &item.high);
            status = read_items(config, &item, line, path.data, x + i * line->count);
        }
        hspec_text_free(&path);
        HSPEC_TRY(status);
    }
    store(config, row->offset, &x, sizeof x);
    return HSPEC_OK;
}

static hspec_status read_section(const hspec_config *config, const hspec_config_row *section,
                                 const hspec_config_node *node, int unread);

static hspec_status read_value(const hspec_config *config, const hspec_config_row *row, const hspec_config_node *node,
                               int unread)
{
    double x = 0;
    switch (row->type) {
    case HSPEC_CONFIG_SECTION:
    case HSPEC_CONFIG_KINDS:
    case HSPEC_CONFIG_CHOICE:
        return read_section(config, row, node, unread);
    case HSPEC_CONFIG_SIZE:
    case HSPEC_CONFIG_SEED:
        return read_whole(config, row, node);
    case HSPEC_CONFIG_REAL:
        HSPEC_TRY(read_real(config, row, node, row->path, &x));
        store(config, row->offset, &x, sizeof x);
        return agree(config, node, row->path, row->columns, 1, "number");
    case HSPEC_CONFIG_SWITCH:
        return read_switch(config, row, node);
    case HSPEC_CONFIG_NAME:
        return read_name(config, row, node);
    case HSPEC_CONFIG_VECTOR:
        return read_vector(config, row, node);
    case HSPEC_CONFIG_MATRIX:
        return read_matrix(config, row, node);
    case HSPEC_CONFIG_DIAGONAL:
        if (node->kind == HSPEC_NODE_LIST) {
            return read_matrix(config, row, node);
        }
        HSPEC_TRY(read_real(config, row, node, row->path, &x));
        store(config, row->diagonal, &x, sizeof x);
        return HSPEC_OK;
    }
    return HSPEC_OK;
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

/* Notes a path that is set but not read. */
static hspec_status note_unused(const hspec_config *config, const hspec_config_row *row)
{
    hspec_experiment *e = config->experiment;
    hspec_status status = HSPEC_OK;
    if (!e->unused) {
        e->unused = allocate(config, hspec_config_table_count * sizeof *e->unused, &status);
        HSPEC_TRY(status);
    }
    size_t bytes = strlen(row->path) + 1;
    char *path = allocate(config, bytes, &status);
    HSPEC_TRY(status);
    memcpy(path, row->path, bytes);
    e->unused[e->unused_count++] = path;
    return HSPEC_OK;
}

static hspec_status read_row(const hspec_config *config, const hspec_config_row *row, const hspec_config_node *section,
                             int unread)
{
    const hspec_config_node *node = hspec_config_tree_child(section, hspec_config_table_key(row));
    if (!node) {
        if (hspec_config_table_required(row)) {
            return hspec_config_refuse_missing(config, section, row);
        }
        if (hspec_config_table_is_section(row)) {
            return read_section(config, row, NULL, unread);
        }
        if (!row->fallback) {
            return HSPEC_OK;
        }
        char text[32];
        (void)snprintf(text, sizeof text, "%s", row->fallback);
        const hspec_config_node fallback = {.kind = HSPEC_NODE_SCALAR, .style = YAML_PLAIN_SCALAR_STYLE, .text = text};
        return read_value(config, row, &fallback, unread);
    }
    if (!unread && !hspec_config_table_read_by(row, config->experiment)) {
        unread = 1;
        HSPEC_TRY(note_unused(config, row));
    }
    return read_value(config, row, node, unread);
}

/* The kind of a section: what its key `kind` says, or the first kind that one of the keys belongs to. */
static hspec_status read_kind(const hspec_config *config, const hspec_config_row *section,
                              const hspec_config_node *node, unsigned *kind)
{
    *kind = 0;
    if (section->type == HSPEC_CONFIG_KINDS) {
        const hspec_config_row *row = hspec_config_table_next(section, NULL);
        HSPEC_TRY(read_row(config, row, node, 0));
        memcpy(kind, (const char *)config->experiment + row->offset, sizeof *kind);
    } else if (section->type == HSPEC_CONFIG_CHOICE) {
        const hspec_config_row *row = NULL;
        while ((row = hspec_config_table_next(section, row)) != NULL) {
            if (hspec_config_tree_child(node, hspec_config_table_key(row))) {
                while (!(row->kinds & (1U << *kind))) {
                    (*kind)++;
                }
                break;
            }
        }
        store(config, section->offset, kind, sizeof *kind);
    }
    return HSPEC_OK;
}

static hspec_status read_section(const hspec_config *config, const hspec_config_row *section,
                                 const hspec_config_node *node, int unread)
{
    if (node && node->kind != HSPEC_NODE_MAPPING) {
        return hspec_config_refuse_value(config, node, section, section->path);
    }
    for (size_t i = 0; node && i < node->count; i++) {
        const hspec_config_row *row = NULL;
        while ((row = hspec_config_table_next(section, row)) != NULL) {
            if (strcmp(hspec_config_table_key(row), node->items[i]->key) == 0) {
                break;
            }
        }
        if (!row) {
            return hspec_config_refuse_key(config, section, NULL, 0, node->items[i]);
        }
    }
    unsigned kind;
    HSPEC_TRY(read_kind(config, section, node, &kind));
    const hspec_config_row *row = NULL;
    while ((row = hspec_config_table_next(section, row)) != NULL) {
        if (row->kinds && !(row->kinds & (1U << kind))) {
            const hspec_config_node *value = hspec_config_tree_child(node, hspec_config_table_key(row));
            if (value) {
                return hspec_config_refuse_key(config, section, row, kind, value);
            }
            continue;
        }
        HSPEC_TRY(read_row(config, row, node, unread));
    }
    return HSPEC_OK;
}

hspec_status hspec_config_read_tree(const hspec_config *config)
{
    return read_section(config, &hspec_config_table_rows[0], config->root, 0);
}
