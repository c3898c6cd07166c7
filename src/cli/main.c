/* SPDX-License-Identifier: MIT
 * The program: its commands, and what becomes of their status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "core/status.h"
#include "io/config_tree.h"
#include "io/text.h"

const hspec_cli_command *const hspec_cli_commands[] = {
    &hspec_cmd_new,    &hspec_cmd_check,   &hspec_cmd_train,      &hspec_cmd_theory,
    &hspec_cmd_bayes,  &hspec_cmd_optimum, &hspec_cmd_stability,  &hspec_cmd_info,
    &hspec_cmd_phases, &hspec_cmd_plot,    &hspec_cmd_completion, NULL,
};

/* A file opened later must not become standard input, output or error: a closed one is filled with /dev/null, opened
 * the wrong way round so that its use still fails. */
static void fill_standard_files(void)
{
    for (int file = 0; file < 3; file++) {
        if (fcntl(file, F_GETFD) == -1 && errno == EBADF) {
            (void)open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY);
        }
    }
}

static int exit_status(hspec_status status)
{
    switch (status) {
    case HSPEC_OK:
        return 0;
    case HSPEC_EARG:
    case HSPEC_ECONFIG:
        return 2;
    case HSPEC_ESTOPPED:
        return hspec_cli_signal() ? 128 + hspec_cli_signal() : 1;
    default:
        return 1;
    }
}

/* Flushes standard output, so that a full disk or a closed pipe is an error; prints the message of `status`. */
static int finish(hspec_status status, const hspec_error *err)
{
    hspec_progress_clear();
    errno = 0;
    int lost = fflush(stdout) != 0 || ferror(stdout);
    if (status != HSPEC_OK) {
        (void)fprintf(stderr, "headspec: %s\n", err->message);
        return exit_status(status);
    }
    if (lost) {
        (void)fprintf(stderr, "headspec: standard output: %s\n", errno ? strerror(errno) : "not all could be written");
        return 1;
    }
    return 0;
}

static hspec_status unknown_command(const char *found, hspec_error *err)
{
    const char *names[32];
    size_t count = 0;
    hspec_text list = {0};
    for (; hspec_cli_commands[count] && count < 32; count++) {
        names[count] = hspec_cli_commands[count]->name;
        hspec_text_add(&list, "%s%s", count ? ", " : "", names[count]);
    }
    char *text = hspec_text_take(&list);
    const char *nearest = hspec_options_nearest(found, names, count);
    hspec_status status =
        hspec_error_set(err, HSPEC_EARG, "unknown command '%s'%s%s%s; commands are: %s",
                        hspec_config_tree_printable(found, strlen(found)).text, nearest ? "; did you mean '" : "",
                        nearest ? nearest : "", nearest ? "'?" : "", text ? text : "");
    free(text);
    return status;
}

static hspec_status run_command(const hspec_cli_command *command, int argc, char **argv, hspec_error *err)
{
    hspec_arguments arguments;
    int help = 0, version = 0;
    hspec_status status = hspec_options_parse(command, argc, argv, &arguments, &help, &version, err);
    if (status == HSPEC_OK && help) {
        status = hspec_help_command(command, err);
    } else if (status == HSPEC_OK && version) {
        (void)printf("headspec %s\n", hspec_status_version());
    } else if (status == HSPEC_OK) {
        status = command->run(&arguments, err);
    }
    hspec_options_free(&arguments);
    return status;
}

static hspec_status dispatch(int argc, char **argv, hspec_error *err)
{
    if (argc < 2) {
        return hspec_error_set(err, HSPEC_EARG,
                               "a command is missing; usage: headspec COMMAND [ARGUMENTS] [OPTIONS]; "
                               "see 'headspec --help'");
    }
    const char *word = argv[1];
    if (word[0] == '-') {
        int help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
        if (!help && strcmp(word, "--version") != 0) {
            return hspec_error_set(err, HSPEC_EARG,
                                   "'%s' stands before a command; options follow it: "
                                   "headspec COMMAND [ARGUMENTS] [OPTIONS]",
                                   hspec_config_tree_printable(word, strlen(word)).text);
        }
        if (argc > 2) {
            return hspec_error_set(err, HSPEC_EARG, "%s takes nothing behind it, found '%s'", word,
                                   hspec_config_tree_printable(argv[2], strlen(argv[2])).text);
        }
        if (help) {
            hspec_help_program();
        } else {
            (void)printf("headspec %s\n", hspec_status_version());
        }
        return HSPEC_OK;
    }
    /* help [COMMAND], as many programs have it */
    const int help = strcmp(word, "help") == 0;
    if (help && argc > 3) {
        return hspec_error_set(err, HSPEC_EARG, "help takes one command, found '%s' behind it",
                               hspec_config_tree_printable(argv[3], strlen(argv[3])).text);
    }
    if (help && argc == 2) {
        hspec_help_program();
        return HSPEC_OK;
    }
    word = help ? argv[2] : word;
    for (const hspec_cli_command *const *c = hspec_cli_commands; *c; c++) {
        if (strcmp((*c)->name, word) == 0) {
            return help ? hspec_help_command(*c, err) : run_command(*c, argc, argv, err);
        }
    }
    return unknown_command(word, err);
}

int main(int argc, char **argv)
{
    fill_standard_files();
    static char buffer[1 << 16];
    if (!isatty(STDOUT_FILENO)) {
        (void)setvbuf(stdout, buffer, _IOFBF, sizeof buffer); /* so that most failures are seen, and named, by finish */
    }
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error like any other */
    hspec_error err = {0};
    return finish(dispatch(argc, argv, &err), &err);
}
