/* SPDX-License-Identifier: MIT
 * What an archive must satisfy, whether it is about to be written or was just read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "io/archive.h"

size_t hspec_archive_length(const hspec_archive_dataset *dataset, const char *dimension)
{
    const char *name = dataset->dimensions;
    for (size_t i = 0; i < dataset->rank; i++) {
        size_t n = strcspn(name, ",");
        if (n == strlen(dimension) && strncmp(name, dimension, n) == 0) {
            return dataset->dims[i];
        }
        name += n + (name[n] == ',');
    }
    return 0;
}

const char *hspec_archive_shape(const hspec_archive_dataset *dataset, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < dataset->rank && used < size; i++) {
        int n = snprintf(buffer + used, size - used, "%s%zu", i ? " x " : "", dataset->dims[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return buffer;
}

/* "/sgd/loss[0,17]" for a flat index. */
static void name_number(const hspec_archive_dataset *dataset, size_t flat, char *buffer, size_t size)
{
    size_t index[HSPEC_ARCHIVE_RANK_MAX];
    for (size_t i = dataset->rank; i-- > 0;) {
        index[i] = flat % dataset->dims[i];
        flat /= dataset->dims[i];
    }
    size_t used = 0;
    for (size_t i = 0; i < dataset->rank && used < size; i++) {
        int n = snprintf(buffer + used, size - used, "%s%zu", i ? "," : "[", index[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    if (used < size) {
        (void)snprintf(buffer + used, size - used, "]");
    }
}

static double value_at(const hspec_archive_dataset *dataset, size_t i)
{
    return dataset->type == HSPEC_ARCHIVE_DOUBLE ? ((const double *)dataset->data)[i]
                                                 : (double)((const uint64_t *)dataset->data)[i];
}

static int grows(const hspec_archive_dataset *dataset, size_t i)
{
    return dataset->type == HSPEC_ARCHIVE_DOUBLE
               ? ((const double *)dataset->data)[i] > ((const double *)dataset->data)[i - 1]
               : ((const uint64_t *)dataset->data)[i] > ((const uint64_t *)dataset->data)[i - 1];
}

static hspec_status check_numbers(const hspec_archive_dataset *dataset, hspec_archive_range range, hspec_error *err)
{
    for (size_t i = 0; i < dataset->count; i++) {
        double value = value_at(dataset, i);
        int unknown = range == HSPEC_ARCHIVE_NOT_NEGATIVE_OR_NAN && isnan(value);
        int wrong = (!isfinite(value) && !unknown) || (range != HSPEC_ARCHIVE_FINITE && value < 0) ||
                    (range == HSPEC_ARCHIVE_INCREASING && i > 0 && !grows(dataset, i));
        if (wrong) {
            char index[200];
            name_number(dataset, i, index, sizeof index);
            return hspec_error_set(err, HSPEC_ENONFINITE, "%s%s: found %.17g, allowed numbers that are %s",
                                   dataset->path, index, value, hspec_archive_table_range(range));
        }
    }
    return HSPEC_OK;
}

static hspec_status check_row(const hspec_archive_dataset *dataset, const hspec_archive_row *row, hspec_error *err)
{
    if (dataset->type != row->type) {
        return hspec_error_set(err, HSPEC_EARG, "%s: found %s numbers, allowed %s", dataset->path,
                               hspec_archive_table_type(dataset->type), hspec_archive_table_type(row->type));
    }
    if (dataset->rank != row->rank) {
        char shape[200];
        return hspec_error_set(err, HSPEC_EARG, "%s: found the shape %s, allowed %zu dimensions (%s)", dataset->path,
                               hspec_archive_shape(dataset, shape, sizeof shape), row->rank, row->dimensions);
    }
    if (strcmp(dataset->dimensions, row->dimensions) != 0) {
        return hspec_error_set(err, HSPEC_EARG, "%s: found the dimensions \"%s\", allowed \"%s\"", dataset->path,
                               dataset->dimensions, row->dimensions);
    }
    return dataset->data ? check_numbers(dataset, row->range, err) : HSPEC_OK;
}

static int same_group(const char *a, const char *b)
{
    size_t n = (size_t)(strrchr(a, '/') - a);
    return n == (size_t)(strrchr(b, '/') - b) && strncmp(a, b, n) == 0;
}

/* Two datasets of one group agree on the length of each dimension that both have. */
static hspec_status check_lengths(const hspec_archive_dataset *a, const hspec_archive_dataset *b, hspec_error *err)
{
    const char *name = a->dimensions;
    for (size_t i = 0; i < a->rank && *name; i++) {
        char dimension[64];
        size_t n = strcspn(name, ",");
        (void)snprintf(dimension, sizeof dimension, "%.*s", (int)(n < sizeof dimension ? n : sizeof dimension - 1),
                       name);
        size_t length = hspec_archive_length(b, dimension);
        if (length > 0 && length != a->dims[i]) {
            return hspec_error_set(err, HSPEC_EARG, "%s: found %zu along \"%s\", allowed %zu, as in %s", b->path,
                                   length, dimension, a->dims[i], a->path);
        }
        name += n + (name[n] == ',');
    }
    return HSPEC_OK;
}

hspec_status hspec_archive_check(const hspec_archive *archive, hspec_error *err)
{
    for (size_t i = 0; i < archive->dataset_count; i++) {
        const hspec_archive_dataset *dataset = &archive->datasets[i];
        const hspec_archive_row *row = hspec_archive_table_row(dataset->path);
        if (!row) {
            continue; /* someone's own dataset: it is kept as it is */
        }
        HSPEC_TRY(check_row(dataset, row, err));
        for (size_t k = 0; k < i; k++) {
            const hspec_archive_dataset *other = &archive->datasets[k];
            if (hspec_archive_table_row(other->path) && same_group(other->path, dataset->path)) {
                HSPEC_TRY(check_lengths(other, dataset, err));
            }
        }
    }
    return HSPEC_OK;
}
