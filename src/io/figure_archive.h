/* SPDX-License-Identifier: MIT
 * An archive as the source of a figure. */
#ifndef HSPEC_IO_FIGURE_ARCHIVE_H
#define HSPEC_IO_FIGURE_ARCHIVE_H

#include "io/archive.h"
#include "io/figure.h"

/** What a figure needs of an archive, and what it is made from. */
typedef struct hspec_figure_archive {
    hspec_figure_source source; /**< points into the rest */
    hspec_archive *archive;
    hspec_experiment *experiment;
    hspec_signal *signal;
    int complete;        /**< 0: the run was stopped before its end */
    size_t planned_rows; /**< rows of the whole run */
} hspec_figure_archive;

/** Reads /sgd and the experiment of an archive. @return OK; EIO (FILE: what is missing or does not fit); ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_figure_archive_read(const char *path, hspec_figure_archive *from, hspec_error *err);
void hspec_figure_archive_release(hspec_figure_archive *from);

#endif
