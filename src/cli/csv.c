/* SPDX-License-Identifier: MIT */
#include "cli/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "io/archive.h"

enum { NAME_MAX_BYTES = 64 };

/* A dataset as rows and columns. */
typedef struct table {
    const hspec_archive_dataset *data;
    const hspec_archive_dataset *coordinates[HSPEC_ARCHIVE_RANK_MAX]; /* numbers along a dimension, or NULL */
    char names[HSPEC_ARCHIVE_RANK_MAX][NAME_MAX_BYTES];
    size_t row_dims; /* so many dimensions make rows, the rest columns */
} table;

/* ---- shape -------------------------------------------------------------------------------------------------------- */

static void name_dimensions(table *t)
{
    const char *name = t->data->dimensions;
    for (size_t i = 0; i < t->data->rank; i++) {
        size_t n = strcspn(name, ",");
        if (n > 0 && n < NAME_MAX_BYTES) {
            memcpy(t->names[i], name, n);
            t->names[i][n] = '\0';
        } else {
            (void)snprintf(t->names[i], NAME_MAX_BYTES, "dimension%zu", i);
        }
        name += n + (name[n] == ',');
    }
}

static int makes_rows(const char *name)
{
    return strcmp(name, "seed") == 0 || strcmp(name, "time") == 0;
}

/* A dataset of the same group that has the name and the length of the dimension tells the numbers along it. */
static const hspec_archive_dataset *coordinate(const hspec_archive *archive, const table *t, size_t i)
{
    const char *path = t->data->path;
    char other[400];
    (void)snprintf(other, sizeof other, "%.*s/%s", (int)(strrchr(path, '/') - path), path, t->names[i]);
    const hspec_archive_dataset *found = hspec_archive_find(archive, other);
    int fits = found && found != t->data && found->rank == 1 && found->count == t->data->dims[i];
    return fits ? found : NULL;
}

static void shape(const hspec_archive *archive, table *t)
{
    name_dimensions(t);
    while (t->row_dims < t->data->rank && makes_rows(t->names[t->row_dims])) {
        t->row_dims++;
    }
    t->row_dims = t->row_dims ? t->row_dims : 1;
    for (size_t i = 0; i < t->data->rank; i++) {
        t->coordinates[i] = i < t->row_dims ? coordinate(archive, t, i) : NULL;
    }
}

/* ---- printing ----------------------------------------------------------------------------------------------------- */

static void print_number(const hspec_archive_dataset *dataset, size_t i, FILE *out)
{
    if (dataset->type == HSPEC_ARCHIVE_UINT64) {
        (void)fprintf(out, "%" PRIu64, ((const uint64_t *)dataset->data)[i]);
    } else {
        (void)fprintf(out, "%.17g", ((const double *)dataset->data)[i]);
    }
}

/* The indices along dimensions first..last-1 of a flat index over them. */
static void split(const table *t, size_t first, size_t last, size_t flat, size_t *index)
{
    for (size_t i = last; i-- > first;) {
        index[i] = flat % t->data->dims[i];
        flat /= t->data->dims[i];
    }
}

static void print_header(const table *t, size_t columns, FILE *out)
{
    const char *base = strrchr(t->data->path, '/') + 1;
    for (size_t i = 0; i < t->row_dims; i++) {
        /* the times themselves are numbered */
        (void)fprintf(out, "%s,", strcmp(t->names[i], base) == 0 ? "row" : t->names[i]);
    }
    for (size_t c = 0; c < columns; c++) {
        size_t index[HSPEC_ARCHIVE_RANK_MAX];
        split(t, t->row_dims, t->data->rank, c, index);
        (void)fprintf(out, "%s%s", c ? "," : "", base);
        for (size_t i = t->row_dims; i < t->data->rank; i++) {
            (void)fprintf(out, "_%s%zu", t->names[i], index[i]);
        }
    }
    (void)fputc('\n', out);
}

static void print_row(const table *t, size_t row, size_t columns, FILE *out)
{
    size_t index[HSPEC_ARCHIVE_RANK_MAX];
    split(t, 0, t->row_dims, row, index);
    for (size_t i = 0; i < t->row_dims; i++) {
        if (t->coordinates[i]) {
            print_number(t->coordinates[i], index[i], out);
        } else {
            (void)fprintf(out, "%zu", index[i] + (strcmp(t->names[i], "seed") == 0));
        }
        (void)fputc(',', out);
    }
    for (size_t c = 0; c < columns; c++) {
        if (c > 0) {
            (void)fputc(',', out);
        }
        print_number(t->data, row * columns + c, out);
    }
    (void)fputc('\n', out);
}

static void print_table(const table *t, FILE *out)
{
    size_t rows = 1;
    for (size_t i = 0; i < t->row_dims; i++) {
        rows *= t->data->dims[i];
    }
    size_t columns = t->data->count / rows;
    print_header(t, columns, out);
    for (size_t r = 0; r < rows && !ferror(out); r++) {
        print_row(t, r, columns, out);
    }
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static hspec_status unknown(const hspec_archive *archive, const char *path, const char *name, hspec_error *err)
{
    hspec_text list = {0};
    for (size_t i = 0; i < archive->dataset_count; i++) {
        hspec_text_add(&list, "%s%s", i ? ", " : "", archive->datasets[i].path);
    }
    char *text = hspec_text_take(&list);
    hspec_status status = hspec_error_set(err, HSPEC_EARG, "%.500s: --csv: found '%.200s', allowed: %.1000s", path,
                                          name, text && text[0] ? text : "nothing, there are no datasets");
    free(text);
    return status;
}

/* Which datasets must be read: known once the archive is described. */
static hspec_status describe(const char *path, const char *name, table *t, hspec_archive **archive, hspec_error *err)
{
    static const char *const none[] = {NULL};
    HSPEC_TRY(hspec_archive_read(path, none, archive, err));
    char full[300];
    (void)snprintf(full, sizeof full, "%s%s", name[0] == '/' ? "" : "/", name);
    t->data = hspec_archive_find(*archive, full);
    if (!t->data) {
        return unknown(*archive, path, name, err);
    }
    shape(*archive, t);
    return HSPEC_OK;
}

static hspec_status print(const char *path, const table *described, FILE *out, hspec_error *err)
{
    const char *only[HSPEC_ARCHIVE_RANK_MAX + 2] = {described->data->path};
    size_t count = 1;
    for (size_t i = 0; i < described->data->rank; i++) {
        if (described->coordinates[i]) {
            only[count++] = described->coordinates[i]->path;
        }
    }
    hspec_archive *archive = NULL;
    HSPEC_TRY(hspec_archive_read(path, only, &archive, err));
    table t = {.data = hspec_archive_find(archive, only[0])};
    hspec_status status = HSPEC_OK;
    if (t.data && t.data->data) {
        shape(archive, &t);
        print_table(&t, out);
    } else {
        status = hspec_error_set(err, HSPEC_EIO, "%s: the file was replaced while it was read", path);
    }
    hspec_archive_free(archive);
    return status;
}

hspec_status hspec_csv_print(const char *path, const char *name, FILE *out, hspec_error *err)
{
    hspec_archive *archive = NULL;
    table described = {0};
    hspec_status status = describe(path, name, &described, &archive, err);
    if (status == HSPEC_OK) {
        status = print(path, &described, out, err);
    }
    hspec_archive_free(archive);
    return status;
}
