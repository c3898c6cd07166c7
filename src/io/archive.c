/* SPDX-License-Identifier: MIT */
#include "io/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static void attribute_clear(hspec_archive_attribute *attribute)
{
    free(attribute->name);
    free(attribute->text);
}

static void dataset_clear(hspec_archive_dataset *dataset)
{
    free(dataset->path);
    free(dataset->dimensions);
    free(dataset->unit);
    free(dataset->sentence);
    free(dataset->owned);
}

hspec_status hspec_archive_create(hspec_archive **archive, hspec_error *err)
{
    hspec_archive *made = calloc(1, sizeof *made);
    if (!made) {
        return hspec_error_memory(err, sizeof *made);
    }
    hspec_status status = hspec_archive_add_group(made, "/", err);
    if (status != HSPEC_OK) {
        hspec_archive_free(made);
        return status;
    }
    *archive = made;
    return HSPEC_OK;
}

void hspec_archive_free(hspec_archive *archive)
{
    if (!archive) {
        return;
    }
    for (size_t i = 0; i < archive->group_count; i++) {
        hspec_archive_group *group = &archive->groups[i];
        for (size_t k = 0; k < group->count; k++) {
            attribute_clear(&group->attributes[k]);
        }
        free(group->attributes);
        free(group->path);
    }
    for (size_t i = 0; i < archive->dataset_count; i++) {
        dataset_clear(&archive->datasets[i]);
    }
    free(archive->groups);
    free(archive->datasets);
    free(archive->foreign);
    free(archive);
}

/* ---- Groups and attributes ---- */

static hspec_archive_group *group_find(const hspec_archive *archive, const char *path)
{
    for (size_t i = 0; i < archive->group_count; i++) {
        if (strcmp(archive->groups[i].path, path) == 0) {
            return &archive->groups[i];
        }
    }
    return NULL;
}

const hspec_archive_group *hspec_archive_group_find(const hspec_archive *archive, const char *path)
{
    return group_find(archive, path);
}

static hspec_status add_one_group(hspec_archive *archive, const char *path, size_t length, hspec_error *err)
{
    size_t bytes = (archive->group_count + 1) * sizeof *archive->groups;
    hspec_archive_group *groups = realloc(archive->groups, bytes);
    if (!groups) {
        return hspec_error_memory(err, bytes);
    }
    archive->groups = groups;
    char *copy = malloc(length + 1);
    if (!copy) {
        return hspec_error_memory(err, length + 1);
    }
    memcpy(copy, path, length);
    copy[length] = '\0';
    groups[archive->group_count++] = (hspec_archive_group){.path = copy};
    return HSPEC_OK;
}

hspec_status hspec_archive_add_group(hspec_archive *archive, const char *path, hspec_error *err)
{
    if (archive->group_count == 0) {
        HSPEC_TRY(add_one_group(archive, "/", 1, err));
    }
    /* "/a/b": first "/a", then "/a/b". */
    for (size_t end = 1; path[end - 1] != '\0' && path[end] != '\0';) {
        end += strcspn(path + end, "/");
        char saved[256];
        if (end >= sizeof saved) {
            return hspec_error_set(err, HSPEC_EARG, "archive: group \"%.40s...\": found a path of more than %zu bytes",
                                   path, sizeof saved - 1);
        }
        memcpy(saved, path, end);
        saved[end] = '\0';
        if (!group_find(archive, saved)) {
            HSPEC_TRY(add_one_group(archive, path, end, err));
        }
        end += path[end] == '/';
    }
    return HSPEC_OK;
}

const hspec_archive_attribute *hspec_archive_attribute_find(const hspec_archive *archive, const char *group,
                                                            const char *name)
{
    const hspec_archive_group *found = group_find(archive, group);
    for (size_t i = 0; found && i < found->count; i++) {
        if (strcmp(found->attributes[i].name, name) == 0) {
            return &found->attributes[i];
        }
    }
    return NULL;
}

const char *hspec_archive_text(const hspec_archive *archive, const char *group, const char *name)
{
    const hspec_archive_attribute *attribute = hspec_archive_attribute_find(archive, group, name);
    return attribute ? attribute->text : NULL;
}

/* Takes value.text over, also on failure; value.name is copied. */
static hspec_status set_attribute(hspec_archive *archive, const char *path, hspec_archive_attribute value,
                                  hspec_error *err)
{
    const char *name = value.name;
    value.name = copy_text(name);
    hspec_status status = value.name ? HSPEC_OK : hspec_error_memory(err, strlen(name) + 1);
    if (status == HSPEC_OK) {
        status = hspec_archive_add_group(archive, path, err);
    }
    if (status != HSPEC_OK) {
        attribute_clear(&value);
        return status;
    }
    hspec_archive_group *group = group_find(archive, path);
    for (size_t i = 0; i < group->count; i++) {
        if (strcmp(group->attributes[i].name, name) == 0) {
            attribute_clear(&group->attributes[i]);
            group->attributes[i] = value;
            return HSPEC_OK;
        }
    }
    size_t bytes = (group->count + 1) * sizeof *group->attributes;
    hspec_archive_attribute *attributes = realloc(group->attributes, bytes);
    if (!attributes) {
        attribute_clear(&value);
        return hspec_error_memory(err, bytes);
    }
    attributes[group->count++] = value;
    group->attributes = attributes;
    return HSPEC_OK;
}

hspec_status hspec_archive_set_text(hspec_archive *archive, const char *group, const char *name, const char *text,
                                    hspec_error *err)
{
    char *copy = copy_text(text);
    if (!copy) {
        return hspec_error_memory(err, strlen(text) + 1);
    }
    return set_attribute(
        archive, group, (hspec_archive_attribute){.name = (char *)name, .kind = HSPEC_ARCHIVE_TEXT, .text = copy}, err);
}

hspec_status hspec_archive_set_number(hspec_archive *archive, const char *group, const char *name, double number,
                                      hspec_error *err)
{
    return set_attribute(
        archive, group, (hspec_archive_attribute){.name = (char *)name, .kind = HSPEC_ARCHIVE_NUMBER, .number = number},
        err);
}

hspec_status hspec_archive_set_integer(hspec_archive *archive, const char *group, const char *name, uint64_t integer,
                                       hspec_error *err)
{
    return set_attribute(
        archive, group,
        (hspec_archive_attribute){.name = (char *)name, .kind = HSPEC_ARCHIVE_INTEGER, .integer = integer}, err);
}

/* Is it a row of the table, right below the group? */
static int is_row_of(const hspec_archive_dataset *dataset, const char *group)
{
    size_t length = strlen(group);
    return strncmp(dataset->path, group, length) == 0 && dataset->path[length] == '/' &&
           strchr(dataset->path + length + 1, '/') == NULL && hspec_archive_table_row(dataset->path) != NULL;
}

void hspec_archive_clear(hspec_archive *archive, const char *group)
{
    hspec_archive_group *found = group_find(archive, group);
    size_t kept = 0;
    for (size_t i = 0; found && i < found->count; i++) {
        if (hspec_archive_table_note(group, found->attributes[i].name)) {
            attribute_clear(&found->attributes[i]);
        } else {
            found->attributes[kept++] = found->attributes[i];
        }
    }
    if (found) {
        found->count = kept;
    }
    kept = 0;
    for (size_t i = 0; i < archive->dataset_count; i++) {
        if (is_row_of(&archive->datasets[i], group)) {
            dataset_clear(&archive->datasets[i]);
        } else {
            archive->datasets[kept++] = archive->datasets[i];
        }
    }
    archive->dataset_count = kept;
}

#ifndef HSPEC_BUILD
#define HSPEC_BUILD "unknown compiler"
#endif

hspec_status hspec_archive_set_group_origin(hspec_archive *archive, const char *group, const char *created,
                                            const char *command, const char *config, hspec_error *err)
{
    HSPEC_TRY(hspec_archive_set_text(archive, group, "headspec_version", hspec_status_version(), err));
    HSPEC_TRY(hspec_archive_set_text(archive, group, "created", created, err));
    HSPEC_TRY(hspec_archive_set_text(archive, group, "command", command, err));
    HSPEC_TRY(hspec_archive_set_text(archive, group, "config", config, err));
    HSPEC_TRY(hspec_archive_set_text(archive, group, "build", HSPEC_BUILD, err));
    return hspec_archive_set_text(archive, group, "dispatch", hspec_cpu_name(), err);
}

hspec_status hspec_archive_set_origin(hspec_archive *archive, const char *created, const char *command,
                                      const char *config, hspec_error *err)
{
    HSPEC_TRY(hspec_archive_set_integer(archive, "/", "format", HSPEC_ARCHIVE_FORMAT, err));
    return hspec_archive_set_group_origin(archive, "/", created, command, config, err);
}

/* ---- Datasets ---- */

static hspec_archive_dataset *dataset_find(const hspec_archive *archive, const char *path)
{
    for (size_t i = 0; i < archive->dataset_count; i++) {
        if (strcmp(archive->datasets[i].path, path) == 0) {
            return &archive->datasets[i];
        }
    }
    return NULL;
}

const hspec_archive_dataset *hspec_archive_find(const hspec_archive *archive, const char *path)
{
    return dataset_find(archive, path);
}

static hspec_status count_numbers(hspec_archive_dataset *dataset, hspec_error *err)
{
    if (dataset->rank < 1 || dataset->rank > HSPEC_ARCHIVE_RANK_MAX) {
        return hspec_error_set(err, HSPEC_EARG, "%s: found %zu dimensions, allowed 1 to %d", dataset->path,
                               dataset->rank, HSPEC_ARCHIVE_RANK_MAX);
    }
    dataset->count = 1;
    for (size_t i = 0; i < dataset->rank; i++) {
        size_t length = dataset->dims[i];
        if (length == 0 || length > SIZE_MAX / 16 / dataset->count) {
            char shape[200];
            return hspec_error_set(err, HSPEC_EARG, "%s: found the shape %s, allowed lengths of at least 1 %s",
                                   dataset->path, hspec_archive_shape(dataset, shape, sizeof shape),
                                   "that fit into memory");
        }
        dataset->count *= length;
    }
    return HSPEC_OK;
}

/* The path up to its last slash; "/" for "/x". */
static hspec_status add_parent(hspec_archive *archive, const char *path, hspec_error *err)
{
    char *parent = copy_text(path);
    if (!parent) {
        return hspec_error_memory(err, strlen(path) + 1);
    }
    char *slash = strrchr(parent, '/');
    hspec_status status = HSPEC_OK;
    if (slash && slash != parent) {
        *slash = '\0';
        status = hspec_archive_add_group(archive, parent, err);
    }
    free(parent);
    return status;
}

hspec_status hspec_archive_add(hspec_archive *archive, const hspec_archive_dataset *description,
                               hspec_archive_dataset **dataset, hspec_error *err)
{
    hspec_archive_dataset made = *description;
    HSPEC_TRY(count_numbers(&made, err));
    HSPEC_TRY(add_parent(archive, description->path, err));
    made.path = copy_text(description->path);
    made.dimensions = copy_text(description->dimensions);
    made.unit = copy_text(description->unit);
    made.sentence = copy_text(description->sentence);
    made.data = made.owned = NULL;
    if (!made.path || !made.dimensions || !made.unit || !made.sentence) {
        dataset_clear(&made);
        return hspec_error_memory(err, strlen(description->sentence) + 1);
    }
    hspec_archive_dataset *old = dataset_find(archive, made.path);
    if (old) {
        dataset_clear(old);
        *old = made;
        *dataset = old;
        return HSPEC_OK;
    }
    size_t bytes = (archive->dataset_count + 1) * sizeof made;
    hspec_archive_dataset *datasets = realloc(archive->datasets, bytes);
    if (!datasets) {
        dataset_clear(&made);
        return hspec_error_memory(err, bytes);
    }
    archive->datasets = datasets;
    *dataset = &datasets[archive->dataset_count++];
    **dataset = made;
    return HSPEC_OK;
}

static hspec_status add_row(hspec_archive *archive, const char *path, const size_t *dims,
                            hspec_archive_dataset **dataset, hspec_error *err)
{
    const hspec_archive_row *row = hspec_archive_table_row(path);
    if (!row) {
        return hspec_error_set(err, HSPEC_EARG,
                               "archive: found the dataset \"%s\", allowed the rows of archive_table.c", path);
    }
    hspec_archive_dataset made = {.path = (char *)row->path,
                                  .type = row->type,
                                  .rank = row->rank,
                                  .dimensions = (char *)row->dimensions,
                                  .unit = (char *)row->unit,
                                  .sentence = (char *)row->sentence};
    memcpy(made.dims, dims, row->rank * sizeof *dims);
    return hspec_archive_add(archive, &made, dataset, err);
}

hspec_status hspec_archive_lend(hspec_archive *archive, const char *path, const size_t *dims, const void *data,
                                hspec_error *err)
{
    hspec_archive_dataset *dataset = NULL;
    hspec_status status = add_row(archive, path, dims, &dataset, err);
    if (status != HSPEC_OK || !dataset) {
        return status;
    }
    dataset->data = data;
    return HSPEC_OK;
}

hspec_status hspec_archive_make(hspec_archive *archive, const char *path, const size_t *dims, void **data,
                                hspec_error *err)
{
    hspec_archive_dataset *dataset = NULL;
    hspec_status status = add_row(archive, path, dims, &dataset, err);
    if (status != HSPEC_OK || !dataset || dataset->count == 0) {
        return status;
    }
    dataset->owned = calloc(dataset->count, 8);
    if (!dataset->owned) {
        return hspec_error_memory(err, dataset->count * 8);
    }
    dataset->data = *data = dataset->owned;
    return HSPEC_OK;
}
