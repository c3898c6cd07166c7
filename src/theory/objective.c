/* SPDX-License-Identifier: MIT */
#include "theory/objective.h"

#include <string.h>

static void lay_out(hspec_objective *objective, size_t size)
{
    const size_t H = objective->H;
    objective->b = hspec_arena_doubles(&objective->arena, H);
    objective->zero = hspec_arena_doubles(&objective->arena, hspec_memory_mul(H, H));
    objective->mean = hspec_arena_doubles(&objective->arena, size);
}

hspec_status hspec_objective_create(const hspec_signal *signal, const hspec_layer_params *layer, size_t tokens,
                                    const hspec_nodes_params *nodes, int threads, hspec_objective *objective,
                                    hspec_error *err)
{
    const hspec_activation_traits traits = hspec_kernel_traits(layer->activation);
    const int per_head = layer->bias_per_head || traits.bias_per_head;
    hspec_objective created = {.H = layer->heads,
                               .F = hspec_signal_features(signal),
                               .bias = traits.has_bias && !traits.bias_per_head ? layer->bias_init : 0,
                               .scale = traits.has_scale ? layer->scale_init : 1};
    created.root = nodes->noise ? hspec_memory_mul(created.H, created.H) : 0;
    created.biases = layer->bias_train && traits.has_bias ? (per_head ? created.H : 1) : 0;
    created.scales = layer->scale_train && traits.has_scale ? 1 : 0;
    created.n = created.H * created.F + created.root + created.biases + created.scales;
    const size_t size = hspec_field_layout(created.H, created.F).size;
    lay_out(&created, size);
    HSPEC_TRY(hspec_arena_commit(&created.arena, err));
    lay_out(&created, size);
    memset(created.zero, 0, created.H * created.H * sizeof *created.zero);
    hspec_nodes_params with = *nodes;
    with.closed = 1;
    const hspec_status status = hspec_field_create(signal, layer, tokens, &with, 1, threads, &created.field, err);
    if (status != HSPEC_OK) {
        hspec_arena_free(&created.arena);
        return status;
    }
    *objective = created;
    return HSPEC_OK;
}

void hspec_objective_free(hspec_objective *objective)
{
    if (objective->arena.base) {
        hspec_field_free(&objective->field);
    }
    hspec_arena_free(&objective->arena);
}

void hspec_objective_parameters(const hspec_objective *objective, const double *x, double *b, double *s)
{
    const double *biases = x + objective->H * objective->F + objective->root;
    for (size_t h = 0; h < objective->H; h++) {
        b[h] = objective->biases ? biases[objective->biases > 1 ? h : 0] : objective->bias;
    }
    *s = objective->scales ? biases[objective->biases] : objective->scale;
}

double hspec_objective_value(hspec_objective *objective, const double *x, double *gradient)
{
    const size_t HF = objective->H * objective->F;
    const hspec_field_places *at = &objective->field.places;
    hspec_field_state state = {.alignment = x, .root = objective->root ? x + HF : objective->zero};
    hspec_objective_parameters(objective, x, objective->b, &state.scale);
    state.bias = objective->b;
    hspec_field_evaluate(&objective->field, 1, &state, gradient ? HSPEC_FIELD_GRADIENT : HSPEC_FIELD_LOSS,
                         objective->mean, NULL);
    if (gradient) {
        memcpy(gradient, objective->mean + at->alignment, HF * sizeof *gradient);
        memcpy(gradient + HF, objective->mean + at->root, objective->root * sizeof *gradient);
        double *place = gradient + HF + objective->root;
        if (objective->biases > 1) {
            memcpy(place, objective->mean + at->bias, objective->H * sizeof *place);
        } else if (objective->biases == 1) {
            place[0] = 0;
            for (size_t h = 0; h < objective->H; h++) {
                place[0] += objective->mean[at->bias + h];
            }
        }
        if (objective->scales) {
            place[objective->biases] = objective->mean[at->scale];
        }
    }
    return objective->mean[at->loss];
}
