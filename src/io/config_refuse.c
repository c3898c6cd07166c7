/* SPDX-License-Identifier: MIT
 * Messages for what the table does not allow. */
#include "io/config_refuse.h"

#include <stdint.h>
#include <string.h>
#include <yaml.h>

#include "core/status.h"
#include "io/config_allowed.h"
#include "io/config_nearest.h"
#include "io/text.h"

hspec_status hspec_config_refuse_value(const hspec_config *config, const hspec_config_node *node,
                                       const hspec_config_row *row, const char *path)
{
    hspec_text allowed = {0};
    hspec_config_row item = *row;
    if (path != row->path) { /* an item of a list */
        item.type = HSPEC_CONFIG_REAL;
    }
    hspec_config_allowed_text(path == row->path ? row : &item, &allowed);
    if (item.example && (item.type == HSPEC_CONFIG_VECTOR || item.type == HSPEC_CONFIG_MATRIX)) {
        hspec_text_add(&allowed, ", such as %s", item.example);
    }
    if (node->kind == HSPEC_NODE_SCALAR && node->style != YAML_PLAIN_SCALAR_STYLE && item.type != HSPEC_CONFIG_NAME) {
        hspec_text_add(&allowed, ", without quotes");
    }
    hspec_status status = allowed.failed ? hspec_error_memory(config->err, allowed.capacity)
                                         : hspec_config_tree_fail(config->source, node->set, node->line, path,
                                                                  config->err, "found %s, allowed: %s",
                                                                  hspec_config_tree_found(node).text, allowed.data);
    hspec_text_free(&allowed);
    return status;
}

hspec_status hspec_config_refuse_missing(const hspec_config *config, const hspec_config_node *section,
                                         const hspec_config_row *row)
{
    hspec_text allowed = {0};
    hspec_config_allowed_text(row, &allowed);
    const hspec_config_node *place = section ? section : config->root;
    hspec_status status = allowed.failed
                              ? hspec_error_memory(config->err, allowed.capacity)
                              : hspec_config_tree_fail(config->source, place->set, place->line, row->path, config->err,
                                                       "found nothing, allowed: %s (required)", allowed.data);
    hspec_text_free(&allowed);
    return status;
}

/* The only row outside of a section that has this key, or NULL: keys like `kind` stand in many sections. */
static const hspec_config_row *find_elsewhere(const char *key)
{
    const hspec_config_row *found = NULL;
    for (size_t i = 0; i < hspec_config_table_count; i++) {
        const hspec_config_row *row = &hspec_config_table_rows[i];
        if (*row->path && strcmp(hspec_config_table_key(row), key) == 0) {
            if (found) {
                return NULL;
            }
            found = row;
        }
    }
    return found;
}

/* Adds "; did you mean ...?" if the key belongs to another section, or if an allowed one is near. */
static void add_suggestion(const hspec_config_row *section, const char *key, hspec_text *text)
{
    const hspec_config_row *elsewhere = find_elsewhere(key);
    if (elsewhere) {
        hspec_text_add(text, "; did you mean %s?", elsewhere->path);
        return;
    }
    const char *nearest = NULL;
    size_t best = SIZE_MAX;
    const hspec_config_row *child = NULL;
    while ((child = hspec_config_table_next(section, child)) != NULL) {
        size_t distance = hspec_config_nearest_distance(key, hspec_config_table_key(child));
        if (distance < best) {
            best = distance;
            nearest = hspec_config_table_key(child);
        }
    }
    if (nearest && hspec_config_nearest_close(key, best)) {
        hspec_text_add(text, "; did you mean %s?", nearest);
    }
}

/* Adds the keys of each kind: "either seed, or alignment, residual". */
static void add_alternatives(const hspec_config_row *section, hspec_text *text)
{
    const hspec_config_names *kinds = hspec_config_table_kinds(section);
    for (unsigned kind = 0; kind < kinds->count; kind++) {
        hspec_text_add(text, kind == 0 ? "either " : "; or ");
        hspec_config_allowed_keys(section, &kind, text);
    }
}

hspec_status hspec_config_refuse_key(const hspec_config *config, const hspec_config_row *section,
                                     const hspec_config_row *row, unsigned kind, const hspec_config_node *node)
{
    hspec_text path = {0};
    hspec_text message = {0};
    hspec_text_add(&path, "%s%s%s", section->path, *section->path ? "." : "",
                   hspec_config_tree_printable(node->key, strlen(node->key)).text);
    if (!row) {
        hspec_text_add(&message, "found an unknown key, allowed: ");
        hspec_config_allowed_keys(section, NULL, &message);
        add_suggestion(section, node->key, &message);
    } else {
        const hspec_config_names *kinds = hspec_config_table_kinds(section);
        const char *chosen = kinds->items[kind].name;
        if (section->type == HSPEC_CONFIG_CHOICE) {
            hspec_text_add(&message, "found beside %s, allowed: ", chosen);
            add_alternatives(section, &message);
        } else {
            hspec_text_add(&message, "found a key of kind ");
            hspec_config_allowed_names(kinds, row->kinds, &message);
            hspec_text_add(&message, ", allowed for kind %s: ", chosen);
            hspec_config_allowed_keys(section, &kind, &message);
        }
    }
    hspec_status status = path.failed || message.failed
                              ? hspec_error_memory(config->err, path.capacity + message.capacity)
                              : hspec_config_tree_fail(config->source, node->set, node->key_line, path.data,
                                                       config->err, "%s", message.data);
    hspec_text_free(&path);
    hspec_text_free(&message);
    return status;
}
