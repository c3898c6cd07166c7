/* SPDX-License-Identifier: MIT
 * The best population loss of a layer: many searches by gradient, and the distinct minima that they find
 * (docs/theory.md, "Optimum"). */
#include "attention/layer.h"
#include "core/dense.h"
#include "theory/descent.h"
#include "theory/guess.h"
#include "theory/minima.h"
#include "theory/witness.h"

#include <math.h>
#include <string.h>

/** Nodes of the searches; what they find is refined on FINE times as many, and measured on so many others at least. */
#define SEARCH_SEED 3
#define FINE_SEED 4
#define FINE 8
#define WITNESS_SEED 5
#define SILENT_NODES ((size_t)1 << 20)
#define NOISY_NODES ((size_t)1 << 17)
/** Less where a node has many scores: so many in all. */
#define SILENT_SCORES ((size_t)1 << 25)
#define NOISY_SCORES ((size_t)1 << 22)
/** A head whose move by 0.3 along every feature, or to 0, changes the loss less than this has no influence on it. */
#define SILENT_MOVE 0.3
#define SILENT_LOSS 1e-5
/** A new minimum is pushed this far, to leave a saddle, and again while that leads lower by LEFT, KICKS times at most. */
#define KICK 0.02
#define KICKS 4
#define LEFT 1e-7
/** The loss falls with a residual, or is lower with one, when it is by this and by ERRORS standard errors. */
#define FALLING 1e-4
#define LOWER 1e-5
#define ERRORS 4
/** The first root of a residual along which the loss falls. */
#define FIRST_ROOT 0.3
/** Of so many searches one starts with a residual. */
#define SHARE_WITH_RESIDUAL 8

hspec_optimum_params hspec_optimum_default(void)
{
    return (hspec_optimum_params){.nodes = 16384, .starts = 32, .seed = 1};
}

struct hspec_optimum {
    size_t H, F, starts;
    const hspec_signal *signal;
    hspec_task_params task;
    hspec_layer_params layer;
    hspec_optimum_params params;
    int threads;
    hspec_objective silent, noisy; /* without a residual, and with one */
    hspec_objective fine;          /* without, on more nodes */
    hspec_witness witness;
    double alignment_bound, bias_bound, scale_bound;
    int *symmetric;                      /* [F] */
    double *x, *low, *high, *move, *old; /* [n] of the longer vector */
    double *scratch;                     /* [2][n] */
    double *R, *roots;                   /* [H][H], [2][H][H] */
    double *direction;                   /* [H] */
    hspec_minimum found, other;          /* without a residual, and with one */
    hspec_minima seen, minima;           /* by the searches; and these on finer nodes */
    hspec_arena arena;
};

/* ---- one search -------------------------------------------------------------------------------------------------- */

static void set_bounds(const hspec_optimum *o, const hspec_objective *objective)
{
    const size_t HF = o->H * o->F, biases = HF + objective->root, scales = biases + objective->biases;
    for (size_t i = 0; i < objective->n; i++) {
        o->high[i] = i < biases ? o->alignment_bound : i < scales ? o->bias_bound : o->scale_bound;
        o->low[i] = i < scales ? -o->high[i] : 0;
    }
}

/** The minimum next to o->x, in place; its loss over the nodes. */
static hspec_status descend(hspec_optimum *o, hspec_objective *objective, double *loss, hspec_error *err)
{
    hspec_descent descent;
    set_bounds(o, objective);
    HSPEC_TRY(hspec_descent_run(objective, o->low, o->high, o->x, o->scratch, &descent, err));
    *loss = descent.loss;
    return HSPEC_OK;
}

/** Does the loss stay as it is when the head's alignments move down, to 0, or up? */
static int is_silent(hspec_optimum *o, hspec_objective *objective, double loss, size_t h)
{
    int silent = 1;
    for (int side = -1; side <= 1 && silent; side++) {
        memcpy(o->move, o->x, objective->n * sizeof *o->move);
        for (size_t f = 0; f < o->F; f++) {
            double *m = &o->move[h * o->F + f];
            *m = side ? *m + side * SILENT_MOVE : 0;
        }
        silent = fabs(hspec_objective_value(objective, o->move, NULL) - loss) < SILENT_LOSS;
    }
    return silent;
}

static size_t row_of(size_t place, size_t columns)
{
    return columns ? place / columns : 0; /* there is always one */
}

/** Which variables stand at their bounds. */
static void mark_bounds(hspec_optimum *o, const hspec_objective *objective, hspec_minimum *found)
{
    const size_t H = o->H, F = o->F, HF = H * F, biases = HF + objective->root, scales = biases + objective->biases;
    int *residual = found->at_bound + HF, *bias = residual + H, *scale = bias + H;
    set_bounds(o, objective);
    memset(found->at_bound, 0, hspec_minima_flags(H, F) * sizeof *found->at_bound);
    found->bound = 0;
    for (size_t i = 0; i < objective->n; i++) {
        const double span = 1e-6 * o->high[i];
        if (o->x[i] > o->low[i] + span && o->x[i] < o->high[i] - span) {
            continue;
        }
        size_t head = H; /* of none, or of all */
        if (i < HF) {
            head = row_of(i, F);
            found->at_bound[i] = 1;
        } else if (i < biases) {
            head = row_of(i - HF, H);
            residual[head] = 1;
        } else if (i < scales && objective->biases > 1) {
            head = i - biases;
            bias[head] = 1;
        } else if (i < scales) {
            for (size_t h = 0; h < H; h++) {
                bias[h] = 1;
            }
        } else {
            *scale = 1;
        }
        found->bound = found->bound || head == H || !found->silent[head];
    }
}

/** What there is to say about o->x, a minimum of the objective. */
static void describe(hspec_optimum *o, hspec_objective *objective, double loss, hspec_minimum *found)
{
    const size_t H = o->H, HF = H * o->F;
    found->loss = loss;
    found->count = 1;
    found->residual = objective->root != 0;
    found->rate = found->rate_error = NAN;
    memcpy(found->m, o->x, HF * sizeof *found->m);
    memset(found->r, 0, H * H * sizeof *found->r);
    if (objective->root) {
        hspec_dense_gram(H, H, o->x + HF, found->r);
    }
    hspec_objective_parameters(objective, o->x, found->b, &found->s);
    if (o->layer.activation == HSPEC_BAYES) { /* a common shift changes nothing */
        double mean = 0;
        for (size_t h = 0; h < H; h++) {
            mean += found->b[h] / (double)H;
        }
        for (size_t h = 0; h < H; h++) {
            found->b[h] -= mean;
        }
    }
    for (size_t h = 0; h < H; h++) {
        found->silent[h] = is_silent(o, objective, loss, h);
    }
    mark_bounds(o, objective, found);
}

/** The variables of a minimum. @param x out [n] */
static void pack(hspec_optimum *o, const hspec_minimum *from, double *x)
{
    const hspec_objective *objective = from->residual ? &o->noisy : &o->silent;
    memcpy(x, from->m, o->H * o->F * sizeof *x);
    x += o->H * o->F;
    if (from->residual) {
        (void)hspec_dense_symmetric_root(o->H, from->r, x, o->roots);
        x += objective->root;
    }
    memcpy(x, from->b, objective->biases * sizeof *x);
    if (objective->scales) {
        x[objective->biases] = from->s;
    }
}

/* ---- with a residual --------------------------------------------------------------------------------------------- */

/** Puts R in among the variables o->x. */
static void put_root(hspec_optimum *o, const double *R)
{
    const size_t HF = o->H * o->F, HH = o->H * o->H, rest = o->silent.n - HF;
    memmove(o->x + HF + HH, o->x + HF, rest * sizeof *o->x);
    memcpy(o->x + HF, R, HH * sizeof *o->x);
}

/** Takes R out of them. */
static void drop_root(hspec_optimum *o)
{
    const size_t HF = o->H * o->F, HH = o->H * o->H, rest = o->silent.n - HF;
    memmove(o->x + HF, o->x + HF + HH, rest * sizeof *o->x);
}

/** From o->x, with R, down to o->other; and on without it, in o->x. */
static hspec_status descend_with_residual(hspec_optimum *o, double *loss, hspec_error *err)
{
    HSPEC_TRY(descend(o, &o->noisy, loss, err));
    describe(o, &o->noisy, *loss, &o->other);
    drop_root(o);
    return descend(o, &o->silent, loss, err);
}

/** Is o->other lower than o->x, without a residual, on nodes that neither has seen? To few nodes it can look as if a
 *  residual helped. */
static int residual_helps(hspec_optimum *o)
{
    double with[HSPEC_WITNESS_SETS], without[HSPEC_WITNESS_SETS], error;
    pack(o, &o->other, o->move);
    hspec_witness_losses(&o->witness, 1, o->move, with);
    memset(o->R, 0, o->H * o->H * sizeof *o->R);
    put_root(o, o->R);
    hspec_witness_losses(&o->witness, 1, o->x, without);
    drop_root(o);
    for (size_t q = 0; q < HSPEC_WITNESS_SETS; q++) {
        with[q] -= without[q];
    }
    return hspec_witness_mean(with, &error) < -LOWER - ERRORS * error;
}

/* ---- from a start to a minimum ----------------------------------------------------------------------------------- */

/** Leaves saddles: pushes o->x, a point at rest, and goes down again. */
static hspec_status kick(hspec_optimum *o, hspec_stream stream, double *loss, hspec_error *err)
{
    const size_t n = o->silent.n;
    for (size_t round = 1, left = 1; left && round <= KICKS; round++) {
        double lower;
        memcpy(o->old, o->x, n * sizeof *o->x);
        for (size_t i = 0; i < n; i++) {
            o->x[i] += KICK * (2 * hspec_random_uniform(stream, round, i) - 1);
        }
        HSPEC_TRY(descend(o, &o->silent, &lower, err));
        left = lower < *loss - LEFT;
        if (left) {
            *loss = lower;
        } else {
            memcpy(o->x, o->old, n * sizeof *o->x);
        }
    }
    return HSPEC_OK;
}

/** From o->x, at rest without a residual, to a minimum with respect to one too. */
static hspec_status settle(hspec_optimum *o, hspec_stream stream, double loss, hspec_error *err)
{
    const size_t H = o->H;
    for (int tried = 0;; tried = 1) {
        HSPEC_TRY(kick(o, stream, &loss, err));
        describe(o, &o->silent, loss, &o->found);
        o->found.rate = hspec_witness_residual(&o->witness, o->x, &o->found.rate_error, o->direction);
        if (tried || !(o->found.rate < -FALLING - ERRORS * o->found.rate_error)) {
            hspec_minima_add(&o->seen, &o->found);
            return HSPEC_OK;
        }
        for (size_t i = 0; i < H * H; i++) {
            o->R[i] = FIRST_ROOT * o->direction[i / H] * o->direction[i % H];
        }
        put_root(o, o->R);
        HSPEC_TRY(descend_with_residual(o, &loss, err));
        if (residual_helps(o)) {
            hspec_minima_add(&o->seen, &o->other);
            return HSPEC_OK;
        }
    }
}

/** Start number k. */
static hspec_status search_from(hspec_optimum *o, size_t k, hspec_error *err)
{
    const int residual = k % SHARE_WITH_RESIDUAL == SHARE_WITH_RESIDUAL - 1;
    hspec_objective *objective = residual ? &o->noisy : &o->silent;
    double loss;
    hspec_guess_make(o->signal, o->layer.activation, objective, o->params.seed, k, o->x);
    if (residual) {
        HSPEC_TRY(descend_with_residual(o, &loss, err));
        if (residual_helps(o)) {
            hspec_minima_add(&o->seen, &o->other);
            return HSPEC_OK;
        }
    } else {
        HSPEC_TRY(descend(o, objective, &loss, err));
    }
    describe(o, &o->silent, loss, &o->found);
    if (hspec_minima_find(&o->seen, &o->found) < o->seen.count) { /* one that has settled already */
        hspec_minima_add(&o->seen, &o->found);
        return HSPEC_OK;
    }
    return settle(o, hspec_random_stream(o->params.seed, k + 1, HSPEC_PURPOSE_STARTS), loss, err);
}

/** Tells the monitor that `done` starts are, and asks it whether to go on. */
static hspec_status tell(const hspec_optimum *o, const hspec_monitor *monitor, size_t done, hspec_error *err)
{
    const hspec_event event = {.kind = HSPEC_EVENT_PROGRESS, .done = (double)done, .total = (double)o->starts};
    if (monitor && monitor->notify && monitor->notify(monitor->user, &event)) {
        return hspec_error_set(err, HSPEC_ESTOPPED, "stopped after %zu of %zu starts", done, o->starts);
    }
    return HSPEC_OK;
}

/** What fits the nodes of the searches too well is brought to where it fits more of them. */
static hspec_status refine(hspec_optimum *o, const hspec_monitor *monitor, hspec_error *err)
{
    for (size_t i = 0; i < o->seen.count; i++) {
        HSPEC_TRY(tell(o, monitor, o->starts, err));
        const hspec_minimum *from = &o->seen.list[i];
        if (from->residual) {
            hspec_minima_add(&o->minima, from);
            continue;
        }
        double loss;
        pack(o, from, o->x);
        HSPEC_TRY(descend(o, &o->fine, &loss, err));
        describe(o, &o->fine, loss, &o->found);
        o->found.count = from->count;
        o->found.rate = hspec_witness_residual(&o->witness, o->x, &o->found.rate_error, o->direction);
        hspec_minima_add(&o->minima, &o->found);
    }
    return HSPEC_OK;
}

/** The losses of all minima on nodes that no search has seen, and their order. */
static void take_losses(hspec_optimum *o)
{
    for (size_t i = 0; i < o->minima.count; i++) {
        hspec_minimum *minimum = &o->minima.list[i];
        double losses[HSPEC_WITNESS_SETS];
        pack(o, minimum, o->x);
        hspec_witness_losses(&o->witness, minimum->residual, o->x, losses);
        minimum->loss = hspec_witness_mean(losses, &minimum->loss_error);
    }
    hspec_minima_sort(&o->minima);
}

/* ---- the object -------------------------------------------------------------------------------------------------- */

static void lay_out(hspec_optimum *o)
{
    const size_t H = o->H, F = o->F, n = o->noisy.n, HH = hspec_memory_mul(H, H);
    o->symmetric = hspec_arena_take(&o->arena, F, sizeof *o->symmetric);
    o->x = hspec_arena_doubles(&o->arena, n);
    o->low = hspec_arena_doubles(&o->arena, n);
    o->high = hspec_arena_doubles(&o->arena, n);
    o->move = hspec_arena_doubles(&o->arena, n);
    o->old = hspec_arena_doubles(&o->arena, n);
    o->scratch = hspec_arena_doubles(&o->arena, hspec_memory_mul(2, n));
    o->R = hspec_arena_doubles(&o->arena, HH);
    o->roots = hspec_arena_doubles(&o->arena, hspec_memory_mul(2, HH));
    o->direction = hspec_arena_doubles(&o->arena, H);
    for (int i = 0; i < 2; i++) {
        hspec_minimum *minimum = i ? &o->other : &o->found;
        minimum->m = hspec_arena_doubles(&o->arena, hspec_memory_mul(H, F));
        minimum->r = hspec_arena_doubles(&o->arena, HH);
        minimum->b = hspec_arena_doubles(&o->arena, H);
        minimum->silent = hspec_arena_take(&o->arena, H, sizeof *minimum->silent);
        minimum->at_bound = hspec_arena_take(&o->arena, hspec_minima_flags(H, F), sizeof *minimum->at_bound);
    }
}

static hspec_status check_params(const hspec_task_params *task, const hspec_layer_params *layer,
                                 const hspec_optimum_params *params, int threads, hspec_error *err)
{
    HSPEC_TRY(hspec_layer_check(layer, err));
    if (!task->signal || task->tokens < 2 || task->tokens > HSPEC_LAYER_MAX_TOKENS) {
        return hspec_error_set(err, HSPEC_EARG, "task: found %zu tokens, allowed 2 to %d, and a signal", task->tokens,
                               HSPEC_LAYER_MAX_TOKENS);
    }
    if (params->nodes < 64 || params->nodes > (size_t)1 << 40) {
        return hspec_error_set(err, HSPEC_EARG, "theory.nodes: found %zu, allowed 64 to 2^40", params->nodes);
    }
    if (params->starts < 1 || params->starts > HSPEC_OPTIMUM_MAX_STARTS) {
        return hspec_error_set(err, HSPEC_EARG, "starts: found %zu, allowed 1 to %d", params->starts,
                               HSPEC_OPTIMUM_MAX_STARTS);
    }
    if (threads < 0) {
        return hspec_error_set(err, HSPEC_EARG, "threads: found %d, allowed >= 0", threads);
    }
    return HSPEC_OK;
}

/** Alignments of any use are a few times those of Bayes' estimator, |theta|; its biases are |theta|^2 / 2. */
static hspec_status choose_bounds(hspec_optimum *o, hspec_error *err)
{
    double *C = hspec_memory_alloc(hspec_memory_mul(o->F, o->F + 1), sizeof *C);
    if (!C) {
        return hspec_error_memory(err, hspec_memory_mul(o->F, o->F + 1) * sizeof *C);
    }
    double largest = 0;
    hspec_signal_moments(o->signal, C + o->F * o->F, C);
    for (size_t f = 0; f < o->F; f++) {
        largest = fmax(largest, C[f * (o->F + 1)]);
    }
    hspec_memory_free(C);
    o->alignment_bound = 10 + 3 * sqrt(largest);
    o->bias_bound = o->alignment_bound * o->alignment_bound;
    o->scale_bound = 10 * (double)o->H;
    return HSPEC_OK;
}

/** How many nodes: `most`, but not more than `scores` scores, nor fewer than the searches take. */
static size_t witness_nodes(const hspec_optimum *o, size_t most, size_t scores)
{
    const size_t afford = scores / (o->H * o->task.tokens);
    const size_t nodes = afford < most ? afford : most;
    return nodes > o->params.nodes ? nodes : o->params.nodes;
}

static hspec_status make(hspec_optimum *o, hspec_error *err)
{
    hspec_nodes_params nodes = {.nodes = (double)o->params.nodes, .randomizations = 1, .seed = SEARCH_SEED};
    HSPEC_TRY(hspec_objective_create(o->signal, &o->layer, o->task.tokens, &nodes, o->threads, &o->silent, err));
    nodes.noise = 1;
    HSPEC_TRY(hspec_objective_create(o->signal, &o->layer, o->task.tokens, &nodes, o->threads, &o->noisy, err));
    nodes = (hspec_nodes_params){.nodes = FINE * (double)o->params.nodes, .randomizations = 1, .seed = FINE_SEED};
    HSPEC_TRY(hspec_objective_create(o->signal, &o->layer, o->task.tokens, &nodes, o->threads, &o->fine, err));
    const size_t silent = witness_nodes(o, SILENT_NODES, SILENT_SCORES);
    const size_t noisy = witness_nodes(o, NOISY_NODES, NOISY_SCORES);
    HSPEC_TRY(hspec_witness_create(o->signal, &o->layer, o->task.tokens, (double)silent, (double)noisy, WITNESS_SEED,
                                   o->threads, &o->witness, err));
    lay_out(o);
    HSPEC_TRY(hspec_arena_commit(&o->arena, err));
    lay_out(o);
    hspec_signal_symmetries(o->signal, o->symmetric);
    HSPEC_TRY(choose_bounds(o, err));
    const int shared = o->layer.activation == HSPEC_BAYES;
    HSPEC_TRY(hspec_minima_create(o->H, o->F, o->symmetric, shared, o->starts, &o->seen, err));
    return hspec_minima_create(o->H, o->F, o->symmetric, shared, o->starts, &o->minima, err);
}

hspec_status hspec_optimum_create(const hspec_task_params *task, const hspec_layer_params *layer,
                                  const hspec_optimum_params *params, int threads, const hspec_monitor *monitor,
                                  hspec_optimum **optimum, hspec_error *err)
{
    if (!task || !layer || !params || !optimum) {
        return hspec_error_set(err, HSPEC_EARG,
                               "hspec_optimum_create: task, layer, params and optimum must not be NULL");
    }
    HSPEC_TRY(check_params(task, layer, params, threads, err));
    hspec_optimum *o = hspec_memory_alloc(1, sizeof *o);
    if (!o) {
        return hspec_error_memory(err, sizeof *o);
    }
    *o = (hspec_optimum){.H = layer->heads,
                         .F = hspec_signal_features(task->signal),
                         .starts = params->starts,
                         .signal = task->signal,
                         .task = *task,
                         .threads = threads,
                         .layer = *layer,
                         .params = *params};
    hspec_status status = make(o, err);
    for (size_t k = 0; k < o->starts && status == HSPEC_OK; k++) {
        status = search_from(o, k, err);
        status = status ? status : tell(o, monitor, k + 1, err);
    }
    if (status == HSPEC_OK) {
        status = refine(o, monitor, err);
    }
    if (status == HSPEC_OK) {
        take_losses(o);
    }
    if (status != HSPEC_OK) {
        hspec_optimum_free(o);
        return status;
    }
    *optimum = o;
    return HSPEC_OK;
}

void hspec_optimum_free(hspec_optimum *optimum)
{
    if (!optimum) {
        return;
    }
    hspec_objective_free(&optimum->silent);
    hspec_objective_free(&optimum->noisy);
    hspec_objective_free(&optimum->fine);
    hspec_witness_free(&optimum->witness);
    hspec_minima_free(&optimum->seen);
    hspec_minima_free(&optimum->minima);
    hspec_arena_free(&optimum->arena);
    hspec_memory_free(optimum);
}

size_t hspec_optimum_minima(const hspec_optimum *optimum)
{
    return optimum->minima.count;
}

void hspec_optimum_view(const hspec_optimum *optimum, size_t i, hspec_optimum_minimum *view)
{
    const hspec_minimum *found = &optimum->minima.list[i];
    const size_t H = optimum->H, HF = H * optimum->F;
    *view = (hspec_optimum_minimum){.loss = found->loss,
                                    .loss_error = found->loss_error,
                                    .count = found->count,
                                    .at_bound = found->bound,
                                    .alignment_at_bound = found->at_bound,
                                    .residual_at_bound = found->at_bound + HF,
                                    .bias_at_bound = found->at_bound + HF + H,
                                    .scale_at_bound = found->at_bound[HF + 2 * H],
                                    .residual_rate = found->rate,
                                    .residual_rate_error = found->rate_error,
                                    .silent = found->silent,
                                    .order = {found->m, found->r, found->b, found->s}};
}
