/* SPDX-License-Identifier: MIT
 * --set PATH=VALUE: changes of the tree from the command line. */
#include "io/config_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/status.h"
#include "io/config_parse.h"
#include "io/config_scalar.h"

typedef struct set_state {
    const hspec_config_source *source;
    size_t k;
    hspec_error *err;
} set_state;

/* The slot of a key or an index below `node`, or NULL with *status: OK when the key is only missing. */
static hspec_config_node **find_slot(const set_state *state, hspec_config_node *node, const char *name,
                                     hspec_status *status)
{
    hspec_config_words printable = hspec_config_tree_printable(name, strlen(name));
    *status = HSPEC_OK;
    if (node->kind == HSPEC_NODE_MAPPING) {
        for (size_t i = 0; i < node->count; i++) {
            if (strcmp(node->items[i]->key, name) == 0) {
                return &node->items[i];
            }
        }
        if (node->count == HSPEC_CONFIG_KEYS) {
            *status = hspec_config_tree_fail(state->source, state->k, 0, NULL, state->err,
                                             "found more than %d keys in one mapping, allowed: at most that many",
                                             HSPEC_CONFIG_KEYS);
        }
        return NULL;
    }
    if (node->kind == HSPEC_NODE_LIST) {
        uint64_t index;
        if (hspec_config_scalar_integer(name, &index) == HSPEC_SCALAR_OK && index < node->count) {
            return &node->items[index];
        }
        *status = hspec_config_tree_fail(state->source, state->k, 0, NULL, state->err,
                                         "found %s in the path, allowed there: an index from 0 to %zu of a list",
                                         printable.text, node->count > 0 ? node->count - 1 : 0);
        return NULL;
    }
    *status = hspec_config_tree_fail(state->source, state->k, 0, NULL, state->err,
                                     "found %s in the path below the single value %s, allowed there: nothing",
                                     printable.text, hspec_config_tree_found(node).text);
    return NULL;
}

/* Puts `value` (owned from here on, also on error) in the place of `name` below `parent`. */
static hspec_status put(const set_state *state, hspec_config_node *parent, const char *name, hspec_config_node *value)
{
    hspec_status status;
    hspec_config_node **slot = find_slot(state, parent, name, &status);
    if (slot) {
        value->key = (*slot)->key;
        value->key_line = (*slot)->key_line;
        (*slot)->key = NULL;
        hspec_config_tree_free(*slot);
        *slot = value;
        return HSPEC_OK;
    }
    if (status == HSPEC_OK) {
        value->key = hspec_config_tree_copy(name, strlen(name));
        status = value->key ? hspec_config_tree_append(parent, value, state->err)
                            : hspec_error_memory(state->err, strlen(name) + 1);
    }
    if (status != HSPEC_OK) {
        hspec_config_tree_free(value);
    }
    return status;
}

/* Goes one step down, making a mapping if there is none. */
static hspec_status descend(const set_state *state, hspec_config_node **node, const char *name)
{
    hspec_status status;
    hspec_config_node **slot = find_slot(state, *node, name, &status);
    if (!slot && status == HSPEC_OK) {
        hspec_config_node *made = hspec_config_tree_create(HSPEC_NODE_MAPPING, YAML_ANY_MAPPING_STYLE, state->k, 0);
        if (!made) {
            return hspec_error_memory(state->err, sizeof *made);
        }
        HSPEC_TRY(put(state, *node, name, made));
        *node = made;
        return HSPEC_OK;
    }
    HSPEC_TRY(status);
    *node = *slot;
    return HSPEC_OK;
}

/* `path` is cut into its names. */
static hspec_status apply(const set_state *state, hspec_config_node *root, char *path, hspec_config_node *value)
{
    hspec_config_node *node = root;
    char *name = path;
    hspec_status status = HSPEC_OK;
    for (size_t depth = 1;; depth++) {
        char *point = strchr(name, '.');
        if (*name == '\0' || point == name) {
            status = hspec_config_tree_fail(state->source, state->k, 0, NULL, state->err,
                                            "found an empty name in the path, allowed: names with points between "
                                            "them, such as training.time");
            break;
        }
        if (depth > HSPEC_CONFIG_DEPTH) {
            status = hspec_config_tree_fail(state->source, state->k, 0, NULL, state->err,
                                            "found a path of more than %d names, allowed: at most that many",
                                            HSPEC_CONFIG_DEPTH);
            break;
        }
        if (!point) {
            return put(state, node, name, value);
        }
        *point = '\0';
        status = descend(state, &node, name);
        if (status != HSPEC_OK) {
            break;
        }
        name = point + 1;
    }
    hspec_config_tree_free(value);
    return status;
}

hspec_status hspec_config_set_apply(hspec_config_node *root, const hspec_config_source *source, size_t k,
                                    hspec_error *err)
{
    const set_state state = {.source = source, .k = k, .err = err};
    const char *text = source->sets[k - 1];
    const char *equals = strchr(text, '=');
    if (!equals) {
        return hspec_config_tree_fail(source, k, 0, NULL, err,
                                      "found no \"=\", allowed: PATH=VALUE, such as training.time=200");
    }
    hspec_config_node *value = NULL;
    HSPEC_TRY(hspec_config_parse_text(source, k, equals + 1, strlen(equals + 1), &value, err));
    if (!value || (value->kind == HSPEC_NODE_SCALAR && value->text[0] == '\0')) {
        hspec_config_tree_free(value);
        return hspec_config_tree_fail(source, k, 0, NULL, err,
                                      "found nothing after \"=\", allowed: a YAML value, such as training.time=200");
    }
    char *path = hspec_config_tree_copy(text, (size_t)(equals - text));
    if (!path) {
        hspec_config_tree_free(value);
        return hspec_error_memory(err, (size_t)(equals - text) + 1);
    }
    hspec_status status = apply(&state, root, path, value);
    free(path);
    return status;
}
