/* SPDX-License-Identifier: MIT */
#include "cli/info.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "io/text.h"

/* Lines for people stay short; all of it is in the JSON and the CSV. */
enum { VALUE_COLUMNS = 60, SEEDS_SHOWN = 12, NUMBERS_SHOWN = 24 };

/* An experiment of a later version may have keys that this one does not know: the rest of the archive still counts. */
static hspec_status read_experiment(hspec_info *info, hspec_error *err)
{
    const char *config = hspec_archive_text(info->archive, "/", "config");
    hspec_error refused;
    hspec_status status =
        hspec_experiment_parse(config, strlen(config), info->path, NULL, 0, &info->experiment, &refused);
    if (status == HSPEC_OK) {
        return hspec_resolved_list(info->experiment, &info->values, &info->value_count, err);
    }
    if (status == HSPEC_ENOMEM) {
        return hspec_error_set(err, status, "%s", refused.message);
    }
    hspec_text text = {0};
    hspec_text_add(&text, "%s", refused.message);
    info->refusal = hspec_text_take(&text);
    return info->refusal ? HSPEC_OK : hspec_error_memory(err, strlen(refused.message));
}

hspec_status hspec_info_read(const char *path, hspec_info *info, hspec_error *err)
{
    static const char *const only[] = {"/sgd/time",    "/sgd/step",          "/sgd/alignment",
                                       "/sgd/loss",    "/theory/time",       "/theory/alignment",
                                       "/theory/loss", "/theory/loss_error", NULL};
    *info = (hspec_info){.path = path};
    HSPEC_TRY(hspec_archive_read(path, only, &info->archive, err));
    hspec_status status = HSPEC_OK;
    if (hspec_archive_sgd_present(info->archive)) {
        status = hspec_archive_sgd_get(info->archive, &info->sgd, err);
    }
    if (status == HSPEC_OK && hspec_archive_theory_present(info->archive)) {
        status = hspec_archive_theory_get(info->archive, &info->theory, err);
    }
    return status == HSPEC_OK ? read_experiment(info, err) : hspec_error_prefix(err, status, "%s", path);
}

void hspec_info_release(hspec_info *info)
{
    hspec_resolved_free(info->values, info->value_count);
    hspec_experiment_free(info->experiment);
    hspec_archive_free(info->archive);
    free(info->refusal);
    *info = (hspec_info){0};
}

static void print_origin(const hspec_info *info, FILE *out)
{
    const hspec_archive *a = info->archive;
    (void)fprintf(out, "%s\nversion  headspec %s, %s, %s\ncreated  %s\ncommand  %s\n", info->path,
                  hspec_archive_text(a, "/", "headspec_version"), hspec_archive_text(a, "/", "build"),
                  hspec_archive_text(a, "/", "dispatch"), hspec_archive_text(a, "/", "created"),
                  hspec_archive_text(a, "/", "command"));
    if (a->foreign) {
        (void)fprintf(out, "foreign  %s and perhaps more: left out here\n", a->foreign);
    }
}

static void print_experiment(const hspec_info *info, FILE *out)
{
    const hspec_experiment *e = info->experiment;
    (void)fprintf(out, "\nExperiment\n");
    if (!e) {
        (void)fprintf(out, "  this version of headspec cannot read it: %s\n", info->refusal);
        return;
    }
    for (size_t i = 0; i < info->value_count; i++) {
        const hspec_resolved_value *value = &info->values[i];
        int cut = strlen(value->text) > VALUE_COLUMNS;
        (void)fprintf(out, "  %-24s %.*s%s%s\n", value->row->path, VALUE_COLUMNS, value->text, cut ? " ..." : "",
                      value->given ? "" : "  (default)");
    }
    for (size_t i = 0; i < e->unused_count; i++) {
        (void)fprintf(out, "%s%s", i ? ", " : "  set but not used: ", e->unused[i]);
    }
    if (e->unused_count) {
        (void)fputc('\n', out);
    }
}

static void print_datasets(const hspec_info *info, FILE *out)
{
    (void)fprintf(out, "\nDatasets\n");
    for (size_t i = 0; i < info->archive->dataset_count; i++) {
        const hspec_archive_dataset *d = &info->archive->datasets[i];
        char shape[200];
        (void)fprintf(out, "  %-18s %s  %s", d->path, hspec_archive_table_type(d->type),
                      hspec_archive_shape(d, shape, sizeof shape));
        if (d->dimensions[0]) {
            (void)fprintf(out, "  (%s)  unit %s", d->dimensions, d->unit);
        }
        (void)fputc('\n', out);
        if (d->sentence[0]) {
            (void)fprintf(out, "      %s\n", d->sentence);
        }
    }
}

/* Heads stand apart by two spaces; the features of one head are in brackets when there are several. */
static void print_alignment(const double *m, size_t H, size_t F, FILE *out)
{
    for (size_t i = 0; i < H * F; i++) {
        size_t f = i % F;
        if (i >= NUMBERS_SHOWN && f == 0) {
            (void)fprintf(out, "  ...");
            return;
        }
        (void)fprintf(out, "%s%s%.4f%s", f ? ", " : "  ", F > 1 && f == 0 ? "(" : "", m[i],
                      F > 1 && f + 1 == F ? ")" : "");
    }
}

static void print_sgd(const hspec_info *info, FILE *out)
{
    const hspec_trajectory *t = &info->sgd.trajectory;
    if (t->rows == 0) {
        return;
    }
    size_t last = t->rows - 1;
    (void)fprintf(out,
                  "\nTraining: %zu of %zu rows (%s), up to t = %g, %" PRIu64 " steps\n"
                  "  seed  loss    alignment of each head%s\n",
                  t->rows, info->sgd.planned_rows, info->sgd.complete ? "complete" : "stopped before its end",
                  t->time[last], t->step[last], t->features > 1 ? " with (feature 0, 1, ...)" : "");
    for (size_t s = 0; s < t->seeds && s < SEEDS_SHOWN; s++) {
        size_t at = s * t->rows + last;
        (void)fprintf(out, "  %4zu  %.4f", s + 1, info->sgd.loss[at]);
        print_alignment(t->alignment + at * t->heads * t->features, t->heads, t->features, out);
        (void)fputc('\n', out);
    }
    if (t->seeds > SEEDS_SHOWN) {
        (void)fprintf(out, "  and %zu more seeds: --csv /sgd/alignment, --csv /sgd/loss\n",
                      t->seeds - (size_t)SEEDS_SHOWN);
    }
}

/* The keys of its own experiment that are the theory's. */
static void print_theory_keys(const hspec_archive_theory *theory, FILE *out)
{
    hspec_experiment *e = NULL;
    hspec_resolved_value *values = NULL;
    size_t count = 0;
    if (hspec_experiment_parse(theory->config, strlen(theory->config), "config", NULL, 0, &e, NULL) == HSPEC_OK &&
        hspec_resolved_list(e, &values, &count, NULL) == HSPEC_OK) {
        for (size_t i = 0; i < count; i++) {
            if (strncmp(values[i].row->path, "theory.", 7) == 0) {
                int cut = strlen(values[i].text) > VALUE_COLUMNS;
                (void)fprintf(out, "  %-24s %.*s%s\n", values[i].row->path, VALUE_COLUMNS, values[i].text,
                              cut ? " ..." : "");
            }
        }
    }
    hspec_resolved_free(values, count);
    hspec_experiment_free(e);
}

static void print_theory(const hspec_info *info, FILE *out)
{
    const hspec_archive_theory *theory = &info->theory;
    const hspec_theory_trajectory *t = &theory->trajectory;
    if (t->rows == 0) {
        return;
    }
    size_t last = t->rows - 1;
    (void)fprintf(out, "\nTheory: %zu rows, up to t = %g\n  %s\n", t->rows, t->time[last], theory->command);
    print_theory_keys(theory, out);
    (void)fprintf(out, "  loss       %.4f +- %.1e\n", t->loss[last], t->loss_error[last]);
    if (!isnan(theory->bayes_risk)) {
        (void)fprintf(out, "  Bayes risk %.4f +- %.1e\n", theory->bayes_risk, theory->bayes_risk_error);
    }
    if (!isnan(theory->optimum_loss)) {
        (void)fprintf(out, "  optimum    %.4f\n", theory->optimum_loss);
    }
    (void)fprintf(out, "  alignment of each head%s", t->features > 1 ? " with (feature 0, 1, ...)" : "");
    print_alignment(t->alignment + last * t->heads * t->features, t->heads, t->features, out);
    (void)fputc('\n', out);
}

void hspec_info_print(const hspec_info *info, FILE *out)
{
    print_origin(info, out);
    print_experiment(info, out);
    print_datasets(info, out);
    print_sgd(info, out);
    print_theory(info, out);
}
