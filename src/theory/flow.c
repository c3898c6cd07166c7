/* SPDX-License-Identifier: MIT */
#include "theory/flow.h"

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

static void find_twins(hspec_flow *flow, const hspec_order *start)
{
    for (size_t h = 0; h < flow->H; h++) {
        size_t j = 0;
        while (j < h && !equal_heads(start, flow->H, flow->F, h, j)) {
            j++;
        }
        flow->twin[h] = j;
        flow->twins = flow->twins || j < h;
        flow->coincide[h] = 1;
        if (j < h && start->residual[h * flow->H + j] != start->residual[h * flow->H + h]) {
            flow->coincide[j] = 0;
        }
    }
}

/* In the limit of SGD the residual settles near eta / (B H L). Split nodes take a third off the errors of the alignments at
 * r = 0.06, nothing at r = 0.15, and at r = 0.5 they add a third. */
int hspec_flow_splits_nodes(const hspec_setup *setup, hspec_limit limit, const double *residual)
{
    const size_t H = setup->H;
    double r = limit == HSPEC_LIMIT_SGD ? setup->training.learning_rate / (double)(setup->B * H * setup->L) : 0;
    for (size_t h = 0; h < H; h++) {
        r = fmax(r, residual[h * H + h]);
    }
    return r < 0.1;
}

static void lay_out(hspec_flow *flow, size_t size)
{
    const size_t H = flow->H, HH = hspec_memory_mul(H, H);
    flow->bias = hspec_arena_doubles(&flow->arena, H);
    flow->twin = hspec_arena_take(&flow->arena, H, sizeof *flow->twin);
    flow->coincide = hspec_arena_take(&flow->arena, H, sizeof *flow->coincide);
    flow->root = hspec_arena_doubles(&flow->arena, HH);
    flow->scratch = hspec_arena_doubles(&flow->arena, hspec_memory_mul(2, HH));
    flow->b = hspec_arena_doubles(&flow->arena, H);
    flow->mean = hspec_arena_doubles(&flow->arena, size);
}

hspec_status hspec_flow_create(const hspec_setup *setup, hspec_limit limit, const hspec_nodes_params *nodes,
                               const hspec_order *start, int threads, hspec_flow *flow, hspec_error *err)
{
    const size_t H = setup->H, F = setup->F;
    const hspec_layer_params *layer = &setup->layer;
    hspec_flow created = {.H = H,
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
    with.split = hspec_flow_splits_nodes(setup, limit, start->residual);
    const hspec_status status =
        hspec_field_create(setup->signal, layer, setup->L, &with, 1, threads, &created.field, err);
    if (status != HSPEC_OK) {
        hspec_arena_free(&created.arena);
        return status;
    }
    *flow = created;
    return HSPEC_OK;
}

void hspec_flow_free(hspec_flow *flow)
{
    if (flow->arena.base) {
        hspec_field_free(&flow->field);
    }
    hspec_arena_free(&flow->arena);
}

void hspec_flow_pack(hspec_flow *flow, const hspec_order *order, double *y)
{
    const size_t H = flow->H;
    memcpy(y, order->alignment, H * flow->F * sizeof *y);
    y += H * flow->F;
    if (flow->noise && flow->limit == HSPEC_LIMIT_FLOW) {
        (void)hspec_dense_symmetric_root(H, order->residual, y, flow->scratch);
    } else if (flow->noise) {
        for (size_t h = 0, i = 0; h < H; h++) {
            for (size_t j = 0; j <= h; j++, i++) {
                y[i] = order->residual[h * H + j];
            }
        }
    }
    y += flow->residuals;
    memcpy(y, order->bias, flow->biases * sizeof *y);
    if (flow->scales) {
        y[flow->biases] = order->scale;
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
static void fill_parameters(const hspec_flow *flow, const double *y, double *b, double *s)
{
    y += flow->H * flow->F + flow->residuals;
    for (size_t h = 0; h < flow->H; h++) {
        b[h] = flow->biases ? y[flow->per_head ? h : 0] : flow->bias[h];
    }
    *s = flow->scales ? y[flow->biases] : flow->scale;
}

/** Equal heads stay equal: the mean over every exchange of them. For all heads together the nodes see to it already;
 *  this is for some of them, and for the last bit.
 *  @param A inout [H][columns] */
static void average_rows(const hspec_flow *flow, size_t columns, double *A)
{
    const size_t H = flow->H;
    for (size_t first = 0; first < H; first++) {
        for (size_t f = 0; flow->twin[first] == first && f < columns; f++) {
            double sum = 0;
            size_t count = 0;
            for (size_t h = first; h < H; h++) {
                if (flow->twin[h] == first) {
                    sum += A[h * columns + f];
                    count++;
                }
            }
            for (size_t h = first; h < H; h++) {
                if (flow->twin[h] == first) {
                    A[h * columns + f] = sum / (double)count;
                }
            }
        }
    }
}

/** The same for a matrix between heads. Entries of a head with itself are a class of their own, unless the heads
 *  coincide. */
static void average_matrix(const hspec_flow *flow, double *A)
{
    const size_t H = flow->H;
    const size_t *twin = flow->twin;
    for (size_t p = 0; p < H; p++) {
        for (size_t q = 0; q < H; q++) {
            const int apart = p == q && !flow->coincide[p]; /* are there two classes? */
            for (int diagonal = 0; twin[p] == p && twin[q] == q && diagonal <= apart; diagonal++) {
                double sum = 0;
                size_t count = 0;
                for (int pass = 0; pass < 2; pass++) {
                    for (size_t h = p; h < H; h++) {
                        for (size_t j = q; j < H; j++) {
                            if (twin[h] != p || twin[j] != q || (apart && (h == j) != diagonal)) {
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

double hspec_flow_unpack(hspec_flow *flow, const double *y, double *m, double *r, double *b, double *s)
{
    const size_t H = flow->H;
    const double *residual = y + H * flow->F;
    double least = 0;
    memcpy(m, y, H * flow->F * sizeof *m);
    memset(r, 0, H * H * sizeof *r);
    if (flow->noise && flow->limit == HSPEC_LIMIT_FLOW) {
        hspec_dense_gram(H, H, residual, r);
    } else if (flow->noise) {
        fill_residual(H, residual, r);
        least = hspec_dense_symmetric_root(H, r, flow->root, flow->scratch);
        if (least < 0) {
            hspec_dense_gram(H, H, flow->root, r);
            if (flow->twins) { /* to the last bit */
                average_matrix(flow, r);
            }
        }
    }
    fill_parameters(flow, y, b, s);
    if (flow->bayes) { /* a common shift changes nothing */
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

/** E sum_l d_hl u_jl and E sum_l d_hl d_h'l to the slope of the residual. */
static void residual_slope(hspec_flow *flow, const double *root, double *slope)
{
    const size_t H = flow->H;
    const double *du = flow->mean + flow->field.places.root;
    double *dd = flow->mean + flow->field.places.update;
    if (flow->limit == HSPEC_LIMIT_FLOW) {
        for (size_t i = 0; i < H * H; i++) {
            slope[i] = -flow->rate * du[i];
        }
        if (flow->twins) {
            average_matrix(flow, slope);
        }
        return;
    }
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++) {
            double dn = 0; /* E sum_l (d_hl n_jl + d_jl n_hl), n = R u */
            for (size_t k = 0; k < H; k++) {
                dn += du[h * H + k] * root[j * H + k] + du[j * H + k] * root[h * H + k];
            }
            dd[h * H + j] = dd[j * H + h] = -flow->rate * dn + flow->update * dd[h * H + j];
        }
    }
    if (flow->twins) {
        average_matrix(flow, dd);
    }
    for (size_t h = 0, i = 0; h < H; h++) {
        for (size_t j = 0; j <= h; j++, i++) {
            slope[i] = dd[h * H + j];
        }
    }
}

int hspec_flow_slope(hspec_flow *flow, const double *y, double *slope)
{
    const size_t H = flow->H, F = flow->F;
    const double *residual = y + H * F;
    const double *root = residual; /* flow: R itself */
    if (flow->noise && flow->limit == HSPEC_LIMIT_SGD) {
        double *r = flow->mean + flow->field.places.root; /* free until the field is evaluated */
        fill_residual(H, residual, r);
        (void)hspec_dense_symmetric_root(H, r, flow->root, flow->scratch);
        root = flow->root;
    }
    hspec_field_state state = {.alignment = y, .root = root, .bias = flow->b};
    fill_parameters(flow, y, flow->b, &state.scale);
    hspec_field_evaluate(&flow->field, 1, &state,
                         flow->limit == HSPEC_LIMIT_SGD ? HSPEC_FIELD_ALL : HSPEC_FIELD_GRADIENT, flow->mean, NULL);
    double *dm = flow->mean + flow->field.places.alignment, *db = flow->mean + flow->field.places.bias;
    if (flow->twins) {
        average_rows(flow, F, dm);
        average_rows(flow, 1, db);
    }
    for (size_t i = 0; i < H * F; i++) {
        slope[i] = -flow->rate * dm[i];
    }
    double *place = slope + H * F;
    if (flow->noise) {
        residual_slope(flow, root, place);
    }
    place += flow->residuals;
    memset(place, 0, flow->biases * sizeof *place);
    for (size_t h = 0; flow->biases && h < H; h++) { /* a shared bias: the sum over heads */
        place[flow->per_head ? h : 0] -= flow->rate * db[h];
    }
    if (flow->scales) {
        place[flow->biases] = -flow->rate * flow->mean[flow->field.places.scale];
    }
    for (size_t i = 0; i < flow->variables; i++) {
        if (!isfinite(slope[i])) {
            return 1;
        }
    }
    return 0;
}
