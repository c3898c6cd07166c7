/* SPDX-License-Identifier: MIT
 * The archive of a training run that is under way: rows get their loss as they come, and it can be written at any
 * record. */
#ifndef HSPEC_CLI_TRAIN_ARCHIVE_H
#define HSPEC_CLI_TRAIN_ARCHIVE_H

#include "cli/progress.h"
#include "headspec.h"

/** Seed of the nodes of the population loss: the same nodes for every record of every run. */
#define HSPEC_TRAIN_ARCHIVE_NODE_SEED 1

typedef struct hspec_train_archive {
    const hspec_experiment *experiment; /* its task has a signal */
    const char *command_line;
    hspec_training *training;
    int threads;
    hspec_trajectory trajectory; /* as of the last extend */
    size_t rows;                 /* rows whose loss is known; diverging runs can end in rows without a finite one */
    int taken;                   /* rows without a loss are written, too */
    double *loss;                /* [S][T], owned */
} hspec_train_archive;

/** Fills the struct; everything is borrowed, but for `loss`, which `release` frees. @return OK, ENOMEM. */
hspec_status hspec_train_archive_init(hspec_train_archive *archive, const hspec_experiment *experiment,
                                      const char *command_line, hspec_training *training, int threads,
                                      hspec_error *err);
void hspec_train_archive_release(hspec_train_archive *archive);

/** Takes in what has been recorded since, and its loss. `progress` may be NULL.
 *  @return OK; ENONFINITE (a row has no finite loss; the rows before it are taken in); ENOMEM; ESTOPPED (if
 *  `stoppable`: there was a signal; losses that are missing are NaN). */
hspec_status hspec_train_archive_extend(hspec_train_archive *archive, hspec_progress *progress, int stoppable,
                                        hspec_error *err);

/** Takes in what has been recorded since, without its loss: NaN until the next extend. */
void hspec_train_archive_take(hspec_train_archive *archive);

/** Writes the rows whose loss is known (after `take`: all rows) and, unless the run diverged, the state from which it
 *  can go on. An archive without all rows of the run, or without the loss of one, is marked incomplete. @return as hspec_archive_write. */
hspec_status hspec_train_archive_write(const hspec_train_archive *from, const char *path, int diverged,
                                       hspec_error *err);

#endif
