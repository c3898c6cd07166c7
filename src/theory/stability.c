/* SPDX-License-Identifier: MIT
 * Linear stability of equal heads: growth rates at the origin and at the unspecialized fixed point (docs/theory.md,
 * "Stability"). */
#include "core/dense.h"
#include "theory/equal.h"
#include "theory/rates.h"

#include <math.h>
#include <string.h>

/** The nodes on which trajectories are integrated: predicted rates are theirs. The loss is taken on those of records. */
#define SLOPE_SEED 2
#define LOSS_SEED 1
/** Independent sets of nodes for standard errors, each with this share of all nodes; their seeds follow. */
#define CHECKS 8
#define CHECK_SEED 101
#define MIN_NODES 64
/** The flow is followed on this share of the nodes; it only has to end near the right place. */
#define COARSE 8
#define COARSE_MIN 1024
/** How far along mu it starts, in alignment. */
#define PUSH 1e-2
/** Root of the residual of deviations by which it is tried whether it grows. */
#define NOISE 1e-3
/** The residual is looked at once, on so many times the nodes: the derivative along noise scatters more. */
#define MORE 16
/** Components of a vector, and rates in units of eta, below this are rounding. */
#define ROUNDING 1e-10
/** A rate above so many of its standard errors is one of growth. */
#define SURE 2
/** An alignment at which heads count as parted, as for `phases`. */
#define LEVEL 0.5

/** The modes of one block. */
typedef struct modes {
    size_t size;
    double *block;              /* [size][size] */
    double *vector;             /* [size][size] in rows */
    double *sum, *squares;      /* [size] of the rates on the checks */
    hspec_stability_mode *mode; /* [size] */
} modes;

struct hspec_stability {
    hspec_setup setup;
    hspec_limit limit;
    size_t nodes;
    int threads;
    hspec_stability_at at;
    double *x;                           /* [n] where it is, with room for all variables */
    double *near;                        /* [n] where it is on other nodes */
    double *own;                         /* [n] before it was moved */
    double *slope;                       /* [n] */
    double *mu, *C;                      /* [F], [F][F] */
    double *gradient, *spread, *squares; /* [F] */
    double *scratch;                     /* [2][(F + 2)][(F + 2)] */
    double *orders;                      /* [H][F] + 2 [H][H] + [H] one state in full */
    double *field;                       /* [size of a field] */
    double residual_sum, residual_squares;
    modes mean, deviation;
    hspec_stability_report report;
    hspec_arena arena;
};

static void lay_out_modes(hspec_stability *s, modes *m)
{
    const size_t n = m->size, nn = hspec_memory_mul(n, n);
    m->block = hspec_arena_doubles(&s->arena, nn);
    m->vector = hspec_arena_doubles(&s->arena, nn);
    m->sum = hspec_arena_doubles(&s->arena, n);
    m->squares = hspec_arena_doubles(&s->arena, n);
    m->mode = hspec_arena_take(&s->arena, n, sizeof *m->mode);
}

static void lay_out(hspec_stability *s)
{
    const size_t H = s->setup.H, F = s->setup.F, most = F + 3;
    s->x = hspec_arena_doubles(&s->arena, most);
    s->near = hspec_arena_doubles(&s->arena, most);
    s->own = hspec_arena_doubles(&s->arena, most);
    s->slope = hspec_arena_doubles(&s->arena, most);
    s->mu = hspec_arena_doubles(&s->arena, F);
    s->C = hspec_arena_doubles(&s->arena, hspec_memory_mul(F, F));
    s->gradient = hspec_arena_doubles(&s->arena, F);
    s->spread = hspec_arena_doubles(&s->arena, F);
    s->squares = hspec_arena_doubles(&s->arena, F);
    s->scratch = hspec_arena_doubles(&s->arena, hspec_memory_mul(2 * most, most));
    s->orders = hspec_arena_doubles(&s->arena, hspec_memory_mul(H, F + 2 * H + 1));
    s->field = hspec_arena_doubles(&s->arena, hspec_field_layout(H, F).size);
    lay_out_modes(s, &s->mean);
    lay_out_modes(s, &s->deviation);
}

/* ---- one set of nodes -------------------------------------------------------------------------------------------- */

static hspec_nodes_params nodes_params(double nodes, uint64_t seed)
{
    return (hspec_nodes_params){.nodes = nodes < MIN_NODES ? MIN_NODES : nodes, .randomizations = 1, .seed = seed};
}

static int at_origin(const hspec_stability *s)
{
    return s->at == HSPEC_STABILITY_ORIGIN;
}

/** Where the flow of equal heads ends on few nodes, into x. */
static hspec_status follow_flow(hspec_stability *s, double *x, hspec_error *err)
{
    const size_t F = s->setup.F;
    const double share = (double)s->nodes / COARSE;
    const hspec_nodes_params nodes = nodes_params(share < COARSE_MIN ? COARSE_MIN : share, SLOPE_SEED);
    double length = 0;
    for (size_t f = 0; f < F; f++) {
        length += s->mu[f] * s->mu[f];
    }
    for (size_t f = 0; f < F; f++) {
        s->own[f] = at_origin(s) ? 0 : PUSH * s->mu[f] / sqrt(length);
    }
    hspec_equal coarse;
    HSPEC_TRY(hspec_equal_create(&s->setup, s->limit, at_origin(s), &nodes, s->threads, &coarse, err));
    hspec_equal_start(&coarse, s->own, x);
    const hspec_status status = hspec_equal_settle(&coarse, x, err);
    hspec_equal_free(&coarse);
    return status;
}

/** What is read from x. */
static double value(size_t place, const double *x, double otherwise)
{
    return place == HSPEC_EQUAL_NONE ? otherwise : x[place];
}

/** The block of deviations. */
static hspec_status deviation_block(hspec_stability *s, const hspec_equal *equal, const hspec_nodes_params *nodes,
                                    const double *x, hspec_error *err)
{
    hspec_nodes_params with = *nodes;
    with.noise = equal->flow.noise;
    with.split = equal->flow.field.nodes.sets > 1; /* the same nodes as those of the flow */
    hspec_rates rates;
    HSPEC_TRY(hspec_rates_create(&s->setup, &with, s->threads, &rates, err));
    const double rho = value(equal->rho, x, 0);
    const hspec_rates_state state = {x, rho, rho, value(equal->bias, x, equal->bias_init),
                                     value(equal->scale, x, equal->scale_init)};
    hspec_rates_block(&rates, &state, s->deviation.block);
    hspec_rates_free(&rates);
    return HSPEC_OK;
}

/** Eigenvalue of deviations of a matrix between equal heads: diagonal minus the rest. */
static double between_heads(size_t H, const double *A)
{
    double diagonal = 0, all = 0;
    for (size_t i = 0; i < H * H; i++) {
        all += A[i];
        diagonal += i % (H + 1) == 0 ? A[i] : 0;
    }
    return (diagonal - (all - diagonal) / (double)(H - 1)) / (double)H;
}

/** A small residual of deviations, root NOISE, on top of that of the mean.
 *      rate   alpha = -eta (E sum_l d_hl u_jl, deviations) / NOISE
 *      growth 2 alpha + (eta^2/B) (E sum_l d_hl d_h'l, deviations) / NOISE^2 */
static hspec_status residual_rates(hspec_stability *s, const hspec_equal *equal, const hspec_nodes_params *nodes,
                                   const double *x, double *rate, double *growth, hspec_error *err)
{
    const size_t H = s->setup.H, F = s->setup.F;
    hspec_nodes_params with = *nodes;
    with.nodes *= MORE;
    with.noise = with.closed = 1;
    hspec_field field;
    HSPEC_TRY(hspec_field_create(s->setup.signal, &s->setup.layer, s->setup.L, &with, 1, s->threads, &field, err));
    double *m = s->orders, *root = m + H * F, *b = root + 2 * H * H;
    const double mean = sqrt((double)H * value(equal->rho, x, 0));
    for (size_t h = 0; h < H; h++) {
        memcpy(m + h * F, x, F * sizeof *m);
        b[h] = value(equal->bias, x, equal->bias_init);
        for (size_t j = 0; j < H; j++) {
            root[h * H + j] = (mean - NOISE) / (double)H + (h == j ? NOISE : 0);
        }
    }
    const hspec_field_state state = {m, root, b, value(equal->scale, x, equal->scale_init)};
    hspec_field_evaluate(&field, 1, &state, HSPEC_FIELD_ALL, s->field, NULL);
    *rate = -equal->flow.rate * between_heads(H, s->field + field.places.root) / NOISE;
    *growth = 2 * *rate;
    if (s->limit == HSPEC_LIMIT_SGD) {
        *growth += equal->flow.update * between_heads(H, s->field + field.places.update) / (NOISE * NOISE);
    }
    hspec_field_free(&field);
    return HSPEC_OK;
}

/** Everything on one set of nodes: x comes to rest, then the gradient into slope, the blocks and rates of the residual. */
static hspec_status analyse(hspec_stability *s, const hspec_nodes_params *nodes, double *x, double *rate,
                            double *growth, hspec_equal *equal, hspec_error *err)
{
    memcpy(s->own, x, equal->n * sizeof *x);
    hspec_status status = hspec_equal_polish(equal, x, NULL);
    if (status != HSPEC_OK) { /* it was not close enough */
        memcpy(x, s->own, equal->n * sizeof *x);
        status = hspec_equal_settle(equal, x, err);
    }
    if (status == HSPEC_OK) {
        hspec_equal_slope(equal, x, s->slope);
        hspec_equal_block(equal, x, s->mean.block);
        if (s->setup.H > 1) {
            status = deviation_block(s, equal, nodes, x, err);
            status = status ? status : residual_rates(s, equal, nodes, x, rate, growth, err);
        }
    }
    return status;
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

/** v^T A v */
static double quotient(size_t n, const double *A, const double *v, size_t stride)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            sum += v[i] * A[i * stride + j] * v[j];
        }
    }
    return sum;
}

/** Rates and vectors of a block, largest rate first. */
static void find_modes(hspec_stability *s, modes *m)
{
    const size_t n = m->size;
    double *A = s->scratch, *V = A + n * n;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            A[i * n + j] = (m->block[i * n + j] + m->block[j * n + i]) / 2;
        }
    }
    hspec_dense_eigen(n, A, V);
    for (size_t k = 0; k < n; k++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++) { /* each one is taken once: then its column is marked */
            if (!isnan(V[i]) && (best == n || A[i * n + i] > A[best * n + best])) {
                best = i;
            }
        }
        double *v = m->vector + k * n;
        size_t largest = 0;
        for (size_t i = 0; i < n; i++) {
            v[i] = V[i * n + best];
            largest = fabs(v[i]) > fabs(v[largest]) ? i : largest;
        }
        V[best] = NAN;
        for (size_t i = 0, negative = v[largest] < 0; i < n; i++) {
            v[i] = fabs(v[i]) < ROUNDING ? 0 : negative ? -v[i] : v[i];
        }
        const double rate = A[best * n + best], flat = ROUNDING * s->setup.training.learning_rate;
        m->mode[k] = (hspec_stability_mode){.rate = fabs(rate) < flat ? 0 : rate,
                                            .rate_error = NAN,
                                            .closed_form = NAN,
                                            .feature = largest,
                                            .vector = v,
                                            .time = NAN,
                                            .samples = NAN};
    }
}

/** Softmax, small weights: deviations grow at eta (2/(L H)) (1 - 1/L) (1 - 2/L) C, the mean at
 *  -eta (2/(L H)) (1 - 1/L) (1 - C (1 - 3/L)). */
static void closed_forms(hspec_stability *s)
{
    const double L = (double)s->setup.L, H = (double)s->setup.H;
    const double unit = s->setup.training.learning_rate * 2 / (L * H) * (1 - 1 / L);
    if (!at_origin(s) || s->setup.layer.activation != HSPEC_SOFTMAX) {
        return;
    }
    for (size_t k = 0; k < s->mean.size; k++) {
        const double along = quotient(s->setup.F, s->C, s->mean.mode[k].vector, s->setup.F);
        s->mean.mode[k].closed_form = -unit * (1 - along * (1 - 3 / L));
    }
    for (size_t k = 0; k < s->deviation.size; k++) {
        const double along = quotient(s->setup.F, s->C, s->deviation.mode[k].vector, s->setup.F);
        s->deviation.mode[k].closed_form = unit * (1 - 2 / L) * along;
    }
}

/** The deviation between heads at the start along a mode: scale / sqrt(D) of a random start; of a given one the standard
 *  deviation over the heads. */
static double start_size(const hspec_stability *s, const double *vector)
{
    const hspec_init_params *init = &s->setup.training.init;
    const size_t H = s->setup.H, F = s->setup.F;
    if (init->kind == HSPEC_INIT_RANDOM) {
        return init->scale / sqrt((double)s->setup.D);
    }
    double mean = 0, squares = 0;
    for (size_t h = 0; h < H; h++) {
        double along = 0;
        for (size_t f = 0; f < F; f++) {
            along += vector[f] * s->setup.m0[h * F + f];
        }
        const double step = along - mean;
        mean += step / (double)(h + 1);
        squares += step * (along - mean);
    }
    return sqrt(squares / (double)H);
}

/** t = ln(level / start) / rate */
static void predict_times(hspec_stability *s)
{
    for (size_t k = 0; k < s->deviation.size; k++) {
        hspec_stability_mode *mode = &s->deviation.mode[k];
        const double start = start_size(s, mode->vector);
        if (mode->rate > SURE * mode->rate_error && start > 0) {
            mode->time = fmax(0, log(LEVEL / start) / mode->rate);
            mode->samples = mode->time * (double)s->setup.B * (double)s->setup.D;
        }
    }
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void add_check(modes *m)
{
    for (size_t k = 0; k < m->size; k++) { /* from the main rate: no digits are lost */
        const double off = quotient(m->size, m->block, m->mode[k].vector, m->size) - m->mode[k].rate;
        m->sum[k] += off;
        m->squares[k] += off * off;
    }
}

/** The standard error of a mean of CHECKS values. */
static double standard_error(double sum, double squares)
{
    return sqrt(fmax(0, squares - sum * sum / CHECKS) / (CHECKS - 1) / CHECKS);
}

/** The same on independent nodes, each time from the point that was found: what scatters is the error. */
static hspec_status check(hspec_stability *s, const hspec_equal *main, hspec_error *err)
{
    const size_t F = s->setup.F;
    double rate = 0, growth = 0;
    for (uint64_t k = 0; k < CHECKS; k++) {
        const hspec_nodes_params nodes = nodes_params((double)s->nodes / CHECKS, CHECK_SEED + k);
        hspec_equal equal;
        HSPEC_TRY(hspec_equal_create(&s->setup, s->limit, at_origin(s), &nodes, s->threads, &equal, err));
        memcpy(s->near, s->x, main->n * sizeof *s->near);
        const hspec_status status = analyse(s, &nodes, s->near, &rate, &growth, &equal, err);
        hspec_equal_free(&equal);
        HSPEC_TRY(status);
        add_check(&s->mean);
        add_check(&s->deviation);
        rate -= s->report.residual_rate;
        s->residual_sum += rate;
        s->residual_squares += rate * rate;
        for (size_t f = 0; f < F; f++) {
            const double off = -s->slope[f] / main->flow.rate - s->gradient[f];
            s->spread[f] += off;
            s->squares[f] += off * off;
        }
    }
    for (size_t k = 0; k < s->mean.size; k++) {
        s->mean.mode[k].rate_error = standard_error(s->mean.sum[k], s->mean.squares[k]);
    }
    for (size_t k = 0; k < s->deviation.size; k++) {
        s->deviation.mode[k].rate_error = standard_error(s->deviation.sum[k], s->deviation.squares[k]);
    }
    for (size_t f = 0; f < F; f++) {
        s->spread[f] = at_origin(s) ? standard_error(s->spread[f], s->squares[f]) : 0;
    }
    if (s->setup.H > 1) {
        s->report.residual_rate_error = standard_error(s->residual_sum, s->residual_squares);
    }
    return HSPEC_OK;
}

/* ---- the object -------------------------------------------------------------------------------------------------- */

/** The loss at the point. */
static hspec_status take_loss(hspec_stability *s, const hspec_task_params *task, hspec_error *err)
{
    const size_t H = s->setup.H, F = s->setup.F;
    double *m = s->orders, *r = m + H * F, *b = r + 2 * H * H;
    for (size_t h = 0; h < H; h++) {
        memcpy(m + h * F, s->x, F * sizeof *m);
        b[h] = s->report.bias;
        for (size_t j = 0; j < H; j++) {
            r[h * H + j] = s->report.residual;
        }
    }
    const hspec_order order = {m, r, b, s->report.scale};
    return hspec_population_loss(task, &s->setup.layer, s->nodes, LOSS_SEED, s->threads, 1, &order, &s->report.loss,
                                 &s->report.loss_error, err);
}

static hspec_status run(hspec_stability *s, const hspec_task_params *task, hspec_error *err)
{
    const size_t F = s->setup.F;
    hspec_stability_report *r = &s->report;
    HSPEC_TRY(follow_flow(s, s->x, err));
    const hspec_nodes_params nodes = nodes_params((double)s->nodes, SLOPE_SEED);
    hspec_equal equal;
    HSPEC_TRY(hspec_equal_create(&s->setup, s->limit, at_origin(s), &nodes, s->threads, &equal, err));
    hspec_status status = analyse(s, &nodes, s->x, &r->residual_rate, &r->residual_growth, &equal, err);
    if (status == HSPEC_OK) {
        r->residual = value(equal.rho, s->x, 0);
        r->bias = value(equal.bias, s->x, equal.bias_init);
        r->scale = value(equal.scale, s->x, equal.scale_init);
        r->mean_bias = equal.bias != HSPEC_EQUAL_NONE;
        r->mean_scale = equal.scale != HSPEC_EQUAL_NONE;
        for (size_t f = 0; f < F; f++) {
            s->gradient[f] = -s->slope[f] / equal.flow.rate;
        }
        find_modes(s, &s->mean);
        find_modes(s, &s->deviation);
        closed_forms(s);
        status = check(s, &equal, err);
        predict_times(s);
    }
    hspec_equal_free(&equal);
    return status ? status : take_loss(s, task, err);
}

static hspec_status check_params(const hspec_theory_params *params, hspec_stability_at at, int threads,
                                 hspec_error *err)
{
    if (params->limit != HSPEC_LIMIT_SGD && params->limit != HSPEC_LIMIT_FLOW) {
        return hspec_error_set(err, HSPEC_EARG, "theory.limit: found %d, allowed sgd, flow", (int)params->limit);
    }
    if (params->nodes < MIN_NODES || params->nodes > (size_t)1 << 40) {
        return hspec_error_set(err, HSPEC_EARG, "theory.nodes: found %zu, allowed %d to 2^40", params->nodes,
                               MIN_NODES);
    }
    if (at != HSPEC_STABILITY_UNSPECIALIZED && at != HSPEC_STABILITY_ORIGIN) {
        return hspec_error_set(err, HSPEC_EARG, "at: found %d, allowed unspecialized, origin", (int)at);
    }
    if (threads < 0) {
        return hspec_error_set(err, HSPEC_EARG, "threads: found %d, allowed >= 0", threads);
    }
    return HSPEC_OK;
}

/** Sizes of the blocks, all arrays, and where it is to be: the origin when there is no mean to follow. */
static hspec_status prepare(hspec_stability *s, hspec_error *err)
{
    const hspec_layer_params *layer = &s->setup.layer;
    const int bayes = layer->activation == HSPEC_BAYES;
    s->mean.size = s->setup.F + (layer->bias_train && !bayes ? 1 : 0) + (layer->scale_train ? 1 : 0);
    s->deviation.size = s->setup.H < 2 ? 0 : s->setup.F + (layer->bias_train && layer->bias_per_head ? 1 : 0);
    lay_out(s);
    HSPEC_TRY(hspec_arena_commit(&s->arena, err));
    lay_out(s);
    hspec_signal_moments(s->setup.signal, s->mu, s->C);
    int mean = 0;
    for (size_t f = 0; f < s->setup.F; f++) {
        mean = mean || s->mu[f] != 0;
    }
    s->at = mean ? s->at : HSPEC_STABILITY_ORIGIN;
    s->report = (hspec_stability_report){.at = s->at,
                                         .heads = s->setup.H,
                                         .features = s->setup.F,
                                         .alignment = s->x,
                                         .gradient = s->gradient,
                                         .gradient_error = s->spread,
                                         .mean_modes = s->mean.size,
                                         .mean = s->mean.mode,
                                         .deviation_modes = s->deviation.size,
                                         .deviation = s->deviation.mode,
                                         .residual_rate = NAN,
                                         .residual_rate_error = NAN,
                                         .residual_growth = NAN,
                                         .level = LEVEL};
    return HSPEC_OK;
}

hspec_status hspec_stability_create(const hspec_task_params *task, const hspec_layer_params *layer,
                                    const hspec_training_params *training, const hspec_theory_params *params,
                                    hspec_stability_at at, int threads, hspec_stability **stability, hspec_error *err)
{
    if (!task || !layer || !training || !params || !stability) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_stability_create: no argument may be NULL");
    }
    HSPEC_TRY(check_params(params, at, threads, err));
    hspec_stability *created = hspec_memory_alloc(1, sizeof *created);
    if (!created) {
        return hspec_error_memory(err, sizeof *created);
    }
    *created = (hspec_stability){.limit = params->limit, .nodes = params->nodes, .threads = threads, .at = at};
    hspec_status status = hspec_setup_create(task, layer, training, &created->setup, err);
    status = status ? status : prepare(created, err);
    status = status ? status : run(created, task, err);
    if (status != HSPEC_OK) {
        hspec_stability_free(created);
        return status;
    }
    *stability = created;
    return HSPEC_OK;
}

void hspec_stability_free(hspec_stability *stability)
{
    if (!stability) {
        return;
    }
    hspec_setup_free(&stability->setup);
    hspec_arena_free(&stability->arena);
    hspec_memory_free(stability);
}

void hspec_stability_view(const hspec_stability *stability, hspec_stability_report *report)
{
    *report = stability->report;
}
