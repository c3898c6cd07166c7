/* SPDX-License-Identifier: MIT
 * What is in an archive: for `headspec info`. */
#ifndef HSPEC_CLI_INFO_H
#define HSPEC_CLI_INFO_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "cli/resolved.h"
#include "headspec.h"
#include "io/archive_sgd.h"
#include "io/archive_theory.h"

typedef struct hspec_info {
    const char *path;
    hspec_archive *archive;
    hspec_experiment *experiment; /**< NULL when this version cannot read the experiment in the archive */
    char *refusal;                /**< then why, else NULL */
    hspec_resolved_value *values;
    size_t value_count;
    hspec_archive_sgd sgd;       /**< rows = 0: there is no run; only time, step, alignment and loss are read */
    hspec_archive_theory theory; /**< rows = 0: there is none; only time, alignment, loss and loss_error are read */
} hspec_info;

/** Reads an archive and the experiment in it. Release it in any case. @return OK, EIO, ENOMEM. */
hspec_status hspec_info_read(const char *path, hspec_info *info, hspec_error *err);
void hspec_info_release(hspec_info *info);

/** For people. Whether it could be written is seen at the stream. */
void hspec_info_print(const hspec_info *info, FILE *out);
/** For programs (docs/archive.md). @return OK, ENOMEM. */
hspec_status hspec_info_json(const hspec_info *info, cJSON *object, hspec_error *err);

#endif
