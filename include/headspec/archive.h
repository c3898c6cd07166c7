/* SPDX-License-Identifier: MIT
 * Experiments and archives: a part of headspec.h, which is what programs include. */
#ifndef HEADSPEC_H
#error "include headspec.h"
#endif
#ifndef HEADSPEC_ARCHIVE_H
#define HEADSPEC_ARCHIVE_H

/* ---- 12. Experiments and archives (built with HEADSPEC_IO) ------------------------------------------------------ */

/** An experiment file, read and validated. Everything inside belongs to it. */
typedef struct hspec_experiment {
    char *name;                 /**< the file's name without folder and extension */
    char *yaml;                 /**< the text after --set, as the archive stores it */
    hspec_signal_params signal; /**< task.signal */
    hspec_task_params task;     /**< task.signal is not filled in: create it from `signal` */
    hspec_layer_params layer;
    hspec_training_params training;
    hspec_theory_params theory;
    char **unused; /**< [unused_count] paths that are set but not read by this activation or kind */
    size_t unused_count;
    void *owned; /**< internal: the arrays above */
} hspec_experiment;

/** Reads a file. `sets` holds "path=value" texts, applied in order.
 *  @return OK; ECONFIG ("file:line: path: found ..., allowed ..."); EIO; ENOMEM. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_experiment_load(const char *path, const char *const *sets, size_t n_sets,
                                                            hspec_experiment **experiment, hspec_error *err);
/** The same from a text; `origin` stands for the file in messages. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_experiment_parse(const char *text, size_t length, const char *origin,
                                                             const char *const *sets, size_t n_sets,
                                                             hspec_experiment **experiment, hspec_error *err);
HSPEC_API void hspec_experiment_free(hspec_experiment *experiment);

#endif
