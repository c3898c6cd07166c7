/* SPDX-License-Identifier: MIT
 * How the loss of a state is shown: its two parts, and what each head adds to them (docs/theory.md, "Parts of the loss"). */
#ifndef HSPEC_CLI_SHARES_H
#define HSPEC_CLI_SHARES_H

#include "cli/json.h"

typedef struct hspec_shares {
    size_t heads;
    double *parts; /* [2][1 + H], as hspec_population_parts gives them */
    double *error; /* [2][1 + H] */
} hspec_shares;

/** The shares of one state of an experiment, on theory.nodes nodes of seed 1. Release with hspec_shares_free.
 *  @return OK, EARG, ENOMEM, ENONFINITE; `shares` is untouched on error. */
hspec_status hspec_shares_create(const hspec_experiment *experiment, const hspec_order *state, int threads,
                                 hspec_shares *shares, hspec_error *err);
void hspec_shares_free(hspec_shares *shares);

/** Adds "missed", "noise", and "heads": a list of {missed, noise}, one for each head. */
hspec_status hspec_shares_json(const hspec_shares *shares, cJSON *object, hspec_error *err);
/** Prints a table on standard output. */
void hspec_shares_print(const hspec_shares *shares);

#endif
