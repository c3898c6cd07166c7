/* SPDX-License-Identifier: MIT
 * Blocks of the reduced engine: memory, start and observation. The step itself is in reduced_lanes.c. */
#include "sgd/reduced.h"

#include "core/cpu.h"
#include "core/dense.h"
#include "core/random.h"

#include <math.h>

/** A block: one arena, seen from each of its parts. */
typedef struct block {
    size_t first; /* seed of lane 0 */
    hspec_reduced part[HSPEC_W / HSPEC_WIDTH_BASELINE];
    hspec_arena arena;
} block;

static const hspec_reduced_ops *lane_ops(void)
{
    return HSPEC_PICK(hspec_reduced_ops_table, hspec_cpu_level());
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void layout(hspec_reduced *part, const hspec_setup *setup, hspec_arena *arena)
{
    const size_t H = setup->H, L = setup->L, F = setup->F, W = HSPEC_W;
    const int token = setup->training.loss == HSPEC_LOSS_TOKEN;
    const double outside = (double)setup->D - (double)F - (double)H; /* n */

    part->setup = setup;
    hspec_kernel_layout(&part->kernel, H, L, token, arena);
    part->m = hspec_arena_doubles(arena, H * F * W);
    part->R = hspec_arena_doubles(arena, H * H * W);
    part->keys = hspec_arena_take(arena, 2 * W, sizeof(uint64_t));
    part->inside = outside < (double)H ? (size_t)outside : H;
    if (token) {
        hspec_bartlett_layout(&part->bartlett, L, outside - (double)part->inside, arena);
    } else {
        hspec_bartlett_layout(&part->bartlett, min(H, hspec_memory_mul(setup->B, L)), outside, arena);
    }
    part->normals_sequence = L * (F + H) + hspec_signal_normals(setup->signal);
    part->words_sequence = setup->signal->law == HSPEC_LAW_POINTS ? 1 : 0;
    const size_t normals = part->normals_sequence + part->bartlett.normals + (token ? L * part->inside : 0);
    const size_t words = part->words_sequence + part->bartlett.words;
    part->normals = hspec_arena_doubles(arena, (normals + 8) * W);
    part->words = hspec_arena_take(arena, (words + 8) * W, sizeof(uint64_t));
    part->A = hspec_arena_doubles(arena, part->bartlett.order * part->bartlett.columns * W);
    part->theta = hspec_arena_doubles(arena, F * W);
    part->dm = hspec_arena_doubles(arena, H * F * W);
    part->dR = hspec_arena_doubles(arena, H * H * W);
    part->db = hspec_arena_doubles(arena, H * W);
    part->ds = hspec_arena_doubles(arena, W);
    part->T = hspec_arena_doubles(arena, token ? 0 : H * (H + L) * W);
    part->V = hspec_arena_doubles(arena, token ? H * (part->inside + L) * W : 0);
    part->W = hspec_arena_doubles(arena, token ? L * (part->inside + L) * W : 0);
    part->X = hspec_arena_doubles(arena, H * 2 * H * W);
}

static double bytes(const hspec_setup *setup)
{
    hspec_reduced part;
    hspec_arena arena = {0};
    layout(&part, setup, &arena);
    return (double)arena.used + sizeof(block);
}

static void destroy(void *memory)
{
    block *self = memory;
    if (self) {
        hspec_arena_free(&self->arena);
        hspec_memory_free(self);
    }
}

/** Random start: m ~ N(0, scale^2 / D), R = scale / sqrt(D) times a Bartlett factor of order H, D - F degrees of freedom
 *  (docs/theory.md, "Initial conditions"). */
static void start_random(hspec_reduced *all, size_t lane, hspec_stream stream)
{
    const hspec_setup *setup = all->setup;
    const size_t H = setup->H, F = setup->F;
    const double size = setup->training.init.scale / sqrt((double)setup->D);
    double x[HSPEC_NORMALS_GRAIN] __attribute__((aligned(HSPEC_ALIGN)));
    size_t i = 0; /* normals taken so far; a row of them per first counter */
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < F + h; j++, i++) {
            if (i % HSPEC_NORMALS_GRAIN == 0) {
                hspec_random_bulk()->normals(stream, i / HSPEC_NORMALS_GRAIN, 0, x, HSPEC_NORMALS_GRAIN);
            }
            double *place = j < F ? all->m + (h * F + j) * HSPEC_W : all->R + (h * H + j - F) * HSPEC_W;
            place[lane] = size * x[i % HSPEC_NORMALS_GRAIN];
        }
        const double degrees = (double)setup->D - (double)F - (double)h;
        const double chi2 = hspec_random_chi2(stream, UINT64_C(1) << 40, (uint64_t)h << 20, degrees);
        all->R[(h * H + h) * HSPEC_W + lane] = size * sqrt(chi2);
    }
}

static void start_aligned(hspec_reduced *all, size_t lane)
{
    const hspec_setup *setup = all->setup;
    for (size_t i = 0; i < setup->H * setup->F; i++) {
        all->m[i * HSPEC_W + lane] = setup->m0[i];
    }
    for (size_t i = 0; i < setup->H * setup->H; i++) {
        all->R[i * HSPEC_W + lane] = setup->R0[i];
    }
}

static void start_lane(const block *self, size_t lane)
{
    hspec_reduced all = self->part[0];
    const hspec_setup *setup = all.setup;
    const uint64_t seed = setup->training.seed, number = self->first + lane + 1;
    if (setup->training.init.kind == HSPEC_INIT_ALIGNED) {
        start_aligned(&all, lane);
    } else {
        start_random(&all, lane, hspec_random_stream(seed, number, HSPEC_PURPOSE_START));
    }
    const hspec_stream stream = hspec_random_stream(seed, number, HSPEC_PURPOSE_REDUCED);
    all.keys[lane] = stream.key[0];
    all.keys[HSPEC_W + lane] = stream.key[1];
    for (size_t h = 0; h < setup->H; h++) {
        all.kernel.bias[h * HSPEC_W + lane] = setup->layer.bias_init;
    }
    all.kernel.scale[lane] = setup->layer.scale_init;
    all.kernel.target[lane] = 1; /* the target stands at l = 0: every activation is symmetric in l */
}

static hspec_status create(const hspec_setup *setup, size_t first, void **out, hspec_error *err)
{
    block *self = hspec_memory_alloc(1, sizeof *self);
    if (!self) {
        return hspec_error_memory(err, sizeof *self);
    }
    layout(&self->part[0], setup, &self->arena);
    const hspec_status status = hspec_arena_commit(&self->arena, err);
    if (status != HSPEC_OK) {
        destroy(self);
        return status;
    }
    self->first = first;
    for (size_t i = 0; i < HSPEC_W / lane_ops()->width;
         i++) { /* the same places, shifted by the lanes of the parts before */
        hspec_arena shifted = {.base = self->arena.base + i * lane_ops()->width * sizeof(double), .used = 0};
        layout(&self->part[i], setup, &shifted);
    }
    hspec_bartlett_fill(&self->part[0].bartlett);
    for (size_t lane = 0; lane < HSPEC_W; lane++) {
        start_lane(self, lane);
    }
    *out = self;
    return HSPEC_OK;
}

static void advance(void *memory, uint64_t from, uint64_t to)
{
    block *self = memory;
    lane_ops()->advance(self->part, from, to);
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
    const hspec_reduced *all = &((const block *)memory)->part[0];
    const size_t H = all->setup->H;
    gather(all->m, lane, H * all->setup->F, m);
    gather(all->kernel.bias, lane, H, b);
    gather(all->kernel.scale, lane, 1, s);
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++) {
            double sum = 0;
            for (size_t k = 0; k <= j; k++) {
                sum += all->R[(h * H + k) * HSPEC_W + lane] * all->R[(j * H + k) * HSPEC_W + lane];
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
    const hspec_reduced *all = &((const block *)memory)->part[0];
    const size_t H = all->setup->H, F = all->setup->F;
    gather(all->m, lane, H * F, values);
    gather(all->R, lane, H * H, values + H * F);
    gather(all->kernel.bias, lane, H, values + H * F + H * H);
    gather(all->kernel.scale, lane, 1, values + H * F + H * H + H);
}

const hspec_engine_ops hspec_reduced_engine = {.lanes = HSPEC_W,
                                               .bytes = bytes,
                                               .create = create,
                                               .free = destroy,
                                               .advance = advance,
                                               .observe = observe,
                                               .state_size = state_size,
                                               .state = state};
