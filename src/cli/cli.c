/* SPDX-License-Identifier: MIT
 * Messages and signals that every command shares. */
#include "cli/cli.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- messages ---------------------------------------------------------------------------------------------------- */

void hspec_cli_note(const hspec_arguments *arguments, const char *format, ...)
{
    if (hspec_options_given(arguments, "quiet")) {
        return;
    }
    hspec_progress_clear();
    va_list args;
    va_start(args, format);
    (void)fputs("headspec: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
}

void hspec_cli_warn(const hspec_arguments *arguments, const char *format, ...)
{
    if (hspec_options_given(arguments, "quiet")) {
        return;
    }
    hspec_progress_clear();
    va_list args;
    va_start(args, format);
    (void)fputs("headspec: warning: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught_signal;

static void remember_signal(int number)
{
    caught_signal = number;
}

int hspec_cli_signal(void)
{
    return caught_signal;
}

void hspec_cli_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;
        struct sigaction action = {.sa_handler = remember_signal};
        (void)sigemptyset(&action.sa_mask);
        action.sa_flags = (int)SA_RESETHAND | SA_RESTART; /* the second one ends the program */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}
