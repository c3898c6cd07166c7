/* SPDX-License-Identifier: MIT */
#include "theory/field.h"

#include "core/cpu.h"

#include <math.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/** Pieces of work that a field of one state is cut into, whatever the number of threads: the order of sums is fixed. */
#define PARTS 16

hspec_field_places hspec_field_layout(size_t H, size_t F)
{
    hspec_field_places p = {.loss = 0, .alignment = 1, .parts = 1};
    p.root = p.alignment + H * F;
    p.update = p.root + H * H;
    p.bias = p.update + H * H;
    p.scale = p.bias + H;
    p.size = p.scale + 1;
    return p;
}

static void lay_out(hspec_field_worker *w, const hspec_nodes *nodes, size_t size)
{
    const size_t HL = hspec_memory_mul(hspec_memory_mul(w->H, w->L), HSPEC_W);
    hspec_kernel_layout(&w->kernel, w->H, w->L, 0, &w->arena);
    w->x = hspec_arena_doubles(&w->arena, hspec_memory_mul(hspec_nodes_dims(nodes), HSPEC_W));
    w->c = hspec_arena_doubles(&w->arena, w->F * w->L * HSPEC_W);
    w->base = hspec_arena_doubles(&w->arena, HL);
    w->z = hspec_arena_doubles(&w->arena, HL);
    w->sum = hspec_arena_doubles(&w->arena, HL);
    w->plus = hspec_arena_doubles(&w->arena, HL);
    w->minus = hspec_arena_doubles(&w->arena, HL);
    w->sums = hspec_arena_doubles(&w->arena, hspec_memory_mul(size, HSPEC_W));
}

static hspec_status create_worker(hspec_field_worker *w, const hspec_nodes *nodes, hspec_activation activation,
                                  size_t size, hspec_error *err)
{
    *w = (hspec_field_worker){
        .H = nodes->H, .L = nodes->L, .F = nodes->F, .activation = hspec_kernel_activation(activation)};
    lay_out(w, nodes, size);
    HSPEC_TRY(hspec_arena_commit(&w->arena, err));
    lay_out(w, nodes, size);
    for (size_t lane = 0; lane < HSPEC_W; lane++) {
        w->kernel.target[lane] = 1; /* the target stands at l = 0 */
    }
    return HSPEC_OK;
}

hspec_status hspec_field_create(const hspec_signal *signal, const hspec_layer_params *layer, size_t tokens,
                                const hspec_nodes_params *params, size_t capacity, int threads, hspec_field *field,
                                hspec_error *err)
{
    hspec_field created = {.threads = 1, .capacity = capacity};
#ifdef _OPENMP
    created.threads = threads > 0 ? threads : omp_get_max_threads();
#else
    (void)threads;
#endif
    HSPEC_TRY(hspec_nodes_create(signal, layer->heads, tokens, params, &created.nodes, err));
    const size_t Q = params->randomizations, blocks = hspec_nodes_blocks(&created.nodes);
    created.places = hspec_field_layout(layer->heads, created.nodes.F);
    created.parts = Q < PARTS ? PARTS / Q : 1;
    created.parts = created.parts < blocks ? created.parts : blocks;
    const size_t items = hspec_memory_mul(hspec_memory_mul(capacity, Q), created.parts);
    hspec_status status = HSPEC_OK;
    for (int pass = 0; pass < 2 && status == HSPEC_OK; pass++) {
        created.workers = hspec_arena_take(&created.arena, (size_t)created.threads, sizeof *created.workers);
        created.sums = hspec_arena_doubles(&created.arena, hspec_memory_mul(items, created.places.size));
        if (pass == 0) {
            status = hspec_arena_commit(&created.arena, err);
        }
    }
    for (int i = 0; i < created.threads && status == HSPEC_OK; i++) {
        status = create_worker(&created.workers[i], &created.nodes, layer->activation, created.places.size, err);
    }
    if (status != HSPEC_OK) {
        hspec_field_free(&created);
        return status;
    }
    *field = created;
    return HSPEC_OK;
}

void hspec_field_free(hspec_field *field)
{
    for (int i = 0; field->arena.base && field->workers && i < field->threads; i++) {
        hspec_arena_free(&field->workers[i].arena);
    }
    hspec_nodes_free(&field->nodes);
    hspec_arena_free(&field->arena);
    field->workers = NULL;
}

/** One part of one randomization of one state. */
static void run_item(hspec_field *field, hspec_field_worker *w, size_t randomization, size_t part,
                     const hspec_field_state *state, hspec_field_what what, double *sums)
{
    const size_t size = what == HSPEC_FIELD_LOSS ? 1 : field->places.size;
    const size_t blocks = hspec_nodes_blocks(&field->nodes);
    const hspec_field_ops *ops = HSPEC_PICK(hspec_field_ops_table, hspec_cpu_level());
    memset(w->sums, 0, size * HSPEC_W * sizeof *w->sums);
    for (size_t block = part; block < blocks; block += field->parts) {
        ops->add(w, &field->nodes, hspec_nodes_get(&field->nodes, randomization, block, w->x), state, what);
    }
    for (size_t i = 0; i < size; i++) {
        double sum = 0;
        for (size_t lane = 0; lane < HSPEC_W; lane++) {
            sum += w->sums[i * HSPEC_W + lane];
        }
        sums[i] = sum;
    }
}

/** Sums over the parts, then mean and standard error over the randomizations, of one expectation. */
static void reduce(const hspec_field *field, const double *sums, size_t i, double *mean, double *error)
{
    const size_t Q = field->nodes.randomizations, size = field->places.size;
    double total = 0, squares = 0;
    for (size_t q = 0; q < Q; q++) {
        double value = 0;
        for (size_t part = 0; part < field->parts; part++) {
            value += sums[(q * field->parts + part) * size + i];
        }
        const double step = value - total;
        total += step / (double)(q + 1);
        squares += step * (value - total);
    }
    *mean = total;
    if (error) {
        *error = Q > 1 ? sqrt(squares / (double)(Q - 1) / (double)Q) : NAN;
    }
}

/** The upper triangle of the update. */
static void mirror(const hspec_field_places *p, size_t H, double *values)
{
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < h; j++) {
            values[p->update + j * H + h] = values[p->update + h * H + j];
        }
    }
}

void hspec_field_evaluate(hspec_field *field, size_t n, const hspec_field_state *states, hspec_field_what what,
                          double *mean, double *error)
{
    const size_t each = field->nodes.randomizations * field->parts, items = n * each, size = field->places.size;
#pragma omp parallel for schedule(dynamic, 1) num_threads(field->threads)
    for (size_t item = 0; item < items; item++) {
#ifdef _OPENMP
        hspec_field_worker *worker = &field->workers[omp_get_thread_num()];
#else
        hspec_field_worker *worker = &field->workers[0];
#endif
        const size_t rest = item % each;
        run_item(field, worker, rest / field->parts, rest % field->parts, &states[item / each], what,
                 field->sums + item * size);
    }
    for (size_t state = 0; state < n; state++) {
        double *out = mean + state * size, *spread = error ? error + state * size : NULL;
        for (size_t i = 0; i < (what == HSPEC_FIELD_LOSS ? 1 : size); i++) {
            reduce(field, field->sums + state * each * size, i, out + i, spread ? spread + i : NULL);
        }
        if (what == HSPEC_FIELD_ALL) {
            mirror(&field->places, field->nodes.H, out);
            if (spread) {
                mirror(&field->places, field->nodes.H, spread);
            }
        }
    }
}
