/* SPDX-License-Identifier: MIT
 * One step of the reduced engine (docs/theory.md, "Reduced engine"), for the seeds of one native vector.
 *
 * With n = D - F - H the directions outside of what is tracked. Along the spikes and the H residual directions the
 * update is explicit: m' = m - rate sum d c^T, R' = R - rate sum d u^T. Outside it is H new vectors, of which only the
 * Gram matrix matters: rate^2 d W W^T d^T with W made of B L x n unit normals.
 *   location: d does not depend on W, so with d = T Q it is T A A^T T^T, A A^T ~ Wishart(n).
 *   token:    d depends on W W^T; W is drawn sequence by sequence in coordinates that hold the update so far, V.
 * The new R is the L factor of [R' | rate T A] or [R' | rate V].
 */
#include "sgd/reduced.h"

#include "core/bartlett_lanes.h"
#include "core/lq_lanes.h"
#include "core/normal.h"

/** Counters of a step: word 0 is the step, word 1 the sequence in its upper half and the place in its lower half. */
#define SEQUENCE(b) ((uint64_t)(b) << 32)
#define WORDS (UINT64_C(1) << 31)
#define EXACT (WORDS + (WORDS >> 1))

/** chi_hl = sum_f m_hf c_fl + sum_{j <= h} R_hj u_jl, up to CHUNK tokens at a time. @param c in [F][L] @param u in [H][L] */
HSPEC_INLINE void vd_scores(hspec_reduced *block, const double *c, const double *u, size_t L)
{
    enum { CHUNK = 5 };
    const size_t H = block->setup->H, F = block->setup->F;
    for (size_t h = 0; h < H; h++) {
        for (size_t first = 0; first < L; first += CHUNK) {
            const size_t n = L - first < CHUNK ? L - first : CHUNK;
            vd sum[CHUNK];
            for (size_t l = 0; l < n; l++) {
                sum[l] = vd_set(0.0);
            }
            for (size_t f = 0; f < F; f++) {
                const vd m = vd_load(HSPEC_AT(block->m, h * F + f));
                for (size_t l = 0; l < n; l++) {
                    sum[l] = sum[l] + m * vd_load(HSPEC_AT(c, f * L + first + l));
                }
            }
            for (size_t j = 0; j <= h; j++) {
                const vd R = vd_load(HSPEC_AT(block->R, h * H + j));
                for (size_t l = 0; l < n; l++) {
                    sum[l] = sum[l] + R * vd_load(HSPEC_AT(u, j * L + first + l));
                }
            }
            for (size_t l = 0; l < n; l++) {
                vd_store(HSPEC_AT(block->kernel.chi, h * L + first + l), sum[l]);
            }
        }
    }
}

/** out_hj (+)= sum_l d_hl x_jl for j < J. @param x in [J][L] */
HSPEC_INLINE void vd_accumulate(const hspec_kernel *k, size_t L, size_t J, const double *x, int first, double *out)
{
    for (size_t h = 0; h < k->heads; h++) {
        for (size_t j = 0; j < J; j++) {
            vd sum = first ? vd_set(0.0) : vd_load(HSPEC_AT(out, h * J + j));
            for (size_t l = 0; l < L; l++) {
                sum = sum + vd_load(HSPEC_AT(k->d, h * L + l)) * vd_load(HSPEC_AT(x, j * L + l));
            }
            vd_store(HSPEC_AT(out, h * J + j), sum);
        }
    }
}

/** out[i] (+)= x[i], i < n. */
HSPEC_INLINE void vd_add(size_t n, const double *x, int first, double *out)
{
    for (size_t i = 0; i < n; i++) {
        vd_store(HSPEC_AT(out, i),
                 first ? vd_load(HSPEC_AT(x, i)) : vd_load(HSPEC_AT(out, i)) + vd_load(HSPEC_AT(x, i)));
    }
}

/** x[i] -= rate dx[i], i < n. */
HSPEC_INLINE void vd_descend(size_t n, double rate, const double *dx, double *x)
{
    for (size_t i = 0; i < n; i++) {
        vd_store(HSPEC_AT(x, i), vd_load(HSPEC_AT(x, i)) - rate * vd_load(HSPEC_AT(dx, i)));
    }
}

/** G_ll' = (sum_f c_fl c_fl' + sum_j u_jl u_jl' + sum_k W_lk W_l'k) / D. */
HSPEC_INLINE void vd_gram(hspec_reduced *block, size_t L, const double *c, const double *u, size_t columns)
{
    const size_t H = block->setup->H, F = block->setup->F;
    const double inverse = 1.0 / (double)block->setup->D;
    for (size_t l = 0; l < L; l++) {
        for (size_t i = 0; i <= l; i++) {
            vd sum = vd_set(0.0);
            for (size_t f = 0; f < F; f++) {
                sum = sum + vd_load(HSPEC_AT(c, f * L + l)) * vd_load(HSPEC_AT(c, f * L + i));
            }
            for (size_t j = 0; j < H; j++) {
                sum = sum + vd_load(HSPEC_AT(u, j * L + l)) * vd_load(HSPEC_AT(u, j * L + i));
            }
            for (size_t k = 0; k < columns; k++) {
                sum = sum + vd_load(HSPEC_AT(block->W, l * columns + k)) * vd_load(HSPEC_AT(block->W, i * columns + k));
            }
            vd_store(HSPEC_AT(block->kernel.gram, l * L + i), sum * inverse);
            vd_store(HSPEC_AT(block->kernel.gram, i * L + l), sum * inverse);
        }
    }
}

/** W = [L x inside unit normals | Bartlett factor A of order L]; returns its number of columns. */
HSPEC_INLINE size_t vd_outside_tokens(hspec_reduced *block, const double *normals)
{
    const size_t inside = block->inside, K = block->bartlett.columns, columns = inside + K;
    for (size_t l = 0; l < block->setup->L; l++) {
        for (size_t k = 0; k < inside; k++) {
            vd_store(HSPEC_AT(block->W, l * columns + k), vd_load(HSPEC_AT(normals, l * inside + k)));
        }
        for (size_t k = 0; k < K; k++) {
            vd_store(HSPEC_AT(block->W, l * columns + inside + k),
                     k <= l ? vd_load(HSPEC_AT(block->A, l * K + k)) : vd_set(0.0));
        }
    }
    return columns;
}

/** V <- [V 0] + d W, of which the L factor is the new V, H x inside. V is stored with stride `columns`. */
HSPEC_INLINE void vd_outside_update(hspec_reduced *block, size_t L, size_t columns, int first)
{
    const size_t H = block->setup->H;
    for (size_t h = 0; h < H; h++) {
        for (size_t k = 0; k < columns; k++) {
            double *V = HSPEC_AT(block->V, h * columns + k);
            vd sum = first || k > h || k >= block->inside ? vd_set(0.0) : vd_load(V);
            for (size_t l = 0; l < L; l++) {
                sum =
                    sum + vd_load(HSPEC_AT(block->kernel.d, h * L + l)) * vd_load(HSPEC_AT(block->W, l * columns + k));
            }
            vd_store(V, sum);
        }
    }
}

/** T <- [T | d], of which the L factor is the new T. T is dense: rows grow from `width` to width + L columns in place,
 *  from the last one on. */
HSPEC_INLINE void vd_append_gradients(hspec_reduced *block, size_t L, size_t width)
{
    const size_t H = block->setup->H, M = width + L;
    double *T = block->T;
    for (size_t h = H; h-- > 0;) {
        for (size_t j = width; j-- > 0;) {
            vd_store(HSPEC_AT(T, h * M + j), j <= h ? vd_load(HSPEC_AT(T, h * width + j)) : vd_set(0.0));
        }
        for (size_t l = 0; l < L; l++) {
            vd_store(HSPEC_AT(T, h * M + width + l), vd_load(HSPEC_AT(block->kernel.d, h * L + l)));
        }
    }
}

/** The rows of T from M columns to the first `width` of them, in place, from the first one on. */
HSPEC_INLINE void vd_shrink(hspec_reduced *block, size_t M, size_t width)
{
    for (size_t h = 0; h < block->setup->H; h++) {
        for (size_t j = 0; j < width && j <= h; j++) {
            vd_store(HSPEC_AT(block->T, h * width + j), vd_load(HSPEC_AT(block->T, h * M + j)));
        }
    }
}

/** X_{h, H + j} = rate sum_k T_hk A_kj over j <= k <= h, j < K; T [H][width], in rows of `row` columns. */
HSPEC_INLINE void vd_outside_location(hspec_reduced *block, const double *T, size_t width, size_t row, size_t stride)
{
    const size_t H = block->setup->H, K = block->bartlett.columns;
    const double rate = block->setup->rate;
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < K; j++) {
            vd sum = vd_set(0.0);
            for (size_t k = j; k <= h && k < width; k++) {
                sum = sum + vd_load(HSPEC_AT(T, h * row + k)) * vd_load(HSPEC_AT(block->A, k * K + j));
            }
            vd_store(HSPEC_AT(block->X, h * stride + H + j), rate * sum);
        }
    }
}

/** X_{h, H + j} = rate V_hj, j < inside. */
HSPEC_INLINE void vd_outside_token(hspec_reduced *block, size_t columns, size_t stride)
{
    const size_t H = block->setup->H;
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < block->inside; j++) {
            vd_store(HSPEC_AT(block->X, h * stride + H + j),
                     j <= h ? block->setup->rate * vd_load(HSPEC_AT(block->V, h * columns + j)) : vd_set(0.0));
        }
    }
}

/** X = [R - rate dR | outside], of which the L factor is the new R; the outside columns are there already. */
HSPEC_INLINE void vd_inside(hspec_reduced *block, size_t stride)
{
    const size_t H = block->setup->H;
    const double rate = block->setup->rate;
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) {
            vd x = -rate * vd_load(HSPEC_AT(block->dR, h * H + j));
            if (j <= h) {
                x = x + vd_load(HSPEC_AT(block->R, h * H + j));
            }
            vd_store(HSPEC_AT(block->X, h * stride + j), x);
        }
    }
}

/** R <- lower triangle of X; heads that started equal keep equal rows. */
HSPEC_INLINE void vd_take_residual(hspec_reduced *block, size_t stride)
{
    const size_t H = block->setup->H;
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++) {
            vd_store(HSPEC_AT(block->R, h * H + j), vd_load(HSPEC_AT(block->X, h * stride + j)));
        }
    }
    for (size_t h = 1; block->setup->twins && h < H; h++) {
        const size_t twin = block->setup->twin[h];
        for (size_t j = 0; twin < h && j <= h; j++) {
            vd_store(HSPEC_AT(block->R, h * H + j),
                     j <= twin ? vd_load(HSPEC_AT(block->R, twin * H + j)) : vd_set(0.0));
        }
    }
}

/** b and s move by rate times the sums over the batch; a shared bias by the sum over heads. */
HSPEC_INLINE void vd_bias_and_scale(hspec_reduced *block)
{
    const hspec_layer_params *layer = &block->setup->layer;
    const size_t H = block->setup->H;
    if (layer->bias_train) {
        if (!layer->bias_per_head) {
            vd sum = vd_set(0.0);
            for (size_t h = 0; h < H; h++) {
                sum = sum + vd_load(HSPEC_AT(block->db, h));
            }
            for (size_t h = 0; h < H; h++) {
                vd_store(HSPEC_AT(block->db, h), sum);
            }
        }
        vd_descend(H, block->setup->rate, block->db, block->kernel.bias);
    }
    if (layer->scale_train) {
        vd_descend(1, block->setup->rate, block->ds, block->kernel.scale);
    }
}

/** Sequence b of step t: random numbers, scores, gradients, their sums over the batch, and [T | d] or [V 0] + d W. */
HSPEC_INLINE void sequence(hspec_reduced *block, uint64_t t, size_t b, size_t L, size_t width)
{
    const hspec_setup *setup = block->setup;
    const size_t H = setup->H, F = setup->F;
    const int first = b == 0, token = block->kernel.gram != NULL;
    const int bartlett = token || b + 1 == setup->B; /* location: one factor a step, drawn with the last sequence */
    const vu k0 = vu_load(block->keys), k1 = vu_load(block->keys + HSPEC_W);
    double *c = block->normals, *u = HSPEC_AT(c, F * L);
    const double *for_theta = HSPEC_AT(u, H * L), *outside = HSPEC_AT(c, block->normals_sequence);
    const size_t normals_outside = token ? L * block->inside : 0;

    vd_fill_normals(k0, k1, t, SEQUENCE(b), c,
                    block->normals_sequence + normals_outside + (bartlett ? block->bartlett.normals : 0));
    vd_fill_words(k0, k1, t, SEQUENCE(b) | WORDS, block->words,
                  block->words_sequence + (bartlett ? block->bartlett.words : 0));
    if (bartlett) {
        vd_bartlett(&block->bartlett, block->keys, t, SEQUENCE(b) | EXACT, HSPEC_AT(outside, normals_outside),
                    HSPEC_AT(block->words, block->words_sequence), block->A);
    }
    HSPEC_LEVELED(hspec_signal_ops_table).draw(setup->signal, block->words, for_theta, block->theta);
    for (size_t f = 0; f < F; f++) {
        vd_store(HSPEC_AT(c, f * L), vd_load(HSPEC_AT(c, f * L)) + vd_load(HSPEC_AT(block->theta, f)));
    }
    vd_scores(block, c, u, L);
    const size_t columns = token ? vd_outside_tokens(block, outside) : 0;
    if (token) {
        vd_gram(block, L, c, u, columns);
    }
    setup->activation->gradient(&block->kernel);
    vd_accumulate(&block->kernel, L, F, c, first, block->dm);
    vd_accumulate(&block->kernel, L, H, u, first, block->dR);
    vd_add(H, block->kernel.db, first, block->db);
    vd_add(1, block->kernel.ds, first, block->ds);
    if (token) {
        vd_outside_update(block, L, columns, first);
    } else if (setup->B > 1) {
        vd_append_gradients(block, L, width);
    }
}

/** X of one part at the end of a step, and the new m, b and s. The L factor of all gradients is T, or, of a single
 *  sequence, stands where its gradients were. */
HSPEC_INLINE void update(hspec_reduced *block, size_t L, size_t width, size_t columns, size_t stride)
{
    vd_descend(block->setup->H * block->setup->F, block->setup->rate, block->dm, block->m);
    if (block->kernel.gram) {
        vd_outside_token(block, columns, stride);
    } else if (block->setup->B > 1) {
        vd_outside_location(block, block->T, width, width, stride);
    } else {
        vd_outside_location(block, block->kernel.d, width, L, stride);
    }
    vd_inside(block, stride);
    vd_bias_and_scale(block);
}

/** One step of all parts: each on its own, but for the factorizations, which they go through side by side. */
HSPEC_INLINE void step(hspec_reduced *part, uint64_t t, size_t L)
{
    const size_t H = part->setup->H;
    const int token = part->kernel.gram != NULL;
    const size_t columns = token ? part->inside + part->bartlett.columns : 0;
    size_t width = 0; /* columns of T */
    for (size_t b = 0; b < part->setup->B; b++) {
        for (size_t p = 0; p < HSPEC_PARTS; p++) {
            sequence(&part[p], t, b, L, width);
        }
        if (token) {
            vd_lq(HSPEC_PARTS, H, columns, part->V);
        } else {
            const size_t M = width + L;
            vd_lq(HSPEC_PARTS, H, M, part->setup->B > 1 ? part->T : part->kernel.d);
            width = M < H ? M : H;
            for (size_t p = 0; p < HSPEC_PARTS && part->setup->B > 1; p++) {
                vd_shrink(&part[p], M, width);
            }
        }
    }
    const size_t stride = H + (token ? part->inside : part->bartlett.columns);
    for (size_t p = 0; p < HSPEC_PARTS; p++) {
        update(&part[p], L, width, columns, stride);
    }
    vd_lq(HSPEC_PARTS, H, stride, part->X);
    for (size_t p = 0; p < HSPEC_PARTS; p++) {
        vd_take_residual(&part[p], stride);
    }
}

HSPEC_INLINE void steps(hspec_reduced *part, uint64_t from, uint64_t to, size_t L)
{
    for (uint64_t t = from; t < to; t++) {
        step(part, t, L);
    }
}

static void advance(hspec_reduced *part, uint64_t from, uint64_t to)
{
    HSPEC_WITH_TOKENS(part->setup->L, steps(part, from, to, L));
}

const hspec_reduced_ops HSPEC_LEVELED(hspec_reduced_ops_table) = {HSPEC_VW, advance};
