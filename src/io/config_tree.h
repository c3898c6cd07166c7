/* SPDX-License-Identifier: MIT
 * The tree of an experiment file: mappings, lists and scalars, each with the line or the --set that it came from.
 * Numbers stay literal text. */
#ifndef HSPEC_IO_CONFIG_TREE_H
#define HSPEC_IO_CONFIG_TREE_H

#include <stddef.h>

#include "headspec.h"

typedef enum hspec_config_kind { HSPEC_NODE_SCALAR, HSPEC_NODE_LIST, HSPEC_NODE_MAPPING } hspec_config_kind;

typedef struct hspec_config_node {
    hspec_config_kind kind;
    int style;       /* libyaml's style of this kind: the tree is written as it was read */
    char *key;       /* its key in the mapping that holds it; NULL elsewhere */
    size_t key_line; /* counted from 1 */
    char *text;      /* scalar: the literal text without quotes; NULL elsewhere */
    size_t line;
    size_t set; /* 0: from the file; k: from the k-th --set */
    size_t count, capacity;
    struct hspec_config_node **items; /* [count] values of a mapping or items of a list */
} hspec_config_node;

/** What messages call the places that nodes came from. */
typedef struct hspec_config_source {
    const char *origin;      /* the file */
    const char *const *sets; /* [n_sets] "path=value" */
    size_t n_sets;
} hspec_config_source;

/** A node without content. NULL if memory could not be had. */
hspec_config_node *hspec_config_tree_create(hspec_config_kind kind, int style, size_t set, size_t line);
/** Frees a node and everything below it. */
void hspec_config_tree_free(hspec_config_node *node);
/** Appends an item to a list or a value (with its key) to a mapping, which then owns it. @return OK, ENOMEM. */
hspec_status hspec_config_tree_append(hspec_config_node *parent, hspec_config_node *child, hspec_error *err);
/** The value of a key of a mapping, or NULL (also if `mapping` is none). */
hspec_config_node *hspec_config_tree_child(const hspec_config_node *mapping, const char *key);

/** A copy of n bytes with a final zero. NULL if memory could not be had. */
char *hspec_config_tree_copy(const char *bytes, size_t n);

/** ECONFIG with "origin:line: path: " or "--set PATH: " before the message. line 0: no line; path NULL: no path. */
hspec_status hspec_config_tree_fail(const hspec_config_source *source, size_t set, size_t line, const char *path,
                                    hspec_error *err, const char *format, ...) __attribute__((format(printf, 6, 7)));

/** Words of a message, safe for a terminal and cut to fit. */
typedef struct hspec_config_words {
    char text[88];
} hspec_config_words;
/** Up to `length` bytes of a text; control characters are escaped. */
hspec_config_words hspec_config_tree_printable(const char *text, size_t length);
/** What a node is: 10abc, "quoted", nothing, a list of 3, a mapping of 2. NULL: nothing. */
hspec_config_words hspec_config_tree_found(const hspec_config_node *node);

#endif
