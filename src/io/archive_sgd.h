/* SPDX-License-Identifier: MIT
 * A training run in an archive: the group /sgd (docs/archive.md). */
#ifndef HSPEC_IO_ARCHIVE_SGD_H
#define HSPEC_IO_ARCHIVE_SGD_H

#include "headspec.h"
#include "io/archive.h"

/** Puts a run into an archive that holds none yet. Rows 0..done-1 are stored; a run that has not recorded all of its rows
 *  gets `complete` = 0.
 *
 *  @param trajectory in  done >= 1; its arrays and those of `state` must outlive the archive
 *  @param loss       in  [S][T] as the other arrays of the trajectory; must outlive the archive
 *  @param state      in  the state at the last row; NULL: none is stored, and nobody can go on from here
 *  @return OK; EARG (no rows, a state of another step, a run that is there already); ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_archive_sgd_put(hspec_archive *archive, const hspec_trajectory *trajectory,
                                                  const double *loss, const hspec_training_state *state,
                                                  hspec_error *err);

/** What an archive holds of a run; the arrays belong to the archive. */
typedef struct hspec_archive_sgd {
    hspec_trajectory trajectory; /**< rows = done = the rows that are stored */
    const double *loss;          /**< [S][rows] */
    hspec_training_state state;  /**< seeds = 0: none is stored */
    int complete;                /**< 1: the run went to its end */
    size_t planned_rows;         /**< T of the whole run */
} hspec_archive_sgd;

/** Does the archive hold a run at all? */
int hspec_archive_sgd_present(const hspec_archive *archive);
/** Fills the view. Arrays whose numbers were not read are NULL.
 *  @return OK; EIO (what is missing or contradicts itself). */
HSPEC_MUST_USE hspec_status hspec_archive_sgd_get(const hspec_archive *archive, hspec_archive_sgd *sgd,
                                                  hspec_error *err);

#endif
