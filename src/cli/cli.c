/* SPDX-License-Identifier: MIT
 * Messages and signals that every command shares. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

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

/* A handler may run in any thread, and two at the same time. */
static atomic_int caught_signal;
static atomic_llong first_time; /* of the first signal, in ns; 0: none came */
static int say_nothing, on_terminal;

static void say_stopping(void)
{
    static const char text[] = "\r\033[Kheadspec: stopping at the next record; press Ctrl-C again to stop at once\n";
    const size_t wipe = on_terminal ? 0 : 4; /* the progress bar */
    ssize_t ignored = write(STDERR_FILENO, text + wipe, sizeof text - 1 - wipe);
    (void)ignored;
}

/* What runs `timeout` or closes a terminal may send its signal twice: only a later one is a wish to stop at once. */
static void on_signal(int number)
{
    const int before = errno;
    struct timespec clock;
    (void)clock_gettime(CLOCK_MONOTONIC, &clock);
    const long long now = (long long)clock.tv_sec * 1000000000 + clock.tv_nsec + 1;
    long long first = 0;
    if (atomic_compare_exchange_strong(&first_time, &first, now)) {
        atomic_store(&caught_signal, number);
        if (!say_nothing) {
            say_stopping();
        }
    } else if (number == SIGINT && now - first > 500000000) {
        (void)signal(number, SIG_DFL);
        (void)raise(number); /* comes when this handler returns */
    }
    errno = before;
}

int hspec_cli_signal(void)
{
    return atomic_load(&caught_signal);
}

void hspec_cli_catch_signals(int quiet)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    say_nothing = quiet;
    on_terminal = isatty(STDERR_FILENO);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;
        struct sigaction action = {.sa_handler = on_signal};
        (void)sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART;
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}
