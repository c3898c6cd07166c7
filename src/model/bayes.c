/* SPDX-License-Identifier: MIT */
#include "model/bayes.h"

#include "core/cpu.h"
#include "core/dense.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- posterior -------------------------------------------------------------------------------------------------- */

/** Largest |c| for which no square overflows. */
#define MAX_C 1e100

/** ln E_theta exp(theta . c_l - |theta|^2 / 2) of token l. @param c in [F][L] */
static double log_ratio(const hspec_signal *signal, size_t L, size_t l, const double *c)
{
    const size_t F = signal->features;
    if (signal->law == HSPEC_LAW_GAUSSIAN) {
        double sum = 0;
        for (size_t f = 0; f < F; f++) {
            /* (V c^2 + 2 mu c - mu^2) / (2 (1 + V)) - ln(1 + V) / 2 */
            const double V = signal->deviation[f] * signal->deviation[f], mu = signal->mean[f], x = c[f * L + l];
            sum += ((V * x + 2 * mu) * x - mu * mu) / (2 * (1 + V)) - log1p(V) / 2;
        }
        return sum;
    }
    double max = -INFINITY, sum = 0; /* of exponents so far: their largest, and sum_k exp(exponent_k - max) */
    for (size_t k = 0; k < signal->points; k++) {
        const double *theta = signal->theta + k * F;
        double exponent = log(signal->weights[k]);
        for (size_t f = 0; f < F; f++) {
            exponent += theta[f] * (c[f * L + l] - theta[f] / 2);
        }
        if (exponent > max) {
            sum = sum * exp(max - exponent) + 1;
            max = exponent;
        } else if (exponent > -INFINITY) { /* a weight of 0 has no part in it */
            sum += exp(exponent - max);
        }
    }
    return max + log(sum);
}

static hspec_status check_tokens(size_t tokens, hspec_error *err)
{
    if (tokens < 2 || tokens > HSPEC_BAYES_MAX_TOKENS) {
        return hspec_error_set(err, HSPEC_EARG, "task.tokens: found %zu, allowed 2 to %d", tokens,
                               HSPEC_BAYES_MAX_TOKENS);
    }
    return HSPEC_OK;
}

hspec_status hspec_bayes_posterior(const hspec_signal *signal, size_t tokens, const double *c, double *p,
                                   hspec_error *err)
{
    if (!signal || !c || !p) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_bayes_posterior: signal, c and p must not be NULL");
    }
    HSPEC_TRY(check_tokens(tokens, err));
    for (size_t i = 0; i < signal->features * tokens; i++) {
        if (!(fabs(c[i]) <= MAX_C)) {
            return hspec_error_set(err, HSPEC_ENONFINITE, "c[f = %zu][l = %zu]: found %g, allowed -%g to %g",
                                   i / tokens, i % tokens, c[i], MAX_C, MAX_C);
        }
    }
    double max = -INFINITY, sum = 0;
    for (size_t l = 0; l < tokens; l++) {
        p[l] = log_ratio(signal, tokens, l, c);
        max = fmax(max, p[l]);
    }
    for (size_t l = 0; l < tokens; l++) {
        p[l] = exp(p[l] - max);
        sum += p[l];
    }
    for (size_t l = 0; l < tokens; l++) {
        p[l] /= sum;
    }
    return HSPEC_OK;
}

/* ---- risk ------------------------------------------------------------------------------------------------------- */

/** Independent randomizations of the lattice, which give the standard error; each is summed by one thread. */
#define RANDOMIZATIONS 16
/** Their streams are apart from those of population losses, which take the low numbers. */
#define FIRST_SUBSTREAM (UINT64_C(1) << 40)
/** Step of ln t, and how far ln t goes beyond ln(L - 1) on both sides: the integral is exact within 2e-11. */
#define STEP 0.35
#define REACH 28.0

static void fill_gaussian(hspec_bayes_law *law, const hspec_signal *signal)
{
    law->constant = 0;
    for (size_t f = 0; f < law->features; f++) {
        const double mu = signal->mean[f], V = signal->deviation[f] * signal->deviation[f];
        law->mean[f] = mu;
        law->spread[f] = sqrt(1 + V);
        law->linear[f] = mu / (1 + V);
        law->square[f] = V / (2 * (1 + V));
        law->constant -= mu * mu / (2 * (1 + V)) + log1p(V) / 2;
    }
}

/** @param rows scratch [K][F of the signal] */
static void fill_points(hspec_bayes_law *law, const hspec_signal *signal, double *rows)
{
    const size_t F = signal->features;
    size_t K = 0;
    for (size_t k = 0; k < signal->points; k++) {
        if (signal->weights[k] > 0) {
            double square = 0;
            for (size_t f = 0; f < F; f++) {
                rows[K * F + f] = signal->theta[k * F + f];
                square += rows[K * F + f] * rows[K * F + f];
            }
            law->weights[K] = signal->weights[k];
            law->offset[K] = log(signal->weights[k]) - square / 2;
            law->cumulative[K] = signal->cumulative[k];
            K++;
        }
    }
    law->cumulative[K - 1] = 1;
    law->points = K;
    if (K < F) { /* noise is isotropic: a rotation brings all points into the first K coordinates */
        hspec_dense_lq(K, F, rows, F);
        law->features = K;
    }
    for (size_t k = 0; k < K; k++) {
        memcpy(law->theta + k * law->features, rows + k * F, law->features * sizeof *rows);
    }
}

/** All arrays of a risk in one arena. */
static void layout(const hspec_signal *signal, hspec_bayes_law *law, hspec_bayes_sums *sums, double **rows,
                   hspec_arena *arena)
{
    const size_t F = signal->features, K = signal->points;
    const int points = signal->law == HSPEC_LAW_POINTS;
    *rows = hspec_arena_doubles(arena, K * F);
    law->theta = hspec_arena_doubles(arena, K * F);
    law->weights = hspec_arena_doubles(arena, K);
    law->cumulative = hspec_arena_doubles(arena, K);
    law->offset = hspec_arena_doubles(arena, K);
    law->mean = hspec_arena_doubles(arena, points ? 0 : F);
    law->spread = hspec_arena_doubles(arena, points ? 0 : F);
    law->linear = hspec_arena_doubles(arena, points ? 0 : F);
    law->square = hspec_arena_doubles(arena, points ? 0 : F);
    law->time = hspec_arena_doubles(arena, law->times + 3);
    for (size_t i = 0; i < RANDOMIZATIONS; i++) {
        sums[i].z = hspec_arena_doubles(arena, F * HSPEC_W);
        sums[i].u = hspec_arena_doubles(arena, HSPEC_W);
        sums[i].c = hspec_arena_doubles(arena, F * HSPEC_W);
        sums[i].exponent = hspec_arena_doubles(arena, (K + 3) * HSPEC_W);
        sums[i].A = hspec_arena_doubles(arena, (law->times + 3) * HSPEC_W);
        sums[i].B = hspec_arena_doubles(arena, (law->times + 3) * HSPEC_W);
        sums[i].A0 = hspec_arena_doubles(arena, HSPEC_W);
        sums[i].B0 = hspec_arena_doubles(arena, HSPEC_W);
    }
}

static double sum_lanes(const double *x)
{
    double sum = 0;
    for (size_t w = 0; w < HSPEC_W; w++) {
        sum += x[w];
    }
    return sum;
}

/** (L - 1) int e^x A^2 B^(L - 2) dx, x = ln t, by the trapezoid rule. A and B are taken relative to their values at 0:
 *  what the points miss there would be raised to the power L. */
static double integrate(const hspec_bayes_law *law, const hspec_bayes_sums *sums, size_t L)
{
    const double A0 = sum_lanes(sums->A0), B0 = sum_lanes(sums->B0);
    double sum = 0;
    for (size_t j = 0; j < law->times; j++) {
        const double A = sum_lanes(sums->A + j * HSPEC_W) / A0, B = sum_lanes(sums->B + j * HSPEC_W) / B0;
        sum += law->time[j] * A * A * pow(B, (double)(L - 2));
    }
    return (double)(L - 1) * STEP * sum;
}

static void average(const double *x, double *mean, double *error)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < RANDOMIZATIONS; i++) {
        sum += x[i] / RANDOMIZATIONS;
    }
    for (size_t i = 0; i < RANDOMIZATIONS; i++) {
        squares += (x[i] - sum) * (x[i] - sum);
    }
    *mean = sum;
    *error = sqrt(squares / (RANDOMIZATIONS * (RANDOMIZATIONS - 1)));
}

hspec_status hspec_bayes_integrate(const hspec_bayes_ops *ops, const hspec_task_params *task, size_t nodes,
                                   uint64_t seed, int threads, double *risk, double *error, hspec_error *err)
{
    const double reach = REACH + log((double)(task->tokens - 1));
    hspec_bayes_law law = {.law = task->signal->law,
                           .features = task->signal->features,
                           .times = (size_t)(2 * reach / STEP) + 1,
                           .limit = reach + 40};
    hspec_bayes_sums sums[RANDOMIZATIONS];
    double *rows = NULL;
    hspec_arena arena = {0};
    layout(task->signal, &law, sums, &rows, &arena);
    HSPEC_TRY(hspec_arena_commit(&arena, err));
    layout(task->signal, &law, sums, &rows, &arena);
    for (size_t j = 0; j < law.times; j++) {
        law.time[j] = exp(-reach + STEP * (double)j);
    }
    if (law.law == HSPEC_LAW_GAUSSIAN) {
        fill_gaussian(&law, task->signal);
    } else {
        fill_points(&law, task->signal, rows);
    }
    double estimate[RANDOMIZATIONS];
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads > 0 ? threads : omp_get_max_threads())
#else
    (void)threads;
#endif
    for (size_t i = 0; i < RANDOMIZATIONS; i++) {
        sums[i].lattice.stream = hspec_random_stream(seed, FIRST_SUBSTREAM + i, HSPEC_PURPOSE_NODES);
        sums[i].lattice.bits = hspec_lattice_bits((double)nodes / RANDOMIZATIONS);
        ops->add(&law, &sums[i]);
        estimate[i] = integrate(&law, &sums[i], task->tokens);
    }
    hspec_arena_free(&arena);
    average(estimate, risk, error);
    return HSPEC_OK;
}

hspec_status hspec_bayes_risk(const hspec_task_params *task, size_t nodes, uint64_t seed, int threads, double *risk,
                              double *error, hspec_error *err)
{
    if (!task || !task->signal || !risk) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_bayes_risk: task, its signal and risk must not be NULL");
    }
    HSPEC_TRY(check_tokens(task->tokens, err));
    const size_t most = (size_t)RANDOMIZATIONS << HSPEC_LATTICE_MAX_BITS;
    if (nodes < 1 || nodes > most) {
        return hspec_error_set(err, HSPEC_EARG, "nodes: found %zu, allowed 1 to %zu", nodes, most);
    }
    if (threads < 0) {
        return hspec_error_set(err, HSPEC_EARG, "threads: found %d, allowed >= 0", threads);
    }
    double mean, spread;
    const hspec_bayes_ops *ops = HSPEC_PICK(hspec_bayes_ops_table, hspec_cpu_level());
    HSPEC_TRY(hspec_bayes_integrate(ops, task, nodes, seed, threads, &mean, &spread, err));
    if (!isfinite(mean)) {
        return hspec_error_set(err, HSPEC_ENONFINITE, "the Bayes risk: found %g, allowed finite numbers", mean);
    }
    *risk = mean;
    if (error) {
        *error = spread;
    }
    return HSPEC_OK;
}
