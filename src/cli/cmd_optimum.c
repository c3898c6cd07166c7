/* SPDX-License-Identifier: MIT
 * headspec optimum: the best loss of an activation, and the minima that training can end in. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/load.h"
#include "cli/progress.h"
#include "cli/shares.h"
#include "core/status.h"

/* Those that `bayes` takes. */
#define BAYES_NODES 131072
#define SEED 1
enum { LISTED = 12, NAME = 64 };
/* The loss falls with a residual when its rate is below 0 by this and by so many errors. */
#define FALLING 1e-4
#define ERRORS 4

typedef struct optimum {
    hspec_experiment *experiment;
    hspec_signal *signal;
    hspec_optimum *object;
    hspec_shares shares;
    hspec_progress progress;
    double risk, risk_error;
} optimum;

static int notify(void *user, const hspec_event *event)
{
    optimum *o = user;
    hspec_progress_update(&o->progress, event->done, event->total);
    return 0; /* SIGINT ends the program: there is nothing to lose */
}

/* The next variable, from number *i on, that stands at its bound, in the order alignment, residual, bias, scale.
 * @return 0: there is none */
static int name_at_bound(const optimum *o, const hspec_optimum_minimum *found, size_t *i, char *name)
{
    const size_t H = o->experiment->layer.heads, F = hspec_signal_features(o->signal), HF = H * F;
    for (; *i < HF + 2 * H + 1; ++*i) {
        if (*i < HF && found->alignment_at_bound[*i]) {
            (void)snprintf(name, NAME, "alignment[%zu][%zu]", *i / F, *i % F);
        } else if (*i >= HF && *i < HF + H && found->residual_at_bound[*i - HF]) {
            (void)snprintf(name, NAME, "residual[%zu]", *i - HF);
        } else if (*i >= HF + H && *i < HF + 2 * H && found->bias_at_bound[*i - HF - H]) {
            (void)snprintf(name, NAME, "bias[%zu]", *i - HF - H);
        } else if (*i == HF + 2 * H && found->scale_at_bound) {
            (void)snprintf(name, NAME, "scale");
        } else {
            continue;
        }
        return 1;
    }
    return 0;
}

/* ---- --json ------------------------------------------------------------------------------------------------------ */

static hspec_status add_minimum(const optimum *o, size_t i, cJSON *list, hspec_error *err)
{
    hspec_optimum_minimum found;
    hspec_optimum_view(o->object, i, &found);
    cJSON *item = cJSON_CreateObject();
    if (!item || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return hspec_error_memory(err, sizeof *item);
    }
    HSPEC_TRY(hspec_json_number(item, "loss", found.loss, err));
    HSPEC_TRY(hspec_json_number(item, "standard_error", found.loss_error, err));
    HSPEC_TRY(hspec_json_matrix(item, "alignment", found.order.alignment, o->experiment->layer.heads,
                                hspec_signal_features(o->signal), err));
    HSPEC_TRY(hspec_json_integer(item, "count", found.count, err));
    HSPEC_TRY(hspec_json_flag(item, "at_bound", found.at_bound, err));
    return hspec_json_number(item, "residual_rate", found.residual_rate, err);
}

static hspec_status add_bound(const optimum *o, const hspec_optimum_minimum *best, cJSON *object, hspec_error *err)
{
    cJSON *list = NULL;
    char name[NAME];
    HSPEC_TRY(hspec_json_list(object, "bound", &list, err));
    for (size_t i = 0; name_at_bound(o, best, &i, name); i++) {
        cJSON *item = cJSON_CreateString(name);
        if (!item || !cJSON_AddItemToArray(list, item)) {
            cJSON_Delete(item);
            return hspec_error_memory(err, sizeof *item);
        }
    }
    return HSPEC_OK;
}

static hspec_status fill_json(const optimum *o, cJSON *object, hspec_error *err)
{
    const size_t H = o->experiment->layer.heads;
    hspec_optimum_minimum best;
    cJSON *list = NULL;
    hspec_optimum_view(o->object, 0, &best);
    HSPEC_TRY(hspec_json_number(object, "loss", best.loss, err));
    HSPEC_TRY(hspec_json_number(object, "standard_error", best.loss_error, err));
    HSPEC_TRY(hspec_json_matrix(object, "alignment", best.order.alignment, H, hspec_signal_features(o->signal), err));
    HSPEC_TRY(hspec_json_matrix(object, "residual", best.order.residual, H, H, err));
    HSPEC_TRY(hspec_json_numbers(object, "bias", best.order.bias, H, err));
    HSPEC_TRY(hspec_json_number(object, "scale", best.order.scale, err));
    HSPEC_TRY(hspec_json_flag(object, "at_bound", best.at_bound, err));
    HSPEC_TRY(add_bound(o, &best, object, err));
    HSPEC_TRY(hspec_json_number(object, "residual_rate", best.residual_rate, err));
    HSPEC_TRY(hspec_json_number(object, "residual_rate_error", best.residual_rate_error, err));
    HSPEC_TRY(hspec_shares_json(&o->shares, object, err));
    HSPEC_TRY(hspec_json_number(object, "bayes_risk", o->risk, err));
    HSPEC_TRY(hspec_json_number(object, "bayes_risk_error", o->risk_error, err));
    HSPEC_TRY(hspec_json_list(object, "minima", &list, err));
    for (size_t i = 0; i < hspec_optimum_minima(o->object); i++) {
        HSPEC_TRY(add_minimum(o, i, list, err));
    }
    return HSPEC_OK;
}

static hspec_status print_json(const optimum *o, hspec_error *err)
{
    cJSON *object = NULL;
    HSPEC_TRY(hspec_json_object(&object, err));
    hspec_status status = fill_json(o, object, err);
    status = status ? status : hspec_json_print(object, err);
    cJSON_Delete(object);
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* The alignments of one minimum: (features of a head) for each head; heads without influence in brackets. */
static void print_heads(const hspec_optimum_minimum *found, size_t H, size_t F)
{
    for (size_t h = 0; h < H; h++) {
        (void)printf("%s%s", h ? "  " : "", found->silent[h] ? "[" : "");
        for (size_t f = 0; f < F; f++) {
            (void)printf("%s%.3f", f ? "," : "", found->order.alignment[h * F + f] + 0.0);
        }
        (void)printf("%s", found->silent[h] ? "]" : "");
    }
    (void)printf("\n");
}

static void print_best(const optimum *o, const hspec_optimum_minimum *best)
{
    const hspec_layer_params *layer = &o->experiment->layer;
    (void)printf("optimum     %.5f +- %.1e%s\n"
                 "Bayes risk  %.5f +- %.1e\n",
                 best->loss, best->loss_error, best->at_bound ? ", with a variable at its bound" : "", o->risk,
                 o->risk_error);
    double residual = 0;
    int any = 0;
    for (size_t h = 0; h < layer->heads; h++) {
        residual += best->order.residual[h * (layer->heads + 1)];
    }
    (void)printf("residual    %.4g, summed over the heads%s\n", residual,
                 best->residual_rate < -FALLING - ERRORS * best->residual_rate_error
                     ? "; the loss falls with more of it: this is no minimum"
                     : "");
    if (layer->activation != HSPEC_SOFTMAX) {
        (void)printf("bias       ");
        for (size_t h = 0; h < layer->heads; h++) {
            (void)printf(" %.4g", best->order.bias[h]);
        }
        (void)printf("\n");
    }
    if (layer->activation == HSPEC_SOFTMAX1) {
        (void)printf("scale       %.4g\n", best->order.scale);
    }
    char name[NAME];
    for (size_t i = 0, first = 1; name_at_bound(o, best, &i, name); i++, first = 0) {
        (void)printf("%s%s", first ? "at bounds   " : ", ", name);
        any = 1;
    }
    (void)printf("%s", any ? "\n" : "");
    (void)printf("\n");
    hspec_shares_print(&o->shares);
}

static void print_text(const optimum *o)
{
    const size_t n = hspec_optimum_minima(o->object), H = o->experiment->layer.heads;
    hspec_optimum_minimum found;
    hspec_optimum_view(o->object, 0, &found);
    print_best(o, &found);
    (void)printf("\nminima      found  alignment of each head; [without influence]; * at a bound\n");
    for (size_t i = 0; i < n && i < LISTED; i++) {
        hspec_optimum_view(o->object, i, &found);
        (void)printf("%.5f%s  %6zu  ", found.loss, found.at_bound ? " *" : "  ", found.count);
        print_heads(&found, H, hspec_signal_features(o->signal));
    }
    if (n > LISTED) {
        (void)printf("and %zu more, with --json\n", n - LISTED);
    }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static hspec_status optimum_all(const hspec_arguments *arguments, optimum *o, hspec_error *err)
{
    int threads = 0;
    hspec_optimum_params params = hspec_optimum_default();
    uint64_t starts = params.starts;
    const int quiet = hspec_options_given(arguments, "quiet");
    HSPEC_TRY(hspec_options_threads(arguments, &threads, err));
    HSPEC_TRY(hspec_options_integer(arguments, "starts", 1, HSPEC_OPTIMUM_MAX_STARTS, &starts, err));
    HSPEC_TRY(hspec_load_experiment(arguments, &o->experiment, &o->signal, err));
    params.nodes = o->experiment->theory.nodes;
    params.starts = (size_t)starts;
    const hspec_monitor monitor = {notify, o};
    hspec_progress_start(&o->progress, "optimum", "starts", 1, quiet);
    const hspec_status status =
        hspec_optimum_create(&o->experiment->task, &o->experiment->layer, &params, threads, &monitor, &o->object, err);
    hspec_progress_clear();
    HSPEC_TRY(status);
    HSPEC_TRY(hspec_bayes_risk(&o->experiment->task, BAYES_NODES, SEED, threads, &o->risk, &o->risk_error, err));
    hspec_optimum_minimum best;
    hspec_optimum_view(o->object, 0, &best);
    HSPEC_TRY(hspec_shares_create(o->experiment, &best.order, threads, &o->shares, err));
    if (hspec_options_given(arguments, "json")) {
        return print_json(o, err);
    }
    if (!quiet) {
        print_text(o);
    }
    return HSPEC_OK;
}

static hspec_status run_optimum(const hspec_arguments *arguments, hspec_error *err)
{
    optimum o = {0};
    hspec_status status = optimum_all(arguments, &o, err);
    hspec_shares_free(&o.shares);
    hspec_optimum_free(o.object);
    hspec_signal_free(o.signal);
    hspec_experiment_free(o.experiment);
    return status;
}

static const hspec_option optimum_options[] = {
    HSPEC_OPTION_SET,     {"starts", 0, "N", 0, "searches, 1 to 100000 (default 32)"},
    HSPEC_OPTION_THREADS, HSPEC_OPTION_JSON,
    HSPEC_OPTION_QUIET,   HSPEC_OPTION_END,
};
static const char *const optimum_arguments[] = {"EXPERIMENT.yaml", NULL};

const hspec_cli_command hspec_cmd_optimum = {
    .name = "optimum",
    .group = "Predict",
    .summary = "the best loss of an activation, and its minima",
    .usage = "EXPERIMENT.yaml [--starts N] [--set path=value]",
    .description =
        "Searches for the least population location loss that the layer of an experiment can have, over the\n"
        "alignments and residuals of its heads, and over bias and scale if they are trained. task.tokens,\n"
        "task.signal, layer and theory.nodes are used; the rest of the experiment is checked but not used.\n"
        "\n"
        "Many searches by gradient start near the support of the signal and at random. Distinct minima are\n"
        "listed, each with its loss and how many searches found it: equal up to permutation of the heads,\n"
        "signs of symmetric features, and heads without influence. Losses are taken on nodes that the search\n"
        "has not seen. Variables are bounded: a minimum at a bound may lie at infinity. Equal experiments give\n"
        "equal numbers.\n"
        "\n"
        "bound lists the variables at their bounds; residual_rate is the least rate at which the loss changes with\n"
        "a residual, below 0 at no minimum.\n"
        "missed is the loss at the target, noise the loss at the other tokens, with the share of each head.",
    .options = optimum_options,
    .arguments = optimum_arguments,
    .run = run_optimum,
};
