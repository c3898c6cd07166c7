/* SPDX-License-Identifier: MIT
 * What several keys must fulfil together. */
#include "io/config_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"

#define MOST_STEPS 9007199254740992.0 /* 2^53: larger counts are not exact in a double */

/* The node at a path; if it is absent, the section nearest to it. */
static const hspec_config_node *find_place(const hspec_config *config, const char *path, int *exact)
{
    const hspec_config_node *node = config->root;
    const char *name = path;
    *exact = 0;
    for (;;) {
        char key[64] = "";
        size_t n = strcspn(name, ".");
        (void)strncat(key, name, n < sizeof key - 1 ? n : sizeof key - 1);
        const hspec_config_node *child = hspec_config_tree_child(node, key);
        if (!child) {
            return node;
        }
        node = child;
        if (name[n] == '\0') {
            *exact = 1;
            return node;
        }
        name += n + 1;
    }
}

/* Starts like every message; what follows says what was found and what is allowed. */
#define FAIL(config, path, ...)                                                                                        \
    do {                                                                                                               \
        int fail_exact;                                                                                                \
        const hspec_config_node *fail_place = find_place(config, path, &fail_exact);                                   \
        return hspec_config_tree_fail((config)->source, fail_place->set, fail_place->line, path, (config)->err,        \
                                      __VA_ARGS__);                                                                    \
    } while (0)

/* The value of a path as it was written, or "the default". */
static hspec_config_words written(const hspec_config *config, const char *path)
{
    int exact;
    const hspec_config_node *node = find_place(config, path, &exact);
    hspec_config_words words = {"the default"};
    return exact ? hspec_config_tree_found(node) : words;
}

static hspec_status check_dimension(const hspec_config *config)
{
    const hspec_experiment *e = config->experiment;
    size_t F = e->signal.features;
    size_t H = e->layer.heads;
    if (e->task.dimension < F + H) {
        FAIL(config, "task.dimension",
             "found %zu, allowed: a whole number of at least %zu (F + H: %zu features and %zu heads)",
             e->task.dimension, F + H, F, H);
    }
    return HSPEC_OK;
}

static hspec_status check_weights(const hspec_config *config)
{
    const hspec_signal_params *signal = &config->experiment->signal;
    if (signal->kind != HSPEC_SIGNAL_DISCRETE || !signal->weights) {
        return HSPEC_OK;
    }
    double sum = 0;
    for (size_t k = 0; k < signal->points; k++) {
        sum += signal->weights[k];
    }
    if (!(fabs(sum - 1) <= 1e-6)) {
        FAIL(config, "task.signal.weights", "found the sum %.9g, allowed: 1 within 1e-6", sum);
    }
    return HSPEC_OK;
}

static hspec_status check_steps(const hspec_config *config)
{
    hspec_training_params *training = &config->experiment->training;
    double D = (double)config->experiment->task.dimension;
    double steps = round(training->time * D);
    if (!(steps <= MOST_STEPS)) {
        FAIL(config, "training.time", "found %s, allowed: at most %.6g for D = %.0f (2^53 steps)",
             written(config, "training.time").text, MOST_STEPS / D, D);
    }
    if (steps < 1) {
        FAIL(config, "training.time", "found %s, allowed: at least %.6g for D = %.0f (one step)",
             written(config, "training.time").text, 1 / D, D);
    }
    int written_records;
    (void)find_place(config, "training.records", &written_records);
    if ((double)training->records > steps && !written_records) {
        training->records = (size_t)steps;
    }
    if ((double)training->records > steps) {
        FAIL(config, "training.records",
             "found %zu, allowed: at most %.0f, the number of steps (training.time times task.dimension)",
             training->records, steps);
    }
    return HSPEC_OK;
}

static hspec_status check_start_seed(const hspec_config *config)
{
    const hspec_experiment *e = config->experiment;
    if (e->theory.start_kind == HSPEC_START_SEED && e->theory.start_seed > e->training.seeds) {
        FAIL(config, "theory.start.seed", "found %llu, allowed: a whole number from 1 to %zu (training.seeds)",
             (unsigned long long)e->theory.start_seed, e->training.seeds);
    }
    return HSPEC_OK;
}

/* Is the symmetric H x H matrix positive semidefinite within `tolerance`? Cholesky with the largest diagonal first;
 * what is left behind a pivot near zero must vanish. `a` is destroyed. */
static int is_semidefinite(double *a, size_t H, double tolerance)
{
    for (size_t k = 0; k < H; k++) {
        size_t p = k;
        for (size_t i = k; i < H; i++) {
            if (a[i * H + i] < -tolerance) {
                return 0;
            }
            p = a[i * H + i] > a[p * H + p] ? i : p;
        }
        for (size_t j = 0; j < H && p != k; j++) {
            double t = a[k * H + j];
            a[k * H + j] = a[p * H + j];
            a[p * H + j] = t;
        }
        for (size_t i = 0; i < H && p != k; i++) {
            double t = a[i * H + k];
            a[i * H + k] = a[i * H + p];
            a[i * H + p] = t;
        }
        double pivot = a[k * H + k];
        if (pivot <= tolerance) {
            for (size_t i = k; i < H; i++) {
                for (size_t j = k; j < i; j++) {
                    if (fabs(a[i * H + j]) > tolerance) {
                        return 0;
                    }
                }
            }
            return 1;
        }
        for (size_t i = k + 1; i < H; i++) {
            double factor = a[i * H + k] / pivot;
            for (size_t j = k + 1; j < H; j++) {
                a[i * H + j] -= factor * a[k * H + j];
            }
        }
    }
    return 1;
}

static hspec_status check_residual(const hspec_config *config, const char *path, const double *r)
{
    size_t H = config->experiment->layer.heads;
    size_t n = H * H;
    if (!r || n == 0) {
        return HSPEC_OK;
    }
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(r[i]));
    }
    for (size_t i = 0; i < H; i++) {
        for (size_t j = 0; j < i; j++) {
            if (fabs(r[i * H + j] - r[j * H + i]) > 1e-12 * largest) {
                FAIL(config, path,
                     "found %.9g in row %zu, column %zu and %.9g in row %zu, column %zu (from 0), "
                     "allowed: a symmetric matrix",
                     r[i * H + j], i, j, r[j * H + i], j, i);
            }
        }
    }
    double *copy = malloc(n * sizeof *copy);
    if (!copy) {
        return hspec_error_memory(config->err, n * sizeof *copy);
    }
    for (size_t i = 0; i < n; i++) {
        copy[i] = largest > 0 ? r[i] / largest : 0;
    }
    int semidefinite = is_semidefinite(copy, H, 1e-10);
    free(copy);
    if (!semidefinite) {
        FAIL(config, path, "found a matrix with a negative eigenvalue, allowed: a positive semidefinite matrix");
    }
    return HSPEC_OK;
}

hspec_status hspec_config_check_fields(const hspec_config *config)
{
    const hspec_experiment *e = config->experiment;
    HSPEC_TRY(check_weights(config));
    HSPEC_TRY(check_dimension(config));
    HSPEC_TRY(check_steps(config));
    HSPEC_TRY(check_residual(config, "training.init.residual", e->training.init.residual));
    HSPEC_TRY(check_start_seed(config));
    return check_residual(config, "theory.start.residual", e->theory.start.residual);
}
