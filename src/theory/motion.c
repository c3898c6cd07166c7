/* SPDX-License-Identifier: MIT */
#include "theory/motion.h"

#include "core/dense.h"

#include <math.h>
#include <string.h>

/** Are heads h and j equal: does exchanging them change nothing? */
static int equal_heads(const hspec_order *o, size_t H, size_t F, size_t h, size_t j)
{
    int equal = memcmp(o->alignment + h * F, o->alignment + j * F, F * sizeof(double)) == 0 &&
                o->bias[h] == o->bias[j] && o->residual[h * H + h] == o->residual[j * H + j];
    for (size_t k = 0; k < H && equal; k++) {
        equal = k == h || k == j || o->residual[h * H + k] == o->residual[j * H + k];
    }
    return equal;
}

static void find_twins(hspec_motion *motion, const hspec_order *start)
{
    for (size_t h = 0; h < motion->H; h++) {
        size_t j = 0;
        while (j < h && !equal_heads(start, motion->H, motion->F, h, j)) {
            j++;
        }
        motion->twin[h] = j;
        motion->twins = motion->twins || j < h;
    }
}

static void lay_out(hspec_motion *motion, size_t size)
{
    const size_t H = motion->H, HH = hspec_memory_mul(H, H);
    motion->bias = hspec_arena_doubles(&motion->arena, H);
    motion->twin = hspec_arena_take(&motion->arena, H, sizeof *motion->twin);
    motion->root = hspec_arena_doubles(&motion->arena, HH);
    motion->scratch = hspec_arena_doubles(&motion->arena, hspec_memory_mul(2, HH));
    motion->b = hspec_arena_doubles(&motion->arena, H);
    motion->mean = hspec_arena_doubles(&motion->arena, size);
}

hspec_status hspec_motion_create(const hspec_setup *setup, hspec_limit limit, const hspec_nodes_params *nodes,
                                 const hspec_order *start, int threads, hspec_motion *motion, hspec_error *err)
{
    const size_t H = setup->H, F = setup->F;
    const hspec_layer_params *layer = &setup->layer;
    hspec_motion created = {.H = H,
                            .F = F,
                            .limit = limit,
                            .rate = setup->training.learning_rate,
                            .noise = limit == HSPEC_LIMIT_SGD,
                            .per_head = layer->bias_per_head,
                            .bayes = layer->activation == HSPEC_BAYES,
                            .biases = layer->bias_train ? (layer->bias_per_head ? H : 1) : 0,
                            .scales = layer->scale_train ? 1 : 0,
                            .scale = start->scale};
    created.update = created.rate * created.rate / (double)setup->B;
    for (size_t i = 0; i < H * H; i++) {
        created.noise = created.noise || start->residual[i] != 0;
    }
    created.residuals = !created.noise ? 0 : limit == HSPEC_LIMIT_SGD ? H * (H + 1) / 2 : H * H;
    created.variables = H * F + created.residuals + created.biases + created.scales;
    const size_t size = hspec_field_layout(H, F).size;
    lay_out(&created, size);
    HSPEC_TRY(hspec_arena_commit(&created.arena, err));
    lay_out(&created, size);
    memcpy(created.bias, start->bias, H * sizeof *created.bias);
    find_twins(&created, start);
    hspec_nodes_params with = *nodes;
    with.noise = created.noise;
    with.closed = 1;
    const hspec_status status =
        hspec_field_create(setup->signal, layer, setup->L, &with, 1, threads, &created.field, err);
    if (status != HSPEC_OK) {
        hspec_arena_free(&created.arena);
        return status;
    }
    *motion = created;
    return HSPEC_OK;
}

void hspec_motion_free(hspec_motion *motion)
{
    if (motion->arena.base) {
        hspec_field_free(&motion->field);
    }
    hspec_arena_free(&motion->arena);
}

void hspec_motion_pack(hspec_motion *motion, const hspec_order *order, double *y)
{
    const size_t H = motion->H;
    memcpy(y, order->alignment, H * motion->F * sizeof *y);
    y += H * motion->F;
    if (motion->noise && motion->limit == HSPEC_LIMIT_FLOW) {
        (void)hspec_dense_symmetric_root(H, order->residual, y, motion->scratch);
    } else if (motion->noise) {
        for (size_t h = 0, i = 0; h < H; h++) {
            for (size_t j = 0; j <= h; j++, i++) {
                y[i] = order->residual[h * H + j];
            }
        }
    }
    y += motion->residuals;
    memcpy(y, order->bias, motion->biases * sizeof *y);
    if (motion->scales) {
        y[motion->biases] = order->scale;
    }
}

/** r from its lower triangle. */
static void fill_residual(size_t H, const double *triangle, double *r)
{
    for (size_t h = 0, i = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++, i++) {
            r[h * H + j] = r[j * H + h] = triangle[i];
        }
    }
}

/** Biases and scale: trained ones from y, the others as they were at the start. */
static void fill_parameters(const hspec_motion *motion, const double *y, double *b, double *s)
{
    y += motion->H * motion->F + motion->residuals;
    for (size_t h = 0; h < motion->H; h++) {
        b[h] = motion->biases ? y[motion->per_head ? h : 0] : motion->bias[h];
    }
    *s = motion->scales ? y[motion->biases] : motion->scale;
}

double hspec_motion_unpack(hspec_motion *motion, const double *y, double *m, double *r, double *b, double *s)
{
    const size_t H = motion->H;
    const double *residual = y + H * motion->F;
    double least = 0;
    memcpy(m, y, H * motion->F * sizeof *m);
    memset(r, 0, H * H * sizeof *r);
    if (motion->noise && motion->limit == HSPEC_LIMIT_FLOW) {
        hspec_dense_gram(H, H, residual, r);
    } else if (motion->noise) {
        fill_residual(H, residual, r);
        least = hspec_dense_symmetric_root(H, r, motion->root, motion->scratch);
        if (least < 0) {
            hspec_dense_gram(H, H, motion->root, r);
        }
    }
    fill_parameters(motion, y, b, s);
    if (motion->bayes) { /* a common shift changes nothing */
        double mean = 0;
        for (size_t h = 0; h < H; h++) {
            mean += b[h] / (double)H;
        }
        for (size_t h = 0; h < H; h++) {
            b[h] -= mean;
        }
    }
    return least;
}

/** Equal heads receive equal slopes: the mean over every exchange of them. For all heads together the nodes see to it
 *  already; this is for some of them, and for the last bit.
 *  @param A inout [H][columns] */
static void average_rows(const hspec_motion *motion, size_t columns, double *A)
{
    const size_t H = motion->H;
    for (size_t first = 0; first < H; first++) {
        for (size_t f = 0; motion->twin[first] == first && f < columns; f++) {
            double sum = 0;
            size_t count = 0;
            for (size_t h = first; h < H; h++) {
                if (motion->twin[h] == first) {
                    sum += A[h * columns + f];
                    count++;
                }
            }
            for (size_t h = first; h < H; h++) {
                if (motion->twin[h] == first) {
                    A[h * columns + f] = sum / (double)count;
                }
            }
        }
    }
}

/** The same for a matrix between heads; entries of a head with itself are a class of their own. */
static void average_matrix(const hspec_motion *motion, double *A)
{
    const size_t H = motion->H;
    const size_t *twin = motion->twin;
    for (size_t p = 0; p < H; p++) {
        for (size_t q = 0; q < H; q++) {
            for (int diagonal = 0; twin[p] == p && twin[q] == q && diagonal <= (p == q); diagonal++) {
                double sum = 0;
                size_t count = 0;
                for (int pass = 0; pass < 2; pass++) {
                    for (size_t h = p; h < H; h++) {
                        for (size_t j = q; j < H; j++) {
                            if (twin[h] != p || twin[j] != q || (h == j) != diagonal) {
                                continue;
                            }
                            if (pass == 0) {
                                sum += A[h * H + j];
                                count++;
                            } else {
                                A[h * H + j] = sum / (double)count;
                            }
                        }
                    }
                }
            }
        }
    }
}

/** E sum_l d_hl u_jl and E sum_l d_hl d_h'l to the slope of the residual. */
static void residual_slope(hspec_motion *motion, const double *root, double *slope)
{
    const size_t H = motion->H;
    double *du = motion->mean + motion->field.places.root, *dd = motion->mean + motion->field.places.update;
    if (motion->twins) {
        average_matrix(motion, du);
        average_matrix(motion, dd);
    }
    if (motion->limit == HSPEC_LIMIT_FLOW) {
        for (size_t i = 0; i < H * H; i++) {
            slope[i] = -motion->rate * du[i];
        }
        return;
    }
    for (size_t h = 0, i = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++, i++) {
            double dn = 0; /* E sum_l (d_hl n_jl + d_jl n_hl), n = R u */
            for (size_t k = 0; k < H; k++) {
                dn += du[h * H + k] * root[j * H + k] + du[j * H + k] * root[h * H + k];
            }
            slope[i] = -motion->rate * dn + motion->update * dd[h * H + j];
        }
    }
}

int hspec_motion_slope(hspec_motion *motion, const double *y, double *slope)
{
    const size_t H = motion->H, F = motion->F;
    const double *residual = y + H * F;
    const double *root = residual; /* flow: R itself */
    if (motion->noise && motion->limit == HSPEC_LIMIT_SGD) {
        double *r = motion->mean + motion->field.places.root; /* free until the field is evaluated */
        fill_residual(H, residual, r);
        (void)hspec_dense_symmetric_root(H, r, motion->root, motion->scratch);
        root = motion->root;
    }
    hspec_field_state state = {.alignment = y, .root = root, .bias = motion->b};
    fill_parameters(motion, y, motion->b, &state.scale);
    hspec_field_evaluate(&motion->field, 1, &state,
                         motion->limit == HSPEC_LIMIT_SGD ? HSPEC_FIELD_ALL : HSPEC_FIELD_GRADIENT, motion->mean, NULL);
    double *dm = motion->mean + motion->field.places.alignment, *db = motion->mean + motion->field.places.bias;
    if (motion->twins) {
        average_rows(motion, F, dm);
        average_rows(motion, 1, db);
    }
    for (size_t i = 0; i < H * F; i++) {
        slope[i] = -motion->rate * dm[i];
    }
    double *place = slope + H * F;
    if (motion->noise) {
        residual_slope(motion, root, place);
    }
    place += motion->residuals;
    memset(place, 0, motion->biases * sizeof *place);
    for (size_t h = 0; motion->biases && h < H; h++) { /* a shared bias: the sum over heads */
        place[motion->per_head ? h : 0] -= motion->rate * db[h];
    }
    if (motion->scales) {
        place[motion->biases] = -motion->rate * motion->mean[motion->field.places.scale];
    }
    for (size_t i = 0; i < motion->variables; i++) {
        if (!isfinite(slope[i])) {
            return 1;
        }
    }
    return 0;
}
