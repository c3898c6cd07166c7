/* SPDX-License-Identifier: MIT */
#include "theory/population.h"

#include "attention/layer.h"
#include "core/dense.h"

#include <math.h>
#include <string.h>

/** Independent sets of nodes, for the standard error. */
#define RANDOMIZATIONS 8
/** States that are evaluated together at most, and doubles that their sums may take. */
#define BATCH ((size_t)256)
#define SUMS ((size_t)1 << 22)

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

/** Everything that one call works on. */
typedef struct work {
    hspec_field field;
    hspec_population_asked asked;
    size_t H, batch;
    hspec_field_state *states; /* [batch] */
    double *roots;             /* [batch][H][H] */
    double *scratch;           /* [2][H][H] */
    double *mean, *error;      /* [batch][size] */
    double *results;           /* [2][n][count] */
    hspec_arena arena;
} work;

static hspec_status allocate(work *w, size_t n, hspec_error *err)
{
    const size_t HH = hspec_memory_mul(w->H, w->H), rows = hspec_memory_mul(w->batch, w->field.places.size);
    for (int pass = 0; pass < 2; pass++) {
        w->states = hspec_arena_take(&w->arena, w->batch, sizeof *w->states);
        w->roots = hspec_arena_doubles(&w->arena, hspec_memory_mul(w->batch, HH));
        w->scratch = hspec_arena_doubles(&w->arena, hspec_memory_mul(2, HH));
        w->mean = hspec_arena_doubles(&w->arena, rows);
        w->error = hspec_arena_doubles(&w->arena, rows);
        w->results = hspec_arena_doubles(&w->arena, hspec_memory_mul(n, 2 * w->asked.count));
        if (pass == 0) {
            HSPEC_TRY(hspec_arena_commit(&w->arena, err));
        }
    }
    return HSPEC_OK;
}

/** The symmetric root of the residual of one state. */
static hspec_status root_of(work *w, size_t i, const hspec_order *state, double *root, hspec_error *err)
{
    const size_t H = w->H;
    double largest = 0;
    for (size_t k = 0; k < H * H; k++) {
        if (!isfinite(state->residual[k])) {
            return hspec_error_set(err, HSPEC_EARG, "states[%zu].residual: found %g, allowed finite numbers", i,
                                   state->residual[k]);
        }
        largest = fmax(largest, fabs(state->residual[k]));
    }
    const double least = hspec_dense_symmetric_root(H, state->residual, root, w->scratch);
    if (least < -1e-12 * (double)H * largest) {
        return hspec_error_set(err, HSPEC_EARG, "states[%zu].residual: not positive semidefinite (an eigenvalue is %g)",
                               i, least);
    }
    return HSPEC_OK;
}

/** States first .. first + count - 1. */
static hspec_status evaluate(work *w, size_t n, size_t first, size_t count, const hspec_order *states, hspec_error *err)
{
    const size_t H = w->H, size = w->field.places.size, each = w->asked.count;
    for (size_t i = 0; i < count; i++) {
        const hspec_order *state = &states[first + i];
        HSPEC_TRY(root_of(w, first + i, state, w->roots + i * H * H, err));
        w->states[i] = (hspec_field_state){state->alignment, w->roots + i * H * H, state->bias, state->scale};
    }
    hspec_field_evaluate(&w->field, count, w->states, w->asked.what, w->mean, w->error);
    for (size_t i = 0; i < count; i++) {
        const size_t from = i * size + w->asked.first;
        memcpy(w->results + (first + i) * each, w->mean + from, each * sizeof *w->mean);
        memcpy(w->results + (n + first + i) * each, w->error + from, each * sizeof *w->error);
        if (!isfinite(w->mean[i * size + w->field.places.loss])) {
            return hspec_error_set(err, HSPEC_ENONFINITE, "states[%zu]: the loss is not finite", first + i);
        }
    }
    return HSPEC_OK;
}

hspec_status hspec_population_evaluate(const hspec_task_params *task, const hspec_layer_params *layer, size_t nodes,
                                       uint64_t seed, int threads, size_t n, const hspec_order *states,
                                       hspec_population_asked asked, double *values, double *error, hspec_error *err)
{
    HSPEC_TRY(check(task, layer, nodes, threads, n, states, err));
    if (n == 0) {
        return HSPEC_OK;
    }
    const hspec_nodes_params params = {.nodes = (double)nodes,
                                       .randomizations = RANDOMIZATIONS,
                                       .seed = seed,
                                       .noise = 1,
                                       .closed = asked.what != HSPEC_FIELD_LOSS};
    const size_t size = hspec_field_layout(layer->heads, hspec_signal_features(task->signal)).size;
    const size_t most = SUMS / ((size_t)2 * RANDOMIZATIONS * size);
    work w = {.asked = asked, .H = layer->heads, .batch = n < BATCH ? n : BATCH};
    w.batch = w.batch > most ? (most ? most : 1) : w.batch;
    HSPEC_TRY(hspec_field_create(task->signal, layer, task->tokens, &params, w.batch, threads, &w.field, err));
    hspec_status status = allocate(&w, n, err);
    for (size_t at = 0; at < n && status == HSPEC_OK; at += w.batch) {
        status = evaluate(&w, n, at, n - at < w.batch ? n - at : w.batch, states, err);
    }
    if (status == HSPEC_OK) {
        memcpy(values, w.results, n * asked.count * sizeof *values);
        if (error) {
            memcpy(error, w.results + n * asked.count, n * asked.count * sizeof *error);
        }
    }
    hspec_field_free(&w.field);
    hspec_arena_free(&w.arena);
    return status;
}

hspec_status hspec_population_loss(const hspec_task_params *task, const hspec_layer_params *layer, size_t nodes,
                                   uint64_t seed, int threads, size_t n, const hspec_order *states, double *loss,
                                   double *error, hspec_error *err)
{
    if (!task || !layer || !states || !loss) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_population_loss: task, layer, states and loss must not be NULL");
    }
    const hspec_population_asked asked = {.what = HSPEC_FIELD_LOSS, .first = 0, .count = 1};
    return hspec_population_evaluate(task, layer, nodes, seed, threads, n, states, asked, loss, error, err);
}
