/* SPDX-License-Identifier: MIT
 * What can stand in an archive, one row each: the table drives the writer, the reader, `info` and docs/archive.md. */
#ifndef HSPEC_IO_ARCHIVE_TABLE_H
#define HSPEC_IO_ARCHIVE_TABLE_H

#include <stddef.h>

#include "io/text.h"

/** The layout of the archives that this library writes. A reader refuses a greater number. */
#define HSPEC_ARCHIVE_FORMAT 1

/** Type of the numbers in a dataset. Files are little-endian on every machine. */
typedef enum hspec_archive_type {
    HSPEC_ARCHIVE_DOUBLE, /**< IEEE float64 */
    HSPEC_ARCHIVE_UINT64
} hspec_archive_type;

typedef enum hspec_archive_kind {
    HSPEC_ARCHIVE_TEXT,   /**< UTF-8 of any length */
    HSPEC_ARCHIVE_NUMBER, /**< float64 */
    HSPEC_ARCHIVE_INTEGER /**< uint64 */
} hspec_archive_kind;

/** Which numbers are allowed. Infinity never is, NaN only where it is named. */
typedef enum hspec_archive_range {
    HSPEC_ARCHIVE_FINITE,
    HSPEC_ARCHIVE_NOT_NEGATIVE,
    HSPEC_ARCHIVE_NOT_NEGATIVE_OR_NAN, /**< NaN: not computed yet */
    HSPEC_ARCHIVE_INCREASING           /**< >= 0, and each number greater than the one before */
} hspec_archive_range;

/** One dataset. */
typedef struct hspec_archive_row {
    const char *path;
    hspec_archive_type type;
    size_t rank;
    const char *dimensions; /**< names with commas; the same name has the same length everywhere in a group */
    const char *unit;       /**< "1": a pure number */
    hspec_archive_range range;
    const char *sentence;
} hspec_archive_row;

/** One attribute of a group. */
typedef struct hspec_archive_note {
    const char *group, *name;
    hspec_archive_kind kind;
    const char *sentence;
} hspec_archive_note;

/** All rows, in the order in which they are written. */
extern const hspec_archive_row hspec_archive_rows[];
extern const size_t hspec_archive_rows_count;
extern const hspec_archive_note hspec_archive_notes[];
extern const size_t hspec_archive_notes_count;

/** NULL if the table has no such row. */
const hspec_archive_row *hspec_archive_table_row(const char *path);
const hspec_archive_note *hspec_archive_table_note(const char *group, const char *name);

/** "float64", "uint64". */
const char *hspec_archive_table_type(hspec_archive_type type);
/** "finite", ">= 0", ">= 0, increasing". */
const char *hspec_archive_table_range(hspec_archive_range range);

/** Adds the generated part of docs/archive.md. */
void hspec_archive_table_markdown(hspec_text *text);

#endif
