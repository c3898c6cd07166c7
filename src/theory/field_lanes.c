/* SPDX-License-Identifier: MIT
 * The nodes of one block of base points: scores, the kernel, and sums of its gradients, one native vector at a time. */
#include "theory/field.h"

#include "core/lanes.h"
#include "theory/parts_lanes.h"

/** One part of a block, and where everything of it stands. */
typedef struct view {
    hspec_field_worker *w;
    const hspec_nodes *nodes;
    const hspec_field_state *state;
    hspec_kernel kernel;
    const hspec_nodes_set *set;
    const double *x; /* base points */
    double *c, *base, *z, *sum, *plus, *minus, *sums;
    hspec_field_places places;
    hspec_field_what what;
} view;

HSPEC_INLINE void add_to(double *place, vd x)
{
    vd_store(place, vd_load(place) + x);
}

/** c of one element, with theta at the target, and m c. */
HSPEC_INLINE void set_signal(const view *v, size_t L, size_t e)
{
    const size_t H = v->w->H, F = v->w->F;
    const double *c = HSPEC_AT(v->x, v->set->normals);
    for (size_t f = 0; f < F; f++) {
        const double sign = v->nodes->sign[e * F + f];
        for (size_t l = 0; l < L; l++) {
            vd_store(HSPEC_AT(v->c, f * L + l), sign * vd_load(HSPEC_AT(c, f * L + l)));
        }
        vd theta = vd_set(v->nodes->constant[e * F + f]);
        if (v->set->normals) {
            theta = theta + (sign * v->nodes->deviation[f]) * vd_load(HSPEC_AT(v->x, f));
        }
        add_to(HSPEC_AT(v->c, f * L), theta);
    }
    for (size_t h = 0; h < H; h++) {
        for (size_t l = 0; l < L; l++) {
            vd chi = v->state->alignment[h * F] * vd_load(HSPEC_AT(v->c, l));
            for (size_t f = 1; f < F; f++) {
                chi = chi + v->state->alignment[h * F + f] * vd_load(HSPEC_AT(v->c, f * L + l));
            }
            vd_store(HSPEC_AT(v->base, h * L + l), chi);
        }
    }
}

/** z = R u, with the rows of u moved on by `rotation`. */
HSPEC_INLINE void set_noise(const view *v, size_t L, size_t rotation)
{
    const size_t H = v->w->H;
    const double *u = HSPEC_AT(v->x, v->set->normals + v->w->F * L);
    for (size_t h = 0; h < H; h++) {
        for (size_t l = 0; l < L; l++) {
            vd z = vd_set(0.0);
            for (size_t j = 0; j < H; j++) {
                const size_t row = j + rotation < H ? j + rotation : j + rotation - H;
                z = z + v->state->root[h * H + j] * vd_load(HSPEC_AT(u, row * L + l));
            }
            vd_store(HSPEC_AT(v->z, h * L + l), z);
        }
    }
}

/** weight sum_l a_hl b_jl to out[h][j], for b of `rows` rows moved on by `rotation`. */
HSPEC_INLINE void add_products(const view *v, size_t L, const double *a, const double *b, size_t rows, size_t rotation,
                               double weight, double *out)
{
    for (size_t h = 0; h < v->w->H; h++) {
        for (size_t j = 0; j < rows; j++) {
            const size_t row = j + rotation < rows ? j + rotation : j + rotation - rows;
            vd sum = vd_set(0.0);
            for (size_t l = 0; l < L; l++) {
                sum = sum + vd_load(HSPEC_AT(a, h * L + l)) * vd_load(HSPEC_AT(b, row * L + l));
            }
            add_to(HSPEC_AT(out, h * rows + j), weight * sum);
        }
    }
}

/** chi = m c + side z and the kernel on it; what needs no products of its gradients is summed. */
HSPEC_INLINE void run_kernel(view *v, size_t L, double side, double weight)
{
    hspec_kernel *k = &v->kernel;
    for (size_t i = 0; i < v->w->H * L; i++) {
        vd chi = vd_load(HSPEC_AT(v->base, i));
        if (side != 0) {
            chi = chi + side * vd_load(HSPEC_AT(v->z, i));
        }
        vd_store(HSPEC_AT(k->chi, i), chi);
    }
    const int gradient = v->what >= HSPEC_FIELD_GRADIENT;
    if (gradient) {
        v->w->activation->gradient(k);
    } else {
        v->w->activation->forward(k);
    }
    add_to(HSPEC_AT(v->sums, v->places.loss), weight * vd_load(k->loss));
    if (v->what == HSPEC_FIELD_PARTS) {
        vd_add_parts(k, L, weight, HSPEC_AT(v->sums, v->places.parts));
    }
    for (size_t h = 0; gradient && h < v->w->H; h++) {
        add_to(HSPEC_AT(v->sums, v->places.bias + h), weight * vd_load(HSPEC_AT(k->db, h)));
    }
    if (gradient) {
        add_to(HSPEC_AT(v->sums, v->places.scale), weight * vd_load(k->ds));
    }
}

/** The node without noise. */
HSPEC_INLINE void add_silent(view *v, size_t L, double weight)
{
    v->kernel.d = v->sum; /* nothing else is summed */
    run_kernel(v, L, 0, weight);
    for (size_t h = 0; v->what == HSPEC_FIELD_ALL && h < v->w->H; h++) {
        for (size_t j = 0; j <= h; j++) {
            vd sum = vd_set(0.0);
            for (size_t l = 0; l < L; l++) {
                sum = sum + vd_load(HSPEC_AT(v->sum, h * L + l)) * vd_load(HSPEC_AT(v->sum, j * L + l));
            }
            add_to(HSPEC_AT(v->sums, v->places.update + h * v->w->H + j), weight * sum);
        }
    }
}

/** The nodes at u and -u, in which all of R u is `z` already. */
HSPEC_INLINE void add_pair(view *v, size_t L, const double *u, size_t rotation, double weight)
{
    const size_t H = v->w->H;
    v->kernel.d = v->plus;
    run_kernel(v, L, 1, weight);
    v->kernel.d = v->minus;
    run_kernel(v, L, -1, weight);
    for (size_t h = 0; v->what >= HSPEC_FIELD_GRADIENT && h < H; h++) {
        for (size_t j = 0; v->what == HSPEC_FIELD_ALL && j <= h; j++) {
            vd even = vd_set(0.0), odd = vd_set(0.0);
            for (size_t l = 0; l < L; l++) {
                even = even + vd_load(HSPEC_AT(v->plus, h * L + l)) * vd_load(HSPEC_AT(v->plus, j * L + l));
                odd = odd + vd_load(HSPEC_AT(v->minus, h * L + l)) * vd_load(HSPEC_AT(v->minus, j * L + l));
            }
            add_to(HSPEC_AT(v->sums, v->places.update + h * H + j), weight * (even + odd));
        }
    }
    for (size_t i = 0; v->what >= HSPEC_FIELD_GRADIENT && i < H * L; i++) {
        const vd plus = vd_load(HSPEC_AT(v->plus, i)), minus = vd_load(HSPEC_AT(v->minus, i));
        add_to(HSPEC_AT(v->sum, i), plus + minus);
        vd_store(HSPEC_AT(v->plus, i), plus - minus);
    }
    if (v->what >= HSPEC_FIELD_GRADIENT) {
        add_products(v, L, v->plus, u, H, rotation, weight, HSPEC_AT(v->sums, v->places.root));
    }
}

HSPEC_INLINE void add_part(view *v, size_t L)
{
    const hspec_nodes *nodes = v->nodes;
    const hspec_nodes_set *set = v->set;
    const double *u = HSPEC_AT(v->x, set->normals + v->w->F * L);
    const int products = v->what >= HSPEC_FIELD_GRADIENT;
    for (size_t e = 0; e < nodes->elements; e++) {
        set_signal(v, L, e);
        if (!set->noise || set->silent != 0) {
            const double weight = nodes->weight[e] * (set->noise ? set->silent : set->weight);
            add_silent(v, L, weight);
            if (products) {
                add_products(v, L, v->sum, v->c, v->w->F, 0, weight, HSPEC_AT(v->sums, v->places.alignment));
            }
        }
        if (!set->noise) {
            continue;
        }
        const double weight = nodes->weight[e] * set->weight;
        for (size_t i = 0; i < v->w->H * L; i++) {
            vd_store(HSPEC_AT(v->sum, i), vd_set(0.0));
        }
        for (size_t rotation = 0; rotation < nodes->rotations; rotation++) {
            set_noise(v, L, rotation);
            add_pair(v, L, u, rotation, weight);
        }
        if (products) {
            add_products(v, L, v->sum, v->c, v->w->F, 0, weight, HSPEC_AT(v->sums, v->places.alignment));
        }
    }
}

static void add(hspec_field_worker *w, const hspec_nodes *nodes, hspec_nodes_block block,
                const hspec_field_state *state, hspec_field_what what)
{
    for (size_t lane = 0; lane < HSPEC_W; lane += HSPEC_VW) {
        view v = {.w = w,
                  .nodes = nodes,
                  .state = state,
                  .kernel = hspec_kernel_part(&w->kernel, lane),
                  .set = block.set,
                  .x = block.x + lane,
                  .c = w->c + lane,
                  .base = w->base + lane,
                  .z = w->z + lane,
                  .sum = w->sum + lane,
                  .plus = w->plus + lane,
                  .minus = w->minus + lane,
                  .sums = w->sums + lane,
                  .places = hspec_field_layout(w->H, w->F),
                  .what = what};
        for (size_t h = 0; h < w->H; h++) {
            vd_store(HSPEC_AT(v.kernel.bias, h), vd_set(state->bias[h]));
        }
        vd_store(v.kernel.scale, vd_set(state->scale));
        HSPEC_WITH_TOKENS(w->L, add_part(&v, L));
    }
}

const hspec_field_ops HSPEC_LEVELED(hspec_field_ops_table) = {HSPEC_VW, add};
