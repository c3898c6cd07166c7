/* SPDX-License-Identifier: MIT
 * The public face of the kernel: one layer, one sequence at a time, in lane 0 of a block. */
#include "attention/layer.h"

#include "attention/kernel.h"

#include <math.h>

struct hspec_layer {
    hspec_layer_params params;
    hspec_kernel kernel;
    double *gram; /* the room for the gram matrix, whether or not the kernel uses it now */
    hspec_arena arena;
    const hspec_activation_ops *ops;
};

hspec_layer_params hspec_layer_default(size_t heads)
{
    return (hspec_layer_params){.heads = heads,
                                .activation = HSPEC_SOFTMAX,
                                .bias_init = 0,
                                .bias_train = 1,
                                .bias_per_head = 0,
                                .scale_init = 1,
                                .scale_train = 1};
}

hspec_status hspec_layer_check(const hspec_layer_params *params, hspec_error *err)
{
    if (params->heads < 1 || params->heads > HSPEC_LAYER_MAX_HEADS) {
        return hspec_error_set(err, HSPEC_EARG, "layer.heads: found %zu, allowed 1 to %d", params->heads,
                               HSPEC_LAYER_MAX_HEADS);
    }
    switch (params->activation) {
    case HSPEC_SOFTMAX:
    case HSPEC_SOFTMAX1:
    case HSPEC_BAYES:
        break;
    default:
        return hspec_error_set(err, HSPEC_EARG, "layer.activation: found %d, allowed softmax, softmax1, bayes",
                               (int)params->activation);
    }
    if (!isfinite(params->bias_init) || fabs(params->bias_init) > 1e4) {
        return hspec_error_set(err, HSPEC_EARG, "layer.bias.init: found %g, allowed -1e4 to 1e4", params->bias_init);
    }
    if (!isfinite(params->scale_init) || fabs(params->scale_init) > 1e4) {
        return hspec_error_set(err, HSPEC_EARG, "layer.scale.init: found %g, allowed -1e4 to 1e4", params->scale_init);
    }
    return HSPEC_OK;
}

hspec_status hspec_layer_create(const hspec_layer_params *params, size_t tokens, hspec_layer **layer, hspec_error *err)
{
    if (!params || !layer) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_layer_create: params and layer must not be NULL");
    }
    HSPEC_TRY(hspec_layer_check(params, err));
    if (tokens < 2 || tokens > HSPEC_LAYER_MAX_TOKENS) {
        return hspec_error_set(err, HSPEC_EARG, "task.tokens: found %zu, allowed 2 to %d", tokens,
                               HSPEC_LAYER_MAX_TOKENS);
    }
    hspec_layer *created = hspec_memory_alloc(1, sizeof *created);
    if (!created) {
        return hspec_error_memory(err, sizeof *created);
    }
    created->params = *params;
    created->ops = hspec_kernel_activation(params->activation);
    hspec_kernel_layout(&created->kernel, params->heads, tokens, 1, &created->arena);
    hspec_status status = hspec_arena_commit(&created->arena, err);
    if (status != HSPEC_OK) {
        hspec_layer_free(created);
        return status;
    }
    hspec_kernel_layout(&created->kernel, params->heads, tokens, 1, &created->arena);
    created->gram = created->kernel.gram;
    *layer = created;
    return HSPEC_OK;
}

void hspec_layer_free(hspec_layer *layer)
{
    if (layer) {
        hspec_arena_free(&layer->arena);
        hspec_memory_free(layer);
    }
}

/** Puts the inputs into lane 0 after looking at each. The other lanes hold zeros or what was there before. */
static hspec_status load(hspec_layer *layer, const double *chi, const double *bias, double scale, hspec_error *err)
{
    hspec_kernel *k = &layer->kernel;
    const size_t H = k->heads, L = k->tokens;
    for (size_t h = 0; h < H; h++) {
        for (size_t l = 0; l < L; l++) {
            const double x = chi[h * L + l];
            if (!isfinite(x)) {
                return hspec_error_set(err, HSPEC_ENONFINITE, "chi[h = %zu][l = %zu]: found %g, allowed finite numbers",
                                       h, l, x);
            }
            k->chi[(h * L + l) * HSPEC_W] = x;
        }
        const double b = bias ? bias[h] : layer->params.bias_init;
        if (!isfinite(b)) {
            return hspec_error_set(err, HSPEC_ENONFINITE, "bias[h = %zu]: found %g, allowed finite numbers", h, b);
        }
        k->bias[h * HSPEC_W] = b;
    }
    if (hspec_kernel_traits(layer->params.activation).has_scale && !isfinite(scale)) {
        return hspec_error_set(err, HSPEC_ENONFINITE, "scale: found %g, allowed finite numbers", scale);
    }
    k->scale[0] = scale;
    return HSPEC_OK;
}

hspec_status hspec_layer_attention(hspec_layer *layer, const double *chi, const double *bias, double scale, double *a,
                                   hspec_error *err)
{
    if (!layer || !chi || !a) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_layer_attention: layer, chi and a must not be NULL");
    }
    HSPEC_TRY(load(layer, chi, bias, scale, err));
    hspec_kernel *k = &layer->kernel;
    k->gram = NULL;
    layer->ops->forward(k);
    for (size_t i = 0; i < k->heads * k->tokens; i++) {
        a[i] = k->gain[0] * k->p[i * HSPEC_W];
    }
    return HSPEC_OK;
}

hspec_status hspec_layer_gradient(hspec_layer *layer, const double *chi, const double *bias, double scale,
                                  size_t target, const double *gram, double *loss, double *d, double *db, double *ds,
                                  hspec_error *err)
{
    if (!layer || !chi || !loss || !d) {
        return hspec_error_set(err, HSPEC_EARG, "hspec_layer_gradient: layer, chi, loss and d must not be NULL");
    }
    hspec_kernel *k = &layer->kernel;
    const size_t H = k->heads, L = k->tokens;
    if (target >= L) {
        return hspec_error_set(err, HSPEC_EARG, "target: found %zu, allowed 0 to %zu", target, L - 1);
    }
    HSPEC_TRY(load(layer, chi, bias, scale, err));
    k->gram = gram ? layer->gram : NULL;
    for (size_t l = 0; gram && l < L; l++) {
        for (size_t j = 0; j < L; j++) {
            const double x = gram[l * L + j];
            if (!isfinite(x)) {
                return hspec_error_set(err, HSPEC_ENONFINITE, "gram[%zu][%zu]: found %g, allowed finite numbers", l, j,
                                       x);
            }
            k->gram[(l * L + j) * HSPEC_W] = x;
        }
    }
    for (size_t l = 0; l < L; l++) {
        k->target[l * HSPEC_W] = l == target ? 1 : 0;
    }
    layer->ops->gradient(k);
    *loss = k->loss[0];
    for (size_t i = 0; i < H * L; i++) {
        d[i] = k->d[i * HSPEC_W];
    }
    for (size_t h = 0; db && h < H; h++) {
        db[h] = k->db[h * HSPEC_W];
    }
    if (ds) {
        *ds = k->ds[0];
    }
    return HSPEC_OK;
}
