/* SPDX-License-Identifier: MIT
 * The table of signals. A new one is a function like create_flipped, a row in headspec.h and a row here. */
#include "model/signal.h"

#include "core/memory.h"

#include <math.h>

/** An empty signal with room for its arrays; K = 0 for the gaussian law. */
static hspec_status allocate(hspec_signal_law law, size_t F, size_t K, hspec_signal **signal, hspec_error *err)
{
    hspec_arena arena = {0};
    hspec_signal *created = NULL;
    for (int pass = 0; pass < 2; pass++) {
        created = hspec_arena_take(&arena, 1, sizeof *created);
        hspec_signal view = {.law = law, .features = F, .points = K};
        view.theta = hspec_arena_doubles(&arena, hspec_memory_mul(K, F));
        view.weights = hspec_arena_doubles(&arena, K);
        view.cumulative = hspec_arena_doubles(&arena, K);
        view.mean = hspec_arena_doubles(&arena, F);
        view.deviation = hspec_arena_doubles(&arena, F);
        if (pass == 0) {
            HSPEC_TRY(hspec_arena_commit(&arena, err));
        } else {
            *created = view;
        }
    }
    *signal = created;
    return HSPEC_OK;
}

void hspec_signal_free(hspec_signal *signal)
{
    hspec_memory_free(signal); /* the signal is the first piece of its arena */
}

static void accumulate(hspec_signal *signal)
{
    double sum = 0;
    for (size_t k = 0; k < signal->points; k++) {
        sum += signal->weights[k];
        signal->cumulative[k] = sum;
    }
    signal->cumulative[signal->points - 1] = 1;
}

static hspec_status create_flipped(const hspec_signal_params *params, hspec_signal **signal, hspec_error *err)
{
    const double nu = params->strength, p = params->probability;
    if (!(isfinite(nu) && nu > 0 && nu <= 1e6)) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal.strength: found %g, allowed above 0 up to 1e6", nu);
    }
    if (!(p >= 0 && p <= 1)) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal.probability: found %g, allowed 0 to 1", p);
    }
    HSPEC_TRY(allocate(HSPEC_LAW_POINTS, 1, 2, signal, err));
    (*signal)->theta[0] = sqrt(nu);
    (*signal)->theta[1] = -sqrt(nu);
    (*signal)->weights[0] = p;
    (*signal)->weights[1] = 1 - p;
    accumulate(*signal);
    return HSPEC_OK;
}

static hspec_status check_features(const hspec_signal_params *params, hspec_error *err)
{
    if (params->features < 1 || params->features > HSPEC_SIGNAL_MAX_FEATURES) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal: found %zu features, allowed 1 to %d", params->features,
                               HSPEC_SIGNAL_MAX_FEATURES);
    }
    return HSPEC_OK;
}

static hspec_status create_gaussian(const hspec_signal_params *params, hspec_signal **signal, hspec_error *err)
{
    HSPEC_TRY(check_features(params, err));
    if (!params->mean || !params->variance) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal: gaussian needs mean and variance");
    }
    for (size_t f = 0; f < params->features; f++) {
        if (!(fabs(params->mean[f]) <= 1e3)) {
            return hspec_error_set(err, HSPEC_EARG, "task.signal.mean.%zu: found %g, allowed -1000 to 1000", f,
                                   params->mean[f]);
        }
        if (!(params->variance[f] >= 0 && params->variance[f] <= 1e6)) {
            return hspec_error_set(err, HSPEC_EARG, "task.signal.variance.%zu: found %g, allowed 0 to 1e6", f,
                                   params->variance[f]);
        }
    }
    HSPEC_TRY(allocate(HSPEC_LAW_GAUSSIAN, params->features, 0, signal, err));
    for (size_t f = 0; f < params->features; f++) {
        (*signal)->mean[f] = params->mean[f];
        (*signal)->deviation[f] = sqrt(params->variance[f]);
    }
    return HSPEC_OK;
}

static hspec_status create_discrete(const hspec_signal_params *params, hspec_signal **signal, hspec_error *err)
{
    const size_t F = params->features, K = params->points;
    HSPEC_TRY(check_features(params, err));
    if (K < 1 || K > HSPEC_SIGNAL_MAX_POINTS) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal.points: found %zu points, allowed 1 to %d", K,
                               HSPEC_SIGNAL_MAX_POINTS);
    }
    if (!params->theta) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal: discrete needs points");
    }
    double sum = 0;
    for (size_t k = 0; k < K; k++) {
        for (size_t f = 0; f < F; f++) {
            if (!(fabs(params->theta[k * F + f]) <= 1e3)) {
                return hspec_error_set(err, HSPEC_EARG, "task.signal.points.%zu.%zu: found %g, allowed -1000 to 1000",
                                       k, f, params->theta[k * F + f]);
            }
        }
        const double weight = params->weights ? params->weights[k] : 1.0 / (double)K;
        if (!(weight > 0 && weight <= 1)) {
            return hspec_error_set(err, HSPEC_EARG, "task.signal.weights.%zu: found %g, allowed above 0 up to 1", k,
                                   weight);
        }
        sum += weight;
    }
    if (fabs(sum - 1) > 1e-6) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal.weights: their sum is %.9g, allowed 1 within 1e-6", sum);
    }
    HSPEC_TRY(allocate(HSPEC_LAW_POINTS, F, K, signal, err));
    for (size_t k = 0; k < K; k++) {
        (*signal)->weights[k] = (params->weights ? params->weights[k] : 1.0 / (double)K) / sum;
        for (size_t f = 0; f < F; f++) {
            (*signal)->theta[k * F + f] = params->theta[k * F + f];
        }
    }
    accumulate(*signal);
    return HSPEC_OK;
}

hspec_status hspec_signal_create(const hspec_signal_params *params, hspec_signal **signal, hspec_error *err)
{
    static hspec_status (*const create[])(const hspec_signal_params *, hspec_signal **, hspec_error *) = {
        [HSPEC_SIGNAL_FLIPPED] = create_flipped,
        [HSPEC_SIGNAL_GAUSSIAN] = create_gaussian,
        [HSPEC_SIGNAL_DISCRETE] = create_discrete,
    };
    if (!params || !signal) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_signal_create: params and signal must not be NULL");
    }
    if ((size_t)params->kind >= sizeof create / sizeof *create) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal.kind: found %d, allowed flipped, gaussian, discrete",
                               (int)params->kind);
    }
    return create[params->kind](params, signal, err);
}

size_t hspec_signal_features(const hspec_signal *signal)
{
    return signal->features;
}

size_t hspec_signal_normals(const hspec_signal *signal)
{
    return signal->law == HSPEC_LAW_GAUSSIAN ? signal->features : 0;
}

void hspec_signal_moments(const hspec_signal *signal, double *mu, double *C)
{
    const size_t F = signal->features;
    for (size_t f = 0; f < F; f++) {
        mu[f] = signal->mean[f];
        for (size_t k = 0; k < signal->points; k++) {
            mu[f] += signal->weights[k] * signal->theta[k * F + f];
        }
    }
    for (size_t f = 0; f < F; f++) {
        for (size_t g = 0; g < F; g++) {
            double sum = signal->mean[f] * signal->mean[g] + (f == g ? signal->deviation[f] * signal->deviation[f] : 0);
            for (size_t k = 0; k < signal->points; k++) {
                sum += signal->weights[k] * signal->theta[k * F + f] * signal->theta[k * F + g];
            }
            C[f * F + g] = sum;
        }
    }
}

/** Does the law of points stay the same under theta_f -> -theta_f? Equal points are allowed to appear more than once. */
static int points_symmetric(const hspec_signal *signal, size_t f)
{
    const size_t F = signal->features, K = signal->points;
    for (size_t k = 0; k < K; k++) {
        double here = 0, there = 0;
        for (size_t j = 0; j < K; j++) {
            int equal = 1, mirrored = 1;
            for (size_t g = 0; g < F; g++) {
                const double a = signal->theta[k * F + g], b = signal->theta[j * F + g];
                equal = equal && a == b;
                mirrored = mirrored && (g == f ? a == -b : a == b);
            }
            here += equal ? signal->weights[j] : 0;
            there += mirrored ? signal->weights[j] : 0;
        }
        if (fabs(here - there) > 1e-12) {
            return 0;
        }
    }
    return 1;
}

void hspec_signal_symmetries(const hspec_signal *signal, int *symmetric)
{
    for (size_t f = 0; f < signal->features; f++) {
        symmetric[f] = signal->law == HSPEC_LAW_GAUSSIAN ? signal->mean[f] == 0 : points_symmetric(signal, f);
    }
}
