/* SPDX-License-Identifier: MIT
 * What several keys must fulfil together. */
#ifndef HSPEC_IO_CONFIG_CHECK_H
#define HSPEC_IO_CONFIG_CHECK_H

#include "io/config_read.h"

/** After hspec_config_read_tree: D >= F + H, steps, records, seeds, weights, residuals. @return OK, ECONFIG, ENOMEM. */
hspec_status hspec_config_check_fields(const hspec_config *config);

#endif
