/* SPDX-License-Identifier: MIT */
#include "cli/info.h"

#include <inttypes.h>
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
    static const char *const only[] = {"/sgd/time", "/sgd/step", "/sgd/alignment", "/sgd/loss", NULL};
    *info = (hspec_info){.path = path};
    HSPEC_TRY(hspec_archive_read(path, only, &info->archive, err));
    if (hspec_archive_sgd_present(info->archive)) {
        hspec_status status = hspec_archive_sgd_get(info->archive, &info->sgd, err);
        if (status != HSPEC_OK) {
            return hspec_error_prefix(err, status, "%s", path);
        }
    }
    return read_experiment(info, err);
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

void hspec_info_print(const hspec_info *info, FILE *out)
{
    print_origin(info, out);
    print_experiment(info, out);
    print_datasets(info, out);
    print_sgd(info, out);
}
