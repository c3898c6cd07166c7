/* SPDX-License-Identifier: MIT
 * headspec check: is an experiment valid, what will run, and how long will it take? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calibrate.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/resolved.h"
#include "core/status.h"
#include "io/reference.h"

typedef struct check {
    hspec_experiment *experiment;
    hspec_signal *signal;
    hspec_resolved_value *values;
    size_t count;
    hspec_calibration calibration;
} check;

/* ---- text -------------------------------------------------------------------------------------------------------- */

enum { VALUE_COLUMNS = 60 };

/* 1.5e6 -> "1.5 MB" */
static void print_bytes(const char *label, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t i = 0;
    while (bytes >= 999.5 && i < 5) {
        bytes /= 1000;
        i++;
    }
    (void)printf("%s%.3g %s", label, bytes, units[i]);
}

static void print_values(const check *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const hspec_resolved_value *value = &c->values[i];
        const char *text = value->text;
        int cut = strlen(text) > VALUE_COLUMNS;
        (void)printf("%-24s %.*s%s%s\n", value->row->path, VALUE_COLUMNS, text, cut ? " ..." : "",
                     value->given ? "" : "  (default)");
    }
}

static void print_text(const check *c)
{
    const hspec_experiment *e = c->experiment;
    const hspec_calibration *k = &c->calibration;
    (void)printf("%s is valid: L = %zu tokens, D = %zu, F = %zu, H = %zu heads, S = %zu seeds\n\n", e->name,
                 e->task.tokens, e->task.dimension, hspec_signal_features(c->signal), e->layer.heads,
                 e->training.seeds);
    print_values(c);
    for (size_t i = 0; i < e->unused_count; i++) {
        (void)printf("%s%s", i ? ", " : "\nset but not used: ", e->unused[i]);
    }
    (void)printf("%s\nsteps    %.0f for each seed, %.0f in all; %zu rows\n", e->unused_count ? "\n" : "",
                 k->steps / (double)e->training.seeds, k->steps, e->training.records + 1);
    print_bytes("memory   ", k->bytes);
    if (!*k->why) {
        char seconds[32], rate[32];
        hspec_progress_format_seconds(k->seconds, seconds, sizeof seconds);
        hspec_progress_format_rate(k->rate, rate, sizeof rate);
        (void)printf("\ntime     about %s (%s seed-steps/s), from a trial of 0.3 s\n", seconds, rate);
    } else {
        (void)printf("\ntime     not measured: %s\n", k->why);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static hspec_status add_value(cJSON *object, const hspec_resolved_value *value, hspec_error *err)
{
    /* numbers, lists and switches are JSON as they stand; names and words are not */
    int quoted = value->row->type == HSPEC_CONFIG_NAME || (value->row->absent && *value->text != '[');
    cJSON *item = quoted ? cJSON_CreateString(value->text) : cJSON_CreateRaw(value->text);
    if (!item || !cJSON_AddItemToObject(object, value->row->path, item)) {
        cJSON_Delete(item);
        return hspec_error_memory(err, sizeof *item);
    }
    return HSPEC_OK;
}

static hspec_status add_values(const check *c, cJSON *object, hspec_error *err)
{
    cJSON *values = NULL, *defaults = NULL;
    HSPEC_TRY(hspec_json_child(object, "values", &values, err));
    HSPEC_TRY(hspec_json_list(object, "defaults", &defaults, err));
    for (size_t i = 0; i < c->count; i++) {
        HSPEC_TRY(add_value(values, &c->values[i], err));
        if (!c->values[i].given) {
            cJSON *path = cJSON_CreateString(c->values[i].row->path);
            if (!path || !cJSON_AddItemToArray(defaults, path)) {
                cJSON_Delete(path);
                return hspec_error_memory(err, sizeof *path);
            }
        }
    }
    return hspec_json_texts(object, "unused", c->experiment->unused, c->experiment->unused_count, err);
}

static hspec_status add_sizes(const check *c, cJSON *object, hspec_error *err)
{
    const hspec_experiment *e = c->experiment;
    cJSON *sizes = NULL;
    HSPEC_TRY(hspec_json_child(object, "sizes", &sizes, err));
    HSPEC_TRY(hspec_json_integer(sizes, "tokens", e->task.tokens, err));
    HSPEC_TRY(hspec_json_integer(sizes, "dimension", e->task.dimension, err));
    HSPEC_TRY(hspec_json_integer(sizes, "features", hspec_signal_features(c->signal), err));
    HSPEC_TRY(hspec_json_integer(sizes, "heads", e->layer.heads, err));
    HSPEC_TRY(hspec_json_integer(sizes, "seeds", e->training.seeds, err));
    return hspec_json_integer(sizes, "rows", e->training.records + 1, err);
}

static hspec_status fill_json(const check *c, cJSON *object, hspec_error *err)
{
    const hspec_calibration *k = &c->calibration;
    HSPEC_TRY(hspec_json_text(object, "name", c->experiment->name, err));
    HSPEC_TRY(add_sizes(c, object, err));
    HSPEC_TRY(add_values(c, object, err));
    HSPEC_TRY(hspec_json_number(object, "steps_per_seed", k->steps / (double)c->experiment->training.seeds, err));
    HSPEC_TRY(hspec_json_number(object, "steps", k->steps, err));
    HSPEC_TRY(hspec_json_number(object, "memory_bytes", k->bytes, err));
    if (!*k->why) {
        HSPEC_TRY(hspec_json_number(object, "estimated_seconds", k->seconds, err));
        return hspec_json_number(object, "estimated_seed_steps_per_second", k->rate, err);
    }
    return hspec_json_text(object, "no_estimate", k->why, err);
}

static hspec_status print_json(const check *c, hspec_error *err)
{
    cJSON *object = NULL;
    HSPEC_TRY(hspec_json_object(&object, err));
    hspec_status status = fill_json(c, object, err);
    if (status == HSPEC_OK) {
        status = hspec_json_print(object, err);
    }
    cJSON_Delete(object);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static hspec_status check_all(const hspec_arguments *arguments, check *c, hspec_error *err)
{
    int threads = 0;
    HSPEC_TRY(hspec_options_threads(arguments, &threads, err));
    HSPEC_TRY(hspec_load_experiment(arguments, &c->experiment, &c->signal, err));
    if (hspec_options_given(arguments, "quiet") && !hspec_options_given(arguments, "json")) {
        return hspec_training_estimate(&c->experiment->task, &c->experiment->layer, &c->experiment->training,
                                       &c->calibration.bytes, &c->calibration.steps, err);
    }
    HSPEC_TRY(hspec_calibrate_run(c->experiment, threads, &c->calibration, err));
    HSPEC_TRY(hspec_resolved_list(c->experiment, &c->values, &c->count, err));
    if (hspec_options_given(arguments, "json")) {
        return print_json(c, err);
    }
    print_text(c);
    return HSPEC_OK;
}

static hspec_status run_check(const hspec_arguments *arguments, hspec_error *err)
{
    check c = {0};
    hspec_status status = check_all(arguments, &c, err);
    hspec_resolved_free(c.values, c.count);
    hspec_signal_free(c.signal);
    hspec_experiment_free(c.experiment);
    return status;
}

static const hspec_option check_options[] = {
    HSPEC_OPTION_SET, HSPEC_OPTION_THREADS, HSPEC_OPTION_JSON, HSPEC_OPTION_QUIET, HSPEC_OPTION_END,
};
static const char *const check_arguments[] = {"EXPERIMENT.yaml", NULL};

const hspec_cli_command hspec_cmd_check = {
    .name = "check",
    .group = "Experiments",
    .summary = "validate an experiment; estimate steps, memory and time",
    .usage = "EXPERIMENT.yaml [--set path=value]",
    .description =
        "Reads an experiment and prints what will run: every value with the defaults, and the keys that are\n"
        "set but not used. The steps are exact. The time is an estimate: the run is begun for 0.3 s, and\n"
        "its speed there is taken for all of it.\n"
        "With --quiet only the exit status tells whether the experiment is valid.",
    .more = hspec_reference_help,
    .options = check_options,
    .arguments = check_arguments,
    .run = run_check,
};
