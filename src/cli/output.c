/* SPDX-License-Identifier: MIT
 * The rules for files that exist already. */
#include "cli/output.h"

#include <sys/stat.h>

#include "core/status.h"
#include "io/atomic.h"

hspec_status hspec_output_check(const hspec_arguments *arguments, const char *path, hspec_error *err)
{
    struct stat file;
    if (stat(path, &file) == 0) {
        if (S_ISDIR(file.st_mode)) {
            return hspec_error_set(err, HSPEC_EARG, "%s: --output: '%.1000s' is a folder, allowed: a file",
                                   arguments->command, path);
        }
        struct stat input;
        for (size_t i = 0; i < arguments->positional_count; i++) {
            if (stat(arguments->positional[i], &input) == 0 && input.st_dev == file.st_dev &&
                input.st_ino == file.st_ino) {
                return hspec_error_set(err, HSPEC_EARG, "%s: --output: '%.1000s' is the file that is read",
                                       arguments->command, path);
            }
        }
        /* devices and pipes are written to as they are: nothing is lost */
        if (S_ISREG(file.st_mode) && !hspec_options_given(arguments, "force")) {
            return hspec_error_set(err, HSPEC_EARG,
                                   "%s: '%.1000s' exists; give --force to replace it, or another -o FILE",
                                   arguments->command, path);
        }
    }
    return hspec_atomic_probe(path, err);
}
