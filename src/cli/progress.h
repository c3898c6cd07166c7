/* SPDX-License-Identifier: MIT
 * A progress bar with rate and time left, on a terminal only. */
#ifndef HSPEC_CLI_PROGRESS_H
#define HSPEC_CLI_PROGRESS_H

#include <stddef.h>

typedef struct hspec_progress {
    const char *label;  /**< "train" */
    const char *unit;   /**< what the rate counts: "seed-steps" */
    double scale;       /**< units of the rate per unit of `done` (seeds per step) */
    int active;         /**< standard error is a terminal, and not --quiet */
    double start, last; /**< seconds; last: when the bar was drawn, -1 before */
} hspec_progress;

/** 6.1e6 -> "6.1 M"; the buffer should have 32 bytes, here and below. */
void hspec_progress_format_rate(double rate, char *text, size_t size);
/** 75 -> "1 min 15 s", 0.02 -> "0.02 s". */
void hspec_progress_format_seconds(double seconds, char *text, size_t size);

/** Seconds of the monotonic clock. */
double hspec_progress_now(void);
void hspec_progress_start(hspec_progress *progress, const char *label, const char *unit, double scale, int quiet);
/** At most ten times a second something is drawn. */
void hspec_progress_update(hspec_progress *progress, double done, double total);
/** Wipes the bar if there is one, so that other text can be printed. The next update draws it again. */
void hspec_progress_clear(void);

#endif
