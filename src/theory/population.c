/* SPDX-License-Identifier: MIT */
#include "theory/population.h"

#include "attention/layer.h"
#include "core/cpu.h"
#include "core/dense.h"
#include "core/random.h"

#include <math.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/** The nodes are summed in this many parts, whatever the number of threads: the order of all sums is fixed. */
#define PARTS 16
/** States whose sums are held at a time. */
#define BATCH 4096

static void layout(hspec_population *p, hspec_arena *arena)
{
    hspec_kernel_layout(&p->kernel, p->H, p->L, 0, arena);
    p->keys = hspec_arena_take(arena, 2 * HSPEC_W, sizeof(uint64_t));
    p->normals = hspec_arena_doubles(arena, (p->L * (p->F + p->H) + p->F + 8) * HSPEC_W);
    p->words = hspec_arena_take(arena, 8 * HSPEC_W, sizeof(uint64_t));
    p->theta = hspec_arena_doubles(arena, p->F * HSPEC_W);
}

/** A thread: one arena, seen from each of its parts. */
typedef struct worker {
    hspec_population part[HSPEC_W / HSPEC_WIDTH_BASELINE];
    hspec_arena arena;
} worker;

static hspec_status create(worker *self, const hspec_task_params *task, const hspec_layer_params *layer, uint64_t seed,
                           size_t width, hspec_error *err)
{
    const hspec_population like = {.H = layer->heads,
                                   .L = task->tokens,
                                   .F = hspec_signal_features(task->signal),
                                   .signal = task->signal,
                                   .activation = hspec_kernel_activation(layer->activation)};
    self->part[0] = like;
    layout(&self->part[0], &self->arena);
    HSPEC_TRY(hspec_arena_commit(&self->arena, err));
    for (size_t i = 0; i < HSPEC_W / width; i++) { /* the same places, shifted by the lanes of the parts before */
        hspec_arena shifted = {.base = self->arena.base + i * width * sizeof(double), .used = 0};
        self->part[i] = like;
        layout(&self->part[i], &shifted);
    }
    for (size_t w = 0; w < HSPEC_W; w++) {
        const hspec_stream stream = hspec_random_stream(seed, w + 1, HSPEC_PURPOSE_NODES);
        self->part[0].keys[w] = stream.key[0];
        self->part[0].keys[HSPEC_W + w] = stream.key[1];
        self->part[0].kernel.target[w] = 1;
    }
    return HSPEC_OK;
}

/** Everything that one call works on. */
typedef struct work {
    const hspec_population_ops *ops;
    worker *workers; /* [threads] */
    int threads;
    size_t H;
    size_t blocks; /* of 8 nodes */
    size_t n;      /* states in this batch */
    const hspec_order *states;
    double *roots; /* [n][H][H] */
    double *sums;  /* [PARTS][n][2] */
} work;

/** Sums of a batch of states over all nodes: every thread takes whole parts. */
static void sum_parts(work *w)
{
    const size_t H = w->H, parts = HSPEC_W / w->ops->width;
    memset(w->sums, 0, PARTS * w->n * 2 * sizeof *w->sums);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
    for (size_t part = 0; part < PARTS; part++) {
#ifdef _OPENMP
        hspec_population *view = w->workers[omp_get_thread_num()].part;
#else
        hspec_population *view = w->workers[0].part;
#endif
        for (size_t block = part; block < w->blocks; block += PARTS) {
            for (size_t v = 0; v < parts; v++) {
                w->ops->draw(&view[v], block);
                for (size_t i = 0; i < w->n; i++) {
                    const hspec_order *state = &w->states[i];
                    w->ops->add(&view[v], state->alignment, w->roots + i * H * H, state->bias, state->scale,
                                w->sums + (part * w->n + i) * 2);
                }
            }
        }
    }
}

/** One batch: roots, sums, means and standard errors. `offset` is the place of its first state, for messages. */
static hspec_status evaluate(work *w, size_t offset, double *loss, double *error, hspec_error *err)
{
    const size_t H = w->H;
    for (size_t i = 0; i < w->n; i++) {
        const size_t bad = hspec_dense_root(H, w->states[i].residual, w->roots + i * H * H);
        if (bad) {
            return hspec_error_set(err, HSPEC_EARG,
                                   "states[%zu].residual: not positive semidefinite (seen at row %zu, counted from 0)",
                                   offset + i, bad - 1);
        }
    }
    sum_parts(w);
    const double N = (double)w->blocks * HSPEC_W;
    for (size_t i = 0; i < w->n; i++) {
        double sum = 0, squares = 0;
        for (size_t part = 0; part < PARTS; part++) {
            sum += w->sums[(part * w->n + i) * 2];
            squares += w->sums[(part * w->n + i) * 2 + 1];
        }
        loss[i] = sum / N;
        error[i] = sqrt(fmax(0, squares / N - loss[i] * loss[i]) / (N - 1));
        if (!isfinite(loss[i])) {
            return hspec_error_set(err, HSPEC_ENONFINITE, "states[%zu]: the loss is not finite", offset + i);
        }
    }
    return HSPEC_OK;
}

/** All batches, with results in arrays that the caller sees only when all went well. */
static hspec_status run(work *w, size_t n, const hspec_order *states, double *loss, double *error, hspec_error *err)
{
    for (size_t at = 0; at < n; at += BATCH) {
        w->n = n - at < BATCH ? n - at : BATCH;
        w->states = states + at;
        HSPEC_TRY(evaluate(w, at, loss + at, error + at, err));
    }
    return HSPEC_OK;
}

static hspec_status check(const hspec_task_params *task, const hspec_layer_params *layer, size_t nodes, int threads,
                          size_t n, const hspec_order *states, hspec_error *err)
{
    HSPEC_TRY(hspec_layer_check(layer, err));
    if (!task->signal || task->tokens < 2 || task->tokens > HSPEC_LAYER_MAX_TOKENS) {
        return hspec_error_set(err, HSPEC_EARG, "task: found %zu tokens, allowed 2 to %d, and a signal", task->tokens,
                               HSPEC_LAYER_MAX_TOKENS);
    }
    if (nodes < 64 || nodes > (size_t)1 << 40 || threads < 0) {
        return hspec_error_set(err, HSPEC_EARG, "nodes: found %zu, allowed 64 to 2^40; threads: found %d, allowed >= 0",
                               nodes, threads);
    }
    for (size_t i = 0; i < n; i++) {
        if (!states[i].alignment || !states[i].residual || !states[i].bias) {
            return hspec_error_set(err, HSPEC_EARG, "states[%zu]: alignment, residual and bias must not be NULL", i);
        }
    }
    return HSPEC_OK;
}

hspec_status hspec_population_loss(const hspec_task_params *task, const hspec_layer_params *layer, size_t nodes,
                                   uint64_t seed, int threads, size_t n, const hspec_order *states, double *loss,
                                   double *error, hspec_error *err)
{
    if (!task || !layer || !states || !loss) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_population_loss: task, layer, states and loss must not be NULL");
    }
    HSPEC_TRY(check(task, layer, nodes, threads, n, states, err));
    work w = {.ops = HSPEC_PICK(hspec_population_ops_table, hspec_cpu_level()),
              .threads = 1,
              .H = layer->heads,
              .blocks = (nodes + 63) / 64 * 8};
#ifdef _OPENMP
    w.threads = threads > 0 ? threads : omp_get_max_threads();
#endif
    const size_t batch = n < BATCH ? n : BATCH, H = layer->heads;
    hspec_arena arena = {0};
    double *results = NULL;
    for (int pass = 0; pass < 2; pass++) {
        w.workers = hspec_arena_take(&arena, (size_t)w.threads, sizeof *w.workers);
        w.roots = hspec_arena_doubles(&arena, hspec_memory_mul(batch, H * H));
        w.sums = hspec_arena_doubles(&arena, PARTS * batch * 2);
        results = hspec_arena_doubles(&arena, hspec_memory_mul(n, 2));
        if (pass == 0) {
            HSPEC_TRY(hspec_arena_commit(&arena, err));
        }
    }
    hspec_status status = HSPEC_OK;
    for (int i = 0; i < w.threads && status == HSPEC_OK; i++) {
        status = create(&w.workers[i], task, layer, seed, w.ops->width, err);
    }
    if (status == HSPEC_OK) {
        status = run(&w, n, states, results, results + n, err);
    }
    for (int i = 0; i < w.threads; i++) {
        hspec_arena_free(&w.workers[i].arena);
    }
    if (status == HSPEC_OK) {
        memcpy(loss, results, n * sizeof *loss);
        if (error) {
            memcpy(error, results + n, n * sizeof *error);
        }
    }
    hspec_arena_free(&arena);
    return status;
}
