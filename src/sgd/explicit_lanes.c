/* SPDX-License-Identifier: MIT
 * One step of the explicit engine (docs/theory.md, "Online SGD"):
 *
 *      x_l = z_l + [l = e] sum_f theta_f k*_f / sqrt(D),   chi_hl = k_h . x_l / sqrt(D),
 *      k_h <- k_h - eta / (B sqrt(D)) sum_batch sum_l d_hl x_l
 *
 * Here lanes are neighbouring coordinates; in the kernel they are the sequences of a group.
 */
#include "sgd/explicit.h"

#include "core/lanes.h"
#include "core/single.h"

#include <math.h>
#include <string.h>

/** The numbers from place i of a row of tokens. `single` is a constant at every call. */
HSPEC_INLINE vd vd_token(const void *row, size_t i, int single)
{
    if (single) {
        return vd_widen((const float *)row + i);
    }
    return vd_load((const double *)row + i);
}

HSPEC_INLINE const void *row_of(const hspec_explicit *block, size_t row, int single)
{
    return (const char *)block->x + row * block->stride * (single ? sizeof(float) : sizeof(double));
}

/** Tokens of one sequence: noise, position and signal. Counters: word 0 the step; word 1 the place of the number, or with
 *  bit 63 the sequence (position, word of theta), or with bit 62 the normals of theta. */
HSPEC_INLINE void make_noise(hspec_explicit *block, uint64_t t, uint64_t b, size_t g, int single)
{
    const hspec_setup *setup = block->setup;
    const hspec_random_ops *bulk = &HSPEC_LEVELED(hspec_random_ops_table);
    const size_t L = setup->L, D = (size_t)setup->D, number = single ? sizeof(float) : sizeof(double);
    const size_t counters = block->stride / (single ? 4 : 2);
    for (size_t l = 0; l < L; l++) {
        char *row = (char *)block->x + (g * L + l) * block->stride * number;
        const uint64_t place = (b * L + l) * counters;
        if (single) {
            bulk->normals_single(block->stream, t, place, (float *)row, D);
        } else {
            bulk->normals(block->stream, t, place, (double *)row, D);
        }
        memset(row + D * number, 0, (block->stride - D) * number);
    }
}

/** Position and theta of every sequence of the group; the signal is added to the token at the position. */
HSPEC_INLINE void add_signal(hspec_explicit *block, uint64_t t, uint64_t b, size_t count, int single)
{
    const hspec_setup *setup = block->setup;
    const size_t L = setup->L, F = setup->F, D = (size_t)setup->D;
    const size_t normals = hspec_signal_normals(setup->signal);
    const uint64_t row = (F + HSPEC_NORMALS_GRAIN - 1) / HSPEC_NORMALS_GRAIN * HSPEC_NORMALS_GRAIN / 2;
    size_t position[HSPEC_W];
    memset(block->kernel.target, 0, L * HSPEC_W * sizeof(double));
    for (size_t g = 0; g < count; g++) {
        uint64_t words[2];
        hspec_random_words(block->stream, t, (UINT64_C(1) << 63) + b + g, words);
        position[g] = (size_t)(((unsigned __int128)words[0] * L) >> 64);
        block->words[g] = words[1];
        block->kernel.target[position[g] * HSPEC_W + g] = 1;
        if (normals > 0) {
            HSPEC_LEVELED(hspec_random_ops_table)
                .normals(block->stream, t, (UINT64_C(1) << 62) + (b + g) * row, block->normals, normals);
            for (size_t f = 0; f < F; f++) {
                block->theta_in[f * HSPEC_W + g] = block->normals[f];
            }
        }
    }
    for (size_t lane = 0; lane < count; lane += HSPEC_VW) {
        HSPEC_LEVELED(hspec_signal_ops_table)
            .draw(setup->signal, block->words + lane, block->theta_in + lane, block->theta + lane);
    }
    const double inverse = 1 / sqrt((double)D);
    for (size_t g = 0; g < count; g++) {
        const size_t at = (g * L + position[g]) * block->stride;
        for (size_t f = 0; f < F; f++) {
            const double theta = block->theta[f * HSPEC_W + g] * inverse;
            const double *spike = setup->spikes + f * D;
            for (size_t d = 0; d < D; d++) {
                if (single) {
                    ((float *)block->x)[at + d] += (float)(theta * spike[d]);
                } else {
                    ((double *)block->x)[at + d] += theta * spike[d];
                }
            }
        }
    }
}

/** chi of A heads from h on with X tokens from row on; A and X are constants at every call. */
HSPEC_INLINE void vd_score_tile(hspec_explicit *block, size_t h, size_t A, size_t row, size_t X, int single)
{
    const size_t D = (size_t)block->setup->D, L = block->setup->L;
    const double inverse = 1 / sqrt((double)D);
    vd sum[3][4];
    for (size_t i = 0; i < A; i++) {
        for (size_t j = 0; j < X; j++) {
            sum[i][j] = vd_set(0.0);
        }
    }
    for (size_t d = 0; d < D; d += HSPEC_VW) {
        vd k[3];
        for (size_t i = 0; i < A; i++) {
            k[i] = vd_load(block->k + (h + i) * block->stride + d);
        }
        for (size_t j = 0; j < X; j++) {
            const vd x = vd_token(row_of(block, row + j, single), d, single);
            for (size_t i = 0; i < A; i++) {
                sum[i][j] = sum[i][j] + k[i] * x;
            }
        }
    }
    for (size_t i = 0; i < A; i++) {
        for (size_t j = 0; j < X; j++) {
            const size_t g = (row + j) / L, l = (row + j) % L;
            block->kernel.chi[((h + i) * L + l) * HSPEC_W + g] = inverse * vd_sum(sum[i][j]);
        }
    }
}

/** The same with any number of tokens up to 4. */
HSPEC_INLINE void vd_score_heads(hspec_explicit *block, size_t h, size_t A, size_t row, size_t X, int single)
{
    switch (X) {
    case 1:
        vd_score_tile(block, h, A, row, 1, single);
        break;
    case 2:
        vd_score_tile(block, h, A, row, 2, single);
        break;
    case 3:
        vd_score_tile(block, h, A, row, 3, single);
        break;
    default:
        vd_score_tile(block, h, A, row, 4, single);
        break;
    }
}

/** chi_hl = k_h . x_l / sqrt(D) of every sequence of the group, in tiles of up to three heads and four tokens. */
HSPEC_INLINE void vd_scores(hspec_explicit *block, size_t count, int single)
{
    const size_t H = block->setup->H, rows = count * block->setup->L;
    for (size_t row = 0; row < rows; row += 4) {
        const size_t X = rows - row < 4 ? rows - row : 4;
        size_t h = 0;
        for (; h + 3 <= H; h += 3) {
            vd_score_heads(block, h, 3, row, X, single);
        }
        if (H - h == 2) {
            vd_score_heads(block, h, 2, row, X, single);
        } else if (H - h == 1) {
            vd_score_heads(block, h, 1, row, X, single);
        }
    }
}

/** G_ll' = x_l . x_l' / D of every sequence of the group. */
HSPEC_INLINE void vd_gram(hspec_explicit *block, size_t count, int single)
{
    const size_t L = block->setup->L, D = (size_t)block->setup->D;
    for (size_t g = 0; g < count; g++) {
        for (size_t l = 0; l < L; l++) {
            for (size_t i = 0; i <= l; i++) {
                const void *x = row_of(block, g * L + l, single), *y = row_of(block, g * L + i, single);
                vd sum = vd_set(0.0);
                for (size_t d = 0; d < D; d += HSPEC_VW) {
                    sum = sum + vd_token(x, d, single) * vd_token(y, d, single);
                }
                const double G = vd_sum(sum) / (double)D;
                block->kernel.gram[(l * L + i) * HSPEC_W + g] = G;
                block->kernel.gram[(i * L + l) * HSPEC_W + g] = G;
            }
        }
    }
}

/** The heads h .. h + A - 1 of the update below, two native vectors at a time; A is a constant at every call. */
HSPEC_INLINE void vd_update_heads(const hspec_explicit *block, size_t rows, double *out, size_t h, size_t A, int single)
{
    enum { U = 2 }; /* rows end on a multiple of HSPEC_NORMALS_GRAIN: the second vector is always there */
    const size_t H = block->setup->H, D = (size_t)block->setup->D, stride = block->stride;
    const size_t row_bytes = stride * (single ? sizeof(float) : sizeof(double));
    for (size_t d = 0; d < D; d += (size_t)U * HSPEC_VW) {
        vd sum[4][U];
        for (size_t i = 0; i < A; i++) {
            for (size_t j = 0; j < U; j++) {
                sum[i][j] = vd_load(out + (h + i) * stride + d + j * HSPEC_VW);
            }
        }
        const char *row = block->x;
        const double *factor = block->factor + h;
        for (size_t r = 0; r < rows; r++, row += row_bytes, factor += H) {
            for (size_t j = 0; j < U; j++) {
                const vd x = vd_token(row, d + j * HSPEC_VW, single);
                for (size_t i = 0; i < A; i++) {
                    sum[i][j] = sum[i][j] + factor[i] * x;
                }
            }
        }
        for (size_t i = 0; i < A; i++) {
            for (size_t j = 0; j < U; j++) {
                vd_store(out + (h + i) * stride + d + j * HSPEC_VW, sum[i][j]);
            }
        }
    }
}

/** out_h += sum_row factor_{row,h} x_row for `rows` tokens, up to four heads at a time. */
HSPEC_INLINE void vd_update(const hspec_explicit *block, size_t rows, double *out, int single)
{
    const size_t H = block->setup->H;
    size_t h = 0;
    for (; h + 4 <= H; h += 4) {
        vd_update_heads(block, rows, out, h, 4, single);
    }
    switch (H - h) {
    case 3:
        vd_update_heads(block, rows, out, h, 3, single);
        break;
    case 2:
        vd_update_heads(block, rows, out, h, 2, single);
        break;
    case 1:
        vd_update_heads(block, rows, out, h, 1, single);
        break;
    default:
        break;
    }
}

/** b and s move by eta / (B D) times the sums over the batch; a shared bias by the sum over heads. */
static void bias_and_scale(hspec_explicit *block)
{
    const hspec_setup *setup = block->setup;
    const size_t H = setup->H;
    double shared = 0;
    for (size_t h = 0; h < H; h++) {
        shared += block->db[h];
    }
    for (size_t h = 0; setup->layer.bias_train && h < H; h++) {
        block->bias[h] -= setup->rate * (setup->layer.bias_per_head ? block->db[h] : shared);
    }
    if (setup->layer.scale_train) {
        block->scale -= setup->rate * block->ds[0];
    }
}

/** Layer parameters into all lanes of the kernel. */
static void load_layer(hspec_explicit *block)
{
    for (size_t w = 0; w < HSPEC_W; w++) {
        for (size_t h = 0; h < block->setup->H; h++) {
            block->kernel.bias[h * HSPEC_W + w] = block->bias[h];
        }
        block->kernel.scale[w] = block->scale;
    }
}

/** Adds up the gradients of `count` lanes and puts those of the scores where the update reads them. */
static void collect(hspec_explicit *block, size_t count)
{
    const size_t H = block->setup->H, L = block->setup->L;
    const double rate = -block->setup->rate * sqrt((double)block->setup->D);
    for (size_t g = 0; g < count; g++) {
        for (size_t h = 0; h < H; h++) {
            for (size_t l = 0; l < L; l++) {
                block->factor[(g * L + l) * H + h] = rate * block->kernel.d[(h * L + l) * HSPEC_W + g];
            }
            block->db[h] += block->kernel.db[h * HSPEC_W + g];
        }
        block->ds[0] += block->kernel.ds[g];
    }
}

HSPEC_INLINE void step(hspec_explicit *block, uint64_t t, int single)
{
    const hspec_setup *setup = block->setup;
    const size_t H = setup->H, L = setup->L;
    /* With several groups the keys stay as they are until all scores are made. */
    double *target = block->sum ? block->sum : block->k;
    load_layer(block);
    memset(block->db, 0, H * sizeof *block->db);
    block->ds[0] = 0;
    for (size_t b = 0; b < setup->B; b += block->group) {
        const size_t count = setup->B - b < block->group ? setup->B - b : block->group;
        for (size_t g = 0; g < count; g++) {
            make_noise(block, t, b + g, g, single);
        }
        add_signal(block, t, b, count, single);
        vd_scores(block, count, single);
        if (block->kernel.gram) {
            vd_gram(block, count, single);
        }
        hspec_kernel_run(setup->activation, &block->kernel, count, 1);
        collect(block, count);
        vd_update(block, count * L, target, single);
    }
    if (block->sum) {
        for (size_t i = 0; i < H * block->stride; i += HSPEC_VW) {
            vd_store(block->k + i, vd_load(block->k + i) + vd_load(block->sum + i));
        }
        memset(block->sum, 0, H * block->stride * sizeof *block->sum);
    }
    bias_and_scale(block);
}

static void advance(hspec_explicit *block, uint64_t from, uint64_t to)
{
    for (uint64_t t = from; t < to; t++) {
        if (block->single) {
            step(block, t, 1);
        } else {
            step(block, t, 0);
        }
    }
}

const hspec_explicit_ops HSPEC_LEVELED(hspec_explicit_ops_table) = {advance};
