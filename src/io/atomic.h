/* SPDX-License-Identifier: MIT
 * Files that are either the old one or the new one, whole, whatever happens in between. */
#ifndef HSPEC_IO_ATOMIC_H
#define HSPEC_IO_ATOMIC_H

#include <stddef.h>

#include "headspec.h"

/** Puts `size` bytes into the file `path`: into a temporary file ".headspec-PID-N.tmp" in the same folder, which is
 *  synced to the disk and renamed. On failure the temporary is removed and the old file is as it was.
 *
 *  - A symbolic link stays a link: the file that it points to is replaced, or made.
 *  - The permissions of a file that is replaced stay; a new file gets what the umask allows. A file that may not be
 *    written to is refused, although its folder would let it be replaced.
 *  - A device or a pipe (/dev/null, /dev/stdout) is written to as it is.
 *
 *  @param bytes in [size]
 *  @return OK; EIO (which file, which step, why); ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_atomic_write(const char *path, const void *bytes, size_t size, hspec_error *err);

/** Would a file be written there? Makes and removes the temporary file: for the start of a long run.
 *  @return as hspec_atomic_write. */
HSPEC_MUST_USE hspec_status hspec_atomic_probe(const char *path, hspec_error *err);

#endif
