/* SPDX-License-Identifier: MIT
 * Expectations of many states on the same nodes (docs/theory.md, "Population loss"). */
#ifndef HSPEC_THEORY_POPULATION_H
#define HSPEC_THEORY_POPULATION_H

#include "theory/field.h"

/** Which of the expectations of a field. */
typedef struct hspec_population_asked {
    hspec_field_what what;
    size_t first, count; /**< those from the place `first` on */
} hspec_population_asked;

/** Validates, takes roots, evaluates. Arguments as for hspec_population_loss, none NULL but error.
 *  @param values out [n][count] @param error out [n][count] or NULL */
hspec_status hspec_population_evaluate(const hspec_task_params *task, const hspec_layer_params *layer, size_t nodes,
                                       uint64_t seed, int threads, size_t n, const hspec_order *states,
                                       hspec_population_asked asked, double *values, double *error, hspec_error *err);

#endif
