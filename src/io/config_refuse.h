/* SPDX-License-Identifier: MIT
 * Messages for what the table does not allow: where, what was found, what is allowed. */
#ifndef HSPEC_IO_CONFIG_REFUSE_H
#define HSPEC_IO_CONFIG_REFUSE_H

#include "io/config_read.h"
#include "io/config_table.h"

/** The value of a row, or of one of its items (then `path` is not that of the row), is not allowed.
 *  @return ECONFIG, ENOMEM. */
hspec_status hspec_config_refuse_value(const hspec_config *config, const hspec_config_node *node,
                                       const hspec_config_row *row, const char *path);

/** A required row is missing in its section (NULL: the section is missing as well). @return ECONFIG, ENOMEM. */
hspec_status hspec_config_refuse_missing(const hspec_config *config, const hspec_config_node *section,
                                         const hspec_config_row *row);

/** The key of a node is unknown in its section (row NULL), or belongs to another kind than the one that was chosen.
 *  @return ECONFIG, ENOMEM. */
hspec_status hspec_config_refuse_key(const hspec_config *config, const hspec_config_row *section,
                                     const hspec_config_row *row, unsigned kind, const hspec_config_node *node);

#endif
