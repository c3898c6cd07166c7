/* SPDX-License-Identifier: MIT
 * Online SGD of S seeds, from record to record. Start reading at hspec_training_run: the loop is there, the step of an
 * engine is in reduced_lanes.c or explicit_lanes.c, the attention kernel in src/attention. */
#include "model/spikes.h"
#include "sgd/grid.h"
#include "sgd/setup.h"

#include <math.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

struct hspec_training {
    hspec_setup setup;
    const hspec_engine_ops *engine;
    int threads;
    size_t blocks; /* of engine->lanes seeds each */
    void **block;  /* [blocks] */
    size_t rows, done;
    int diverged;   /* row `done` is not finite, and the blocks stand there */
    uint64_t *step; /* [T] */
    double *time;   /* [T] */
    double *m;      /* [S][T][H][F] */
    double *r;      /* [S][T][H][H] */
    double *b;      /* [S][T][H] */
    double *s;      /* [S][T] */
    double *state;  /* [S][size], made at the first checkpoint */
    hspec_arena arena;
};

static void record(hspec_training *training);
static hspec_status check_row(hspec_training *training, hspec_error *err);

hspec_status hspec_training_run(hspec_training *training, const hspec_monitor *monitor, hspec_error *err)
{
    if (!training) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_training_run: training must not be NULL");
    }
    if (training->diverged) {
        return check_row(training, err); /* says it again */
    }
    const double total = (double)training->setup.steps;
    while (training->done < training->rows) {
        const uint64_t from = training->step[training->done - 1], to = training->step[training->done];

        /* Seeds are independent: neither the order of the blocks nor the number of threads can change a number. */
#pragma omp parallel for schedule(dynamic, 1) num_threads(training->threads)
        for (size_t i = 0; i < training->blocks; i++) {
            training->engine->advance(training->block[i], from, to);
        }

        record(training);
        HSPEC_TRY(check_row(training, err));
        training->done++;

        const hspec_event event = {.kind = HSPEC_EVENT_PROGRESS, .done = (double)to, .total = total};
        if (monitor && monitor->notify && monitor->notify(monitor->user, &event)) {
            return hspec_error_set(err, HSPEC_ESTOPPED, "stopped at t = %g of %g", training->time[training->done - 1],
                                   training->time[training->rows - 1]);
        }
    }
    return HSPEC_OK;
}

/** Order parameters of every seed into row `done`. */
static void record(hspec_training *training)
{
    const size_t H = training->setup.H, F = training->setup.F, T = training->rows, row = training->done;
    const size_t lanes = training->engine->lanes;
    for (size_t k = 0; k < training->setup.training.seeds; k++) {
        const size_t at = k * T + row;
        double *b = training->b + at * H;
        training->engine->observe(training->block[k / lanes], k % lanes, training->m + at * H * F,
                                  training->r + at * H * H, b, training->s + at);
        if (training->setup.layer.activation == HSPEC_BAYES) { /* a common shift changes nothing: report mean 0 */
            double mean = 0;
            for (size_t h = 0; h < H; h++) {
                mean += b[h] / (double)H;
            }
            for (size_t h = 0; h < H; h++) {
                b[h] -= mean;
            }
        }
    }
}

static int all_finite(size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return 0;
        }
    }
    return 1;
}

/** Is every number of row `done` finite? */
static hspec_status check_row(hspec_training *training, hspec_error *err)
{
    const size_t H = training->setup.H, F = training->setup.F, T = training->rows, row = training->done;
    for (size_t k = 0; k < training->setup.training.seeds; k++) {
        const size_t at = k * T + row;
        if (!all_finite(H * F, training->m + at * H * F) || !all_finite(H * H, training->r + at * H * H) ||
            !all_finite(H, training->b + at * H) || !all_finite(1, training->s + at)) {
            training->diverged = 1;
            return hspec_error_set(err, HSPEC_ENONFINITE,
                                   "training diverged: seed %zu is not finite at t = %g (finite at t = %g); a smaller "
                                   "training.learning_rate (now %g) may help",
                                   k + 1, training->time[row], row > 0 ? training->time[row - 1] : 0.0,
                                   training->setup.training.learning_rate);
        }
    }
    return HSPEC_OK;
}

hspec_training_params hspec_training_default(void)
{
    return (hspec_training_params){.engine = HSPEC_ENGINE_REDUCED,
                                   .loss = HSPEC_LOSS_LOCATION,
                                   .noise = HSPEC_NOISE_DOUBLE,
                                   .learning_rate = 1,
                                   .batch = 1,
                                   .time = 100,
                                   .seeds = 8,
                                   .seed = 1,
                                   .records = 200,
                                   .spacing = HSPEC_SPACING_LINEAR,
                                   .init = {.kind = HSPEC_INIT_RANDOM, .scale = 0.1}};
}

/** The spikes of the explicit engine: the caller's, or a random orthogonal family of the seed. */
static hspec_status make_spikes(hspec_setup *setup, const double *given, hspec_error *err)
{
    const size_t F = setup->F, D = (size_t)setup->D, grain = HSPEC_NORMALS_GRAIN;
    const size_t stride = (D + grain - 1) / grain * grain;
    setup->spikes = hspec_memory_alloc(hspec_memory_mul(F, stride), sizeof(double));
    if (!setup->spikes) {
        return hspec_error_memory(err, hspec_memory_mul(hspec_memory_mul(F, stride), sizeof(double)));
    }
    if (given) {
        HSPEC_TRY(hspec_spikes_check(F, D, given, err));
        memcpy(setup->spikes, given, F * D * sizeof(double));
        return HSPEC_OK;
    }
    const hspec_stream stream = hspec_random_stream(setup->training.seed, 0, HSPEC_PURPOSE_SPIKES);
    hspec_spikes_complete(stream, 0, F, D, stride, setup->spikes);
    for (size_t f = 0; f < F; f++) { /* from rows of `stride` to rows of D, in place */
        for (size_t d = 0; d < D; d++) {
            setup->spikes[f * D + d] = sqrt((double)D) * setup->spikes[f * stride + d];
        }
    }
    return HSPEC_OK;
}

static const hspec_engine_ops *engine_of(const hspec_training_params *params)
{
    return params->engine == HSPEC_ENGINE_EXPLICIT ? &hspec_explicit_engine : &hspec_reduced_engine;
}

static void layout(hspec_training *training, hspec_arena *arena)
{
    const size_t H = training->setup.H, F = training->setup.F;
    const size_t S = training->setup.training.seeds, T = training->rows;
    const size_t ST = hspec_memory_mul(S, T);
    training->block = hspec_arena_take(arena, training->blocks, sizeof(void *));
    training->step = hspec_arena_take(arena, T, sizeof(uint64_t));
    training->time = hspec_arena_doubles(arena, T);
    training->m = hspec_arena_doubles(arena, hspec_memory_mul(ST, H * F));
    training->r = hspec_arena_doubles(arena, hspec_memory_mul(ST, H * H));
    training->b = hspec_arena_doubles(arena, hspec_memory_mul(ST, H));
    training->s = hspec_arena_doubles(arena, ST);
}

static hspec_status prepare(hspec_training *training, const hspec_task_params *task, const hspec_layer_params *layer,
                            const hspec_training_params *params, int threads, hspec_error *err)
{
    HSPEC_TRY(hspec_setup_create(task, layer, params, &training->setup, err));
    training->engine = engine_of(params);
    training->threads = threads;
#ifdef _OPENMP
    training->threads = threads > 0 ? threads : omp_get_max_threads();
#endif
    training->blocks = (params->seeds + training->engine->lanes - 1) / training->engine->lanes;
    if ((size_t)training->threads > training->blocks) {
        training->threads = (int)training->blocks; /* more would only wait */
    }
    training->rows = params->records + 1;
    layout(training, &training->arena);
    HSPEC_TRY(hspec_arena_commit(&training->arena, err));
    layout(training, &training->arena);
    hspec_grid_fill(training->setup.steps, params->records, params->spacing, training->step);
    for (size_t k = 0; k < training->rows; k++) {
        training->time[k] = (double)training->step[k] / (double)task->dimension;
    }
    if (params->engine == HSPEC_ENGINE_EXPLICIT) {
        HSPEC_TRY(make_spikes(&training->setup, task->spikes, err));
    }
    for (size_t i = 0; i < training->blocks; i++) {
        HSPEC_TRY(training->engine->create(&training->setup, i * training->engine->lanes, &training->block[i], err));
    }
    record(training);
    HSPEC_TRY(check_row(training, err));
    training->done = 1;
    return HSPEC_OK;
}

hspec_status hspec_training_create(const hspec_task_params *task, const hspec_layer_params *layer,
                                   const hspec_training_params *params, int threads, hspec_training **training,
                                   hspec_error *err)
{
    if (!task || !layer || !params || !training || threads < 0) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_training_create: no argument may be NULL, threads is 0 or more");
    }
    hspec_training *created = hspec_memory_alloc(1, sizeof *created);
    if (!created) {
        return hspec_error_memory(err, sizeof *created);
    }
    const hspec_status status = prepare(created, task, layer, params, threads, err);
    if (status != HSPEC_OK) {
        hspec_training_free(created);
        return status;
    }
    *training = created;
    return HSPEC_OK;
}

void hspec_training_free(hspec_training *training)
{
    if (!training) {
        return;
    }
    for (size_t i = 0; training->block && i < training->blocks; i++) {
        training->engine->free(training->block[i]);
    }
    hspec_memory_free(training->state);
    hspec_arena_free(&training->arena);
    hspec_setup_free(&training->setup);
    hspec_memory_free(training);
}

void hspec_training_trajectory(const hspec_training *training, hspec_trajectory *trajectory)
{
    *trajectory = (hspec_trajectory){.seeds = training->setup.training.seeds,
                                     .rows = training->rows,
                                     .heads = training->setup.H,
                                     .features = training->setup.F,
                                     .done = training->done,
                                     .step = training->step,
                                     .time = training->time,
                                     .alignment = training->m,
                                     .residual = training->r,
                                     .bias = training->b,
                                     .scale = training->s};
}

hspec_status hspec_training_checkpoint(hspec_training *training, hspec_training_state *state, hspec_error *err)
{
    if (!training || !state) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_training_checkpoint: training and state must not be NULL");
    }
    if (training->diverged) {
        return hspec_error_set(err, HSPEC_ENONFINITE, "training diverged after t = %g: there is no state to go on from",
                               training->time[training->done - 1]);
    }
    const size_t S = training->setup.training.seeds, size = training->engine->state_size(&training->setup);
    const size_t lanes = training->engine->lanes;
    if (!training->state) {
        training->state = hspec_memory_alloc(hspec_memory_mul(S, size), sizeof(double));
        if (!training->state) {
            return hspec_error_memory(err, hspec_memory_mul(hspec_memory_mul(S, size), sizeof(double)));
        }
    }
    for (size_t k = 0; k < S; k++) {
        training->engine->state(training->block[k / lanes], k % lanes, training->state + k * size);
    }
    *state = (hspec_training_state){
        .step = training->step[training->done - 1], .seeds = S, .size = size, .values = training->state};
    return HSPEC_OK;
}

hspec_status hspec_training_estimate(const hspec_task_params *task, const hspec_layer_params *layer,
                                     const hspec_training_params *params, double *bytes, double *steps,
                                     hspec_error *err)
{
    if (!task || !layer || !params || !bytes || !steps) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_training_estimate: no argument may be NULL");
    }
    hspec_training training = {0};
    HSPEC_TRY(hspec_setup_create(task, layer, params, &training.setup, err));
    training.engine = engine_of(params);
    training.rows = params->records + 1;
    training.blocks = (params->seeds + training.engine->lanes - 1) / training.engine->lanes;
    hspec_arena arena = {0};
    layout(&training, &arena);
    const double spikes =
        params->engine == HSPEC_ENGINE_EXPLICIT ? 8.0 * (double)training.setup.F * (double)task->dimension : 0;
    *bytes = (double)arena.used + spikes + (double)training.blocks * training.engine->bytes(&training.setup) +
             8.0 * (double)params->seeds * (double)training.engine->state_size(&training.setup);
    *steps = (double)training.setup.steps * (double)params->seeds;
    hspec_setup_free(&training.setup);
    return HSPEC_OK;
}
