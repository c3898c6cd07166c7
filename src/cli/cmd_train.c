/* SPDX-License-Identifier: MIT
 * headspec train: online SGD from an experiment to an archive. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/train_archive.h"
#include "core/status.h"

enum { CHECKPOINT_DEFAULT = 30 }; /* seconds */

/* One run of the command. */
typedef struct train {
    const hspec_arguments *arguments;
    char *path; /* of the archive, owned */
    hspec_experiment *experiment;
    hspec_signal *signal;
    hspec_training *training;
    int threads;
    hspec_train_archive archive;
    double interval;              /* seconds between checkpoints; 0: at every record */
    double next;                  /* when the next checkpoint is due */
    int warned;                   /* a checkpoint failed, and the user knows */
    int once;                     /* the archive goes into a device or pipe: nothing before the end */
    double seconds, loss_seconds; /* spent on the steps, with checkpoints, and on the loss after them */
    hspec_progress progress;
} train;

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

/* A full disk does not end a long run: the user is told, and the next checkpoint is tried. */
static void warn_once(train *run, hspec_status status, const hspec_error *err)
{
    if (status != HSPEC_OK && !run->warned) {
        hspec_cli_warn(run->arguments, "the archive so far could not be written, the run goes on: %s", err->message);
        run->warned = 1;
    }
}

/* Writes what is recorded. */
static void write_checkpoint(train *run)
{
    double before = hspec_progress_now();
    hspec_error err;
    hspec_status status = hspec_train_archive_extend(&run->archive, NULL, 0, &err);
    if (status == HSPEC_OK || status == HSPEC_ENONFINITE) {
        status = hspec_train_archive_write(&run->archive, run->path, 0, &err);
    }
    warn_once(run, status, &err);
    /* a large archive on a slow disk shall not eat the run: a tenth of the time at most */
    double now = hspec_progress_now();
    run->next = now + (run->interval > 0 ? fmax(run->interval, 9 * (now - before)) : 0);
}

static int notify(void *user, const hspec_event *event)
{
    train *run = user;
    if (event->kind == HSPEC_EVENT_WARNING) {
        hspec_cli_warn(run->arguments, "%s", event->message);
        return 0;
    }
    hspec_progress_update(&run->progress, event->done, event->total);
    if (hspec_cli_signal()) {
        return 1;
    }
    if (event->done < event->total && !run->once && hspec_progress_now() >= run->next) {
        write_checkpoint(run);
    }
    return hspec_cli_signal() != 0;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* The message of a run that did not reach its end says what it left behind. */
static hspec_status explain(const train *run, hspec_status status, hspec_error *err)
{
    const hspec_trajectory *trajectory = &run->archive.trajectory;
    char why[sizeof err->message];
    (void)snprintf(why, sizeof why, "%s", err->message);
    if (run->archive.taken && status == HSPEC_ESTOPPED) {
        return hspec_error_set(
            err, status,
            "stopped by %s while the loss was computed; %.500s holds all %zu rows, the loss of %zu of them%s",
            hspec_cli_signal() == SIGTERM ? "SIGTERM" : "SIGINT", run->path, trajectory->done, run->archive.rows,
            ", marked incomplete");
    }
    if (status == HSPEC_ESTOPPED) {
        (void)snprintf(why, sizeof why, "stopped by %s at time %g of %g",
                       hspec_cli_signal() == SIGTERM ? "SIGTERM" : "SIGINT", trajectory->time[trajectory->done - 1],
                       trajectory->time[trajectory->rows - 1]);
    }
    return hspec_error_set(err, status, "%.1400s; %.500s holds the %zu of %zu rows before, marked incomplete", why,
                           run->path, run->archive.rows, trajectory->rows);
}

/* The mean over seeds of the loss at the last row. */
static double final_loss(const train *run)
{
    size_t seeds = run->archive.trajectory.seeds, rows = run->archive.trajectory.rows;
    double sum = 0;
    for (size_t s = 0; s < seeds; s++) {
        sum += run->archive.loss[s * rows + rows - 1];
    }
    return sum / (double)seeds;
}

static hspec_status report_json(const train *run, double rate, hspec_error *err)
{
    const hspec_trajectory *trajectory = &run->archive.trajectory;
    cJSON *object = NULL;
    HSPEC_TRY(hspec_json_object(&object, err));
    hspec_status status = hspec_json_text(object, "archive", run->path, err);
    status = status ? status : hspec_json_text(object, "name", run->experiment->name, err);
    status = status ? status : hspec_json_integer(object, "seeds", trajectory->seeds, err);
    status = status ? status : hspec_json_integer(object, "rows", trajectory->rows, err);
    status = status ? status : hspec_json_integer(object, "steps", trajectory->step[trajectory->rows - 1], err);
    status = status ? status : hspec_json_number(object, "time", trajectory->time[trajectory->rows - 1], err);
    status = status ? status : hspec_json_number(object, "final_loss", final_loss(run), err);
    status = status ? status : hspec_json_number(object, "seconds", run->seconds, err);
    status = status ? status : hspec_json_number(object, "loss_seconds", run->loss_seconds, err);
    status = status ? status : hspec_json_number(object, "seed_steps_per_second", rate, err);
    status = status ? status : hspec_json_print(object, err);
    cJSON_Delete(object);
    return status;
}

static hspec_status report(const train *run, hspec_error *err)
{
    const hspec_trajectory *trajectory = &run->archive.trajectory;
    double steps = (double)trajectory->step[trajectory->rows - 1];
    double rate = run->seconds > 0 ? steps * (double)trajectory->seeds / run->seconds : 0;
    if (hspec_options_given(run->arguments, "json")) {
        return report_json(run, rate, err);
    }
    if (!hspec_options_given(run->arguments, "quiet")) {
        char duration[32], after[32], speed[32];
        hspec_progress_format_seconds(run->seconds, duration, sizeof duration);
        hspec_progress_format_seconds(run->loss_seconds, after, sizeof after);
        hspec_progress_format_rate(rate, speed, sizeof speed);
        size_t stem = strlen(run->path);
        stem -= stem > 3 && strcmp(run->path + stem - 3, ".h5") == 0 ? 3 : 0;
        (void)printf("archive     %s\n"
                     "steps       %.0f for each of %zu seeds, %zu rows recorded\n"
                     "time        %s for the steps (%s seed-steps/s), %s for the loss\n"
                     "final loss  %.4f, mean over seeds\n"
                     "see it      headspec plot %s -o %.*s.svg\n",
                     run->path, steps, trajectory->seeds, trajectory->rows, duration, speed, after, final_loss(run),
                     run->path, (int)stem, run->path);
    }
    return HSPEC_OK;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* The loss of the last rows can take long: whoever kills the run there shall find all of them in the archive. */
static void write_rows(train *run, int diverged)
{
    hspec_error err;
    hspec_train_archive_take(&run->archive);
    if (!run->once && run->archive.rows < run->archive.trajectory.done) {
        warn_once(run, hspec_train_archive_write(&run->archive, run->path, diverged, &err), &err);
    }
}

/* Loss, archive and last words of a run whose steps ended with `status`, its message in `err`. */
static hspec_status train_end(train *run, hspec_status status, hspec_error *err)
{
    hspec_error lost;
    write_rows(run, status == HSPEC_ENONFINITE);
    double start = hspec_progress_now();
    hspec_progress_start(&run->progress, "loss", "states", (double)run->experiment->training.seeds,
                         hspec_options_given(run->arguments, "quiet"));
    int stoppable = status != HSPEC_ESTOPPED; /* a run that was stopped before still gets its losses */
    hspec_status loss = hspec_train_archive_extend(&run->archive, &run->progress, stoppable, &lost);
    run->loss_seconds = hspec_progress_now() - start;
    hspec_progress_clear();
    if (loss != HSPEC_OK && loss != HSPEC_ESTOPPED && (loss != HSPEC_ENONFINITE || run->archive.rows == 0)) {
        return hspec_error_set(err, loss, "%s", lost.message);
    }
    if (loss != HSPEC_OK && status == HSPEC_OK) {
        status = hspec_error_set(err, loss, "%s", lost.message);
    }
    hspec_status written = hspec_train_archive_write(&run->archive, run->path, status == HSPEC_ENONFINITE, &lost);
    if (written != HSPEC_OK && status == HSPEC_ENONFINITE) {
        return hspec_error_prefix(err, status, "%.1000s; also", lost.message);
    }
    if (written != HSPEC_OK) {
        return hspec_error_set(err, written, "%s", lost.message);
    }
    return status == HSPEC_OK ? report(run, err) : explain(run, status, err);
}

static hspec_status train_run(train *run, hspec_error *err)
{
    hspec_monitor monitor = {notify, run};
    int quiet = hspec_options_given(run->arguments, "quiet");
    double start = hspec_progress_now();
    run->next = start + run->interval;
    hspec_progress_start(&run->progress, "train", "seed-steps", (double)run->experiment->training.seeds, quiet);
    hspec_cli_catch_signals(quiet);
    hspec_status status = hspec_training_run(run->training, &monitor, err);
    run->seconds = hspec_progress_now() - start;
    if (status != HSPEC_OK && status != HSPEC_ESTOPPED && status != HSPEC_ENONFINITE) {
        return status;
    }
    return train_end(run, status, err);
}

/* --resume is known so that its name is not taken for a slip of the finger. */
static hspec_status train_options(train *run, hspec_error *err)
{
    if (hspec_options_given(run->arguments, "resume")) {
        return hspec_error_set(err, HSPEC_EARG,
                               "train: --resume is not supported yet; run the whole experiment again without it");
    }
    run->interval = CHECKPOINT_DEFAULT;
    HSPEC_TRY(hspec_options_number(run->arguments, "checkpoint", 0, 1e9, &run->interval, err));
    return hspec_options_threads(run->arguments, &run->threads, err);
}

static hspec_status train_path(train *run, hspec_error *err)
{
    HSPEC_TRY(hspec_output_archive(run->arguments, run->experiment, &run->path, err));
    run->once = hspec_output_once(run->path);
    return hspec_output_check(run->arguments, run->path, err);
}

static hspec_status train_all(train *run, hspec_error *err)
{
    HSPEC_TRY(train_options(run, err));
    HSPEC_TRY(hspec_load_experiment(run->arguments, &run->experiment, &run->signal, err));
    HSPEC_TRY(train_path(run, err));
    const hspec_experiment *experiment = run->experiment;
    HSPEC_TRY(hspec_training_create(&experiment->task, &experiment->layer, &experiment->training, run->threads,
                                    &run->training, err));
    HSPEC_TRY(hspec_train_archive_init(&run->archive, experiment, run->arguments->command_line, run->training,
                                       run->threads, err));
    return train_run(run, err);
}

static hspec_status run_train(const hspec_arguments *arguments, hspec_error *err)
{
    train run = {.arguments = arguments};
    hspec_status status = train_all(&run, err);
    hspec_train_archive_release(&run.archive);
    hspec_training_free(run.training);
    hspec_signal_free(run.signal);
    hspec_experiment_free(run.experiment);
    free(run.path);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static const hspec_option train_options_table[] = {
    HSPEC_OPTION_OUTPUT("OUT.h5", "the archive (default: the name of the experiment + .h5, in the current folder)"),
    HSPEC_OPTION_FORCE,
    HSPEC_OPTION_SET,
    {"checkpoint", 0, "SECONDS", 0, "write the archive so far at this interval (default 30; 0: at every record)"},
    {"resume", 0, "FILE.h5", 0, "go on from an archive; not supported yet"},
    HSPEC_OPTION_THREADS,
    HSPEC_OPTION_JSON,
    HSPEC_OPTION_QUIET,
    HSPEC_OPTION_END,
};
static const char *const train_arguments[] = {"EXPERIMENT.yaml", NULL};

const hspec_cli_command hspec_cmd_train = {
    .name = "train",
    .group = "Simulate",
    .summary = "online SGD of the layer with many seeds; writes an archive",
    .usage = "EXPERIMENT.yaml [-o OUT.h5]",
    .description =
        "Trains the layer of an experiment by online SGD, with fresh data at each step and many seeds, and writes\n"
        "an HDF5 archive: alignment, residual, bias, scale and loss of every seed at every record.\n"
        "The loss is the population location loss at the recorded order parameters, a mean over theory.nodes\n"
        "nodes of seed 1, the same for every record.\n"
        "\n"
        "An existing file is refused without --force. The archive is replaced whole: a kill leaves the last\n"
        "checkpoint, written at intervals and when the steps are done, before the loss of the last records.\n"
        "SIGINT (Ctrl-C) and SIGTERM end the run at the next record, and what is recorded is kept, marked\n"
        "incomplete; so is the part of a run before it diverged. A second SIGINT ends it at once.\n"
        "\n"
        "Exit status: 0 done; 1 it failed; 2 the command line or the experiment is wrong; 130 stopped by\n"
        "SIGINT; 143 stopped by SIGTERM.\n"
        "\n"
        "'headspec check --help' lists the keys of an experiment.",
    .options = train_options_table,
    .arguments = train_arguments,
    .run = run_train,
};
