/* SPDX-License-Identifier: MIT
 * An integrated trajectory in an archive: the group /theory (docs/archive.md). */
#ifndef HSPEC_IO_ARCHIVE_THEORY_H
#define HSPEC_IO_ARCHIVE_THEORY_H

#include "headspec.h"
#include "io/archive.h"

/** What an archive holds of the theory. Put: borrowed; got: belongs to the archive. */
typedef struct hspec_archive_theory {
    hspec_theory_trajectory trajectory;     /**< rows = done; `step` is not stored: NULL when read */
    const char *created, *command, *config; /**< of the run that integrated it */
    double bayes_risk, bayes_risk_error;    /**< NaN: not computed */
    double optimum_loss;                    /**< NaN: not computed */
} hspec_archive_theory;

/** Puts a trajectory into an archive, in the place of the one that is there. All other groups stay as they are, and so
 *  does what others have added to /theory.
 *  @param theory in  all rows are done; its arrays must outlive the archive, texts are copied
 *  @return OK; EARG (rows that are missing); ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_archive_theory_put(hspec_archive *archive, const hspec_archive_theory *theory,
                                                     hspec_error *err);

/** Does the archive hold a trajectory of the theory at all? */
int hspec_archive_theory_present(const hspec_archive *archive);
/** Fills the view. Arrays whose numbers were not read are NULL.
 *  @return OK; EIO (what is missing or contradicts itself). */
HSPEC_MUST_USE hspec_status hspec_archive_theory_get(const hspec_archive *archive, hspec_archive_theory *theory,
                                                     hspec_error *err);

#endif
