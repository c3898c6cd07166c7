/* SPDX-License-Identifier: MIT
 * --set PATH=VALUE: changes of the tree from the command line. */
#ifndef HSPEC_IO_CONFIG_SET_H
#define HSPEC_IO_CONFIG_SET_H

#include "io/config_tree.h"

/** Puts the YAML value of the k-th --set (counted from 1) into the tree. The path is made of keys, and of indices
 *  from 0 inside lists, with points between them. Mappings that are missing on the way are made; a value that is there is replaced.
 *  Whether the path means anything is seen when the tree is read. @return OK, ECONFIG, ENOMEM. */
hspec_status hspec_config_set_apply(hspec_config_node *root, const hspec_config_source *source, size_t k,
                                    hspec_error *err);

#endif
