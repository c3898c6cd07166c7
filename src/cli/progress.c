/* SPDX-License-Identifier: MIT
 * A progress bar with rate and time left. */
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static int bar_is_drawn; /* on the current line of standard error */

double hspec_progress_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void hspec_progress_start(hspec_progress *progress, const char *label, const char *unit, double scale, int quiet)
{
    const char *terminal = getenv("TERM");
    int dumb = terminal && strcmp(terminal, "dumb") == 0;
    double now = hspec_progress_now();
    *progress = (hspec_progress){.label = label,
                                 .unit = unit,
                                 .scale = scale,
                                 .active = !quiet && !dumb && isatty(STDERR_FILENO),
                                 .start = now,
                                 .last = -1};
}

void hspec_progress_format_rate(double rate, char *text, size_t size)
{
    static const char letters[] = " kMGT";
    size_t i = 0;
    while (rate >= 999.5 && i < 4) {
        rate /= 1000;
        i++;
    }
    (void)snprintf(text, size, rate < 9.95 ? "%.2g" : "%.0f", rate);
    if (i > 0) {
        size_t length = strlen(text);
        (void)snprintf(text + length, size - length, " %c", letters[i]);
    }
}

void hspec_progress_format_seconds(double seconds, char *text, size_t size)
{
    double days = seconds / 86400;
    if (days >= 2) {
        (void)snprintf(text, size, days < 1000 ? "%.3g days" : "%.2g years", days < 1000 ? days : days / 365.25);
        return;
    }
    if (seconds < 9.95) {
        (void)snprintf(text, size, seconds < 0.095 ? "%.2f s" : "%.1f s", seconds);
        return;
    }
    long whole = (long)(seconds + 0.5);
    if (whole < 60) {
        (void)snprintf(text, size, "%ld s", whole);
    } else if (whole < 3600) {
        (void)snprintf(text, size, "%ld min %ld s", whole / 60, whole % 60);
    } else {
        (void)snprintf(text, size, "%ld h %ld min", whole / 3600, whole % 3600 / 60);
    }
}

static int terminal_columns(void)
{
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
        return window.ws_col;
    }
    return 80;
}

void hspec_progress_update(hspec_progress *progress, double done, double total)
{
    double now = hspec_progress_now();
    if (!progress->active || total <= 0 || (progress->last >= 0 && now - progress->last < 0.1)) {
        return;
    }
    progress->last = now;
    double share = done / total;
    double elapsed = now - progress->start;
    double rate = elapsed > 0 ? done / elapsed : 0;
    char line[320], tail[160], speed[32] = "", left[32] = "?";
    hspec_progress_format_rate(rate * progress->scale, speed, sizeof speed);
    if (rate > 0) {
        hspec_progress_format_seconds((total - done) / rate, left, sizeof left);
    }
    (void)snprintf(tail, sizeof tail, "%3.0f %%  %s %s/s  %s left", 100 * share, speed, progress->unit, left);

    int columns = terminal_columns();
    int cells = columns - (int)strlen(progress->label) - (int)strlen(tail) - 5;
    cells = cells > 40 ? 40 : cells < 0 ? 0 : cells;
    char bar[41];
    int full = (int)(share * cells);
    for (int i = 0; i < cells; i++) {
        bar[i] = i < full ? '#' : '.';
    }
    bar[cells] = '\0';
    (void)snprintf(line, sizeof line, "%s [%s] %s", progress->label, bar, tail);
    (void)fprintf(stderr, "\r%.*s\033[K", columns > 1 ? columns - 1 : 1, line);
    (void)fflush(stderr);
    bar_is_drawn = 1;
}

void hspec_progress_clear(void)
{
    if (bar_is_drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        bar_is_drawn = 0;
    }
}
