/* SPDX-License-Identifier: MIT
 * The error of an expectation by the number of nodes, beside plain Monte Carlo: the task of experiments/two_phases.yaml
 * with three heads that begin to part. Not a matter of time: errors are root mean squares over independent sets. */
#include "headspec.h"

#include "core/dense.h"
#include "theory/field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { H = 3, SETS = 32, QUANTITIES = 5, SAMPLES = 1 << 19 };
#define L ((size_t)5)

static const double strength = 4.0, probability = 0.7;
static const double m[H] = {0.9, 0.8, 0.5};
static const double r[H * H] = {0.06, 0.02, 0.02, 0.02, 0.06, 0.02, 0.02, 0.02, 0.06};
static const double b[H] = {0, 0, 0};
static const char *const names[QUANTITIES] = {"loss", "dE/dm_1", "dE/dm_3", "d_1 n_1", "d_1 d_1"};

static void die(const hspec_error *err)
{
    (void)fprintf(stderr, "%s\n", err->message);
    exit(1);
}

/** Root mean square error of one set of about `nodes` nodes. @return how many there are */
static double lattice(const hspec_signal *signal, double nodes, const double *root, double *error)
{
    hspec_error err;
    const hspec_layer_params layer = hspec_layer_default(H);
    const hspec_nodes_params params = {
        .nodes = nodes * SETS, .randomizations = SETS, .seed = 1, .noise = 1, .closed = 1, .split = 1};
    hspec_field field;
    if (hspec_field_create(signal, &layer, L, &params, 1, 0, &field, &err) != HSPEC_OK) {
        die(&err);
    }
    const hspec_field_places at = field.places;
    double *mean = calloc(2 * at.size, sizeof *mean), *spread = mean + at.size;
    if (!mean) {
        exit(1);
    }
    hspec_field_evaluate(&field, 1, &(hspec_field_state){m, root, b, 1}, HSPEC_FIELD_ALL, mean, spread);
    const size_t places[QUANTITIES] = {at.loss, at.alignment, at.alignment + 2, at.root, at.update};
    for (size_t i = 0; i < QUANTITIES; i++) {
        error[i] = spread[places[i]] * sqrt(SETS);
    }
    double count = 0;
    for (size_t i = 0; i < field.nodes.sets; i++) {
        const hspec_nodes_set *set = &field.nodes.set[i];
        const size_t copies = set->noise ? field.nodes.mirrors * field.nodes.rotations + 1 : 1;
        count += (double)((size_t)1 << set->bits) * (double)(copies * field.nodes.elements);
    }
    free(mean);
    hspec_field_free(&field);
    return count;
}

static double uniform(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));
}

/** Standard deviations of what plain Monte Carlo takes means of. */
static void monte_carlo(const double *root, double *deviation)
{
    hspec_error err;
    hspec_layer *layer = NULL;
    const hspec_layer_params params = hspec_layer_default(H);
    if (hspec_layer_create(&params, L, &layer, &err) != HSPEC_OK) {
        die(&err);
    }
    uint64_t state = 1;
    double mean[QUANTITIES] = {0}, squares[QUANTITIES] = {0};
    for (size_t k = 1; k <= SAMPLES; k++) {
        double c[L], u[H * L], chi[H * L], d[H * L], loss = 0;
        for (size_t l = 0; l < L; l++) {
            c[l] = normal(&state);
            for (size_t h = 0; h < H; h++) {
                u[h * L + l] = normal(&state);
            }
        }
        c[0] += uniform(&state) < probability ? sqrt(strength) : -sqrt(strength);
        for (size_t h = 0; h < H; h++) {
            for (size_t l = 0; l < L; l++) {
                chi[h * L + l] = m[h] * c[l];
                for (size_t j = 0; j < H; j++) {
                    chi[h * L + l] += root[h * H + j] * u[j * L + l];
                }
            }
        }
        if (hspec_layer_gradient(layer, chi, NULL, 1, 0, NULL, &loss, d, NULL, NULL, &err) != HSPEC_OK) {
            die(&err);
        }
        double values[QUANTITIES] = {loss, 0, 0, 0, 0};
        for (size_t l = 0; l < L; l++) {
            values[1] += d[l] * c[l];
            values[2] += d[2 * L + l] * c[l];
            values[3] += d[l] * u[l];
            values[4] += d[l] * d[l];
        }
        for (size_t i = 0; i < QUANTITIES; i++) {
            const double step = values[i] - mean[i];
            mean[i] += step / (double)k;
            squares[i] += step * (values[i] - mean[i]);
        }
    }
    for (size_t i = 0; i < QUANTITIES; i++) {
        deviation[i] = sqrt(squares[i] / (SAMPLES - 1));
    }
    hspec_layer_free(layer);
}

int main(void)
{
    hspec_error err;
    hspec_signal *signal = NULL;
    const hspec_signal_params params = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = strength, .probability = probability};
    if (hspec_signal_create(&params, &signal, &err) != HSPEC_OK) {
        die(&err);
    }
    double root[H * H], scratch[2 * H * H], deviation[QUANTITIES];
    (void)hspec_dense_symmetric_root(H, r, root, scratch);
    monte_carlo(root, deviation);
    printf("root mean square errors of %d sets; in brackets: how many times more nodes plain Monte Carlo needs\n%9s",
           SETS, "nodes");
    for (size_t i = 0; i < QUANTITIES; i++) {
        printf("  %18s", names[i]);
    }
    printf("\n");
    for (unsigned bits = 10; bits <= 18; bits += 2) {
        double error[QUANTITIES];
        const double count = lattice(signal, (double)((size_t)1 << bits), root, error);
        printf("%9.0f", count);
        for (size_t i = 0; i < QUANTITIES; i++) {
            const double plain = deviation[i] * deviation[i] / (error[i] * error[i]);
            printf("  %.2e (%6.0f x)", error[i], plain / count);
        }
        printf("\n");
    }
    hspec_signal_free(signal);
    return 0;
}
