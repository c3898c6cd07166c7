/* SPDX-License-Identifier: MIT
 * The state at t = 0 from which the theory starts. */
#include "cli/theory_start.h"

#include <stdlib.h>
#include <string.h>

#include "core/status.h"

const hspec_init_params *hspec_theory_start_given(const hspec_experiment *experiment)
{
    const hspec_init_params *init = &experiment->training.init;
    if (experiment->theory.start_kind == HSPEC_START_GIVEN) {
        return &experiment->theory.start;
    }
    return init->kind == HSPEC_INIT_ALIGNED ? init : NULL;
}

static hspec_status make_room(hspec_theory_start *start, size_t H, size_t F, hspec_error *err)
{
    double *room = calloc(H * (F + H + 1), sizeof *room);
    if (!room) {
        return hspec_error_memory(err, H * (F + H + 1) * sizeof *room);
    }
    *start = (hspec_theory_start){.values = room,
                                  .order = {.alignment = room, .residual = room + H * F, .bias = room + H * (F + H)}};
    return HSPEC_OK;
}

static hspec_status take_given(const hspec_experiment *experiment, const hspec_init_params *given,
                               hspec_theory_start *start, hspec_error *err)
{
    size_t H = experiment->layer.heads, F = hspec_signal_features(experiment->task.signal);
    HSPEC_TRY(make_room(start, H, F, err));
    double *values = start->values;
    double *r = values + H * F, *b = r + H * H;
    memcpy(values, given->alignment, H * F * sizeof *values);
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) {
            r[h * H + j] = given->residual ? given->residual[h * H + j] : h == j ? given->residual_diagonal : 0;
        }
        b[h] = experiment->layer.bias_init;
    }
    start->order.scale = experiment->layer.scale_init;
    return HSPEC_OK;
}

/* Row 0 of seed s of a run. */
static hspec_status take_row(const hspec_trajectory *run, size_t s, hspec_theory_start *start, hspec_error *err)
{
    size_t H = run->heads, F = run->features, at = s * run->rows;
    HSPEC_TRY(make_room(start, H, F, err));
    double *values = start->values;
    memcpy(values, run->alignment + at * H * F, H * F * sizeof *values);
    memcpy(values + H * F, run->residual + at * H * H, H * H * sizeof *values);
    memcpy(values + H * (F + H), run->bias + at * H, H * sizeof *values);
    start->order.scale = run->scale[at];
    return HSPEC_OK;
}

/* The start of a seed depends neither on the seeds beside it nor on what is recorded later. */
static hspec_status make_row(const hspec_experiment *experiment, int threads, hspec_theory_start *start,
                             hspec_error *err)
{
    hspec_training_params params = experiment->training;
    params.seeds = (size_t)experiment->theory.start_seed;
    params.records = 1;
    hspec_training *training = NULL;
    HSPEC_TRY(hspec_training_create(&experiment->task, &experiment->layer, &params, threads, &training, err));
    hspec_trajectory run;
    hspec_training_trajectory(training, &run);
    hspec_status status = take_row(&run, params.seeds - 1, start, err);
    hspec_training_free(training);
    return status;
}

hspec_status hspec_theory_start_make(const hspec_experiment *experiment, const hspec_trajectory *run, int threads,
                                     hspec_theory_start *start, hspec_error *err)
{
    const hspec_init_params *given = hspec_theory_start_given(experiment);
    if (given) {
        return take_given(experiment, given, start, err);
    }
    return run ? take_row(run, (size_t)experiment->theory.start_seed - 1, start, err)
               : make_row(experiment, threads, start, err);
}

void hspec_theory_start_free(hspec_theory_start *start)
{
    free(start->values);
    *start = (hspec_theory_start){0};
}
