/* SPDX-License-Identifier: MIT
 * headspec info: what is in an archive. */
#include "cli/cli.h"
#include "cli/csv.h"
#include "cli/info.h"
#include "core/status.h"

static hspec_status print_json(const hspec_info *info, hspec_error *err)
{
    cJSON *object = NULL;
    HSPEC_TRY(hspec_json_object(&object, err));
    hspec_status status = hspec_info_json(info, object, err);
    if (status == HSPEC_OK) {
        status = hspec_json_print(object, err);
    }
    cJSON_Delete(object);
    return status;
}

static hspec_status run_info(const hspec_arguments *arguments, hspec_error *err)
{
    const char *path = arguments->positional[0];
    const char *csv = hspec_options_text(arguments, "csv", NULL);
    int json = hspec_options_given(arguments, "json");
    if (csv && json) {
        return hspec_error_set(err, HSPEC_EARG, "info: found --csv and --json, allowed one of them");
    }
    if (csv) {
        return hspec_csv_print(path, csv, stdout, err);
    }
    hspec_info info;
    hspec_status status = hspec_info_read(path, &info, err);
    if (status == HSPEC_OK && json) {
        status = print_json(&info, err);
    } else if (status == HSPEC_OK) {
        hspec_info_print(&info, stdout);
    }
    hspec_info_release(&info);
    return status;
}

static const hspec_option info_options[] = {
    {"csv", 0, "DATASET", 0, "print one dataset as comma-separated values, with all digits"},
    HSPEC_OPTION_JSON,
    HSPEC_OPTION_END,
};
static const char *const info_arguments[] = {"FILE.h5", NULL};

const hspec_cli_command hspec_cmd_info = {
    .name = "info",
    .group = "Look",
    .summary = "show what is in an archive",
    .usage = "FILE.h5 [--csv DATASET | --json]",
    .description =
        "Prints where an archive comes from (version, command line, date), its experiment and the keys that\n"
        "were set but not used, its datasets, and the last loss and alignments of each seed.\n"
        "\n"
        "With --csv /sgd/alignment one row for each seed and time is printed, one column for each head and\n"
        "feature: seed,time,alignment_head0_feature0,... Seeds count from 1, heads and features from 0.",
    .options = info_options,
    .arguments = info_arguments,
    .run = run_info,
};
