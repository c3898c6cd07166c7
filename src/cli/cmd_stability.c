/* SPDX-License-Identifier: MIT
 * headspec stability: how fast heads part at a fixed point, and in which order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/load.h"
#include "core/status.h"

enum { CELL = 40 };
/* A vector whose largest component is below this is printed: it is no single feature. */
#define PURE 0.99

typedef struct stability {
    hspec_experiment *experiment;
    hspec_signal *signal;
    hspec_stability *object;
    hspec_stability_report report;
} stability;

/* What the largest component of a vector belongs to, when it is no feature. */
static const char *beyond_features(const hspec_stability_report *r, const hspec_stability_mode *mode, int mean)
{
    return mode->feature < r->features                               ? NULL
           : !mean || (r->mean_bias && mode->feature == r->features) ? "bias"
                                                                     : "scale";
}

static const char *point_name(const hspec_stability_report *r)
{
    return r->at == HSPEC_STABILITY_ORIGIN ? "origin" : "unspecialized";
}

/* ---- --json ------------------------------------------------------------------------------------------------------ */

static hspec_status add_modes(cJSON *object, const char *key, const hspec_stability_report *r,
                              const hspec_stability_mode *modes, size_t n, int mean, hspec_error *err)
{
    cJSON *list = NULL;
    HSPEC_TRY(hspec_json_list(object, key, &list, err));
    for (size_t k = 0; k < n; k++) {
        const hspec_stability_mode *mode = &modes[k];
        const char *beyond = beyond_features(r, mode, mean);
        cJSON *item = cJSON_CreateObject();
        if (!item || !cJSON_AddItemToArray(list, item)) {
            cJSON_Delete(item);
            return hspec_error_memory(err, sizeof *item);
        }
        HSPEC_TRY(beyond ? hspec_json_text(item, "feature", beyond, err)
                         : hspec_json_integer(item, "feature", mode->feature, err));
        HSPEC_TRY(hspec_json_number(item, "rate", mode->rate, err));
        HSPEC_TRY(hspec_json_number(item, "standard_error", mode->rate_error, err));
        if (!isnan(mode->closed_form)) {
            HSPEC_TRY(hspec_json_number(item, "closed_form", mode->closed_form, err));
        }
        HSPEC_TRY(hspec_json_numbers(item, "eigenvector", mode->vector, n, err));
    }
    return HSPEC_OK;
}

/* One number for each of the deviation_rates. */
static hspec_status add_predicted(cJSON *object, const hspec_stability_report *r, const char *key, int samples,
                                  hspec_error *err)
{
    cJSON *list = NULL;
    HSPEC_TRY(hspec_json_list(object, key, &list, err));
    for (size_t k = 0; k < r->deviation_modes; k++) {
        cJSON *item = hspec_json_item(samples ? r->deviation[k].samples : r->deviation[k].time);
        if (!item || !cJSON_AddItemToArray(list, item)) {
            cJSON_Delete(item);
            return hspec_error_memory(err, sizeof *item);
        }
    }
    return HSPEC_OK;
}

static hspec_status fill_json(const hspec_stability_report *r, cJSON *object, hspec_error *err)
{
    cJSON *point = NULL;
    HSPEC_TRY(hspec_json_child(object, "point", &point, err));
    HSPEC_TRY(hspec_json_text(point, "at", point_name(r), err));
    HSPEC_TRY(hspec_json_numbers(point, "alignment", r->alignment, r->features, err));
    HSPEC_TRY(hspec_json_number(point, "residual", r->residual, err));
    HSPEC_TRY(hspec_json_number(point, "bias", r->bias, err));
    HSPEC_TRY(hspec_json_number(point, "scale", r->scale, err));
    HSPEC_TRY(hspec_json_number(object, "loss", r->loss, err));
    HSPEC_TRY(hspec_json_number(object, "loss_error", r->loss_error, err));
    HSPEC_TRY(hspec_json_numbers(object, "gradient", r->gradient, r->features, err));
    HSPEC_TRY(hspec_json_numbers(object, "gradient_error", r->gradient_error, r->features, err));
    HSPEC_TRY(add_modes(object, "mean_rates", r, r->mean, r->mean_modes, 1, err));
    HSPEC_TRY(add_modes(object, "deviation_rates", r, r->deviation, r->deviation_modes, 0, err));
    HSPEC_TRY(hspec_json_integer(object, "deviation_multiplicity", r->heads - 1, err));
    HSPEC_TRY(hspec_json_number(object, "residual_rate", r->residual_rate, err));
    HSPEC_TRY(hspec_json_number(object, "residual_rate_error", r->residual_rate_error, err));
    HSPEC_TRY(hspec_json_number(object, "residual_growth", r->residual_growth, err));
    HSPEC_TRY(hspec_json_number(object, "level", r->level, err));
    HSPEC_TRY(add_predicted(object, r, "predicted_time", 0, err));
    return add_predicted(object, r, "predicted_samples", 1, err);
}

static hspec_status print_json(const hspec_stability_report *r, hspec_error *err)
{
    cJSON *object = NULL;
    HSPEC_TRY(hspec_json_object(&object, err));
    hspec_status status = fill_json(r, object, err);
    status = status ? status : hspec_json_print(object, err);
    cJSON_Delete(object);
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const char *rate_cell(double value, double error, char *cell)
{
    /* + 0.0: no -0 */
    (void)snprintf(cell, CELL, "%.4f +- %.0e", round(value * 1e4) / 1e4 + 0.0, error);
    return cell;
}

static const char *number_cell(double value, char *cell)
{
    (void)snprintf(cell, CELL, isnan(value) ? "-" : "%.4g", value);
    return cell;
}

static void print_modes(const hspec_stability_report *r, const hspec_stability_mode *modes, size_t n, int mean)
{
    const int closed = n > 0 && !isnan(modes[0].closed_form);
    int mixed = 0;
    for (size_t k = 0; k < n; k++) {
        mixed = mixed || modes[k].vector[modes[k].feature] < PURE;
    }
    const int width = closed || !mean || mixed ? 18 : 0; /* nothing is behind it: no spaces */
    (void)printf("  feature  %-*s%s%s%s\n", width, "rate", closed ? "  small weights" : "",
                 mean ? "" : "        t         N", mixed ? "  along" : "");
    for (size_t k = 0; k < n; k++) {
        const hspec_stability_mode *mode = &modes[k];
        const char *beyond = beyond_features(r, mode, mean);
        char cell[CELL], other[CELL];
        if (beyond) {
            (void)printf("  %7s", beyond);
        } else {
            (void)printf("  %7zu", mode->feature);
        }
        (void)printf("  %-*s", width, rate_cell(mode->rate, mode->rate_error, cell));
        if (closed) {
            (void)printf("  %13.4f", mode->closed_form);
        }
        if (!mean) {
            (void)printf("  %7s  %8s", number_cell(mode->time, cell), number_cell(mode->samples, other));
        }
        for (size_t i = 0; mixed && i < n; i++) {
            (void)printf("%s%.3f", i ? " " : "  ", round(mode->vector[i] * 1e3) / 1e3 + 0.0);
        }
        (void)printf("\n");
    }
}

static void print_point(const hspec_stability_report *r, const hspec_experiment *e)
{
    const int sgd = e->theory.limit == HSPEC_LIMIT_SGD;
    (void)printf("point       %s, limit %s\nalignment ",
                 r->at == HSPEC_STABILITY_ORIGIN ? "origin" : "unspecialized fixed point", sgd ? "sgd" : "flow");
    for (size_t f = 0; f < r->features; f++) {
        (void)printf("  %.4f", round(r->alignment[f] * 1e4) / 1e4 + 0.0);
    }
    (void)printf("  (of every head)\nresidual    %.4f  (%s)\n", r->residual,
                 sgd ? "all heads coincide; stationary" : "gradient flow");
    if (e->layer.activation == HSPEC_SOFTMAX1) {
        (void)printf("bias        %.4f\nscale       %.4f\n", r->bias, r->scale);
    }
    (void)printf("loss        %.4f +- %.0e\n", r->loss, r->loss_error);
    if (r->at == HSPEC_STABILITY_ORIGIN) {
        (void)printf("gradient  ");
        for (size_t f = 0; f < r->features; f++) {
            (void)printf("  %.4f", round(r->gradient[f] * 1e4) / 1e4 + 0.0);
        }
        (void)printf("  (dE/dm of every head)\n");
    }
}

/* The features whose deviations grow, fastest first, and what the times mean. */
static void print_order(const hspec_stability_report *r, const hspec_experiment *e)
{
    size_t growing = 0;
    for (size_t k = 0; k < r->deviation_modes; k++) {
        const hspec_stability_mode *mode = &r->deviation[k];
        const char *beyond = beyond_features(r, mode, 0);
        if (!(mode->rate > 2 * mode->rate_error)) {
            continue;
        }
        (void)printf(growing++ ? ", " : "order       ");
        if (beyond) {
            (void)printf("%s", beyond);
        } else {
            (void)printf("%zu", mode->feature);
        }
    }
    (void)printf(growing ? "\n" : "order       no deviation grows\n");
    if (growing && e->training.init.kind == HSPEC_INIT_RANDOM) {
        (void)printf("times       from deviations of scale / sqrt(D) = %.4g to %g, at these rates\n",
                     e->training.init.scale / sqrt((double)e->task.dimension), r->level);
    } else if (growing) {
        (void)printf("times       from the deviations of training.init to %g, at these rates\n", r->level);
    }
}

static void print_text(const hspec_stability_report *r, const hspec_experiment *e)
{
    char cell[CELL];
    print_point(r, e);
    (void)printf("\nall heads together\n");
    print_modes(r, r->mean, r->mean_modes, 1);
    if (r->heads < 2) {
        (void)printf("\none head: there are no deviations between heads\n");
        return;
    }
    (void)printf("\ndeviations between heads, %zu of each\n", r->heads - 1);
    print_modes(r, r->deviation, r->deviation_modes, 0);
    (void)printf("    noise  %s\n\n", rate_cell(r->residual_rate, r->residual_rate_error, cell));
    print_order(r, e);
    if (e->theory.limit == HSPEC_LIMIT_SGD) {
        (void)printf("residual    of deviations: %s at rate %.4f%s\n", r->residual_growth > 0 ? "grows" : "falls",
                     fabs(r->residual_growth),
                     r->residual_growth > 0 ? " from a small one; the rates hold while it is small" : "");
    }
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static hspec_status stability_all(const hspec_arguments *arguments, stability *s, hspec_error *err)
{
    int threads = 0;
    const char *at = hspec_options_text(arguments, "at", "unspecialized");
    HSPEC_TRY(hspec_options_threads(arguments, &threads, err));
    HSPEC_TRY(hspec_load_experiment(arguments, &s->experiment, &s->signal, err));
    const hspec_experiment *e = s->experiment;
    HSPEC_TRY(hspec_stability_create(&e->task, &e->layer, &e->training, &e->theory,
                                     strcmp(at, "origin") == 0 ? HSPEC_STABILITY_ORIGIN : HSPEC_STABILITY_UNSPECIALIZED,
                                     threads, &s->object, err));
    hspec_stability_view(s->object, &s->report);
    if (hspec_options_given(arguments, "json")) {
        return print_json(&s->report, err);
    }
    if (!hspec_options_given(arguments, "quiet")) {
        print_text(&s->report, e);
    }
    return HSPEC_OK;
}

static hspec_status run_stability(const hspec_arguments *arguments, hspec_error *err)
{
    stability s = {0};
    hspec_status status = stability_all(arguments, &s, err);
    hspec_stability_free(s.object);
    hspec_signal_free(s.signal);
    hspec_experiment_free(s.experiment);
    return status;
}

static const hspec_option stability_options[] = {
    {"at", 0, "origin|unspecialized", 0, "where (default: unspecialized; the origin if the signal has no mean)"},
    HSPEC_OPTION_SET,
    HSPEC_OPTION_THREADS,
    HSPEC_OPTION_JSON,
    HSPEC_OPTION_QUIET,
    HSPEC_OPTION_END,
};
static const char *const stability_arguments[] = {"EXPERIMENT.yaml", NULL};

const hspec_cli_command hspec_cmd_stability = {
    .name = "stability",
    .group = "Predict",
    .summary = "how fast heads part at a fixed point, in which order, and when",
    .usage = "EXPERIMENT.yaml [--at origin|unspecialized] [--set path=value]",
    .description =
        "Linear stability of equal heads, at the point where their flow ends when it starts with a small push\n"
        "along the mean of the signal (unspecialized), or at alignment 0 (origin). Biases and scale, if trained,\n"
        "are where the flow takes them.\n"
        "\n"
        "rate   of exponential growth per unit of t, for all heads together and for heads against each other,\n"
        "       with the standard error by the nodes (more theory.nodes make it smaller). Features count from 0.\n"
        "noise  the same along a direction without signal\n"
        "t, N   when a deviation is as large as 0.5, where `phases` calls a feature learned, and the samples\n"
        "       until then. The start is scale / sqrt(D), or the deviations of an aligned training.init. Only\n"
        "       the first time is more than an estimate: rates change when a feature is learned.\n"
        "\n"
        "theory.limit sgd keeps the noise of SGD: the residual is where it is stationary and heads coincide;\n"
        "flow: there is none. Softmax at the origin: the closed form for small weights stands beside the numbers.",
    .options = stability_options,
    .arguments = stability_arguments,
    .run = run_stability,
};
