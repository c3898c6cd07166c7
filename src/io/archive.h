/* SPDX-License-Identifier: MIT
 * An archive in memory: groups with attributes, and datasets that describe themselves (docs/archive.md). What may stand
 * in it is told by archive_table.h; nothing here knows what the numbers mean. */
#ifndef HSPEC_IO_ARCHIVE_H
#define HSPEC_IO_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "headspec.h"
#include "io/archive_table.h"

#define HSPEC_ARCHIVE_RANK_MAX 8

typedef struct hspec_archive_attribute {
    char *name;
    hspec_archive_kind kind;
    char *text; /**< HSPEC_ARCHIVE_TEXT, else NULL */
    double number;
    uint64_t integer;
} hspec_archive_attribute;

typedef struct hspec_archive_group {
    char *path; /**< "/", "/sgd" */
    hspec_archive_attribute *attributes;
    size_t count;
} hspec_archive_group;

typedef struct hspec_archive_dataset {
    char *path;
    hspec_archive_type type;
    size_t rank;                         /**< 1..HSPEC_ARCHIVE_RANK_MAX */
    size_t dims[HSPEC_ARCHIVE_RANK_MAX]; /**< each >= 1 */
    size_t count;                        /**< product of dims */
    char *dimensions;                    /**< "seed,time,head,feature" */
    char *unit, *sentence;
    const void *data; /**< [dims], C order; NULL when the reader was told to leave it out */
    void *owned;      /**< data when it belongs to the archive, else NULL */
} hspec_archive_dataset;

typedef struct hspec_archive {
    hspec_archive_group *groups; /**< parents before children; the first is "/" */
    size_t group_count;
    hspec_archive_dataset *datasets;
    size_t dataset_count;
    char *foreign; /**< path of the first thing in the file that is neither text nor number and was left out, or NULL */
} hspec_archive;

/** An archive with the group "/" alone. @return OK, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_archive_create(hspec_archive **archive, hspec_error *err);
void hspec_archive_free(hspec_archive *archive);

/* Attributes. Groups are made when they are named, with their parents; a value that is there is replaced.
 * Text is copied. @return OK, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_archive_set_text(hspec_archive *archive, const char *group, const char *name,
                                                   const char *text, hspec_error *err);
HSPEC_MUST_USE hspec_status hspec_archive_set_number(hspec_archive *archive, const char *group, const char *name,
                                                     double number, hspec_error *err);
HSPEC_MUST_USE hspec_status hspec_archive_set_integer(hspec_archive *archive, const char *group, const char *name,
                                                      uint64_t integer, hspec_error *err);
/** NULL if there is no such attribute. */
const hspec_archive_attribute *hspec_archive_attribute_find(const hspec_archive *archive, const char *group,
                                                            const char *name);
/** NULL if there is no such text. */
const char *hspec_archive_text(const hspec_archive *archive, const char *group, const char *name);
/** NULL if there is no such group. */
const hspec_archive_group *hspec_archive_group_find(const hspec_archive *archive, const char *path);

/** Removes from a group what archive_table.h names in it: datasets and attributes. What others have added stays, and so
 *  do groups below. Nothing happens if there is no such group. */
void hspec_archive_clear(hspec_archive *archive, const char *group);

/** Sets the attributes of "/" that every archive has. The library does not read the clock: `created` comes from the
 *  caller. @return OK, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_archive_set_origin(hspec_archive *archive, const char *created, const char *command,
                                                     const char *config, hspec_error *err);
/** The same, but for `format`, of a group that another run than that of "/" may have written. @return OK, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_archive_set_group_origin(hspec_archive *archive, const char *group,
                                                           const char *created, const char *command, const char *config,
                                                           hspec_error *err);

/* Datasets of archive_table.h. One that is there is replaced.
 * @param dims in [rank of the row], each >= 1
 * @return OK; EARG (no such row, dims); ENOMEM. */

/** The numbers stay the caller's and must outlive the archive. */
HSPEC_MUST_USE hspec_status hspec_archive_lend(hspec_archive *archive, const char *path, const size_t *dims,
                                               const void *data, hspec_error *err);
/** The archive makes room, zeroed, which the caller fills: *data points to it. */
HSPEC_MUST_USE hspec_status hspec_archive_make(hspec_archive *archive, const char *path, const size_t *dims,
                                               void **data, hspec_error *err);
/** NULL if there is no such dataset. */
const hspec_archive_dataset *hspec_archive_find(const hspec_archive *archive, const char *path);

/** For the reader: a dataset without numbers that describes itself; its group exists afterwards.
 *  *dataset is valid until the next one is added. */
HSPEC_MUST_USE hspec_status hspec_archive_add(hspec_archive *archive, const hspec_archive_dataset *description,
                                              hspec_archive_dataset **dataset, hspec_error *err);
HSPEC_MUST_USE hspec_status hspec_archive_add_group(hspec_archive *archive, const char *path, hspec_error *err);

/** Length of a dimension by its name, 0 if the dataset has none of that name. */
size_t hspec_archive_length(const hspec_archive_dataset *dataset, const char *dimension);
/** "8 x 201 x 3 x 1"; the buffer should have 200 bytes. */
const char *hspec_archive_shape(const hspec_archive_dataset *dataset, char *buffer, size_t size);

/** Are all numbers allowed by the table, and dimensions of one name equally long within each group?
 *  @return OK; ENONFINITE (a number: the message names it, what was found and what is allowed); EARG (a shape). */
HSPEC_MUST_USE hspec_status hspec_archive_check(const hspec_archive *archive, hspec_error *err);

/** The archive as the bytes of an HDF5 file, after hspec_archive_check. Equal archives give equal bytes.
 *  The caller frees *bytes. HDF5 must not be in use by another thread, here and below.
 *  @return OK; EARG (also an archive that was read in part: what is missing would be lost); ENONFINITE; ENOMEM;
 *          EEXTERNAL. */
HSPEC_MUST_USE hspec_status hspec_archive_image(const hspec_archive *archive, void **bytes, size_t *size,
                                                hspec_error *err);
/** hspec_archive_image, then hspec_atomic_write: the file is the old one or the new one, whole.
 *  @return OK; EARG; ENONFINITE; ENOMEM; EEXTERNAL; EIO. */
HSPEC_MUST_USE hspec_status hspec_archive_write(const hspec_archive *archive, const char *path, hspec_error *err);

/** Reads and checks a file.
 *  @param only  in  paths of the datasets whose numbers are wanted, ends with NULL; NULL: all. The others are described
 *                   but have no data.
 *  @return OK; EIO ("FILE: DATASET: found ..., allowed ..."); ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_archive_read(const char *path, const char *const *only, hspec_archive **archive,
                                               hspec_error *err);

#endif
