/* SPDX-License-Identifier: MIT
 * What the theory says of the growth that phases.c has fitted (docs/theory.md, "Growth of deviations"). */
#include "study/growth.h"
#include "study/phases.h"
#include "theory/flow.h"
#include "theory/rates.h"

#include <math.h>
#include <string.h>

/** The first set is the nodes of the theory's slope (theory.c), the next ones have the next seeds. */
#define NODES_SEED 2
/** Runge-Kutta steps are no longer than this over the largest rate. */
#define STEP 0.1

typedef struct predictor {
    hspec_phases *phases;
    const hspec_phases_trajectory *t;
    size_t H, F, n; /* n: size of the block */
    size_t first, last, points;
    int own;
    hspec_rates rates;
    double *mean;  /* [F] */
    size_t *row;   /* [points] where blocks are known */
    double *block; /* [points][n][n] */
    double *now;   /* [n][n] a block between two of them */
    double *delta; /* [5][H][n] deviations; Runge-Kutta: a try, and slopes */
    double *log;   /* [rows] */
    double *rate;  /* [F] on the first set */
    double *total; /* [2][F] mean over the sets so far, and sum of squares about it */
    hspec_arena arena;
} predictor;

static void lay_out(predictor *p)
{
    const size_t nn = p->n * p->n;
    p->mean = hspec_arena_doubles(&p->arena, p->F);
    p->row = hspec_arena_take(&p->arena, p->points, sizeof *p->row);
    p->block = hspec_arena_doubles(&p->arena, hspec_memory_mul(p->points, nn));
    p->now = hspec_arena_doubles(&p->arena, nn);
    p->delta = hspec_arena_doubles(&p->arena, hspec_memory_mul(4, p->H * p->n));
    p->log = hspec_arena_doubles(&p->arena, p->last - p->first + 1);
    p->rate = hspec_arena_doubles(&p->arena, p->F);
    p->total = hspec_arena_doubles(&p->arena, hspec_memory_mul(2, p->F));
}

/** The recorded state of a row, made equal over heads. */
static hspec_rates_state equal_heads(const predictor *p, size_t row)
{
    const size_t H = p->H, F = p->F;
    const double *m = p->t->alignment + row * H * F, *r = p->t->residual + row * H * H, *b = p->t->bias + row * H;
    hspec_rates_state state = {.alignment = p->mean, .scale = p->t->scale[row]};
    memset(p->mean, 0, F * sizeof *p->mean);
    for (size_t h = 0; h < H; h++) {
        state.bias += b[h] / (double)H;
        for (size_t f = 0; f < F; f++) {
            p->mean[f] += m[h * F + f] / (double)H;
        }
        for (size_t j = 0; j < H; j++) {
            *(h == j ? &state.residual_own : &state.residual_other) += r[h * H + j];
        }
    }
    state.residual_own /= (double)H;
    state.residual_other /= (double)(H * (H - 1));
    return state;
}

static void take_blocks(predictor *p)
{
    for (size_t i = 0; i < p->points; i++) {
        p->row[i] = p->first + (p->last - p->first) * i / (p->points - 1);
        const hspec_rates_state state = equal_heads(p, p->row[i]);
        hspec_rates_block(&p->rates, &state, p->block + i * p->n * p->n);
    }
}

/** The block at a time, on a straight line between the two around it. */
static void block_at(predictor *p, size_t i, double time)
{
    const size_t nn = p->n * p->n;
    const double t0 = p->t->time[p->row[i]], t1 = p->t->time[p->row[i + 1]];
    const double w = (time - t0) / (t1 - t0);
    for (size_t k = 0; k < nn; k++) {
        p->now[k] = (1 - w) * p->block[i * nn + k] + w * p->block[(i + 1) * nn + k];
    }
}

/** slope = block delta, head by head. */
static void slope_of(const predictor *p, const double *delta, double *slope)
{
    const size_t n = p->n;
    for (size_t h = 0; h < p->H; h++) {
        for (size_t i = 0; i < n; i++) {
            slope[h * n + i] = 0;
            for (size_t j = 0; j < n; j++) {
                slope[h * n + i] += p->now[i * n + j] * delta[h * n + j];
            }
        }
    }
}

/** One step of the classical Runge-Kutta method. */
static void step(predictor *p, size_t i, double time, double dt)
{
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const size_t size = p->H * p->n;
    double *delta = p->delta, *try = delta + size, *slope = try + size, *sum = slope + size;
    memset(sum, 0, size * sizeof *sum);
    for (int k = 0; k < 4; k++) {
        for (size_t c = 0; c < size; c++) {
            try[c] = delta[c] + (k ? at[k] * dt * slope[c] : 0);
        }
        block_at(p, i, time + at[k] * dt);
        slope_of(p, try, slope);
        for (size_t c = 0; c < size; c++) {
            sum[c] += weight[k] * slope[c];
        }
    }
    for (size_t c = 0; c < size; c++) {
        delta[c] += dt * sum[c];
    }
}

/** The largest row sum of the two blocks around a time: no rate is above it. */
static double largest_rate(const predictor *p, size_t i)
{
    const size_t n = p->n;
    double largest = 0;
    for (size_t row = 0; row < 2 * n; row++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            sum += fabs(p->block[i * n * n + row * n + j]);
        }
        largest = fmax(largest, sum);
    }
    return largest;
}

/** From one row to the next. */
static void advance(predictor *p, size_t row)
{
    size_t i = 0;
    while (p->row[i + 1] <= row) {
        i++;
    }
    const double t0 = p->t->time[row], dt = p->t->time[row + 1] - t0;
    const double wanted = ceil(dt * largest_rate(p, i) / STEP);
    const size_t steps = wanted > 1 ? (wanted < 1e6 ? (size_t)wanted : 1000000) : 1;
    for (size_t k = 0; k < steps; k++) {
        step(p, i, t0 + dt * (double)k / (double)steps, dt / (double)steps);
    }
}

/** Recorded deviations of one row: of the alignments, and of the biases if each head trains its own. */
static void start(predictor *p, size_t row)
{
    const size_t H = p->H, F = p->F, n = p->n;
    const double *m = p->t->alignment + row * H * F, *b = p->t->bias + row * H;
    const hspec_rates_state mean = equal_heads(p, row);
    for (size_t h = 0; h < H; h++) {
        for (size_t i = 0; i < n; i++) {
            p->delta[h * n + i] = i < F ? m[h * F + i] - mean.alignment[i] : b[h] - mean.bias;
        }
    }
}

static double predict_feature(predictor *p, const hspec_phases_feature *feature, size_t f)
{
    start(p, feature->first);
    for (size_t i = 0; i < feature->points; i++) {
        p->log[i] = log(hspec_growth_deviation(p->H, p->delta + f, p->n));
        if (i + 1 < feature->points) {
            advance(p, feature->first + i);
        }
    }
    return hspec_growth_fit(feature->points, p->t->time + feature->first, p->log).slope;
}

/** The rates of all features on one set of nodes, added to what the sets before have given. */
static void predict_set(predictor *p, size_t set)
{
    take_blocks(p);
    for (size_t f = 0; f < p->F; f++) {
        hspec_phases_feature *feature = &p->phases->feature[f];
        if (feature->points == 0) {
            continue;
        }
        const double rate = predict_feature(p, feature, f), off = rate - p->total[f], count = (double)(set + 1);
        p->rate[f] = set == 0 ? rate : p->rate[f];
        p->total[f] += off / count;
        p->total[p->F + f] += off * (rate - p->total[f]);
        const double deviation = set > 0 ? sqrt(p->total[p->F + f] / (double)set) : NAN;
        feature->predicted = p->own ? p->rate[f] : p->total[f];
        feature->predicted_error = p->own ? deviation : deviation / sqrt(count);
    }
}

static hspec_status check(const hspec_phases *phases, const hspec_phases_trajectory *t, const hspec_task_params *task,
                          const hspec_layer_params *layer, const hspec_training_params *training,
                          const hspec_phases_nodes *nodes, int threads, hspec_error *err)
{
    if (!phases || !t || !task || !layer || !training || !nodes || !t->time || !t->alignment || !t->residual ||
        !t->bias || !t->scale) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_phases_predict: no argument and no array may be NULL");
    }
    const hspec_phases_report *report = &phases->report;
    if (t->rows < report->rows || t->heads != report->heads || t->features != report->features ||
        layer->heads != report->heads) {
        return hspec_error_set(err, HSPEC_EARG,
                               "trajectory: found %zu rows, %zu heads, %zu features and a layer of %zu heads, allowed "
                               "what the phases have, %zu, %zu, %zu",
                               t->rows, t->heads, t->features, layer->heads, report->rows, report->heads,
                               report->features);
    }
    if (nodes->nodes < 64 || nodes->nodes > (size_t)1 << 40 || nodes->sets < 1 || nodes->points < 2 || threads < 0) {
        return hspec_error_set(err, HSPEC_EARG,
                               "nodes: found %zu nodes, %zu sets, %zu points, %d threads, allowed 64 to 2^40, 1 or "
                               "more, 2 or more, 0 or more",
                               nodes->nodes, nodes->sets, nodes->points, threads);
    }
    return HSPEC_OK;
}

/** The rows that the fits of all features span. @return are there any? */
static int span(predictor *p)
{
    p->first = p->last = 0;
    int any = 0;
    for (size_t f = 0; f < p->F; f++) {
        const hspec_phases_feature *feature = &p->phases->feature[f];
        if (feature->points > 0) {
            const size_t last = feature->first + feature->points - 1;
            p->first = any && p->first < feature->first ? p->first : feature->first;
            p->last = any && p->last > last ? p->last : last;
            any = 1;
        }
    }
    return any;
}

/** Is there a residual in these rows, and is everything finite? */
static hspec_status look_at_rows(const predictor *p, int *noise, hspec_error *err)
{
    const size_t H = p->H;
    *noise = 0;
    for (size_t row = p->first; row <= p->last; row++) {
        int finite = isfinite(p->t->scale[row]);
        for (size_t h = 0; h < H; h++) {
            finite = finite && isfinite(p->t->bias[row * H + h]);
        }
        for (size_t i = 0; i < H * H; i++) {
            const double r = p->t->residual[row * H * H + i];
            finite = finite && isfinite(r);
            *noise = *noise || r != 0;
        }
        if (!finite) {
            return hspec_error_set(err, HSPEC_EARG,
                                   "trajectory: found a residual, bias or scale that is not finite in row %zu", row);
        }
    }
    return HSPEC_OK;
}

/** One set after the other. */
static hspec_status predict_all(predictor *p, const hspec_setup *setup, const hspec_phases_nodes *nodes, int threads,
                                hspec_error *err)
{
    hspec_nodes_params with = {.nodes = (double)nodes->nodes, .randomizations = 1, .seed = NODES_SEED};
    with.split = hspec_flow_splits_nodes(setup, nodes->limit, p->t->residual);
    HSPEC_TRY(look_at_rows(p, &with.noise, err));
    if (setup->F != p->F) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal: found %zu features, allowed %zu, as in the phases",
                               setup->F, p->F);
    }
    for (size_t set = 0; set < nodes->sets; set++, with.seed++) {
        HSPEC_TRY(hspec_rates_create(setup, &with, threads, &p->rates, err));
        hspec_status status = HSPEC_OK;
        if (set == 0) {
            p->n = p->rates.size;
            lay_out(p);
            status = hspec_arena_commit(&p->arena, err);
            if (status == HSPEC_OK) {
                lay_out(p);
            }
        }
        if (status == HSPEC_OK) {
            predict_set(p, set);
        }
        hspec_rates_free(&p->rates);
        HSPEC_TRY(status);
    }
    return HSPEC_OK;
}

hspec_status hspec_phases_predict(hspec_phases *phases, const hspec_phases_trajectory *trajectory,
                                  const hspec_task_params *task, const hspec_layer_params *layer,
                                  const hspec_training_params *training, const hspec_phases_nodes *nodes, int threads,
                                  hspec_error *err)
{
    HSPEC_TRY(check(phases, trajectory, task, layer, training, nodes, threads, err));
    hspec_setup setup;
    HSPEC_TRY(hspec_setup_create(task, layer, training, &setup, err));
    predictor p = {
        .phases = phases, .t = trajectory, .H = phases->report.heads, .F = phases->report.features, .own = nodes->own};
    hspec_status status = HSPEC_OK;
    if (span(&p)) { /* deviations that grow: there are two heads at least */
        const size_t rows = p.last - p.first + 1;
        p.points = nodes->points < rows ? nodes->points : rows;
        status = predict_all(&p, &setup, nodes, threads, err);
    }
    hspec_arena_free(&p.arena);
    hspec_setup_free(&setup);
    return status;
}
