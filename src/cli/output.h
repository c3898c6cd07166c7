/* SPDX-License-Identifier: MIT
 * The rules for files that exist already. */
#ifndef HSPEC_CLI_OUTPUT_H
#define HSPEC_CLI_OUTPUT_H

#include "cli/options.h"

/** May the command write `path`? Asked before any work is done. A file that exists is refused unless --force is given;
 *  a folder, and a file that the command reads, always. The place must be writable.
 *  @return OK; EARG (exists, folder, is read); EIO (cannot be written); ENOMEM. */
hspec_status hspec_output_check(const hspec_arguments *arguments, const char *path, hspec_error *err);

#endif
