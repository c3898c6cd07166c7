/* SPDX-License-Identifier: MIT
 * The archive to which a trajectory of the theory goes: a new one, or one that is there and fits. */
#ifndef HSPEC_CLI_THEORY_ARCHIVE_H
#define HSPEC_CLI_THEORY_ARCHIVE_H

#include <sys/stat.h>

#include "cli/options.h"
#include "io/archive_sgd.h"
#include "io/archive_theory.h"

typedef struct hspec_theory_archive {
    const hspec_arguments *arguments;
    const hspec_experiment *experiment;
    const char *path;
    hspec_archive *archive; /* what the file will hold */
    int is_there;           /* it was read from the file, */
    struct stat found;      /* as it was then */
    int has_run;            /* with a run in /sgd, */
    hspec_archive_sgd run;  /* which is this one */
} hspec_theory_archive;

/** Opens the archive at `path`. A file that is there is kept, and /theory alone added or replaced, if it is an archive of
 *  the same task, layer and start and, with a run in it, of the same learning rate, batch and records; else it is refused,
 *  or with --force replaced whole. Everything is borrowed. Close in any case.
 *  @return OK; EARG (what differs); EIO; ENOMEM. */
hspec_status hspec_theory_archive_open(const hspec_arguments *arguments, const hspec_experiment *experiment,
                                       const char *path, hspec_theory_archive *archive, hspec_error *err);
void hspec_theory_archive_close(hspec_theory_archive *archive);

/** Puts the trajectory in and writes the file. `created`, `command` and `config` are filled in here.
 *  @return as hspec_archive_write; EIO also if the file has changed since it was opened. */
hspec_status hspec_theory_archive_write(hspec_theory_archive *archive, const hspec_archive_theory *theory,
                                        hspec_error *err);

#endif
