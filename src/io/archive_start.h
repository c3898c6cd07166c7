/* SPDX-License-Identifier: MIT
 * The first bytes of an HDF5 file: is a file an archive at all, and is it whole? */
#ifndef HSPEC_IO_ARCHIVE_START_H
#define HSPEC_IO_ARCHIVE_START_H

#include <stddef.h>
#include <stdint.h>

#include "headspec.h"

/** Where the file ends, as its superblock tells (versions 2 and 3 with offsets of 8 bytes, as archives have them).
 *  @param bytes in [size], the start of the file @return 0 if this is another superblock. */
int hspec_archive_start_end(const unsigned char *bytes, size_t size, uint64_t *end);

/** Looks at the start of a file, where most mistakes can be named better than HDF5 does. @return OK, EIO. */
hspec_status hspec_archive_start_look(const char *path, size_t *file_size, hspec_error *err);

#endif
