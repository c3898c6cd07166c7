/* SPDX-License-Identifier: MIT
 * From the tree to the experiment, row by row of the table. */
#ifndef HSPEC_IO_CONFIG_READ_H
#define HSPEC_IO_CONFIG_READ_H

#include "io/config_tree.h"

/** One experiment that is being read. */
typedef struct hspec_config {
    const hspec_config_source *source;
    const hspec_config_node *root;
    hspec_experiment *experiment;
    hspec_error *err;
} hspec_config;

/** Fills the experiment; what is left out gets its default. @return OK, ECONFIG, ENOMEM. */
hspec_status hspec_config_read_tree(const hspec_config *config);

/** Memory that belongs to the experiment. NULL if it could not be had. */
void *hspec_config_read_allocate(hspec_experiment *experiment, size_t bytes);
/** Frees all of it. */
void hspec_config_read_release(hspec_experiment *experiment);

#endif
