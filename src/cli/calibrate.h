/* SPDX-License-Identifier: MIT
 * How long a run will take: measured on its own first steps. */
#ifndef HSPEC_CLI_CALIBRATE_H
#define HSPEC_CLI_CALIBRATE_H

#include "headspec.h"

typedef struct hspec_calibration {
    double bytes;   /**< memory of the training */
    double steps;   /**< of all seeds together */
    int measured;   /**< 0: the memory of this machine does not suffice, and nothing was measured */
    double machine; /**< bytes of memory that this machine has */
    double seconds; /**< estimate for the whole run: training and loss */
    double rate;    /**< seed-steps per second */
} hspec_calibration;

/** Runs the experiment itself for about 20 ms (one step at least), and its loss on few nodes.
 *  @param experiment in its task has a signal
 *  @return OK, EARG, ENOMEM, ENONFINITE. */
hspec_status hspec_calibrate_run(const hspec_experiment *experiment, int threads, hspec_calibration *calibration,
                                 hspec_error *err);

#endif
