/* SPDX-License-Identifier: MIT
 * One table of options per command drives the parser, --help and the shell completion. */
#ifndef HSPEC_CLI_OPTIONS_H
#define HSPEC_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "headspec.h"

typedef struct hspec_option {
    const char *name;     /**< long name without the dashes */
    char letter;          /**< short name, or 0 */
    const char *argument; /**< "OUT.h5", "N"; NULL: a flag. "a|b|c" means one of these, checked by the parser */
    int repeatable;       /**< may be given more than once */
    const char *sentence; /**< lower case, no full stop */
} hspec_option;

/* Rows that many commands share. A command lists those that it obeys, and no other: an option is never ignored. */
#define HSPEC_OPTION_SET                                                                                               \
    {                                                                                                                  \
        "set", 0, "path=value", 1, "change one value of the experiment, as if the file said so (YAML)"                 \
    }
#define HSPEC_OPTION_JSON                                                                                              \
    {                                                                                                                  \
        "json", 0, NULL, 0, "print one JSON object on standard output, and nothing else there"                         \
    }
#define HSPEC_OPTION_THREADS                                                                                           \
    {                                                                                                                  \
        "threads", 0, "N", 0, "threads to use; the result does not depend on it (default: all)"                        \
    }
#define HSPEC_OPTION_QUIET                                                                                             \
    {                                                                                                                  \
        "quiet", 0, NULL, 0, "print nothing but errors"                                                                \
    }
#define HSPEC_OPTION_OUTPUT(argument, sentence)                                                                        \
    {                                                                                                                  \
        "output", 'o', argument, 0, sentence                                                                           \
    }
#define HSPEC_OPTION_FORCE                                                                                             \
    {                                                                                                                  \
        "force", 0, NULL, 0, "replace the output file if it exists"                                                    \
    }
/* Every command understands these two, also without listing them. */
#define HSPEC_OPTION_HELP                                                                                              \
    {                                                                                                                  \
        "help", 'h', NULL, 0, "print this help"                                                                        \
    }
#define HSPEC_OPTION_VERSION                                                                                           \
    {                                                                                                                  \
        "version", 0, NULL, 0, "print the version"                                                                     \
    }
#define HSPEC_OPTION_END                                                                                               \
    {                                                                                                                  \
        NULL, 0, NULL, 0, NULL                                                                                         \
    }

/** A parsed command line. Texts belong to argv. */
typedef struct hspec_arguments {
    const char *command;      /**< name of the command */
    const char *command_line; /**< the whole line, quoted for a shell: for the archive */
    const char *const *positional;
    size_t positional_count;
    const struct hspec_option_given *given; /**< internal */
    size_t given_count;
} hspec_arguments;

/** Was --name given? */
int hspec_options_given(const hspec_arguments *arguments, const char *name);
/** The value of --name, or `fallback`. */
const char *hspec_options_text(const hspec_arguments *arguments, const char *name, const char *fallback);
/** All values of a repeatable option, in order; the caller frees the array (not the texts). @return OK, ENOMEM. */
hspec_status hspec_options_list(const hspec_arguments *arguments, const char *name, const char ***values, size_t *count,
                                hspec_error *err);
/** A finite number in [low, high], the whole token; *value keeps its content when the option is absent. @return OK,
 *  EARG ("--level: found ..., allowed ..."). */
hspec_status hspec_options_number(const hspec_arguments *arguments, const char *name, double low, double high,
                                  double *value, hspec_error *err);
/** The same for whole numbers (1e6 is one; 010 and 10abc are not). */
hspec_status hspec_options_integer(const hspec_arguments *arguments, const char *name, uint64_t low, uint64_t high,
                                   uint64_t *value, hspec_error *err);
/** --threads: 0 when absent. */
hspec_status hspec_options_threads(const hspec_arguments *arguments, int *threads, hspec_error *err);

/* ---- for main.c, help.c and completion.c ---- */

struct hspec_cli_command;

/** Parses argv[2..]; `*help` and `*version` tell whether those were asked for (then nothing else is checked).
 *  @return OK; EARG; ENOMEM. Free with hspec_options_free. */
hspec_status hspec_options_parse(const struct hspec_cli_command *command, int argc, char **argv,
                                 hspec_arguments *arguments, int *help, int *version, hspec_error *err);
void hspec_options_free(hspec_arguments *arguments);
/** The one of `count` names that begins with `found`, or else the nearest if it is near enough to be meant, or NULL. */
const char *hspec_options_nearest(const char *found, const char *const *names, size_t count);

#endif
