/* SPDX-License-Identifier: MIT
 * The two parts of the population loss and each head's share of them (docs/theory.md, "Parts of the loss"). What is summed
 * stands in parts_lanes.h. */
#include "theory/population.h"

hspec_status hspec_population_parts(const hspec_task_params *task, const hspec_layer_params *layer, size_t nodes,
                                    uint64_t seed, int threads, size_t n, const hspec_order *states, double *parts,
                                    double *error, hspec_error *err)
{
    if (!task || !layer || !states || !parts) {
        return hspec_error_set(err, HSPEC_EARG,
                               "hspec_population_parts: task, layer, states and parts must not be NULL");
    }
    const hspec_population_asked asked = {
        .what = HSPEC_FIELD_PARTS, .first = hspec_field_layout(layer->heads, 1).parts, .count = 2 * (layer->heads + 1)};
    return hspec_population_evaluate(task, layer, nodes, seed, threads, n, states, asked, parts, error, err);
}
