/* SPDX-License-Identifier: MIT
 * The parts of hspec_archive_read: start of the file, attributes, datasets. */
#ifndef HSPEC_IO_ARCHIVE_READER_H
#define HSPEC_IO_ARCHIVE_READER_H

#include "io/archive.h"
#include "io/archive_hdf5.h"

/** Longest path that is read. */
#define HSPEC_ARCHIVE_PATH_MAX 200

typedef struct hspec_archive_reader {
    hspec_archive *archive;
    const char *const *only; /**< datasets whose numbers are wanted; NULL: all */
    size_t file_size;
    size_t objects;   /**< groups and datasets so far */
    hspec_error *err; /**< never NULL */
} hspec_archive_reader;

/** All attributes of a group. @return OK, EIO, ENOMEM. */
hspec_status hspec_archive_attributes_read(hspec_archive_reader *in, hid_t group, const char *path);
/** A text that describes a dataset; "" if it is not there. The caller frees it. @return OK, EIO, ENOMEM. */
hspec_status hspec_archive_attributes_text(const hspec_archive_reader *in, hid_t dataset, const char *path,
                                           const char *name, char **text);
/** One dataset, with its numbers if they are wanted. @return OK, EIO, ENOMEM. */
hspec_status hspec_archive_dataset_read(hspec_archive_reader *in, hid_t id, const char *path);
/** Remembers the first thing that an archive cannot hold: an object, or one of its attributes (name; NULL: none).
 *  @return OK, ENOMEM. */
hspec_status hspec_archive_read_leave_out(hspec_archive_reader *in, const char *path, const char *name);
/** EIO with "path: what" and the reason of HDF5. */
hspec_status hspec_archive_read_fail(const hspec_archive_reader *in, const char *path, const char *what);

#endif
