/* SPDX-License-Identifier: MIT
 * The archive to which a trajectory of the theory goes. */
#include "cli/theory_archive.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/resolved.h"
#include "cli/theory_start.h"
#include "core/status.h"
#include "io/text.h"

/* ---- does it fit? ------------------------------------------------------------------------------------------------ */

enum { SHOWN = 4 }; /* differences in one message */

static const char *value_of(const hspec_resolved_value *values, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(values[i].row->path, path) == 0) {
            return values[i].text;
        }
    }
    return NULL;
}

static int starts_with(const char *path, const char *start)
{
    return strncmp(path, start, strlen(start)) == 0;
}

/* Must both experiments agree in the key? What the start is made of, and the grid of a run, count. */
static int matters(const hspec_experiment *experiment, const char *path, int has_run)
{
    static const char *const grid[] = {"training.learning_rate", "training.batch", "training.time", "training.records",
                                       "training.record_spacing"};
    if (starts_with(path, "task.") || starts_with(path, "layer.")) {
        return 1;
    }
    for (size_t i = 0; has_run && i < sizeof grid / sizeof *grid; i++) {
        if (strcmp(path, grid[i]) == 0) {
            return 1;
        }
    }
    if (strcmp(path, "training.init.kind") == 0) {
        return has_run && experiment->theory.start_kind == HSPEC_START_SEED;
    }
    if (hspec_theory_start_given(experiment)) {
        return 0; /* compared as numbers */
    }
    return strcmp(path, "training.init.scale") == 0 || strcmp(path, "training.seed") == 0 ||
           strcmp(path, "training.engine") == 0 || (!has_run && strcmp(path, "theory.start.seed") == 0);
}

/* "layer.heads: found 2, allowed 3" for the first few keys that differ. @return how many do */
static size_t add_differences(const hspec_experiment *experiment, const hspec_resolved_value *ours, size_t n_ours,
                              const hspec_resolved_value *theirs, size_t n_theirs, int has_run, hspec_text *text)
{
    size_t count = 0;
    for (size_t i = 0; i < n_ours; i++) {
        const char *path = ours[i].row->path, *other = value_of(theirs, n_theirs, path);
        if (!other || !matters(experiment, path, has_run) || strcmp(ours[i].text, other) == 0) {
            continue;
        }
        if (count++ < SHOWN) {
            hspec_text_add(text, "%s%s: found %.100s, allowed %.100s", count > 1 ? "; " : "", path, ours[i].text,
                           other);
        }
    }
    if (count > SHOWN) {
        hspec_text_add(text, "; and %zu more", count - (size_t)SHOWN);
    }
    return count;
}

/* Entry (h, j) of the residual of a start. */
static double residual_at(const hspec_init_params *start, size_t H, size_t h, size_t j)
{
    return start->residual ? start->residual[h * H + j] : h == j ? start->residual_diagonal : 0;
}

static void add_difference(hspec_text *text, const char *where, const char *what, size_t i, size_t columns,
                           double found, double allowed)
{
    hspec_text_add(text, "%s.%s.%zu.%zu: found ", where, what, i / columns, i % columns);
    hspec_resolved_real(text, found);
    hspec_text_add(text, ", allowed ");
    hspec_resolved_real(text, allowed);
}

/* The first number in which two starts differ: "theory.start.alignment.1.0: found -0.4, allowed -0.5". */
static void add_first_difference(const char *where, const hspec_init_params *ours, const hspec_init_params *theirs,
                                 size_t H, size_t F, hspec_text *text)
{
    for (size_t i = 0; i < H * F && text->length == 0; i++) {
        if (ours->alignment[i] != theirs->alignment[i]) {
            add_difference(text, where, "alignment", i, F, ours->alignment[i], theirs->alignment[i]);
        }
    }
    for (size_t i = 0; i < H * H && text->length == 0; i++) {
        double found = residual_at(ours, H, i / H, i % H), allowed = residual_at(theirs, H, i / H, i % H);
        if (found != allowed) {
            add_difference(text, where, "residual", i, H, found, allowed);
        }
    }
}

/* The starts, where keys do not tell it: a given state can stand in theory.start or in training.init. */
static void compare_starts(const hspec_theory_archive *a, const hspec_experiment *theirs, hspec_text *text)
{
    const hspec_experiment *ours = a->experiment;
    const hspec_init_params *start = hspec_theory_start_given(ours), *other;
    const char *where = ours->theory.start_kind == HSPEC_START_GIVEN ? "theory.start" : "training.init";
    if (a->has_run) { /* theirs is the start of the run, whatever its theory started from */
        other = theirs->training.init.kind == HSPEC_INIT_ALIGNED ? &theirs->training.init : NULL;
    } else {
        other = hspec_theory_start_given(theirs);
    }
    if (start && other) {
        add_first_difference(where, start, other, ours->layer.heads, hspec_signal_features(ours->task.signal), text);
    } else if (start && !other) {
        hspec_text_add(text, "%s: found a given state, allowed {seed: K}, as it starts at random", where);
    } else if (!start && !a->has_run && other) {
        hspec_text_add(text, "theory.start: found a seed that starts at random, allowed the given state of its theory");
    } else if (!start && a->has_run && ours->theory.start_seed > a->run.trajectory.seeds) {
        hspec_text_add(text, "theory.start.seed: found %" PRIu64 ", allowed 1 to %zu, the runs in it",
                       ours->theory.start_seed, a->run.trajectory.seeds);
    }
}

static hspec_status refuse(const hspec_theory_archive *a, const char *why, hspec_error *err)
{
    return hspec_error_set(err, HSPEC_EARG,
                           "theory: '%.500s' exists and does not fit: %.1000s; give --force to replace all of it, or "
                           "another -o FILE",
                           a->path, why);
}

/* @return OK if it fits, EARG if not. */
static hspec_status compare(const hspec_theory_archive *a, const hspec_experiment *theirs, hspec_error *err)
{
    hspec_resolved_value *our_values = NULL, *their_values = NULL;
    size_t n_ours = 0, n_theirs = 0;
    hspec_text text = {0};
    hspec_status status = hspec_resolved_list(a->experiment, &our_values, &n_ours, err);
    status = status ? status : hspec_resolved_list(theirs, &their_values, &n_theirs, err);
    if (status == HSPEC_OK &&
        add_differences(a->experiment, our_values, n_ours, their_values, n_theirs, a->has_run, &text) == 0) {
        compare_starts(a, theirs, &text);
    }
    hspec_resolved_free(our_values, n_ours);
    hspec_resolved_free(their_values, n_theirs);
    char *why = hspec_text_take(&text);
    if (status == HSPEC_OK) {
        status = !why ? hspec_error_memory(err, 1000) : *why ? refuse(a, why, err) : HSPEC_OK;
    }
    free(why);
    return status;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* What is in the file, and does it fit? @return OK; EARG (it does not); ENOMEM. */
static hspec_status look(hspec_theory_archive *a, hspec_error *err)
{
    hspec_error why;
    hspec_status status = hspec_archive_read(a->path, NULL, &a->archive, &why);
    if (status == HSPEC_OK) {
        a->has_run = hspec_archive_sgd_present(a->archive);
        status = a->has_run ? hspec_archive_sgd_get(a->archive, &a->run, &why) : HSPEC_OK;
    }
    hspec_experiment *theirs = NULL;
    if (status == HSPEC_OK) {
        const char *config = hspec_archive_text(a->archive, "/", "config");
        status = hspec_experiment_parse(config, strlen(config), "its experiment", NULL, 0, &theirs, &why);
    }
    if (status == HSPEC_OK && a->archive->foreign) {
        status = hspec_error_set(&why, HSPEC_EARG, "%s is neither text nor float64 nor uint64, and would be lost",
                                 a->archive->foreign);
    }
    if (status == HSPEC_OK) {
        status = compare(a, theirs, err);
    } else {
        status = status == HSPEC_ENOMEM ? hspec_error_set(err, status, "%s", why.message) : refuse(a, why.message, err);
    }
    hspec_experiment_free(theirs);
    return status;
}

hspec_status hspec_theory_archive_open(const hspec_arguments *arguments, const hspec_experiment *experiment,
                                       const char *path, hspec_theory_archive *archive, hspec_error *err)
{
    *archive = (hspec_theory_archive){.arguments = arguments, .experiment = experiment, .path = path};
    HSPEC_TRY(hspec_output_check_place(arguments, path, err));
    if (hspec_output_exists(path) && stat(path, &archive->found) == 0) {
        hspec_status status = look(archive, err);
        if (status != HSPEC_EARG || !hspec_options_given(arguments, "force")) {
            archive->is_there = status == HSPEC_OK;
            return status;
        }
        hspec_theory_archive_close(archive);
        *archive = (hspec_theory_archive){.arguments = arguments, .experiment = experiment, .path = path};
    }
    return hspec_archive_create(&archive->archive, err);
}

void hspec_theory_archive_close(hspec_theory_archive *archive)
{
    hspec_archive_free(archive->archive);
    archive->archive = NULL;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A run of `train` may have written there meanwhile. */
static hspec_status check_unchanged(const hspec_theory_archive *a, hspec_error *err)
{
    struct stat now;
    if (!a->is_there ||
        (stat(a->path, &now) == 0 && now.st_ino == a->found.st_ino && now.st_size == a->found.st_size &&
         now.st_mtim.tv_sec == a->found.st_mtim.tv_sec && now.st_mtim.tv_nsec == a->found.st_mtim.tv_nsec)) {
        return HSPEC_OK;
    }
    return hspec_error_set(err, HSPEC_EIO,
                           "%s: the file was changed while the theory was integrated; nothing was written, run the "
                           "command again",
                           a->path);
}

hspec_status hspec_theory_archive_write(hspec_theory_archive *archive, const hspec_archive_theory *theory,
                                        hspec_error *err)
{
    char created[32];
    hspec_output_created(created, sizeof created);
    hspec_archive_theory stored = *theory;
    stored.created = created;
    stored.command = archive->arguments->command_line;
    stored.config = archive->experiment->yaml;
    if (!archive->has_run) { /* a run tells by itself where the archive comes from */
        HSPEC_TRY(hspec_archive_set_origin(archive->archive, created, stored.command, stored.config, err));
    }
    HSPEC_TRY(hspec_archive_theory_put(archive->archive, &stored, err));
    HSPEC_TRY(check_unchanged(archive, err));
    return hspec_archive_write(archive->archive, archive->path, err);
}
