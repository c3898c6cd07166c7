/* SPDX-License-Identifier: MIT */
#include "theory/equal.h"

#include "core/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** Steps of differences, of numbers of order one: with an error of the fourth order and by rounding, 1e-12 each. */
#define STEP 1e-3
/** rho at the start, in units of where it goes. */
#define RHO_START 1e-2
/** The error of a step of the flow: it only has to end in the right place. */
#define TOLERANCE 1e-3
#define MAX_STEPS 3000
/** The flow is followed until it moves by less than this, in units of eta; then Newton's method takes over ... */
#define SLOW 1e-5
/** ... and must come down to this; where that fails, because the flow creeps to infinity, it is followed to that. */
#define REST 1e-11
#define CREEP 1e-9
#define MAX_NEWTON 40
/** Beyond this it has run away. */
#define FAR 1e4
/** Pivots below this share of the largest are directions along which the flow does not move. */
#define FLAT 1e-10

static void lay_out(hspec_equal *e)
{
    const size_t n = e->n, nn = hspec_memory_mul(n, n);
    e->y = hspec_arena_doubles(&e->arena, e->flow.variables);
    e->dy = hspec_arena_doubles(&e->arena, e->flow.variables);
    e->J = hspec_arena_doubles(&e->arena, nn);
    e->A = hspec_arena_doubles(&e->arena, nn);
    e->k1 = hspec_arena_doubles(&e->arena, n);
    e->k2 = hspec_arena_doubles(&e->arena, n);
    e->x1 = hspec_arena_doubles(&e->arena, n);
    e->f = hspec_arena_doubles(&e->arena, n);
    e->kept = hspec_arena_doubles(&e->arena, n);
    e->up = hspec_arena_doubles(&e->arena, n);
    e->down = hspec_arena_doubles(&e->arena, n);
    e->pivot = hspec_arena_take(&e->arena, n, sizeof *e->pivot);
}

/** The flow, told to start from equal heads. */
static hspec_status create_flow(const hspec_setup *setup, hspec_limit limit, const hspec_nodes_params *nodes,
                                int threads, hspec_flow *flow, hspec_error *err)
{
    const size_t H = setup->H, F = setup->F;
    const size_t room = hspec_memory_add(hspec_memory_mul(H, F), hspec_memory_add(hspec_memory_mul(H, H), H));
    double *zero = hspec_memory_alloc(room, sizeof *zero);
    if (!zero) {
        return hspec_error_memory(err, hspec_memory_mul(room, sizeof *zero));
    }
    for (size_t h = 0; h < H; h++) {
        zero[H * (F + H) + h] = setup->layer.bias_init;
    }
    const hspec_order start = {zero, zero + H * F, zero + H * (F + H), setup->layer.scale_init};
    const hspec_status status = hspec_flow_create(setup, limit, nodes, &start, threads, flow, err);
    hspec_memory_free(zero);
    return status;
}

/** The largest second moment of a feature: scores change by its root. */
static hspec_status largest_moment(const hspec_setup *setup, double *largest, hspec_error *err)
{
    const size_t F = setup->F;
    double *moments = hspec_memory_alloc(hspec_memory_mul(F, F + 1), sizeof *moments);
    if (!moments) {
        return hspec_error_memory(err, hspec_memory_mul(F * (F + 1), sizeof *moments));
    }
    hspec_signal_moments(setup->signal, moments, moments + F);
    *largest = 0;
    for (size_t f = 0; f < F; f++) {
        *largest = fmax(*largest, moments[F + f * F + f]);
    }
    hspec_memory_free(moments);
    return HSPEC_OK;
}

hspec_status hspec_equal_create(const hspec_setup *setup, hspec_limit limit, int at_origin,
                                const hspec_nodes_params *nodes, int threads, hspec_equal *equal, hspec_error *err)
{
    hspec_equal created = {.H = setup->H,
                           .F = setup->F,
                           .n = setup->F,
                           .rho = HSPEC_EQUAL_NONE,
                           .bias = HSPEC_EQUAL_NONE,
                           .scale = HSPEC_EQUAL_NONE,
                           .first = at_origin ? setup->F : 0,
                           .bias_init = setup->layer.bias_init,
                           .scale_init = setup->layer.scale_init};
    created.small_rho = setup->training.learning_rate / ((double)(setup->B * setup->H) * (double)setup->L);
    double moment = 0;
    HSPEC_TRY(largest_moment(setup, &moment, err));
    created.step = STEP / sqrt(1 + moment);
    HSPEC_TRY(create_flow(setup, limit, nodes, threads, &created.flow, err));
    if (created.flow.noise) {
        created.rho = created.n++;
    }
    if (created.flow.biases && !created.flow.bayes) {
        created.bias = created.n++;
    }
    if (created.flow.scales) {
        created.scale = created.n++;
    }
    lay_out(&created);
    const hspec_status status = hspec_arena_commit(&created.arena, err);
    if (status != HSPEC_OK) {
        hspec_equal_free(&created);
        return status;
    }
    lay_out(&created);
    *equal = created;
    return HSPEC_OK;
}

void hspec_equal_free(hspec_equal *equal)
{
    hspec_flow_free(&equal->flow);
    hspec_arena_free(&equal->arena);
}

void hspec_equal_start(const hspec_equal *equal, const double *push, double *x)
{
    memcpy(x, push, equal->F * sizeof *x);
    if (equal->rho != HSPEC_EQUAL_NONE) {
        x[equal->rho] = RHO_START * equal->small_rho;
    }
    if (equal->bias != HSPEC_EQUAL_NONE) {
        x[equal->bias] = equal->bias_init;
    }
    if (equal->scale != HSPEC_EQUAL_NONE) {
        x[equal->scale] = equal->scale_init;
    }
}

void hspec_equal_slope(hspec_equal *e, const double *x, double *slope)
{
    const size_t H = e->H, F = e->F;
    double *place = e->y;
    for (size_t h = 0; h < H; h++, place += F) {
        memcpy(place, x, F * sizeof *place);
    }
    for (size_t i = 0; i < e->flow.residuals; i++) {
        *place++ = x[e->rho];
    }
    for (size_t i = 0; i < e->flow.biases; i++) {
        *place++ = e->bias == HSPEC_EQUAL_NONE ? e->bias_init : x[e->bias];
    }
    if (e->flow.scales) {
        *place = x[e->scale];
    }
    (void)hspec_flow_slope(&e->flow, e->y, e->dy); /* whether it is finite is seen from its values */
    const double *from = e->dy;
    memcpy(slope, from, F * sizeof *slope); /* the flow gives equal heads equal slopes */
    from += H * F;
    if (e->rho != HSPEC_EQUAL_NONE) {
        slope[e->rho] = from[0];
    }
    from += e->flow.residuals;
    if (e->bias != HSPEC_EQUAL_NONE) {
        slope[e->bias] = from[0];
    }
    if (e->scale != HSPEC_EQUAL_NONE) {
        slope[e->scale] = from[e->flow.biases];
    }
}

/** J_ij = d slope_i / d x_j by central differences at two distances. */
static void jacobian(hspec_equal *e, const double *x, double *J)
{
    const size_t n = e->n;
    memcpy(e->x1, x, n * sizeof *x);
    for (size_t j = 0; j < n; j++) {
        double h = j < e->F ? e->step : STEP;
        if (j == e->rho) {
            h = fmin(STEP, x[j] / 4); /* rho stays positive */
        }
        for (int far = 0; far < 2; far++) {
            const double distance = far ? 2 * h : h, weight = (far ? -1.0 : 4.0) / (3 * 2 * distance);
            e->x1[j] = x[j] + distance;
            hspec_equal_slope(e, e->x1, e->up);
            e->x1[j] = x[j] - distance;
            hspec_equal_slope(e, e->x1, e->down);
            for (size_t i = 0; i < n; i++) {
                J[i * n + j] = (far ? J[i * n + j] : 0) + weight * (e->up[i] - e->down[i]);
            }
        }
        e->x1[j] = x[j];
    }
}

/** Brings A, of the variables that are not held, to triangular form with full pivoting, and solves A z = b where it can:
 *  along flat directions z is 0. @param A inout [n][n], its rows and columns from `first` on @param b inout [n] */
static void solve(hspec_equal *e, double *A, double *b, double *z)
{
    const size_t n = e->n;
    size_t *column = e->pivot, rank = e->first;
    double largest = 0;
    for (size_t i = e->first; i < n; i++) {
        column[i] = i;
    }
    for (; rank < n; rank++) {
        size_t p = rank, q = rank;
        for (size_t i = rank; i < n; i++) {
            for (size_t j = rank; j < n; j++) {
                if (fabs(A[i * n + column[j]]) > fabs(A[p * n + column[q]])) {
                    p = i, q = j;
                }
            }
        }
        const double pivot = fabs(A[p * n + column[q]]);
        largest = fmax(largest, pivot);
        if (!(pivot > FLAT * largest)) {
            break;
        }
        const size_t c = column[q];
        column[q] = column[rank];
        column[rank] = c;
        for (size_t j = e->first; j < n && p != rank; j++) {
            const double a = A[p * n + j];
            A[p * n + j] = A[rank * n + j];
            A[rank * n + j] = a;
        }
        const double swapped = b[p];
        b[p] = b[rank];
        b[rank] = swapped;
        for (size_t i = rank + 1; i < n; i++) {
            const double factor = A[i * n + c] / A[rank * n + c];
            for (size_t j = rank; j < n; j++) {
                A[i * n + column[j]] -= factor * A[rank * n + column[j]];
            }
            b[i] -= factor * b[rank];
        }
    }
    memset(z, 0, n * sizeof *z);
    for (size_t k = rank; k-- > e->first;) {
        double sum = b[k];
        for (size_t j = k + 1; j < rank; j++) {
            sum -= A[k * n + column[j]] * z[column[j]];
        }
        z[column[k]] = sum / A[k * n + column[k]];
    }
}

/** The largest slope of a variable that is not held, NaN if one is. */
static double speed(const hspec_equal *e, const double *slope)
{
    double largest = 0;
    for (size_t i = e->first; i < e->n; i++) {
        if (!isfinite(slope[i])) {
            return NAN;
        }
        largest = fmax(largest, fabs(slope[i]));
    }
    return largest;
}

static hspec_status not_at_rest(const hspec_equal *e, const double *x, const char *when, double moves, hspec_error *err)
{
    size_t far = e->first;
    for (size_t i = e->first; i < e->n; i++) {
        far = fabs(x[i]) > fabs(x[far]) ? i : far;
    }
    const char *name = far == e->rho ? "residual" : far == e->bias ? "bias" : far == e->scale ? "scale" : "alignment";
    return hspec_error_set(err, HSPEC_ENONFINITE,
                           "stability: the flow of equal heads does not come to rest: %s the largest number is "
                           "%s = %g, and it moves by %g per unit of t",
                           when, name, x[far], moves);
}

hspec_status hspec_equal_polish(hspec_equal *e, double *x, hspec_error *err)
{
    const size_t n = e->n;
    double *next = e->k2, before = INFINITY;
    for (int i = 0; i < MAX_NEWTON; i++) {
        hspec_equal_slope(e, x, e->f);
        const double moves = speed(e, e->f);
        /* Rounding may not let it come down all the way. */
        if (moves < REST * e->flow.rate || (moves < 1e3 * REST * e->flow.rate && moves > before / 2)) {
            return HSPEC_OK;
        }
        before = moves;
        jacobian(e, x, e->J);
        solve(e, e->J, e->f, e->k1);
        double length = 1; /* rho must stay positive */
        if (e->rho != HSPEC_EQUAL_NONE) {
            length = e->k1[e->rho] > 0.5 * x[e->rho] ? 0.5 * x[e->rho] / e->k1[e->rho] : 1;
        }
        for (size_t j = 0; j < n; j++) {
            next[j] = x[j] - length * e->k1[j];
            if (!(fabs(next[j]) < FAR)) {
                return not_at_rest(e, x, "in Newton's method", moves, err);
            }
        }
        memcpy(x, next, n * sizeof *x);
    }
    return not_at_rest(e, x, "in Newton's method", before, err);
}

/** One step of the flow: the linearly implicit ROS2, L-stable, so that steps may grow as the flow settles.
 *      (1 - g dt J) k1 = f(x),  (1 - g dt J) k2 = f(x + dt k1) - 2 k1,  next = x + dt (3 k1 + k2) / 2,  g = 1 - 1/sqrt 2
 *  @param J in [n][n] @param next out [n] @return its error, in units of the tolerance */
static double advance(hspec_equal *e, const double *x, const double *J, double dt, double *next)
{
    const size_t n = e->n;
    const double g = 1 - sqrt(0.5);
    double error = 0;
    for (int stage = 0; stage < 2; stage++) {
        for (size_t i = 0; i < n * n; i++) {
            e->A[i] = (i % (n + 1) == 0) - g * dt * J[i];
        }
        for (size_t i = 0; i < n; i++) {
            next[i] = x[i] + (stage && i >= e->first ? dt * e->k1[i] : 0);
        }
        if (stage && e->rho != HSPEC_EQUAL_NONE && !(next[e->rho] > 0)) {
            return INFINITY;
        }
        hspec_equal_slope(e, next, e->f);
        for (size_t i = e->first; stage && i < n; i++) {
            e->f[i] -= 2 * e->k1[i];
        }
        solve(e, e->A, e->f, stage ? e->k2 : e->k1);
    }
    memcpy(next, x, n * sizeof *x);
    for (size_t i = e->first; i < n; i++) {
        next[i] += dt * (1.5 * e->k1[i] + 0.5 * e->k2[i]);
        const double size = i == e->rho ? e->small_rho : 0.1;
        const double off = 0.5 * dt * fabs(e->k1[i] + e->k2[i]) / (TOLERANCE * (size + fabs(x[i])));
        if (!isfinite(off) || (i == e->rho && !(next[i] > 0))) {
            return INFINITY;
        }
        error = fmax(error, off);
    }
    return error;
}

static hspec_status left(const hspec_equal *e, const double *x, double t, double moves, hspec_error *err)
{
    char when[40];
    (void)snprintf(when, sizeof when, "at t = %g", t);
    return not_at_rest(e, x, when, moves, err);
}

/** Until it moves by less than `slow`, in units of eta. */
static hspec_status follow(hspec_equal *e, double slow, double *x, hspec_error *err)
{
    const size_t n = e->n;
    double t = 0, moves = INFINITY, dt = 1e-2 * (double)(e->H) / e->flow.rate;
    int fresh = 0; /* is J that of x? */
    for (int i = 0; i < MAX_STEPS; i++) {
        if (!fresh) {
            hspec_equal_slope(e, x, e->f);
            moves = speed(e, e->f);
            if (moves < slow * e->flow.rate) {
                return HSPEC_OK;
            }
            jacobian(e, x, e->J);
            fresh = 1;
        }
        const double error = advance(e, x, e->J, dt, e->up);
        if (error <= 1) {
            memcpy(x, e->up, n * sizeof *x);
            t += dt;
            fresh = 0;
            for (size_t j = 0; j < n; j++) {
                if (!(fabs(x[j]) < FAR)) {
                    return left(e, x, t, moves, err);
                }
            }
        }
        dt *= error > 0 ? fmin(5, fmax(0.2, 0.9 / sqrt(error))) : 5;
    }
    return left(e, x, t, moves, err);
}

hspec_status hspec_equal_settle(hspec_equal *e, double *x, hspec_error *err)
{
    if (e->first == e->n) {
        return HSPEC_OK;
    }
    HSPEC_TRY(follow(e, SLOW, x, err));
    memcpy(e->kept, x, e->n * sizeof *x);
    if (hspec_equal_polish(e, x, NULL) == HSPEC_OK) {
        return HSPEC_OK;
    }
    memcpy(x, e->kept, e->n * sizeof *x);
    return follow(e, CREEP, x, err);
}

size_t hspec_equal_places(const hspec_equal *e, size_t *place)
{
    size_t count = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (i != e->rho) {
            place[count++] = i;
        }
    }
    return count;
}

void hspec_equal_block(hspec_equal *e, const double *x, double *block)
{
    const size_t size = hspec_equal_places(e, e->pivot), n = e->n;
    jacobian(e, x, e->J);
    for (size_t i = 0; i < size; i++) {
        for (size_t j = 0; j <= i; j++) {
            const size_t p = e->pivot[i], q = e->pivot[j];
            /* One number that all heads share is as long as one; H equal numbers are sqrt(H) times as long. */
            const int p_shared = p == e->scale || (p == e->bias && !e->flow.per_head);
            const int q_shared = q == e->scale || (q == e->bias && !e->flow.per_head);
            const double ratio = p_shared == q_shared ? 1 : p_shared ? 1 / sqrt((double)e->H) : sqrt((double)e->H);
            block[i * size + j] = block[j * size + i] = (e->J[p * n + q] * ratio + e->J[q * n + p] / ratio) / 2;
        }
    }
}
