/* SPDX-License-Identifier: MIT
 * Where a command writes, and the rules for files that exist already. */
#include "cli/output.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/status.h"
#include "io/atomic.h"
#include "io/text.h"

/* An archive is written whole, and standard output is for words. */
static int is_stream(const char *path)
{
    static const char *const streams[] = {"-",          "/dev/stdout", "/dev/stderr",
                                          "/dev/stdin", "/dev/fd/",    "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        size_t length = strlen(streams[i]);
        if (strncmp(path, streams[i], length) == 0 && (path[length] == '\0' || streams[i][length - 1] == '/')) {
            return 1;
        }
    }
    return 0;
}

hspec_status hspec_output_archive(const hspec_arguments *arguments, const hspec_experiment *experiment, char **path,
                                  hspec_error *err)
{
    hspec_text text = {0};
    const char *given = hspec_options_text(arguments, "output", NULL);
    if (given && is_stream(given)) {
        return hspec_error_set(err, HSPEC_EARG,
                               "%s: --output: found '%.1000s', allowed: the name of a file; an archive needs a file",
                               arguments->command, given);
    }
    hspec_text_add(&text, "%s%s", given ? given : experiment->name, given ? "" : ".h5");
    char *made = hspec_text_take(&text);
    if (!made) {
        return hspec_error_set(err, HSPEC_ENOMEM, "memory: the name of the archive could not be made");
    }
    *path = made;
    return HSPEC_OK;
}

static hspec_status refuse_place(const hspec_arguments *arguments, const char *path, hspec_error *err)
{
    struct stat file, input;
    if (stat(path, &file) == 0) {
        if (S_ISDIR(file.st_mode)) {
            return hspec_error_set(err, HSPEC_EARG, "%s: --output: '%.1000s' is a folder, allowed: a file",
                                   arguments->command, path);
        }
        for (size_t i = 0; i < arguments->positional_count; i++) {
            if (stat(arguments->positional[i], &input) == 0 && input.st_dev == file.st_dev &&
                input.st_ino == file.st_ino) {
                return hspec_error_set(err, HSPEC_EARG, "%s: --output: '%.1000s' is the file that is read",
                                       arguments->command, path);
            }
        }
    }
    return HSPEC_OK;
}

hspec_status hspec_output_check_place(const hspec_arguments *arguments, const char *path, hspec_error *err)
{
    HSPEC_TRY(refuse_place(arguments, path, err));
    return hspec_atomic_probe(path, err);
}

hspec_status hspec_output_check(const hspec_arguments *arguments, const char *path, hspec_error *err)
{
    HSPEC_TRY(refuse_place(arguments, path, err));
    if (hspec_output_exists(path) && !hspec_options_given(arguments, "force")) {
        return hspec_error_set(err, HSPEC_EARG, "%s: '%.1000s' exists; give --force to replace it, or another -o FILE",
                               arguments->command, path);
    }
    return hspec_atomic_probe(path, err);
}

int hspec_output_exists(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

int hspec_output_once(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && !S_ISREG(file.st_mode);
}

void hspec_output_created(char *created, size_t size)
{
    time_t now = time(NULL);
    struct tm calendar;
    created[0] = '\0';
    if (gmtime_r(&now, &calendar)) {
        (void)strftime(created, size, "%Y-%m-%dT%H:%M:%SZ", &calendar);
    }
}
