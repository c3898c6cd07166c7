/* SPDX-License-Identifier: MIT
 * Blocks of the reduced engine: memory, start and observation. The step itself is in reduced_lanes.c. */
#include "sgd/reduced.h"

#include "core/cpu.h"
#include "core/dense.h"
#include "core/random.h"

#include <math.h>

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void layout_bartlett(hspec_bartlett *b, size_t order, double degrees, hspec_arena *arena)
{
    b->order = order;
    b->degrees = degrees;
    b->columns = degrees < (double)order ? (size_t)degrees : order;
    b->normals = b->columns;
    for (size_t i = 0; i < order; i++) {
        b->normals += min(i, b->columns);
    }
    b->words = (b->columns + 2) / 3;
    b->d = hspec_arena_doubles(arena, b->columns);
    b->c = hspec_arena_doubles(arena, b->columns);
}

static void fill_bartlett(hspec_bartlett *b)
{
    for (size_t j = 0; j < b->columns; j++) {
        const double degrees = b->degrees - (double)j;
        b->d[j] = degrees >= 2 ? 0.5 * degrees - 1.0 / 3.0 : 0;
        b->c[j] = degrees >= 2 ? 1 / sqrt(9 * b->d[j]) : 0;
    }
}

static void layout(hspec_reduced *block, const hspec_setup *setup, hspec_arena *arena)
{
    const size_t H = setup->H, L = setup->L, F = setup->F, W = HSPEC_W;
    const int token = setup->training.loss == HSPEC_LOSS_TOKEN;
    const double outside = (double)setup->D - (double)F - (double)H; /* n */

    hspec_kernel_layout(&block->kernel, H, L, token, arena);
    block->m = hspec_arena_doubles(arena, H * F * W);
    block->R = hspec_arena_doubles(arena, H * H * W);
    block->keys = hspec_arena_take(arena, 2 * W, sizeof(uint64_t));
    block->inside = outside < (double)H ? (size_t)outside : H;
    if (token) {
        layout_bartlett(&block->bartlett, L, outside - (double)block->inside, arena);
    } else {
        layout_bartlett(&block->bartlett, min(H, hspec_memory_mul(setup->B, L)), outside, arena);
    }
    block->normals_sequence = L * (F + H) + hspec_signal_normals(setup->signal);
    block->words_sequence = setup->signal->law == HSPEC_LAW_POINTS ? 1 : 0;
    const size_t normals = block->normals_sequence + block->bartlett.normals + (token ? L * block->inside : 0);
    const size_t words = block->words_sequence + block->bartlett.words;
    block->normals = hspec_arena_doubles(arena, (normals + 4) * W);
    block->words = hspec_arena_take(arena, (words + 4) * W, sizeof(uint64_t));
    block->A = hspec_arena_doubles(arena, block->bartlett.order * block->bartlett.columns * W);
    block->theta = hspec_arena_doubles(arena, F * W);
    block->dm = hspec_arena_doubles(arena, H * F * W);
    block->dR = hspec_arena_doubles(arena, H * H * W);
    block->db = hspec_arena_doubles(arena, H * W);
    block->ds = hspec_arena_doubles(arena, W);
    block->T = hspec_arena_doubles(arena, token ? 0 : H * (H + L) * W);
    block->V = hspec_arena_doubles(arena, token ? H * (block->inside + L) * W : 0);
    block->W = hspec_arena_doubles(arena, token ? L * (block->inside + L) * W : 0);
    block->X = hspec_arena_doubles(arena, H * 2 * H * W);
}

static double bytes(const hspec_setup *setup)
{
    hspec_reduced block;
    hspec_arena arena = {0};
    layout(&block, setup, &arena);
    return (double)arena.used + sizeof block;
}

static void destroy(void *memory)
{
    hspec_reduced *block = memory;
    if (block) {
        hspec_arena_free(&block->arena);
        hspec_memory_free(block);
    }
}

/** Random start: m ~ N(0, scale^2 / D), R = scale / sqrt(D) times a Bartlett factor of order H, D - F degrees of freedom
 *  (docs/theory.md, "Initial conditions"). Aligned start: as given. */
static void start_lane(hspec_reduced *block, size_t lane)
{
    const hspec_setup *setup = block->setup;
    const size_t H = setup->H, F = setup->F;
    double *m = block->m, *R = block->R;
    if (setup->training.init.kind == HSPEC_INIT_ALIGNED) {
        for (size_t i = 0; i < H * F; i++) {
            m[i * HSPEC_W + lane] = setup->m0[i];
        }
        for (size_t i = 0; i < H * H; i++) {
            R[i * HSPEC_W + lane] = setup->R0[i];
        }
        return;
    }
    const double size = setup->training.init.scale / sqrt((double)setup->D);
    const hspec_stream stream =
        hspec_random_stream(setup->training.seed, block->first + lane + 1, HSPEC_PURPOSE_START);
    const hspec_random_ops *bulk = hspec_random_bulk();
    double x[HSPEC_NORMALS_GRAIN] __attribute__((aligned(HSPEC_ALIGN)));
    uint64_t row = 0; /* rows of normals, one counter of 2^32 each */
    for (size_t i = 0; i < H * F; i++) {
        if (i % HSPEC_NORMALS_GRAIN == 0) {
            bulk->normals(stream, row++, 0, x, HSPEC_NORMALS_GRAIN);
        }
        m[i * HSPEC_W + lane] = size * x[i % HSPEC_NORMALS_GRAIN];
    }
    size_t i = 0;
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < h; j++, i++) {
            if (i % HSPEC_NORMALS_GRAIN == 0) {
                bulk->normals(stream, row++, 0, x, HSPEC_NORMALS_GRAIN);
            }
            R[(h * H + j) * HSPEC_W + lane] = size * x[i % HSPEC_NORMALS_GRAIN];
        }
        const double degrees = (double)setup->D - (double)F - (double)h;
        R[(h * H + h) * HSPEC_W + lane] = size * sqrt(hspec_random_chi2(stream, UINT64_C(1) << 40, (uint64_t)h << 20, degrees));
    }
}

static hspec_status create(const hspec_setup *setup, size_t first, void **out, hspec_error *err)
{
    hspec_reduced *block = hspec_memory_alloc(1, sizeof *block);
    if (!block) {
        return hspec_error_memory(err, sizeof *block);
    }
    layout(block, setup, &block->arena);
    const hspec_status status = hspec_arena_commit(&block->arena, err);
    if (status != HSPEC_OK) {
        destroy(block);
        return status;
    }
    layout(block, setup, &block->arena);
    fill_bartlett(&block->bartlett);
    block->setup = setup;
    block->first = first;
    for (size_t w = 0; w < HSPEC_W; w++) {
        const hspec_stream stream = hspec_random_stream(setup->training.seed, first + w + 1, HSPEC_PURPOSE_REDUCED);
        block->keys[w] = stream.key[0];
        block->keys[HSPEC_W + w] = stream.key[1];
        start_lane(block, w);
        for (size_t h = 0; h < setup->H; h++) {
            block->kernel.bias[h * HSPEC_W + w] = setup->layer.bias_init;
        }
        block->kernel.scale[w] = setup->layer.scale_init;
        block->kernel.target[w] = 1; /* the target stands at l = 0: every activation is symmetric in l */
    }
    *out = block;
    return HSPEC_OK;
}

static void advance(void *memory, uint64_t from, uint64_t to)
{
    HSPEC_PICK(hspec_reduced_ops_table, hspec_cpu_level())->advance(memory, from, to);
}

/** out[i] = lane of x[i], i < n. */
static void gather(const double *x, size_t lane, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = x[i * HSPEC_W + lane];
    }
}

static void observe(const void *memory, size_t lane, double *m, double *r, double *b, double *s)
{
    const hspec_reduced *block = memory;
    const size_t H = block->setup->H;
    gather(block->m, lane, H * block->setup->F, m);
    gather(block->kernel.bias, lane, H, b);
    gather(block->kernel.scale, lane, 1, s);
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++) {
            double sum = 0;
            for (size_t k = 0; k <= j; k++) {
                sum += block->R[(h * H + k) * HSPEC_W + lane] * block->R[(j * H + k) * HSPEC_W + lane];
            }
            r[h * H + j] = r[j * H + h] = sum;
        }
    }
}

static size_t state_size(const hspec_setup *setup)
{
    return setup->H * setup->F + setup->H * setup->H + setup->H + 1;
}

/** m [H][F], R [H][H], b [H], s. */
static void state(const void *memory, size_t lane, double *values)
{
    const hspec_reduced *block = memory;
    const size_t H = block->setup->H, F = block->setup->F;
    gather(block->m, lane, H * F, values);
    gather(block->R, lane, H * H, values + H * F);
    gather(block->kernel.bias, lane, H, values + H * F + H * H);
    gather(block->kernel.scale, lane, 1, values + H * F + H * H + H);
}

const hspec_engine_ops hspec_reduced_engine = {.lanes = HSPEC_W,
                                               .bytes = bytes,
                                               .create = create,
                                               .free = destroy,
                                               .advance = advance,
                                               .observe = observe,
                                               .state_size = state_size,
                                               .state = state};
