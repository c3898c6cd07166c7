/* SPDX-License-Identifier: MIT
 * Where a command writes, and the rules for files that exist already. */
#ifndef HSPEC_CLI_OUTPUT_H
#define HSPEC_CLI_OUTPUT_H

#include "cli/options.h"

/** The archive that a command writes: --output, or the name of the experiment + ".h5" in the current folder.
 *  @param path out, owned by the caller @return OK; EARG (a stream: an archive needs a file); ENOMEM. */
hspec_status hspec_output_archive(const hspec_arguments *arguments, const hspec_experiment *experiment, char **path,
                                  hspec_error *err);

/** May the command write to `path`, whether or not there is a file? A folder, and a file that the command reads, are
 *  refused. The place must be writable. @return OK; EARG (folder, is read); EIO (cannot be written); ENOMEM. */
hspec_status hspec_output_check_place(const hspec_arguments *arguments, const char *path, hspec_error *err);

/** The same, and a file that exists is refused unless --force is given. Asked before any work is done.
 *  @return OK; EARG (exists, folder, is read); EIO (cannot be written); ENOMEM. */
hspec_status hspec_output_check(const hspec_arguments *arguments, const char *path, hspec_error *err);

/** Is there a file, no device or pipe? */
int hspec_output_exists(const char *path);
/** Is there something that is no file? Devices and pipes are written to once, as they are. */
int hspec_output_once(const char *path);

/** The time now as archives tell it: ISO 8601, UTC; "" if it is not known. */
void hspec_output_created(char *created, size_t size);

#endif
