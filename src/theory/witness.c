/* SPDX-License-Identifier: MIT */
#include "theory/witness.h"

#include "core/dense.h"

#include <math.h>
#include <string.h>

/** R = SMALL times the identity, for derivatives at r = 0. */
#define SMALL 0.01

static void lay_out(hspec_witness *witness)
{
    const size_t n = witness->noisy.n, HH = hspec_memory_mul(witness->noisy.H, witness->noisy.H);
    witness->gradient = hspec_arena_doubles(&witness->arena, n);
    witness->x = hspec_arena_doubles(&witness->arena, n);
    witness->A = hspec_arena_doubles(&witness->arena, HH);
    witness->V = hspec_arena_doubles(&witness->arena, HH);
}

hspec_status hspec_witness_create(const hspec_signal *signal, const hspec_layer_params *layer, size_t tokens,
                                  double silent, double noisy, uint64_t seed, int threads, hspec_witness *witness,
                                  hspec_error *err)
{
    hspec_witness created = {0};
    hspec_nodes_params nodes = {.nodes = silent, .randomizations = HSPEC_WITNESS_SETS, .seed = seed};
    hspec_status status = hspec_objective_create(signal, layer, tokens, &nodes, threads, &created.silent, err);
    nodes.nodes = noisy;
    nodes.noise = 1;
    status = status ? status : hspec_objective_create(signal, layer, tokens, &nodes, threads, &created.noisy, err);
    if (status == HSPEC_OK) {
        lay_out(&created);
        status = hspec_arena_commit(&created.arena, err);
    }
    if (status != HSPEC_OK) {
        hspec_witness_free(&created);
        return status;
    }
    lay_out(&created);
    *witness = created;
    return HSPEC_OK;
}

void hspec_witness_free(hspec_witness *witness)
{
    hspec_objective_free(&witness->silent);
    hspec_objective_free(&witness->noisy);
    hspec_arena_free(&witness->arena);
}

/** Expectation number i of the last state on set q. */
static double on_set(const hspec_field *field, size_t q, size_t i)
{
    double sum = 0;
    for (size_t part = 0; part < field->parts; part++) {
        sum += field->sums[(q * field->parts + part) * field->places.size + i];
    }
    return sum;
}

void hspec_witness_losses(hspec_witness *witness, int residual, const double *x, double *loss)
{
    hspec_objective *objective = residual ? &witness->noisy : &witness->silent;
    (void)hspec_objective_value(objective, x, NULL);
    for (size_t q = 0; q < HSPEC_WITNESS_SETS; q++) {
        loss[q] = on_set(&objective->field, q, objective->field.places.loss);
    }
}

double hspec_witness_mean(const double *values, double *error)
{
    double mean = 0, squares = 0;
    for (size_t q = 0; q < HSPEC_WITNESS_SETS; q++) {
        const double step = values[q] - mean;
        mean += step / (double)(q + 1);
        squares += step * (values[q] - mean);
    }
    *error = sqrt(squares / (HSPEC_WITNESS_SETS - 1) / HSPEC_WITNESS_SETS);
    return mean;
}

double hspec_witness_residual(hspec_witness *witness, const double *x, double *error, double *direction)
{
    hspec_objective *noisy = &witness->noisy;
    const size_t H = noisy->H, HF = H * noisy->F, HH = H * H;
    memcpy(witness->x, x, HF * sizeof *x);
    for (size_t i = 0; i < HH; i++) {
        witness->x[HF + i] = i % (H + 1) == 0 ? SMALL : 0;
    }
    memcpy(witness->x + HF + HH, x + HF, (noisy->biases + noisy->scales) * sizeof *x);
    (void)hspec_objective_value(noisy, witness->x, witness->gradient);
    /* E = E_0 + tr R^T A R with A = dE/dr, so that dE/dR = 2 A R = 2 SMALL A */
    const double *g = witness->gradient + HF;
    size_t k = 0;
    for (size_t h = 0; h < H; h++) {
        for (size_t j = 0; j < H; j++) {
            witness->A[h * H + j] = (g[h * H + j] + g[j * H + h]) / (4 * SMALL);
        }
    }
    hspec_dense_eigen(H, witness->A, witness->V);
    for (size_t h = 1; h < H; h++) {
        k = witness->A[h * (H + 1)] < witness->A[k * (H + 1)] ? h : k;
    }
    for (size_t h = 0; h < H; h++) {
        direction[h] = witness->V[h * H + k];
    }
    double values[HSPEC_WITNESS_SETS];
    for (size_t q = 0; q < HSPEC_WITNESS_SETS; q++) {
        values[q] = 0;
        for (size_t h = 0; h < H; h++) {
            for (size_t j = 0; j < H; j++) {
                const size_t place = noisy->field.places.root + h * H + j;
                values[q] += direction[h] * direction[j] * on_set(&noisy->field, q, place) / (2 * SMALL);
            }
        }
    }
    return hspec_witness_mean(values, error);
}
