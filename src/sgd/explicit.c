/* SPDX-License-Identifier: MIT
 * Blocks of the explicit engine: memory, start and observation. The step itself is in explicit_lanes.c. */
#include "sgd/explicit.h"

#include "core/cpu.h"
#include "model/spikes.h"

#include <math.h>
#include <string.h>

/** Tokens of one group fill at most half of a common second-level cache. */
#define GROUP_BYTES ((size_t)384 << 10)

static void layout(hspec_explicit *block, const hspec_setup *setup, hspec_arena *arena)
{
    const size_t H = setup->H, L = setup->L, F = setup->F, grain = HSPEC_NORMALS_GRAIN;
    block->single = setup->training.noise == HSPEC_NOISE_SINGLE;
    const size_t number = block->single ? sizeof(float) : sizeof(double);
    block->stride = ((size_t)setup->D + grain - 1) / grain * grain;
    const size_t sequence = hspec_memory_mul(hspec_memory_mul(L, block->stride), number);
    block->group = GROUP_BYTES / sequence;
    block->group = block->group < 1 ? 1 : block->group > HSPEC_W ? HSPEC_W : block->group;
    block->group = block->group > setup->B ? setup->B : block->group;
    const size_t keys = hspec_memory_mul(H, block->stride);
    block->k = hspec_arena_doubles(arena, keys);
    block->sum = setup->B > block->group ? hspec_arena_doubles(arena, keys) : NULL;
    block->bias = hspec_arena_doubles(arena, H);
    block->x = hspec_arena_take(arena, block->group, sequence);
    hspec_kernel_layout(&block->kernel, H, L, setup->training.loss == HSPEC_LOSS_TOKEN, arena);
    block->factor = hspec_arena_doubles(arena, block->group * L * H);
    block->normals = hspec_arena_doubles(arena, (F + grain - 1) / grain * grain);
    block->theta_in = hspec_arena_doubles(arena, F * HSPEC_W);
    block->theta = hspec_arena_doubles(arena, F * HSPEC_W);
    block->words = hspec_arena_take(arena, HSPEC_W, sizeof(uint64_t));
    block->db = hspec_arena_doubles(arena, H);
    block->ds = hspec_arena_doubles(arena, 1);
}

static double bytes(const hspec_setup *setup)
{
    hspec_explicit block;
    hspec_arena arena = {0};
    layout(&block, setup, &arena);
    return (double)arena.used + sizeof block;
}

static void destroy(void *memory)
{
    hspec_explicit *block = memory;
    if (block) {
        hspec_arena_free(&block->arena);
        hspec_memory_free(block);
    }
}

/** Random start: components N(0, scale^2). */
static void start_random(hspec_explicit *block, hspec_stream stream)
{
    const hspec_setup *setup = block->setup;
    const size_t D = (size_t)setup->D;
    for (size_t h = 0; h < setup->H; h++) {
        double *k = block->k + h * block->stride;
        hspec_random_bulk()->normals(stream, h, 0, k, D);
        memset(k + D, 0, (block->stride - D) * sizeof *k);
        for (size_t d = 0; d < D; d++) {
            k[d] *= setup->training.init.scale;
        }
    }
}

/** Aligned start: k_h = sum_f m_hf k*_f + sqrt(D) sum_j R_hj e_j with e_1 .. e_H orthonormal and orthogonal to the
 *  spikes, so that m = m0 and r = R R^T exactly. @return OK or ENOMEM. */
static hspec_status start_aligned(hspec_explicit *block, hspec_stream stream, hspec_error *err)
{
    const hspec_setup *setup = block->setup;
    const size_t H = setup->H, F = setup->F, D = (size_t)setup->D, stride = block->stride;
    const double root = sqrt((double)D);
    double *frame = hspec_memory_alloc(hspec_memory_mul(F + H, stride), sizeof *frame);
    if (!frame) {
        return hspec_error_memory(err, hspec_memory_mul(hspec_memory_mul(F + H, stride), sizeof *frame));
    }
    for (size_t f = 0; f < F; f++) {
        for (size_t d = 0; d < D; d++) {
            frame[f * stride + d] = setup->spikes[f * D + d] / root;
        }
    }
    hspec_spikes_complete(stream, F, F + H, D, stride, frame);
    for (size_t h = 0; h < H; h++) {
        double *k = block->k + h * stride;
        for (size_t f = 0; f < F; f++) {
            for (size_t d = 0; d < D; d++) {
                k[d] += setup->m0[h * F + f] * root * frame[f * stride + d];
            }
        }
        for (size_t j = 0; j <= h; j++) {
            for (size_t d = 0; d < D; d++) {
                k[d] += setup->R0[h * H + j] * root * frame[(F + j) * stride + d];
            }
        }
    }
    hspec_memory_free(frame);
    return HSPEC_OK;
}

static hspec_status create(const hspec_setup *setup, size_t first, void **out, hspec_error *err)
{
    hspec_explicit *block = hspec_memory_alloc(1, sizeof *block);
    if (!block) {
        return hspec_error_memory(err, sizeof *block);
    }
    layout(block, setup, &block->arena);
    hspec_status status = hspec_arena_commit(&block->arena, err);
    if (status != HSPEC_OK) {
        destroy(block);
        return status;
    }
    layout(block, setup, &block->arena);
    block->setup = setup;
    block->stream = hspec_random_stream(setup->training.seed, first + 1, HSPEC_PURPOSE_EXPLICIT);
    const hspec_stream start = hspec_random_stream(setup->training.seed, first + 1, HSPEC_PURPOSE_START);
    if (setup->training.init.kind == HSPEC_INIT_RANDOM) {
        start_random(block, start);
    } else {
        status = start_aligned(block, start, err);
        if (status != HSPEC_OK) {
            destroy(block);
            return status;
        }
    }
    for (size_t h = 0; h < setup->H; h++) {
        block->bias[h] = setup->layer.bias_init;
    }
    block->scale = setup->layer.scale_init;
    *out = block;
    return HSPEC_OK;
}

static void advance(void *memory, uint64_t from, uint64_t to)
{
    HSPEC_PICK(hspec_explicit_ops_table, hspec_cpu_level())->advance(memory, from, to);
}

/** m = k . k* / D; r from what is left of the keys when the spikes are taken out, not as the difference q - m m^T: the
 *  residual of heads that lie in the span of the spikes comes out as zero to rounding squared. */
static void observe(const void *memory, size_t lane, double *m, double *r, double *b, double *s)
{
    (void)lane; /* one seed a block */
    const hspec_explicit *block = memory;
    const hspec_setup *setup = block->setup;
    const size_t H = setup->H, F = setup->F, D = (size_t)setup->D, stride = block->stride;
    for (size_t h = 0; h < H; h++) {
        for (size_t f = 0; f < F; f++) {
            double sum = 0;
            for (size_t d = 0; d < D; d++) {
                sum += block->k[h * stride + d] * setup->spikes[f * D + d];
            }
            m[h * F + f] = sum / (double)D;
        }
    }
    memset(r, 0, H * H * sizeof *r);
    for (size_t d = 0; d < D; d++) {
        /* The factor holds [H] numbers at least; between steps it is free. */
        double *left = block->factor;
        for (size_t h = 0; h < H; h++) {
            left[h] = block->k[h * stride + d];
            for (size_t f = 0; f < F; f++) {
                left[h] -= m[h * F + f] * setup->spikes[f * D + d];
            }
            for (size_t j = 0; j <= h; j++) {
                r[h * H + j] += left[h] * left[j];
            }
        }
    }
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++) {
            r[h * H + j] /= (double)D;
            r[j * H + h] = r[h * H + j];
        }
        b[h] = block->bias[h];
    }
    *s = block->scale;
}

static size_t state_size(const hspec_setup *setup)
{
    return hspec_memory_add(hspec_memory_mul(setup->H, (size_t)setup->D), setup->H + 1);
}

/** k [H][D], b [H], s. */
static void state(const void *memory, size_t lane, double *values)
{
    (void)lane;
    const hspec_explicit *block = memory;
    const size_t H = block->setup->H, D = (size_t)block->setup->D;
    for (size_t h = 0; h < H; h++) {
        memcpy(values + h * D, block->k + h * block->stride, D * sizeof *values);
    }
    memcpy(values + H * D, block->bias, H * sizeof *values);
    values[H * D + H] = block->scale;
}

const hspec_engine_ops hspec_explicit_engine = {.lanes = 1,
                                                .bytes = bytes,
                                                .create = create,
                                                .free = destroy,
                                                .advance = advance,
                                                .observe = observe,
                                                .state_size = state_size,
                                                .state = state};
