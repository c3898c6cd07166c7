/* SPDX-License-Identifier: MIT */
#include "theory/rates.h"

#include <math.h>
#include <string.h>

/** Half the distance of central differences: the error of the third derivative and that of rounding are both small. */
#define STEP 1e-4

static void lay_out(hspec_rates *rates, size_t values)
{
    const size_t H = rates->H, n = 2 * rates->size;
    rates->states = hspec_arena_take(&rates->arena, n, sizeof *rates->states);
    rates->alignment = hspec_arena_doubles(&rates->arena, hspec_memory_mul(n, H * rates->F));
    rates->bias = hspec_arena_doubles(&rates->arena, hspec_memory_mul(n, H));
    rates->root = hspec_arena_doubles(&rates->arena, hspec_memory_mul(H, H));
    rates->mean = hspec_arena_doubles(&rates->arena, hspec_memory_mul(n, values));
}

hspec_status hspec_rates_create(const hspec_setup *setup, const hspec_nodes_params *nodes, int threads,
                                hspec_rates *rates, hspec_error *err)
{
    const hspec_layer_params *layer = &setup->layer;
    if (setup->H < 2) {
        return hspec_error_set(err, HSPEC_EARG, "layer.heads: found %zu, allowed 2 or more: one head does not deviate",
                               setup->H);
    }
    hspec_rates created = {.H = setup->H,
                           .F = setup->F,
                           .size = setup->F + (layer->bias_train && layer->bias_per_head ? 1 : 0),
                           .rate = setup->training.learning_rate,
                           .noise = nodes->noise};
    const size_t values = hspec_field_layout(setup->H, setup->F).size;
    lay_out(&created, values);
    HSPEC_TRY(hspec_arena_commit(&created.arena, err));
    lay_out(&created, values);
    hspec_nodes_params with = *nodes;
    with.closed = 1;
    const hspec_status status =
        hspec_field_create(setup->signal, layer, setup->L, &with, 2 * created.size, threads, &created.field, err);
    if (status != HSPEC_OK) {
        hspec_arena_free(&created.arena);
        return status;
    }
    *rates = created;
    return HSPEC_OK;
}

void hspec_rates_free(hspec_rates *rates)
{
    if (rates->arena.base) {
        hspec_field_free(&rates->field);
    }
    hspec_arena_free(&rates->arena);
}

/** The symmetric root of own on the diagonal and other beside it: sqrt(own - other) for deviations,
 *  sqrt(own + (H - 1) other) for the mean. */
static void fill_root(hspec_rates *rates, double own, double other)
{
    const size_t H = rates->H;
    const double deviation = sqrt(fmax(0, own - other)), mean = sqrt(fmax(0, own + (double)(H - 1) * other));
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) {
            rates->root[h * H + j] = (mean - deviation) / (double)H + (h == j ? deviation : 0);
        }
    }
}

void hspec_rates_block(hspec_rates *rates, const hspec_rates_state *state, double *block)
{
    const size_t H = rates->H, F = rates->F, n = rates->size;
    const hspec_field_places *p = &rates->field.places;
    const double step = STEP / sqrt(2);
    fill_root(rates, state->residual_own, state->residual_other);
    for (size_t i = 0; i < 2 * n; i++) {
        double *m = rates->alignment + i * H * F, *b = rates->bias + i * H;
        for (size_t h = 0; h < H; h++) {
            memcpy(m + h * F, state->alignment, F * sizeof *m);
            b[h] = state->bias;
        }
        const double move = i % 2 ? -step : step;
        double *x = i / 2 < F ? m + i / 2 : b;
        x[0] += move;
        x[i / 2 < F ? F : 1] -= move;
        rates->states[i] = (hspec_field_state){m, rates->root, b, state->scale};
    }
    hspec_field_evaluate(&rates->field, 2 * n, rates->states, HSPEC_FIELD_GRADIENT, rates->mean, NULL);
    for (size_t i = 0; i < n; i++) {
        const size_t first = i < F ? p->alignment + i : p->bias, second = first + (i < F ? F : 1);
        for (size_t j = 0; j < n; j++) {
            const double *up = rates->mean + 2 * j * p->size, *down = up + p->size;
            const double gradient = ((up[first] - up[second]) - (down[first] - down[second])) / sqrt(2);
            block[i * n + j] = -rates->rate * gradient / (2 * STEP);
        }
    }
}
