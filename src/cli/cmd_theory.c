/* SPDX-License-Identifier: MIT
 * headspec theory: the order parameters as D grows, from an experiment to an archive. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/shares.h"
#include "cli/theory_archive.h"
#include "cli/theory_start.h"
#include "core/status.h"

/* The Bayes risk is taken on theory.nodes points, as far as it can be, of the seed that `bayes` uses. */
#define BAYES_SEED 1
#define BAYES_NODES_MAX (1 << 24)

/* One run of the command. */
typedef struct theory {
    const hspec_arguments *arguments;
    char *path; /* of the archive, owned */
    hspec_experiment *experiment;
    hspec_signal *signal;
    int threads;
    hspec_theory_archive archive;
    hspec_theory_start start;
    hspec_theory *object;
    hspec_archive_theory result; /* its trajectory belongs to `object` */
    double seconds;
    hspec_progress progress;
    hspec_shares shares; /* of the last row */
} theory;

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

static int notify(void *user, const hspec_event *event)
{
    theory *run = user;
    if (event->kind == HSPEC_EVENT_WARNING) {
        hspec_cli_warn(run->arguments, "%s", event->message);
        return 0;
    }
    hspec_progress_update(&run->progress, event->done, event->total);
    return hspec_cli_signal() != 0;
}

/* A trajectory is quickly made again: one that did not reach its end is not kept. */
static hspec_status explain(const theory *run, hspec_status status, hspec_error *err)
{
    const hspec_theory_trajectory *t = &run->result.trajectory;
    char why[sizeof err->message];
    (void)snprintf(why, sizeof why, "%s", err->message);
    if (status == HSPEC_ESTOPPED) {
        (void)snprintf(why, sizeof why, "stopped by %s at time %g of %g",
                       hspec_cli_signal() == SIGTERM ? "SIGTERM" : "SIGINT", t->time[t->done - 1],
                       t->time[t->rows - 1]);
    }
    return hspec_error_set(err, status, "%.1500s; nothing was written", why);
}

/* The best loss of the activation, as `optimum` finds it. */
static hspec_status add_optimum(theory *run, hspec_error *err)
{
    const hspec_experiment *e = run->experiment;
    const hspec_monitor monitor = {notify, run};
    hspec_optimum *optimum = NULL;
    hspec_optimum_minimum best;
    hspec_optimum_params params = hspec_optimum_default();
    params.nodes = e->theory.nodes < params.nodes ? e->theory.nodes : params.nodes; /* a trajectory needs more */
    hspec_progress_start(&run->progress, "optimum", "starts", 1, hspec_options_given(run->arguments, "quiet"));
    const hspec_status status =
        hspec_optimum_create(&e->task, &e->layer, &params, run->threads, &monitor, &optimum, err);
    hspec_progress_clear();
    if (status != HSPEC_OK) {
        return explain(run, status, err);
    }
    hspec_optimum_view(optimum, 0, &best);
    run->result.optimum_loss = best.loss;
    hspec_optimum_free(optimum);
    return HSPEC_OK;
}

static hspec_status take_shares(theory *run, hspec_error *err)
{
    const hspec_theory_trajectory *t = &run->result.trajectory;
    const size_t row = t->rows - 1, H = t->heads;
    const hspec_order last = {t->alignment + row * H * t->features, t->residual + row * H * H, t->bias + row * H,
                              t->scale[row]};
    return hspec_shares_create(run->experiment, &last, run->threads, &run->shares, err);
}

static hspec_status integrate(theory *run, hspec_error *err)
{
    const hspec_experiment *e = run->experiment;
    const hspec_monitor monitor = {notify, run};
    int quiet = hspec_options_given(run->arguments, "quiet");
    double begin = hspec_progress_now();
    HSPEC_TRY(hspec_theory_create(&e->task, &e->layer, &e->training, &e->theory, &run->start.order, run->threads,
                                  &run->object, err));
    hspec_progress_start(&run->progress, "theory", "rows", 1, quiet);
    hspec_cli_catch_signals(quiet);
    hspec_status status = hspec_theory_run(run->object, &monitor, err);
    hspec_progress_clear();
    hspec_theory_view(run->object, &run->result.trajectory);
    if (status == HSPEC_OK && hspec_cli_signal()) {
        status = HSPEC_ESTOPPED; /* behind the last row, while the loss was taken */
    }
    if (status != HSPEC_OK) {
        return explain(run, status, err);
    }
    size_t nodes = e->theory.nodes < BAYES_NODES_MAX ? e->theory.nodes : BAYES_NODES_MAX;
    HSPEC_TRY(hspec_bayes_risk(&e->task, nodes, BAYES_SEED, run->threads, &run->result.bayes_risk,
                               &run->result.bayes_risk_error, err));
    if (hspec_options_given(run->arguments, "optimum")) {
        HSPEC_TRY(add_optimum(run, err));
    }
    run->seconds = hspec_progress_now() - begin;
    return take_shares(run, err);
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static hspec_status report_json(const theory *run, hspec_error *err)
{
    const hspec_theory_trajectory *t = &run->result.trajectory;
    cJSON *object = NULL;
    HSPEC_TRY(hspec_json_object(&object, err));
    hspec_status status = hspec_json_text(object, "archive", run->path, err);
    status = status ? status : hspec_json_text(object, "name", run->experiment->name, err);
    status = status ? status : hspec_json_flag(object, "beside_sgd", run->archive.has_run, err);
    status = status ? status : hspec_json_integer(object, "rows", t->rows, err);
    status = status ? status : hspec_json_number(object, "time", t->time[t->rows - 1], err);
    status = status ? status : hspec_json_number(object, "final_loss", t->loss[t->rows - 1], err);
    status = status ? status : hspec_json_number(object, "final_loss_error", t->loss_error[t->rows - 1], err);
    status = status ? status : hspec_shares_json(&run->shares, object, err);
    status = status ? status : hspec_json_number(object, "bayes_risk", run->result.bayes_risk, err);
    status = status ? status : hspec_json_number(object, "bayes_risk_error", run->result.bayes_risk_error, err);
    if (!isnan(run->result.optimum_loss)) {
        status = status ? status : hspec_json_number(object, "optimum_loss", run->result.optimum_loss, err);
    }
    status = status ? status : hspec_json_number(object, "seconds", run->seconds, err);
    status = status ? status : hspec_json_print(object, err);
    cJSON_Delete(object);
    return status;
}

static void print_start(const theory *run)
{
    const hspec_experiment *e = run->experiment;
    if (e->theory.start_kind == HSPEC_START_GIVEN) {
        (void)printf("start       theory.start, as given\n");
    } else if (hspec_theory_start_given(e)) {
        (void)printf("start       training.init, as given\n");
    } else {
        (void)printf("start       seed %" PRIu64 " at t = 0, %s\n", e->theory.start_seed,
                     run->archive.has_run ? "as recorded in /sgd" : "as train would draw it");
    }
}

static hspec_status report(const theory *run, hspec_error *err)
{
    const hspec_theory_trajectory *t = &run->result.trajectory;
    if (hspec_options_given(run->arguments, "json")) {
        return report_json(run, err);
    }
    if (!hspec_options_given(run->arguments, "quiet")) {
        char duration[32];
        size_t stem = strlen(run->path);
        stem -= stem > 3 && strcmp(run->path + stem - 3, ".h5") == 0 ? 3 : 0;
        hspec_progress_format_seconds(run->seconds, duration, sizeof duration);
        (void)printf("archive     %s%s\n", run->path, run->archive.has_run ? ", /theory beside /sgd" : "");
        print_start(run);
        (void)printf("rows        %zu, up to t = %g\n"
                     "time        %s\n"
                     "final loss  %.4f +- %.1e\n"
                     "Bayes risk  %.4f +- %.1e\n",
                     t->rows, t->time[t->rows - 1], duration, t->loss[t->rows - 1], t->loss_error[t->rows - 1],
                     run->result.bayes_risk, run->result.bayes_risk_error);
        if (!isnan(run->result.optimum_loss)) {
            (void)printf("optimum     %.4f\n", run->result.optimum_loss);
        }
        (void)printf("see it      headspec plot %s -o %.*s.svg\n", run->path, (int)stem, run->path);
    }
    return HSPEC_OK;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static hspec_status theory_all(theory *run, hspec_error *err)
{
    HSPEC_TRY(hspec_options_threads(run->arguments, &run->threads, err));
    HSPEC_TRY(hspec_load_experiment(run->arguments, &run->experiment, &run->signal, err));
    HSPEC_TRY(hspec_output_archive(run->arguments, run->experiment, &run->path, err));
    HSPEC_TRY(hspec_theory_archive_open(run->arguments, run->experiment, run->path, &run->archive, err));
    HSPEC_TRY(hspec_theory_start_make(run->experiment, run->archive.has_run ? &run->archive.run.trajectory : NULL,
                                      run->threads, &run->start, err));
    HSPEC_TRY(integrate(run, err));
    HSPEC_TRY(hspec_theory_archive_write(&run->archive, &run->result, err));
    return report(run, err);
}

static hspec_status run_theory(const hspec_arguments *arguments, hspec_error *err)
{
    theory run = {.arguments = arguments, .result = {.bayes_risk = NAN, .bayes_risk_error = NAN, .optimum_loss = NAN}};
    hspec_status status = theory_all(&run, err);
    hspec_theory_archive_close(&run.archive);
    hspec_shares_free(&run.shares);
    hspec_theory_free(run.object);
    hspec_theory_start_free(&run.start);
    hspec_signal_free(run.signal);
    hspec_experiment_free(run.experiment);
    free(run.path);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static const hspec_option theory_options[] = {
    HSPEC_OPTION_OUTPUT("OUT.h5", "the archive (default: the name of the experiment + .h5, in the current folder)"),
    {"force", 0, NULL, 0, "replace an archive that does not fit, and all that is in it"},
    {"optimum", 0, NULL, 0, "add the best loss of the activation, as the command optimum finds it"},
    HSPEC_OPTION_SET,
    HSPEC_OPTION_THREADS,
    HSPEC_OPTION_JSON,
    HSPEC_OPTION_QUIET,
    HSPEC_OPTION_END,
};
static const char *const theory_arguments[] = {"EXPERIMENT.yaml", NULL};

const hspec_cli_command hspec_cmd_theory = {
    .name = "theory",
    .group = "Predict",
    .summary = "the trajectory of the order parameters as D grows; writes an archive",
    .usage = "EXPERIMENT.yaml [-o OUT.h5]",
    .description =
        "Integrates the equations of motion of alignment, residual, bias and scale in the limit of large D, from\n"
        "theory.start, and writes them with their loss, at the records of the experiment, into the group /theory\n"
        "of an archive. The Bayes risk of the task stands beside them, and with --optimum the best loss that the\n"
        "activation could have; `plot` draws both.\n"
        "\n"
        "An archive that is there is kept, and /theory is added to it or replaced, if it has the same task, layer\n"
        "and start. With a run of `train` in it, the learning rate, the batch and the records must agree, too:\n"
        "`plot` then draws the theory as lines and the run as points. Any other file is refused without --force.\n"
        "\n"
        "theory.start {seed: K} is the state of run K at t = 0: the recorded one, or the same drawn anew.\n"
        "theory.limit sgd keeps the noise of SGD, flow leaves it out. The file is replaced whole, at the end:\n"
        "when the command fails or is stopped (SIGINT, SIGTERM) nothing is written.\n"
        "\n"
        "Exit status: 0 done; 1 it failed; 2 the command line or the experiment is wrong, or the archive does\n"
        "not fit; 130 stopped by SIGINT; 143 stopped by SIGTERM.\n"
        "\n"
        "'headspec check --help' lists the keys of an experiment.",
    .options = theory_options,
    .arguments = theory_arguments,
    .run = run_theory,
};
