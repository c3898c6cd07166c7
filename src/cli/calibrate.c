/* SPDX-License-Identifier: MIT
 * How long a run will take. */
#include "cli/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/progress.h"
#include "core/status.h"

enum { RECORDS = 200, LOSS_STATES = 64, LOSS_NODES = 1024 };
static const double LONG_ENOUGH = 0.02; /* seconds */

/* When the records come. */
typedef struct stopwatch {
    double start, first, last;          /* seconds */
    double done_at_first, done_at_last; /* steps */
} stopwatch;

static int notify(void *user, const hspec_event *event)
{
    stopwatch *watch = user;
    if (event->kind != HSPEC_EVENT_PROGRESS) {
        return 0;
    }
    watch->last = hspec_progress_now();
    watch->done_at_last = event->done;
    if (watch->done_at_first <= 0) {
        watch->first = watch->last;
        watch->done_at_first = event->done;
    }
    return watch->last - watch->start > LONG_ENOUGH;
}

/* Seconds of one step of all seeds. The first record is left out where possible: it meets cold memory. */
static double seconds_per_step(const stopwatch *watch)
{
    if (watch->done_at_last > watch->done_at_first && watch->last > watch->first) {
        return (watch->last - watch->first) / (watch->done_at_last - watch->done_at_first);
    }
    return watch->done_at_last > 0 ? (watch->last - watch->start) / watch->done_at_last : 0;
}

/* Seconds of one evaluation of the loss of one state, at all nodes. */
static hspec_status time_loss(const hspec_experiment *experiment, const hspec_training *training, int threads,
                              double *seconds, hspec_error *err)
{
    hspec_trajectory t;
    hspec_training_trajectory(training, &t);
    hspec_order states[LOSS_STATES];
    double loss[LOSS_STATES];
    for (size_t i = 0; i < LOSS_STATES; i++) {
        states[i] = (hspec_order){t.alignment, t.residual, t.bias, t.scale[0]};
    }
    size_t nodes = experiment->theory.nodes < LOSS_NODES ? experiment->theory.nodes : LOSS_NODES;
    double start = hspec_progress_now();
    HSPEC_TRY(hspec_population_loss(&experiment->task, &experiment->layer, nodes, 1, threads, LOSS_STATES, states, loss,
                                    NULL, err));
    *seconds = (hspec_progress_now() - start) / LOSS_STATES * (double)experiment->theory.nodes / (double)nodes;
    return HSPEC_OK;
}

/* The run itself, with few records, the early ones close to each other, so that it can stop soon. */
static hspec_status measure(const hspec_experiment *experiment, int threads, hspec_calibration *calibration,
                            hspec_error *err)
{
    hspec_training_params params = experiment->training;
    double steps = calibration->steps / (double)params.seeds;
    params.spacing = HSPEC_SPACING_LOG;
    params.records = steps < RECORDS ? (size_t)steps : RECORDS;
    hspec_training *training = NULL;
    HSPEC_TRY(hspec_training_create(&experiment->task, &experiment->layer, &params, threads, &training, err));
    stopwatch watch = {.start = hspec_progress_now()};
    hspec_monitor monitor = {notify, &watch};
    hspec_status status = hspec_training_run(training, &monitor, err);
    /* one that diverges here does so in the run as well, and is told then: its steps take no other time */
    status = status == HSPEC_ESTOPPED || (status == HSPEC_ENONFINITE && watch.done_at_last > 0) ? HSPEC_OK : status;
    double loss = 0;
    if (status == HSPEC_OK) {
        status = time_loss(experiment, training, threads, &loss, err);
    }
    hspec_training_free(training);
    if (status != HSPEC_OK) {
        return status;
    }
    double step = seconds_per_step(&watch);
    double rows = (double)experiment->training.records + 1;
    calibration->measured = 1;
    calibration->rate = step > 0 ? (double)params.seeds / step : 0;
    calibration->seconds = steps * step + rows * (double)params.seeds * loss;
    return HSPEC_OK;
}

hspec_status hspec_calibrate_run(const hspec_experiment *experiment, int threads, hspec_calibration *calibration,
                                 hspec_error *err)
{
    hspec_calibration found = {0};
    HSPEC_TRY(hspec_training_estimate(&experiment->task, &experiment->layer, &experiment->training, &found.bytes,
                                      &found.steps, err));
    found.machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (found.bytes <= found.machine) {
        HSPEC_TRY(measure(experiment, threads, &found, err));
    }
    *calibration = found;
    return HSPEC_OK;
}
