/* SPDX-License-Identifier: MIT
 * The tree of an experiment file. */
#include "io/config_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/status.h"

hspec_config_node *hspec_config_tree_create(hspec_config_kind kind, int style, size_t set, size_t line)
{
    hspec_config_node *node = calloc(1, sizeof *node);
    if (node) {
        node->kind = kind;
        node->style = style;
        node->set = set;
        node->line = line;
        node->key_line = line;
    }
    return node;
}

void hspec_config_tree_free(hspec_config_node *node)
{
    if (!node) {
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        hspec_config_tree_free(node->items[i]); /* depth is limited when the tree is built */
    }
    free(node->items);
    free(node->key);
    free(node->text);
    free(node);
}

hspec_status hspec_config_tree_append(hspec_config_node *parent, hspec_config_node *child, hspec_error *err)
{
    if (parent->count == parent->capacity) {
        size_t capacity = parent->capacity ? 2 * parent->capacity : 4;
        hspec_config_node **items = realloc(parent->items, capacity * sizeof(void *));
        if (!items) {
            return hspec_error_memory(err, capacity * sizeof(void *));
        }
        parent->items = items;
        parent->capacity = capacity;
    }
    parent->items[parent->count++] = child;
    return HSPEC_OK;
}

hspec_config_node *hspec_config_tree_child(const hspec_config_node *mapping, const char *key)
{
    if (!mapping || mapping->kind != HSPEC_NODE_MAPPING) {
        return NULL;
    }
    for (size_t i = 0; i < mapping->count; i++) {
        if (strcmp(mapping->items[i]->key, key) == 0) {
            return mapping->items[i];
        }
    }
    return NULL;
}

char *hspec_config_tree_copy(const char *bytes, size_t n)
{
    char *copy = malloc(n + 1);
    if (copy) {
        if (n > 0) {
            memcpy(copy, bytes, n);
        }
        copy[n] = '\0';
    }
    return copy;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

hspec_status hspec_config_tree_fail(const hspec_config_source *source, size_t set, size_t line, const char *path,
                                    hspec_error *err, const char *format, ...)
{
    if (!err) {
        return HSPEC_ECONFIG;
    }
    va_list args;
    va_start(args, format);
    char message[sizeof err->message];
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)hspec_error_set(err, HSPEC_ECONFIG, "%s", message);
    hspec_config_words where = {""};
    if (set > 0) {
        const char *text = source->sets[set - 1];
        size_t n = strcspn(text, "=");
        where = hspec_config_tree_printable(text, n > 0 ? n : strlen(text));
    }
    if (path && *path && strcmp(path, where.text) != 0) {
        (void)hspec_error_prefix(err, HSPEC_ECONFIG, "%s", path);
    }
    if (set > 0) {
        return hspec_error_prefix(err, HSPEC_ECONFIG, "--set %s", where.text);
    }
    if (line > 0) {
        return hspec_error_prefix(err, HSPEC_ECONFIG, "%s:%zu", source->origin, line);
    }
    return hspec_error_prefix(err, HSPEC_ECONFIG, "%s", source->origin);
}

/* Bytes of the UTF-8 character at p, of which `left` bytes are there; 0: not printable as it stands. */
static size_t printable_bytes(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80) {
        return p[0] >= 0x20 && p[0] != 0x7f;
    }
    size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || n > left || (p[0] == 0xc2 && p[1] < 0xa0)) {
        return 0; /* not the start of a character, or one of the control characters U+0080 to U+009F */
    }
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return n;
}

hspec_config_words hspec_config_tree_printable(const char *text, size_t length)
{
    hspec_config_words words = {""};
    const unsigned char *p = (const unsigned char *)text;
    const size_t room = sizeof words.text - 8; /* for one escape or character, "...", a quote and the zero */
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        if (used >= room - 4) {
            memcpy(words.text + used, "...", 4);
            break;
        }
        size_t n = printable_bytes(p + i, length - i);
        if (n > 0) {
            memcpy(words.text + used, p + i, n);
            used += n;
            i += n;
        } else {
            used += (size_t)snprintf(words.text + used, 5, "\\x%02x", p[i]);
            i++;
        }
        words.text[used] = '\0';
    }
    return words;
}

hspec_config_words hspec_config_tree_found(const hspec_config_node *node)
{
    hspec_config_words words = {"nothing"};
    if (!node) {
        return words;
    }
    if (node->kind == HSPEC_NODE_LIST) {
        (void)snprintf(words.text, sizeof words.text, "a list of %zu", node->count);
    } else if (node->kind == HSPEC_NODE_MAPPING) {
        (void)snprintf(words.text, sizeof words.text, "a mapping of %zu", node->count);
    } else if (node->style != YAML_PLAIN_SCALAR_STYLE) {
        hspec_config_words inner = hspec_config_tree_printable(node->text, strlen(node->text));
        words.text[0] = '"';
        size_t n = strlen(inner.text);
        n = n < sizeof words.text - 3 ? n : sizeof words.text - 3;
        memcpy(words.text + 1, inner.text, n);
        memcpy(words.text + 1 + n, "\"", 2);
    } else if (node->text[0] != '\0') {
        words = hspec_config_tree_printable(node->text, strlen(node->text));
    }
    return words;
}
