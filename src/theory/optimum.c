/* SPDX-License-Identifier: MIT
 * The best population loss of a layer: many searches by gradient (NLopt), and the distinct minima that they find
 * (docs/theory.md, "Optimum"). This is the only file that knows NLopt. */
#include "attention/layer.h"
#include "core/dense.h"
#include "theory/guess.h"
#include "theory/minima.h"

#include <math.h>
#include <string.h>

hspec_optimum_params hspec_optimum_default(void)
{
    return (hspec_optimum_params){.nodes = 16384, .starts = 32, .seed = 1};
}

#ifdef HSPEC_HAVE_NLOPT
#include <nlopt.h>

/** Nodes of the searches; the losses of what they find are taken on others. */
#define SEARCH_SEED 3
#define LOSS_SEED 4
#define COMPARE_SEED 5
#define COMPARE_NODES ((size_t)1 << 17)
#define LEAST_LOSS_NODES ((size_t)1 << 20)
/** A search ends when the loss falls by less than this, relatively. */
#define TOLERANCE 1e-8
#define MOST_EVALUATIONS 400
/** A head whose move by 0.3 along every feature changes the loss less than this has no influence on it. */
#define SILENT_MOVE 0.3
#define SILENT_LOSS 1e-5
/** A residual below this, in every direction, is 0; one of this size tells whether the loss falls with it. */
#define SMALL_RESIDUAL 1e-4
/** The loss falls with a residual when it does so at more than this rate. */
#define FALLING 1e-3
/** A minimum with a residual counts when it is lower than the next one without by this and by as many errors. */
#define LOWER 1e-5
#define LOWER_ERRORS 3
/** Searches with a residual, one for so many without. */
#define SHARE_WITH_RESIDUAL 8

struct hspec_optimum {
    size_t H, F, starts;
    const hspec_signal *signal;
    hspec_task_params task;
    hspec_layer_params layer;
    hspec_optimum_params params;
    int threads;
    hspec_objective silent, noisy; /* without a residual, and with one */
    double alignment_bound, bias_bound;
    int *symmetric;                       /* [F] */
    double *x, *best, *low, *high, *move; /* [n] of the longer vector */
    double *A, *V;                        /* [H][H] */
    double *loss, *error;                 /* [minima] */
    hspec_minimum found, other;
    hspec_minima minima;
    hspec_arena arena;
};

/** What a search has seen. */
typedef struct search {
    hspec_optimum *optimum;
    hspec_objective *objective;
    double lowest;
} search;

static double evaluate(unsigned n, const double *x, double *gradient, void *user)
{
    search *s = user;
    const double loss = hspec_objective_value(s->objective, x, gradient);
    if (loss < s->lowest) { /* false for NaN */
        s->lowest = loss;
        memcpy(s->optimum->best, x, n * sizeof *x);
    }
    return loss;
}

static void set_bounds(const hspec_optimum *o, const hspec_objective *objective)
{
    const size_t HF = o->H * o->F, biases = HF + objective->root, scales = biases + objective->biases;
    for (size_t i = 0; i < objective->n; i++) {
        o->high[i] = i < biases ? o->alignment_bound : i < scales ? o->bias_bound : 10.0 * (double)o->H;
        o->low[i] = i < scales ? -o->high[i] : 0;
    }
}

/** The minimum next to o->x, in place; its loss over the nodes. @return OK, ENOMEM, ENONFINITE */
static hspec_status descend(hspec_optimum *o, hspec_objective *objective, double *loss, hspec_error *err)
{
    set_bounds(o, objective);
    for (size_t i = 0; i < objective->n; i++) {
        o->x[i] = fmin(fmax(o->x[i], o->low[i]), o->high[i]);
    }
    nlopt_opt solver = nlopt_create(NLOPT_LD_LBFGS, (unsigned)objective->n);
    search s = {o, objective, HUGE_VAL};
    if (!solver || nlopt_set_min_objective(solver, evaluate, &s) < 0 || nlopt_set_lower_bounds(solver, o->low) < 0 ||
        nlopt_set_upper_bounds(solver, o->high) < 0 || nlopt_set_ftol_rel(solver, TOLERANCE) < 0 ||
        nlopt_set_maxeval(solver, MOST_EVALUATIONS) < 0) {
        nlopt_destroy(solver);
        return hspec_error_memory(err, objective->n * sizeof(double));
    }
    double value;
    /* The result code is not asked: the method reports a failure when rounding stops it, at a minimum. What counts is
     * the lowest point that was seen. */
    (void)nlopt_optimize(solver, o->x, &value);
    nlopt_destroy(solver);
    if (!isfinite(s.lowest)) {
        return hspec_error_set(err, HSPEC_ENONFINITE, "optimum: the loss is not finite at a start");
    }
    memcpy(o->x, o->best, objective->n * sizeof *o->x);
    *loss = s.lowest;
    return HSPEC_OK;
}

/** Does a head's move in either direction leave the loss as it is? */
static int is_silent(hspec_optimum *o, hspec_objective *objective, double loss, size_t h)
{
    int silent = 1;
    for (int side = -1; side <= 1 && silent; side += 2) {
        memcpy(o->move, o->x, objective->n * sizeof *o->move);
        for (size_t f = 0; f < o->F; f++) {
            o->move[h * o->F + f] += side * SILENT_MOVE;
        }
        silent = fabs(hspec_objective_value(objective, o->move, NULL) - loss) < SILENT_LOSS;
    }
    return silent;
}

/** Does a variable stand at its bound, other than those of heads without influence? s = 0 is none. */
static int at_bound(hspec_optimum *o, const hspec_objective *objective, const int *silent)
{
    const size_t HF = o->H * o->F, biases = HF + objective->root, scales = biases + objective->biases;
    set_bounds(o, objective);
    int bound = 0;
    for (size_t i = 0; i < objective->n; i++) {
        const int low = i < scales && o->x[i]<o->low[i] * (1 - 1e-6), high = o->x[i]> o->high[i] * (1 - 1e-6);
        const size_t head = i < HF ? i / o->F : i >= biases && i < scales && objective->biases > 1 ? i - biases : o->H;
        bound = bound || ((low || high) && (head == o->H || !silent[head]));
    }
    return bound;
}

/** What there is to say about o->x, a minimum of the objective. */
static void describe(hspec_optimum *o, hspec_objective *objective, double loss, hspec_minimum *found)
{
    const size_t H = o->H, HF = H * o->F;
    found->loss = loss;
    found->count = 1;
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
    found->bound = at_bound(o, objective, found->silent);
}

/** From a vector of one objective to that of the other: R is left out, or put in as given. */
static void convert(const hspec_optimum *o, const hspec_objective *from, const double *x, const hspec_objective *to,
                    const double *R, double *y)
{
    const size_t HF = o->H * o->F;
    memcpy(y, x, HF * sizeof *y);
    if (to->root) {
        memcpy(y + HF, R, to->root * sizeof *y);
    }
    memcpy(y + HF + to->root, x + HF + from->root, (from->biases + from->scales) * sizeof *y);
}

/** Does the loss fall with a residual at o->x, a minimum without one? The rates are the eigenvalues of half the Hessian
 *  with respect to R, which a gradient at a small R = e I gives: dE/dR = 2 A R.
 *  @return the least; o->A out: a root of the residual along which it falls */
static double falling(hspec_optimum *o)
{
    const size_t H = o->H, HF = H * o->F;
    const double size = sqrt(SMALL_RESIDUAL);
    double *gradient = o->best; /* not needed now */
    for (size_t i = 0; i < H * H; i++) {
        o->A[i] = i % (H + 1) == 0 ? size : 0;
    }
    convert(o, &o->silent, o->x, &o->noisy, o->A, o->move);
    (void)hspec_objective_value(&o->noisy, o->move, gradient);
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) {
            o->A[h * H + j] = (gradient[HF + h * H + j] + gradient[HF + j * H + h]) / (4 * size);
        }
    }
    hspec_dense_eigen(H, o->A, o->V);
    size_t k = 0;
    for (size_t h = 1; h < H; h++) {
        k = o->A[h * (H + 1)] < o->A[k * (H + 1)] ? h : k;
    }
    const double least = o->A[k * (H + 1)];
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) {
            o->A[h * H + j] = 0.3 * o->V[h * H + k] * o->V[j * H + k];
        }
    }
    return least;
}

/** The minimum found->m, r, b, s against o->x, one without a residual, on nodes that neither has seen: to few nodes it can
 *  look as if a residual helped. @param better out */
static hspec_status residual_helps(hspec_optimum *o, const hspec_minimum *found, int *better, hspec_error *err)
{
    const size_t H = o->H;
    double loss[2], error[2], s;
    double *b = o->move, *zero = o->move + H;
    memset(zero, 0, H * H * sizeof *zero);
    hspec_objective_parameters(&o->silent, o->x, b, &s);
    const hspec_order states[2] = {{found->m, found->r, found->b, found->s}, {o->x, zero, b, s}};
    HSPEC_TRY(hspec_population_loss(&o->task, &o->layer, COMPARE_NODES, COMPARE_SEED, o->threads, 2, states, loss,
                                    error, err));
    *better = loss[0] < loss[1] - LOWER - LOWER_ERRORS * error[1];
    return HSPEC_OK;
}

/** A search from a start with a residual; then on without it, unless it helps. */
static hspec_status search_with_residual(hspec_optimum *o, hspec_error *err)
{
    double loss;
    int better = 0;
    HSPEC_TRY(descend(o, &o->noisy, &loss, err));
    describe(o, &o->noisy, loss, &o->other);
    convert(o, &o->noisy, o->x, &o->silent, o->A, o->move);
    memcpy(o->x, o->move, o->silent.n * sizeof *o->x);
    HSPEC_TRY(descend(o, &o->silent, &loss, err));
    HSPEC_TRY(residual_helps(o, &o->other, &better, err));
    if (!better) {
        describe(o, &o->silent, loss, &o->found);
    }
    hspec_minima_add(&o->minima, better ? &o->other : &o->found);
    return HSPEC_OK;
}

/** Start number k. */
static hspec_status search_from(hspec_optimum *o, size_t k, hspec_error *err)
{
    const int residual = k % SHARE_WITH_RESIDUAL == SHARE_WITH_RESIDUAL - 1;
    hspec_objective *objective = residual ? &o->noisy : &o->silent;
    hspec_guess_make(o->signal, o->layer.activation, objective, o->params.seed, k, o->x);
    if (residual) {
        return search_with_residual(o, err);
    }
    double loss;
    HSPEC_TRY(descend(o, objective, &loss, err));
    if (falling(o) < -FALLING) {
        convert(o, &o->silent, o->x, &o->noisy, o->A, o->move);
        memcpy(o->x, o->move, o->noisy.n * sizeof *o->x);
        return search_with_residual(o, err);
    }
    describe(o, objective, loss, &o->found);
    hspec_minima_add(&o->minima, &o->found);
    return HSPEC_OK;
}

/** The losses of all minima on fresh nodes, in the order of these. */
static hspec_status take_losses(hspec_optimum *o, hspec_error *err)
{
    const size_t n = o->minima.count;
    const size_t nodes = o->params.nodes > LEAST_LOSS_NODES ? o->params.nodes : LEAST_LOSS_NODES;
    hspec_order *states = hspec_memory_alloc(n, sizeof *states);
    if (!states) {
        return hspec_error_memory(err, n * sizeof *states);
    }
    for (int pass = 0; pass < 2; pass++) { /* measure, sort, measure in the new order: the nodes are the same */
        for (size_t i = 0; i < n; i++) {
            const hspec_minimum *found = &o->minima.list[i];
            states[i] = (hspec_order){found->m, found->r, found->b, found->s};
        }
        const hspec_status status =
            hspec_population_loss(&o->task, &o->layer, nodes, LOSS_SEED, o->threads, n, states, o->loss, o->error, err);
        if (status != HSPEC_OK) {
            hspec_memory_free(states);
            return status;
        }
        for (size_t i = 0; pass == 0 && i < n; i++) {
            o->minima.list[i].loss = o->loss[i];
        }
        hspec_minima_sort(&o->minima);
    }
    hspec_memory_free(states);
    return HSPEC_OK;
}

static void lay_out(hspec_optimum *o)
{
    const size_t H = o->H, F = o->F, n = o->noisy.n, HH = hspec_memory_mul(H, H);
    o->symmetric = hspec_arena_take(&o->arena, F, sizeof *o->symmetric);
    o->x = hspec_arena_doubles(&o->arena, n);
    o->best = hspec_arena_doubles(&o->arena, n);
    o->low = hspec_arena_doubles(&o->arena, n);
    o->high = hspec_arena_doubles(&o->arena, n);
    o->move = hspec_arena_doubles(&o->arena, hspec_memory_add(n, HH + H));
    o->A = hspec_arena_doubles(&o->arena, HH);
    o->V = hspec_arena_doubles(&o->arena, HH);
    o->loss = hspec_arena_doubles(&o->arena, o->starts);
    o->error = hspec_arena_doubles(&o->arena, o->starts);
    for (int i = 0; i < 2; i++) {
        hspec_minimum *minimum = i ? &o->other : &o->found;
        minimum->m = hspec_arena_doubles(&o->arena, hspec_memory_mul(H, F));
        minimum->r = hspec_arena_doubles(&o->arena, HH);
        minimum->b = hspec_arena_doubles(&o->arena, H);
        minimum->silent = hspec_arena_take(&o->arena, H, sizeof *minimum->silent);
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
    return HSPEC_OK;
}

static hspec_status make(hspec_optimum *o, hspec_error *err)
{
    hspec_nodes_params nodes = {.nodes = (double)o->params.nodes, .randomizations = 1, .seed = SEARCH_SEED};
    HSPEC_TRY(hspec_objective_create(o->signal, &o->layer, o->task.tokens, &nodes, o->threads, &o->silent, err));
    nodes.noise = 1;
    HSPEC_TRY(hspec_objective_create(o->signal, &o->layer, o->task.tokens, &nodes, o->threads, &o->noisy, err));
    lay_out(o);
    HSPEC_TRY(hspec_arena_commit(&o->arena, err));
    lay_out(o);
    hspec_signal_symmetries(o->signal, o->symmetric);
    HSPEC_TRY(choose_bounds(o, err));
    return hspec_minima_create(o->H, o->F, o->symmetric, o->starts, &o->minima, err);
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
        const hspec_event event = {.kind = HSPEC_EVENT_PROGRESS, .done = (double)k + 1, .total = (double)o->starts};
        if (status == HSPEC_OK && monitor && monitor->notify && monitor->notify(monitor->user, &event)) {
            status = hspec_error_set(err, HSPEC_ESTOPPED, "stopped after %zu of %zu starts", k + 1, o->starts);
        }
    }
    if (status == HSPEC_OK) {
        status = take_losses(o, err);
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
    *view = (hspec_optimum_minimum){.loss = optimum->loss[i],
                                    .loss_error = optimum->error[i],
                                    .count = found->count,
                                    .at_bound = found->bound,
                                    .silent = found->silent,
                                    .order = {found->m, found->r, found->b, found->s}};
}

#else

hspec_status hspec_optimum_create(const hspec_task_params *task, const hspec_layer_params *layer,
                                  const hspec_optimum_params *params, int threads, const hspec_monitor *monitor,
                                  hspec_optimum **optimum, hspec_error *err)
{
    (void)task, (void)layer, (void)params, (void)threads, (void)monitor, (void)optimum;
    return hspec_error_set(err, HSPEC_EUNSUPPORTED, "optimum: this build has no optimizer (NLopt)");
}

void hspec_optimum_free(hspec_optimum *optimum)
{
    (void)optimum;
}

size_t hspec_optimum_minima(const hspec_optimum *optimum)
{
    (void)optimum;
    return 0;
}

void hspec_optimum_view(const hspec_optimum *optimum, size_t i, hspec_optimum_minimum *view)
{
    (void)optimum, (void)i;
    memset(view, 0, sizeof *view);
}

#endif
