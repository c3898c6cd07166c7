/* SPDX-License-Identifier: MIT
 * The phases of all trajectories of an archive: for `headspec phases`. */
#ifndef HSPEC_CLI_PHASES_READ_H
#define HSPEC_CLI_PHASES_READ_H

#include "cli/options.h"
#include "cli/progress.h"
#include "io/archive_sgd.h"
#include "io/archive_theory.h"

/** An experiment as a group of the archive tells it. */
typedef struct hspec_phases_source {
    hspec_experiment *experiment;
    hspec_signal *signal;
} hspec_phases_source;

typedef struct hspec_phases_read {
    const char *path;
    double level;
    uint64_t nodes;  /* of --nodes; 0: those of the experiment */
    uint64_t seed;   /* of --seed; 0: all */
    int sgd, theory; /* are they wanted? afterwards: are they there? */
    int threads;
    hspec_archive *archive;
    hspec_phases_source run, curve; /* of /sgd and of /theory */
    hspec_archive_sgd simulated;
    hspec_archive_theory integrated;
    hspec_phases **seeds; /* [count] phases of the seeds first, first + 1, ... */
    size_t first, count;  /* first counts from 1 */
    hspec_phases *theory_phases;
} hspec_phases_read;

/** Reads the archive and finds the phases of what is wanted and there. Release it in any case.
 *  If both are wanted, one that is not there is left out. `progress` counts seeds.
 *  @return OK; EARG (a seed that is not there, a trajectory that is not there); EIO; ENOMEM. */
hspec_status hspec_phases_read_all(hspec_phases_read *read, hspec_progress *progress, hspec_error *err);
void hspec_phases_read_release(hspec_phases_read *read);

#endif
