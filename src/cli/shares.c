/* SPDX-License-Identifier: MIT
 * The parts of a loss and the shares of the heads, in JSON and as a table. */
#include "cli/shares.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/status.h"

/* Always the same nodes: equal states give equal numbers. */
enum { SEED = 1 };

hspec_status hspec_shares_create(const hspec_experiment *experiment, const hspec_order *state, int threads,
                                 hspec_shares *shares, hspec_error *err)
{
    const size_t count = 2 * (experiment->layer.heads + 1);
    double *values = malloc(2 * count * sizeof *values);
    if (!values) {
        return hspec_error_memory(err, 2 * count * sizeof *values);
    }
    hspec_status status = hspec_population_parts(&experiment->task, &experiment->layer, experiment->theory.nodes, SEED,
                                                 threads, 1, state, values, values + count, err);
    if (status != HSPEC_OK) {
        free(values);
        return status;
    }
    *shares = (hspec_shares){.heads = experiment->layer.heads, .parts = values, .error = values + count};
    return HSPEC_OK;
}

void hspec_shares_free(hspec_shares *shares)
{
    free(shares->parts); /* and the errors behind them */
    *shares = (hspec_shares){0};
}

static hspec_status add_head(const hspec_shares *shares, size_t h, cJSON *list, hspec_error *err)
{
    cJSON *head = cJSON_CreateObject();
    if (!head || !cJSON_AddItemToArray(list, head)) {
        cJSON_Delete(head);
        return hspec_error_memory(err, sizeof *head);
    }
    HSPEC_TRY(hspec_json_number(head, "missed", shares->parts[1 + h], err));
    return hspec_json_number(head, "noise", shares->parts[shares->heads + 2 + h], err);
}

hspec_status hspec_shares_json(const hspec_shares *shares, cJSON *object, hspec_error *err)
{
    HSPEC_TRY(hspec_json_number(object, "missed", shares->parts[0], err));
    HSPEC_TRY(hspec_json_number(object, "noise", shares->parts[shares->heads + 1], err));
    cJSON *list = NULL;
    HSPEC_TRY(hspec_json_list(object, "heads", &list, err));
    for (size_t h = 0; h < shares->heads; h++) {
        HSPEC_TRY(add_head(shares, h, list, err));
    }
    return HSPEC_OK;
}

void hspec_shares_print(const hspec_shares *shares)
{
    const double *missed = shares->parts, *noise = shares->parts + shares->heads + 1;
    (void)printf("loss        missed target       noise let in\n");
    (void)printf("all heads  %7.4f +- %.1e  %7.4f +- %.1e\n", missed[0], shares->error[0], noise[0],
                 shares->error[shares->heads + 1]);
    for (size_t h = 0; h < shares->heads; h++) {
        (void)printf("head %-6zu%7.4f             %7.4f\n", h, missed[1 + h], noise[1 + h]);
    }
}
