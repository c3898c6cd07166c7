/* SPDX-License-Identifier: MIT
 * From the tree back to YAML text. */
#ifndef HSPEC_IO_CONFIG_EMIT_H
#define HSPEC_IO_CONFIG_EMIT_H

#include "io/config_tree.h"
#include "io/text.h"

/** Adds the tree as one YAML document in the style in which it was read; comments are not kept.
 *  @return OK, ENOMEM, EEXTERNAL. */
hspec_status hspec_config_emit_yaml(const hspec_config_node *root, hspec_text *yaml, hspec_error *err);

#endif
