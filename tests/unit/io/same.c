/* SPDX-License-Identifier: MIT
 * Are two experiments the same? */
#include "same.h"

#include <string.h>

static int same_list(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; a && b && i < n; i++) {
        if (a[i] != b[i]) {
            return 0;
        }
    }
    return !a == !b;
}

#define SAME(field)                                                                                                    \
    if (a->field != b->field) {                                                                                        \
        return #field;                                                                                                 \
    }
#define SAME_LIST(field, n)                                                                                            \
    if (!same_list(a->field, b->field, n)) {                                                                           \
        return #field;                                                                                                 \
    }

const char *same_difference(const hspec_experiment *a, const hspec_experiment *b)
{
    SAME(signal.kind)
    SAME(signal.strength)
    SAME(signal.probability)
    SAME(signal.features)
    SAME(signal.points)
    size_t F = a->signal.features;
    SAME_LIST(signal.mean, F)
    SAME_LIST(signal.variance, F)
    SAME_LIST(signal.theta, a->signal.points * F)
    SAME_LIST(signal.weights, a->signal.points)
    SAME(task.tokens)
    SAME(task.dimension)
    SAME(task.signal)
    SAME(task.spikes)
    SAME(layer.heads)
    size_t H = a->layer.heads;
    SAME(layer.activation)
    SAME(layer.bias_init)
    SAME(layer.bias_train)
    SAME(layer.bias_per_head)
    SAME(layer.scale_init)
    SAME(layer.scale_train)
    SAME(training.engine)
    SAME(training.loss)
    SAME(training.noise)
    SAME(training.learning_rate)
    SAME(training.batch)
    SAME(training.time)
    SAME(training.seeds)
    SAME(training.seed)
    SAME(training.records)
    SAME(training.spacing)
    SAME(training.init.kind)
    SAME(training.init.scale)
    SAME(training.init.residual_diagonal)
    SAME_LIST(training.init.alignment, H * F)
    SAME_LIST(training.init.residual, H * H)
    SAME(theory.limit)
    SAME(theory.start_kind)
    SAME(theory.start_seed)
    SAME(theory.start.kind)
    SAME(theory.start.scale)
    SAME(theory.start.residual_diagonal)
    SAME_LIST(theory.start.alignment, H * F)
    SAME_LIST(theory.start.residual, H * H)
    SAME(theory.nodes)
    SAME(theory.tolerance)
    SAME(unused_count)
    for (size_t i = 0; i < a->unused_count; i++) {
        if (strcmp(a->unused[i], b->unused[i]) != 0) {
            return "unused";
        }
    }
    return NULL;
}
