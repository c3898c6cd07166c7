/* SPDX-License-Identifier: MIT
 * The archive of a training run that is under way. */
#include "cli/train_archive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "core/status.h"
#include "io/archive.h"
#include "io/archive_sgd.h"

/* ---- loss -------------------------------------------------------------------------------------------------------- */

/* States that are evaluated together: enough to share the nodes, few enough to show progress. */
enum { STATES_TOGETHER = 256 };

hspec_status hspec_train_archive_init(hspec_train_archive *archive, const hspec_experiment *experiment,
                                      const char *command_line, hspec_training *training, int threads, hspec_error *err)
{
    hspec_trajectory trajectory;
    hspec_training_trajectory(training, &trajectory);
    size_t count = trajectory.seeds * trajectory.rows;
    double *loss = calloc(count, sizeof *loss);
    if (!loss) {
        return hspec_error_memory(err, count * sizeof *loss);
    }
    *archive = (hspec_train_archive){.experiment = experiment,
                                     .command_line = command_line,
                                     .training = training,
                                     .threads = threads,
                                     .trajectory = trajectory,
                                     .loss = loss};
    return HSPEC_OK;
}

void hspec_train_archive_release(hspec_train_archive *archive)
{
    free(archive->loss);
    archive->loss = NULL;
}

/* Rows first..first+n-1 of all seeds. states [S n] and values [S n] are scratch. */
static hspec_status evaluate_rows(hspec_train_archive *archive, size_t first, size_t n, hspec_order *states,
                                  double *values, hspec_error *err)
{
    const hspec_trajectory *t = &archive->trajectory;
    const hspec_experiment *experiment = archive->experiment;
    for (size_t s = 0; s < t->seeds; s++) {
        for (size_t k = 0; k < n; k++) {
            size_t at = s * t->rows + first + k;
            states[s * n + k] = (hspec_order){.alignment = t->alignment + at * t->heads * t->features,
                                              .residual = t->residual + at * t->heads * t->heads,
                                              .bias = t->bias + at * t->heads,
                                              .scale = t->scale[at]};
        }
    }
    const size_t nodes = experiment->theory.nodes < HSPEC_RECORD_NODES ? experiment->theory.nodes : HSPEC_RECORD_NODES;
    HSPEC_TRY(hspec_population_loss(&experiment->task, &experiment->layer, nodes, HSPEC_TRAIN_ARCHIVE_NODE_SEED,
                                    archive->threads, t->seeds * n, states, values, NULL, err));
    for (size_t s = 0; s < t->seeds; s++) {
        memcpy(archive->loss + s * t->rows + first, values + s * n, n * sizeof *values);
    }
    archive->rows = first + n;
    return HSPEC_OK;
}

void hspec_train_archive_take(hspec_train_archive *archive)
{
    hspec_trajectory *t = &archive->trajectory;
    hspec_training_trajectory(archive->training, t);
    for (size_t s = 0; s < t->seeds; s++) {
        for (size_t k = archive->rows; k < t->done; k++) {
            archive->loss[s * t->rows + k] = NAN;
        }
    }
    archive->taken = 1;
}

hspec_status hspec_train_archive_extend(hspec_train_archive *archive, hspec_progress *progress, int stoppable,
                                        hspec_error *err)
{
    hspec_trajectory *t = &archive->trajectory;
    hspec_training_trajectory(archive->training, t);
    size_t together = t->seeds < STATES_TOGETHER ? STATES_TOGETHER / t->seeds : 1;
    size_t begin = archive->rows;
    hspec_order *states = malloc(t->seeds * together * sizeof *states);
    double *values = malloc(t->seeds * together * sizeof *values);
    if (!states || !values) {
        free(states);
        free(values);
        return hspec_error_memory(err, t->seeds * together * sizeof *states);
    }
    hspec_status status = HSPEC_OK;
    while (status == HSPEC_OK && archive->rows < t->done) {
        size_t left = t->done - archive->rows;
        status = evaluate_rows(archive, archive->rows, left < together ? left : together, states, values, err);
        if (status == HSPEC_EARG) {
            status = HSPEC_ENONFINITE; /* numbers so large that a residual is not semidefinite any more */
        }
        if (status == HSPEC_ENONFINITE && together > 1) {
            together = 1; /* look for the first row that has no loss */
            status = HSPEC_OK;
        }
        if (progress) {
            hspec_progress_update(progress, (double)(archive->rows - begin), (double)(t->done - begin));
        }
        if (stoppable && hspec_cli_signal() && status == HSPEC_OK && archive->rows < t->done) {
            status = hspec_error_set(err, HSPEC_ESTOPPED, "stopped while the loss was computed");
        }
    }
    free(states);
    free(values);
    if (status != HSPEC_ESTOPPED) {
        archive->taken = 0;
    }
    if (status == HSPEC_ENONFINITE) {
        return hspec_error_set(err, status,
                               "the run diverges: the loss at t = %g is not finite; a smaller training.learning_rate "
                               "(now %g) may help",
                               t->time[archive->rows], archive->experiment->training.learning_rate);
    }
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static hspec_status put_origin(const hspec_train_archive *from, hspec_archive *archive, hspec_error *err)
{
    char created[32];
    hspec_output_created(created, sizeof created);
    return hspec_archive_set_origin(archive, created, from->command_line, from->experiment->yaml, err);
}

static hspec_status put_run(const hspec_train_archive *from, hspec_archive *archive, int diverged, hspec_error *err)
{
    hspec_trajectory stored = from->trajectory;
    hspec_training_state state;
    stored.done = from->taken ? stored.done : from->rows;
    int resumable = !diverged && stored.done == from->trajectory.done;
    if (resumable) {
        HSPEC_TRY(hspec_training_checkpoint(from->training, &state, err));
    }
    return hspec_archive_sgd_put(archive, &stored, from->loss, resumable ? &state : NULL, err);
}

hspec_status hspec_train_archive_write(const hspec_train_archive *from, const char *path, int diverged,
                                       hspec_error *err)
{
    hspec_archive *archive = NULL;
    HSPEC_TRY(hspec_archive_create(&archive, err));
    hspec_status status = put_origin(from, archive, err);
    status = status ? status : put_run(from, archive, diverged, err);
    status = status ? status : hspec_archive_write(archive, path, err);
    hspec_archive_free(archive);
    return status;
}
