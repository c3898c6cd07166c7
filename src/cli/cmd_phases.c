/* SPDX-License-Identifier: MIT
 * headspec phases: when features are learned, how fast, and by which heads. */
#include <string.h>

#include "cli/cli.h"
#include "cli/phases_report.h"
#include "core/status.h"

#define LEVEL_DEFAULT 0.5
#define LEVEL_MIN 1e-6
#define LEVEL_MAX 1e6
#define NODES_MIN 64
#define NODES_MAX 1e9

static hspec_status print_json(const hspec_phases_read *read, hspec_error *err)
{
    cJSON *object = NULL;
    HSPEC_TRY(hspec_json_object(&object, err));
    hspec_status status = hspec_phases_report_json(read, object, err);
    status = status ? status : hspec_json_print(object, err);
    cJSON_Delete(object);
    return status;
}

static hspec_status phases_all(const hspec_arguments *arguments, hspec_phases_read *read, hspec_error *err)
{
    const char *of = hspec_options_text(arguments, "of", NULL);
    read->path = arguments->positional[0];
    read->level = LEVEL_DEFAULT;
    HSPEC_TRY(hspec_options_threads(arguments, &read->threads, err));
    HSPEC_TRY(hspec_options_number(arguments, "level", LEVEL_MIN, LEVEL_MAX, &read->level, err));
    HSPEC_TRY(hspec_options_integer(arguments, "nodes", NODES_MIN, NODES_MAX, &read->nodes, err));
    HSPEC_TRY(hspec_options_integer(arguments, "seed", 1, UINT64_MAX, &read->seed, err));
    read->sgd = !of || strcmp(of, "sgd") == 0;
    read->theory = of ? !read->sgd : !read->seed;
    if (of && read->theory && read->seed) {
        return hspec_error_set(err, HSPEC_EARG, "phases: found --of theory and --seed, allowed one of them");
    }
    hspec_progress progress;
    hspec_progress_start(&progress, "phases", "seeds", 1, hspec_options_given(arguments, "quiet"));
    hspec_status status = hspec_phases_read_all(read, &progress, err);
    hspec_progress_clear();
    if (status != HSPEC_OK) {
        return status;
    }
    if (hspec_options_given(arguments, "json")) {
        return print_json(read, err);
    }
    return hspec_options_given(arguments, "quiet") ? HSPEC_OK : hspec_phases_report_print(read, err);
}

static hspec_status run_phases(const hspec_arguments *arguments, hspec_error *err)
{
    hspec_phases_read read = {0};
    const hspec_status status = phases_all(arguments, &read, err);
    hspec_phases_read_release(&read);
    return status;
}

static const hspec_option phases_options[] = {
    {"level", 0, "X", 0, "deviation between heads at which a feature counts as learned (default 0.5)"},
    {"of", 0, "sgd|theory", 0, "only the runs, or only the theory (default: all that is there)"},
    {"seed", 0, "K", 0, "only run K, counted from 1"},
    {"nodes", 0, "N", 0, "nodes of the predicted rates (default: theory.nodes)"},
    HSPEC_OPTION_THREADS,
    HSPEC_OPTION_JSON,
    HSPEC_OPTION_QUIET,
    HSPEC_OPTION_END,
};
static const char *const phases_arguments[] = {"FILE.h5", NULL};

const hspec_cli_command hspec_cmd_phases = {
    .name = "phases",
    .group = "Look",
    .summary = "when features are learned, how fast, and by which heads",
    .usage = "FILE.h5 [--level X] [--of sgd|theory] [--seed K]",
    .description =
        "Reads the trajectories of an archive. At first all heads move alike. A feature is learned when the\n"
        "standard deviation over heads of their alignments with it passes --level; heads, features and their\n"
        "order count from 0, times are t = steps / D, samples N = B D t.\n"
        "\n"
        "growth     the rate at which the deviation grows exponentially, fitted while it is below a fifth of\n"
        "           the level, and 0.1, in every feature; - where fewer than five rows allow it (more records help)\n"
        "predicted  the same by the linear equations around the recorded mean of the heads\n"
        "+ - 0      how many heads are on which side of the feature, when it is learned and at the end\n"
        "crosses    a head changes sides: the heads rearrange\n"
        "\n"
        "Of many seeds medians and quartiles are printed, and the most frequent split; --json has every seed\n"
        "(docs/guide.md). An incomplete run is read as far as it went.",
    .options = phases_options,
    .arguments = phases_arguments,
    .run = run_phases,
};
