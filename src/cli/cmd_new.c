/* SPDX-License-Identifier: MIT
 * headspec new: a commented experiment to start from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "core/status.h"
#include "io/atomic.h"
#include "io/reference.h"

/* "|flipped|gaussian" without the first bar */
#define HSPEC_X(name, yaml, sentence) "|" yaml
static const char signal_choices[] = HSPEC_SIGNAL_TABLE(HSPEC_X);
static const char activation_choices[] = HSPEC_ACTIVATION_TABLE(HSPEC_X);
#undef HSPEC_X

#define HSPEC_X(name, yaml, sentence) yaml,
static const char *const signal_names[] = {HSPEC_SIGNAL_TABLE(HSPEC_X)};
static const char *const activation_names[] = {HSPEC_ACTIVATION_TABLE(HSPEC_X)};
#undef HSPEC_X

/* The place of a name that the parser has let through. */
static unsigned index_of(const char *name, const char *const *names, size_t count)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return 0;
}

static hspec_status run_new(const hspec_arguments *arguments, hspec_error *err)
{
    const char *signal = hspec_options_text(arguments, "signal", signal_names[0]);
    const char *activation = hspec_options_text(arguments, "activation", activation_names[0]);
    const char *path = hspec_options_text(arguments, "output", NULL);
    if (hspec_options_given(arguments, "force") && !path) {
        return hspec_error_set(err, HSPEC_EARG, "new: --force has a meaning only with -o FILE");
    }
    if (path) {
        HSPEC_TRY(hspec_output_check(arguments, path, err));
    }
    char *text = NULL;
    HSPEC_TRY(hspec_reference_template(
        (hspec_signal_kind)index_of(signal, signal_names, sizeof signal_names / sizeof *signal_names),
        (hspec_activation)index_of(activation, activation_names, sizeof activation_names / sizeof *activation_names),
        &text, err));
    hspec_status status = HSPEC_OK;
    if (path) {
        status = hspec_atomic_write(path, text, strlen(text), err);
    } else {
        (void)fputs(text, stdout); /* main looks whether it arrived */
    }
    free(text);
    return status;
}

static const hspec_option new_options[] = {
    {"signal", 0, signal_choices + 1, 0, "the signal of the task (default flipped)"},
    {"activation", 0, activation_choices + 1, 0, "the activation of the layer (default softmax)"},
    HSPEC_OPTION_OUTPUT("FILE.yaml", "write it there, not to standard output"),
    HSPEC_OPTION_FORCE,
    HSPEC_OPTION_END,
};
static const char *const new_arguments[] = {NULL};

const hspec_cli_command hspec_cmd_new = {
    .name = "new",
    .group = "Experiments",
    .summary = "print a commented experiment to start from",
    .usage = "[-o FILE.yaml]",
    .description = "Prints an experiment in YAML that holds every key at its default, with a comment on each.\n"
                   "It is valid as it stands.",
    .options = new_options,
    .arguments = new_arguments,
    .run = run_new,
};
