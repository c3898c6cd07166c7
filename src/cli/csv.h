/* SPDX-License-Identifier: MIT
 * One dataset of an archive as a table of comma-separated values. */
#ifndef HSPEC_CLI_CSV_H
#define HSPEC_CLI_CSV_H

#include <stdio.h>

#include "headspec.h"

/** Prints the dataset `name` ("/sgd/alignment"; the first slash may be left out) of the archive `path`.
 *
 *  One row for each seed and time (for the first dimension, where there are neither), one column for each combination of
 *  the other dimensions: "seed,time,alignment_head0_feature0,...". Seeds count from 1, times are those of the dataset
 *  `time` of the same group. Every number has the digits that give it back.
 *
 *  @return OK; EARG (no such dataset; the message lists what there is); EIO; ENOMEM. */
hspec_status hspec_csv_print(const char *path, const char *name, FILE *out, hspec_error *err);

#endif
