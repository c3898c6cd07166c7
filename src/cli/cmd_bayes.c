/* SPDX-License-Identifier: MIT
 * headspec bayes: the least loss that any layer could reach. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/load.h"
#include "core/status.h"

/* Chosen by measurement: a standard error of some 1e-6 for few points or features and 1e-4 for hard cases, within
 * 0.5 s on two cores. */
#define NODES_DEFAULT 131072
#define NODES_MAX (1 << 24)

typedef struct bayes {
    hspec_experiment *experiment;
    hspec_signal *signal;
    double risk, error;
} bayes;

static hspec_status print_json(const bayes *b, hspec_error *err)
{
    cJSON *object = NULL;
    HSPEC_TRY(hspec_json_object(&object, err));
    hspec_status status = hspec_json_number(object, "bayes_risk", b->risk, err);
    status = status ? status : hspec_json_number(object, "standard_error", b->error, err);
    status = status ? status : hspec_json_print(object, err);
    cJSON_Delete(object);
    return status;
}

static void print_text(const bayes *b)
{
    const size_t L = b->experiment->task.tokens;
    (void)printf("Bayes risk  %#.6g +- %.1e\n"
                 "blind       %#.6g  (1 - 1/L: all %zu tokens are given the same weight)\n",
                 b->risk, b->error, 1 - 1 / (double)L, L);
}

static hspec_status bayes_all(const hspec_arguments *arguments, bayes *b, hspec_error *err)
{
    int threads = 0;
    uint64_t nodes = NODES_DEFAULT;
    HSPEC_TRY(hspec_options_threads(arguments, &threads, err));
    HSPEC_TRY(hspec_options_integer(arguments, "nodes", 1, NODES_MAX, &nodes, err));
    HSPEC_TRY(hspec_load_experiment(arguments, &b->experiment, &b->signal, err));
    HSPEC_TRY(hspec_bayes_risk(&b->experiment->task, (size_t)nodes, 1, threads, &b->risk, &b->error, err));
    if (hspec_options_given(arguments, "json")) {
        return print_json(b, err);
    }
    if (!hspec_options_given(arguments, "quiet")) {
        print_text(b);
    }
    return HSPEC_OK;
}

static hspec_status run_bayes(const hspec_arguments *arguments, hspec_error *err)
{
    bayes b = {0};
    hspec_status status = bayes_all(arguments, &b, err);
    hspec_signal_free(b.signal);
    hspec_experiment_free(b.experiment);
    return status;
}

static const hspec_option bayes_options[] = {
    HSPEC_OPTION_SET,     {"nodes", 0, "N", 0, "points of the quasi-Monte Carlo rule, 1 to 2^24 (default 131072)"},
    HSPEC_OPTION_THREADS, HSPEC_OPTION_JSON,
    HSPEC_OPTION_QUIET,   HSPEC_OPTION_END,
};
static const char *const bayes_arguments[] = {"EXPERIMENT.yaml", NULL};

const hspec_cli_command hspec_cmd_bayes = {
    .name = "bayes",
    .group = "Predict",
    .summary = "the Bayes risk of a task: the least loss of any layer",
    .usage = "EXPERIMENT.yaml [--set path=value]",
    .description =
        "Computes the Bayes risk: the least expected location loss that any estimator of the position can reach\n"
        "when it knows the spikes, and so a bound for every layer. It depends on task.tokens and task.signal\n"
        "only; the rest of the experiment is checked but not used.\n"
        "\n"
        "The standard error comes from 16 independent randomizations of the rule, always from the same seed:\n"
        "equal tasks give equal numbers. With --json: bayes_risk and standard_error.",
    .options = bayes_options,
    .arguments = bayes_arguments,
    .run = run_bayes,
};
