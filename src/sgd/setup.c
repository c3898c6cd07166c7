/* SPDX-License-Identifier: MIT */
#include "sgd/setup.h"

#include "attention/layer.h"
#include "core/dense.h"

#include <math.h>
#include <string.h>

static hspec_status check_task(const hspec_task_params *task, size_t H, hspec_error *err)
{
    if (!task->signal) {
        return hspec_error_set(err, HSPEC_EARG, "task.signal: must not be NULL");
    }
    if (task->tokens < 2 || task->tokens > HSPEC_LAYER_MAX_TOKENS) {
        return hspec_error_set(err, HSPEC_EARG, "task.tokens: found %zu, allowed 2 to %d", task->tokens,
                               HSPEC_LAYER_MAX_TOKENS);
    }
    const size_t F = hspec_signal_features(task->signal);
    if (task->dimension < F + H || (double)task->dimension > 1e12) {
        return hspec_error_set(err, HSPEC_EARG, "task.dimension: found %zu, allowed F + H = %zu to 1e12",
                               task->dimension, F + H);
    }
    return HSPEC_OK;
}

static hspec_status check_training(const hspec_training_params *p, size_t D, hspec_error *err)
{
    if (!(isfinite(p->learning_rate) && p->learning_rate > 0)) {
        return hspec_error_set(err, HSPEC_EARG, "training.learning_rate: found %g, allowed above 0", p->learning_rate);
    }
    if (p->batch < 1 || p->batch > 1000000) {
        return hspec_error_set(err, HSPEC_EARG, "training.batch: found %zu, allowed 1 to 1000000", p->batch);
    }
    const double steps = round(p->time * (double)D);
    if (!(p->time > 0 && steps >= 1 && steps <= 0x1p53)) {
        return hspec_error_set(err, HSPEC_EARG,
                               "training.time: found %g, which is %g steps at D = %zu, allowed 1 to 2^53 steps",
                               p->time, steps, D);
    }
    if (p->seeds < 1 || p->seeds > 1000000) {
        return hspec_error_set(err, HSPEC_EARG, "training.seeds: found %zu, allowed 1 to 1000000", p->seeds);
    }
    if (p->records < 1 || p->records > 10000000 || (double)p->records > steps) {
        return hspec_error_set(err, HSPEC_EARG,
                               "training.records: found %zu, allowed 1 to the number of steps (%.0f), at most 1e7",
                               p->records, steps);
    }
    if (p->engine != HSPEC_ENGINE_EXPLICIT && p->engine != HSPEC_ENGINE_REDUCED) {
        return hspec_error_set(err, HSPEC_EARG, "training.engine: found %d, allowed explicit, reduced", (int)p->engine);
    }
    if (p->loss != HSPEC_LOSS_LOCATION && p->loss != HSPEC_LOSS_TOKEN) {
        return hspec_error_set(err, HSPEC_EARG, "training.loss: found %d, allowed location, token", (int)p->loss);
    }
    if (p->spacing != HSPEC_SPACING_LINEAR && p->spacing != HSPEC_SPACING_LOG) {
        return hspec_error_set(err, HSPEC_EARG, "training.record_spacing: found %d, allowed linear, log",
                               (int)p->spacing);
    }
    if (p->noise != HSPEC_NOISE_DOUBLE && p->noise != HSPEC_NOISE_SINGLE) {
        return hspec_error_set(err, HSPEC_EARG, "training.noise: found %d, allowed double, single", (int)p->noise);
    }
    return HSPEC_OK;
}

/** Copies an aligned start; the residual is replaced by its root. */
static hspec_status copy_start(const hspec_init_params *init, hspec_setup *setup, hspec_error *err)
{
    const size_t H = setup->H, F = setup->F;
    if (init->kind == HSPEC_INIT_RANDOM) {
        if (!(init->scale >= 0 && init->scale <= 1e3)) {
            return hspec_error_set(err, HSPEC_EARG, "training.init.scale: found %g, allowed 0 to 1000", init->scale);
        }
        return HSPEC_OK;
    }
    if (init->kind != HSPEC_INIT_ALIGNED || !init->alignment) {
        return hspec_error_set(err, HSPEC_EARG, "training.init: found %s, allowed random, or aligned with an alignment",
                               init->kind == HSPEC_INIT_ALIGNED ? "no alignment" : "an unknown kind");
    }
    for (size_t i = 0; i < H * F; i++) {
        if (!(fabs(init->alignment[i]) <= 1e3)) {
            return hspec_error_set(err, HSPEC_EARG, "training.init.alignment.%zu.%zu: found %g, allowed -1000 to 1000",
                                   i / F, i % F, init->alignment[i]);
        }
        setup->m0[i] = init->alignment[i];
    }
    if (!init->residual) {
        if (!(init->residual_diagonal >= 0 && init->residual_diagonal <= 1e6)) {
            return hspec_error_set(err, HSPEC_EARG, "training.init.residual: found %g, allowed 0 to 1e6",
                                   init->residual_diagonal);
        }
        for (size_t h = 0; h < H; h++) {
            setup->R0[h * H + h] = sqrt(init->residual_diagonal);
        }
        return HSPEC_OK;
    }
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) {
            const double a = init->residual[h * H + j], b = init->residual[j * H + h];
            if (!(fabs(a) <= 1e6)) {
                return hspec_error_set(err, HSPEC_EARG, "training.init.residual.%zu.%zu: found %g, allowed -1e6 to 1e6",
                                       h, j, a);
            }
            if (fabs(a - b) > 1e-12 * (fabs(a) + fabs(b))) {
                return hspec_error_set(err, HSPEC_EARG,
                                       "training.init.residual.%zu.%zu: found %.17g, but %.17g across the diagonal; "
                                       "allowed: a symmetric matrix",
                                       h, j, a, b);
            }
        }
    }
    const size_t bad = hspec_dense_root(H, init->residual, setup->R0);
    if (bad) {
        return hspec_error_set(err, HSPEC_EARG,
                               "training.init.residual: not positive semidefinite (seen at row %zu, counted from 0)",
                               bad - 1);
    }
    return HSPEC_OK;
}

/** Do two heads start alike to the last bit? They then have the same alignments and coincide outside the signal. */
static int start_alike(const hspec_setup *setup, size_t h, size_t j)
{
    const hspec_init_params *init = &setup->training.init;
    const size_t H = setup->H, F = setup->F;
    if (init->kind == HSPEC_INIT_RANDOM) {
        return init->scale == 0;
    }
    if (memcmp(setup->m0 + h * F, setup->m0 + j * F, F * sizeof *setup->m0) != 0) {
        return 0;
    }
    const double *r = init->residual;
    return r ? r[h * H + h] == r[j * H + j] && r[h * H + h] == r[h * H + j] : init->residual_diagonal == 0;
}

/** Heads that start equal stay equal in law. Rounding would part them where their difference is an unstable direction, so
 *  the engines keep their rows of R equal to the last bit; all the rest then follows. */
static void find_twins(hspec_setup *setup)
{
    const size_t H = setup->H;
    for (size_t h = 0; h < H; h++) {
        size_t j = 0;
        while (j < h && !start_alike(setup, h, j)) {
            j++;
        }
        setup->twin[h] = j;
        if (j < h) {
            setup->twins = 1;
            memcpy(setup->R0 + h * H, setup->R0 + j * H, H * sizeof *setup->R0);
        }
    }
}

hspec_status hspec_setup_create(const hspec_task_params *task, const hspec_layer_params *layer,
                                const hspec_training_params *training, hspec_setup *setup, hspec_error *err)
{
    HSPEC_TRY(hspec_layer_check(layer, err));
    HSPEC_TRY(check_task(task, layer->heads, err));
    HSPEC_TRY(check_training(training, task->dimension, err));

    const hspec_activation_traits traits = hspec_kernel_traits(layer->activation);
    hspec_setup created = {
        .H = layer->heads,
        .L = task->tokens,
        .F = hspec_signal_features(task->signal),
        .B = training->batch,
        .D = task->dimension,
        .rate = training->learning_rate / ((double)training->batch * (double)task->dimension),
        .steps = (uint64_t)round(training->time * (double)task->dimension),
        .signal = task->signal,
        .layer = *layer,
        .training = *training,
        .activation = hspec_kernel_activation(layer->activation),
    };
    created.layer.bias_train = layer->bias_train && traits.has_bias;
    created.layer.bias_per_head = layer->bias_per_head || traits.bias_per_head;
    created.layer.scale_train = layer->scale_train && traits.has_scale;
    created.layer.bias_init = traits.has_bias ? layer->bias_init : 0;
    created.layer.scale_init = traits.has_scale ? layer->scale_init : 1;
    if (traits.bias_per_head) {
        created.layer.bias_init = 0; /* a common shift changes nothing; reported with mean 0 */
    }
    for (int pass = 0; pass < 2; pass++) {
        created.m0 = hspec_arena_doubles(&created.arena, created.H * created.F);
        created.R0 = hspec_arena_doubles(&created.arena, created.H * created.H);
        created.twin = hspec_arena_take(&created.arena, created.H, sizeof *created.twin);
        if (pass == 0) {
            HSPEC_TRY(hspec_arena_commit(&created.arena, err));
        }
    }
    const hspec_status status = copy_start(&training->init, &created, err);
    if (status != HSPEC_OK) {
        hspec_setup_free(&created);
        return status;
    }
    find_twins(&created);
    *setup = created;
    return HSPEC_OK;
}

void hspec_setup_free(hspec_setup *setup)
{
    hspec_memory_free(setup->spikes);
    setup->spikes = NULL;
    hspec_arena_free(&setup->arena);
}
