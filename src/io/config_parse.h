/* SPDX-License-Identifier: MIT
 * From YAML text to the tree. Refused, each with its line: text that is too large or not UTF-8, tabs, NUL bytes,
 * several documents, directives, anchors, aliases, tags, duplicate keys, too many keys, too deep nesting. */
#ifndef HSPEC_IO_CONFIG_PARSE_H
#define HSPEC_IO_CONFIG_PARSE_H

#include "io/config_tree.h"

#define HSPEC_CONFIG_BYTES ((size_t)1 << 20) /* largest text */
#define HSPEC_CONFIG_DEPTH 10                /* deepest nesting */
#define HSPEC_CONFIG_KEYS 64                 /* most keys of one mapping */

/** Reads one document. `set` says where the text stands: 0 the file, k the value of the k-th --set.
 *  @param root out; NULL for a document without content; free with hspec_config_tree_free.
 *  @return OK, ECONFIG, ENOMEM. */
hspec_status hspec_config_parse_text(const hspec_config_source *source, size_t set, const char *text, size_t length,
                                     hspec_config_node **root, hspec_error *err);

#endif
