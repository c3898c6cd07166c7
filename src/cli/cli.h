/* SPDX-License-Identifier: MIT
 * What every command of the program shares: the command struct, its table, and output. One command is one file
 * cmd_X.c that defines `const hspec_cli_command hspec_cmd_X`, and one row in main.c. */
#ifndef HSPEC_CLI_CLI_H
#define HSPEC_CLI_CLI_H

#include "cli/json.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "headspec.h"
#include "io/text.h"

/** One command. All texts are English without a trailing newline. */
typedef struct hspec_cli_command {
    const char *name;        /**< "train" */
    const char *group;       /**< heading in `headspec --help`; rows of one group stand together */
    const char *summary;     /**< one line in `headspec --help` */
    const char *usage;       /**< what follows the name: "EXPERIMENT.yaml [-o OUT.h5]" */
    const char *description; /**< paragraphs of `headspec COMMAND --help`, lines of at most 100 columns */
    /** Adds to --help what a table of another floor tells; NULL: nothing. Look at text->failed. */
    void (*more)(hspec_text *text);
    const hspec_option *options;  /**< ends with HSPEC_OPTION_END; --help and --version are always understood */
    const char *const *arguments; /**< names of the positional arguments, ends with NULL: {"EXPERIMENT.yaml", NULL} */
    size_t arguments_max;         /**< 0: exactly the named ones; else up to so many, the last name repeating */
    /** Does the work. Results go to standard output with printf or hspec_json_print; main flushes and checks it.
     *  On failure fill `err` and return its status: main prints the message and picks the exit status
     *  (EARG, ECONFIG: 2; ESTOPPED by a signal: 128 + signal; anything else: 1). */
    hspec_status (*run)(const hspec_arguments *arguments, hspec_error *err);
} hspec_cli_command;

extern const hspec_cli_command hspec_cmd_new, hspec_cmd_check, hspec_cmd_train, hspec_cmd_theory, hspec_cmd_bayes,
    hspec_cmd_optimum, hspec_cmd_stability, hspec_cmd_info, hspec_cmd_phases, hspec_cmd_plot, hspec_cmd_completion;

/** The commands in the order of `headspec --help`, ends with NULL (main.c). */
extern const hspec_cli_command *const hspec_cli_commands[];

/** "headspec: text" on standard error, unless --quiet. */
void hspec_cli_note(const hspec_arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** "headspec: warning: text" on standard error, unless --quiet. A progress bar on the line is wiped first. */
void hspec_cli_warn(const hspec_arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The signal (SIGINT, SIGTERM) that asked to stop since hspec_cli_catch_signals, or 0. */
int hspec_cli_signal(void);
/** From now on SIGINT and SIGTERM set hspec_cli_signal, and the first one says so on standard error unless `quiet`.
 *  After it SIGTERM changes nothing, and SIGINT, half a second later or more, ends the program at once. */
void hspec_cli_catch_signals(int quiet);

#endif
