/* SPDX-License-Identifier: MIT
 * How long a run will take. */
#include "cli/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/progress.h"
#include "core/status.h"

enum { LOSS_STATES = 64, LEAST_NODES = 64 };
static const double MOST_WORK = 1e6, MOST_PRODUCTS = 1e6;     /* numbers */
static const double LONG_ENOUGH = 0.05, TIME_TO_SPEND = 0.25; /* seconds */

/* Seconds of one evaluation of the loss of one state, at all nodes: what more states take longer, since making the nodes
 * takes as long as some states do. */
static hspec_status time_loss(const hspec_experiment *experiment, const hspec_training *training, int threads,
                              double *seconds, hspec_error *err)
{
    hspec_trajectory t;
    hspec_training_trajectory(training, &t);
    /* The time is proportional to the tokens: fewer of them, if even the fewest nodes would take seconds. */
    hspec_task_params task = experiment->task;
    double products = (double)t.heads * (double)(t.heads + t.features); /* of one token of one node */
    task.tokens = (size_t)fmin(fmax(2, MOST_PRODUCTS / products), (double)task.tokens);
    double each = (double)task.tokens * (double)t.heads; /* scores of one node */
    double of_a_record = fmin((double)experiment->theory.nodes, HSPEC_RECORD_NODES);
    size_t nodes = (size_t)fmin(fmax(LEAST_NODES, MOST_WORK / each), of_a_record);
    const int long_anyway = (double)nodes * each > MOST_WORK; /* then making nodes does not count */
    size_t count[2] = {1, long_anyway ? 1 : (size_t)fmin(fmax(2, 4 * MOST_WORK / ((double)nodes * each)), LOSS_STATES)};
    double took[2] = {0, 0};
    hspec_order states[LOSS_STATES];
    double loss[LOSS_STATES];
    for (size_t i = 0; i < count[1]; i++) {
        states[i] = (hspec_order){t.alignment, t.residual, t.bias, t.scale[0]};
    }
    for (int i = long_anyway ? 1 : 0; i < 2; i++) {
        double start = hspec_progress_now();
        HSPEC_TRY(
            hspec_population_loss(&task, &experiment->layer, nodes, 1, threads, count[i], states, loss, NULL, err));
        took[i] = hspec_progress_now() - start;
    }
    double more = fmax(took[1] - took[0], 0.1 * took[1]); /* whatever the clock does */
    more *= (double)experiment->task.tokens / (double)task.tokens;
    *seconds = more / (double)(count[1] - (long_anyway ? 0 : 1)) * of_a_record / (double)nodes;
    return HSPEC_OK;
}

/* What is tried in place of the run: small steps, recorded once. */
typedef struct trial {
    hspec_task_params task;
    hspec_training_params params;
    double factor; /* a step of the run takes so many times longer */
} trial;

static trial make_trial(const hspec_experiment *experiment)
{
    trial made = {.task = experiment->task, .params = experiment->training, .factor = 1};
    double L = (double)experiment->task.tokens, H = (double)experiment->layer.heads;
    double S = (double)experiment->training.seeds, B = (double)experiment->training.batch;
    double D = (double)experiment->task.dimension;
    int is_explicit = experiment->training.engine == HSPEC_ENGINE_EXPLICIT;
    /* numbers that one step makes: all of a sequence, or its scores */
    double work = S * B * L * (is_explicit ? D : H);
    if (work > MOST_WORK) {
        double batch = fmax(1, floor(B * MOST_WORK / work));
        work *= batch / B;
        made.params.batch = (size_t)batch;
        made.factor *= B / batch;
    }
    if (is_explicit && work > MOST_WORK) {
        double least = (double)hspec_signal_features(experiment->task.signal) + H;
        double dimension = fmax(fmin(least + 1000, D), floor(D * MOST_WORK / work));
        made.task.dimension = (size_t)dimension;
        made.factor *= D / dimension;
    }
    made.params.records = 1;
    return made;
}

/* Seconds of so many steps of all seeds, and of the loss of one state. */
static hspec_status time_steps(const hspec_experiment *experiment, const trial *tried, double steps, int threads,
                               double *seconds, double *loss, hspec_error *err)
{
    hspec_training_params params = tried->params;
    params.time = steps / (double)tried->task.dimension;
    hspec_training *training = NULL;
    HSPEC_TRY(hspec_training_create(&tried->task, &experiment->layer, &params, threads, &training, err));
    double start = hspec_progress_now();
    hspec_status status = hspec_training_run(training, NULL, err);
    *seconds = hspec_progress_now() - start;
    if (status == HSPEC_OK && *loss <= 0) {
        status = time_loss(experiment, training, threads, loss, err);
    }
    hspec_training_free(training);
    return status;
}

/* Ever longer runs, until one of them is long enough, and as many of those as there is time for. The early ones find
 * sleeping threads and cold memory, and any may be disturbed by other programs: the fastest tells the speed. */
static hspec_status measure(const hspec_experiment *experiment, int threads, hspec_calibration *calibration,
                            hspec_error *err)
{
    double seeds = (double)experiment->training.seeds, rows = (double)experiment->training.records + 1;
    double steps = calibration->steps / seeds;
    trial tried = make_trial(experiment);
    double step = INFINITY, loss = 0, n = 1;
    double end = hspec_progress_now() + TIME_TO_SPEND;
    do {
        double elapsed = 0;
        hspec_status status = time_steps(experiment, &tried, n, threads, &elapsed, &loss, err);
        if (status == HSPEC_ENONFINITE && step < INFINITY) {
            break; /* the run will say so; its steps take no other time */
        }
        HSPEC_TRY(status);
        step = fmin(step, elapsed / n);
        n = n * step < LONG_ENOUGH ? fmin(4 * n, steps) : n;
    } while (hspec_progress_now() < end);
    calibration->rate = seeds / (step * tried.factor);
    calibration->seconds = steps * step * tried.factor + rows * seeds * loss;
    return HSPEC_OK;
}

hspec_status hspec_calibrate_run(const hspec_experiment *experiment, int threads, hspec_calibration *calibration,
                                 hspec_error *err)
{
    hspec_calibration found = {0};
    HSPEC_TRY(hspec_training_estimate(&experiment->task, &experiment->layer, &experiment->training, &found.bytes,
                                      &found.steps, err));
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (found.bytes > machine) {
        (void)snprintf(found.why, sizeof found.why, "this machine has %.3g GB of memory", machine / 1e9);
    } else {
        hspec_error trouble;
        hspec_status status = measure(experiment, threads, &found, &trouble);
        if (status == HSPEC_ENONFINITE) {
            (void)snprintf(found.why, sizeof found.why, "%.500s", trouble.message);
        } else if (status != HSPEC_OK) {
            return hspec_error_set(err, status, "%s", trouble.message);
        }
    }
    *calibration = found;
    return HSPEC_OK;
}
