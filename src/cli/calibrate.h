/* SPDX-License-Identifier: MIT
 * How long a run will take: measured on its own first steps. */
#ifndef HSPEC_CLI_CALIBRATE_H
#define HSPEC_CLI_CALIBRATE_H

#include "headspec.h"

typedef struct hspec_calibration {
    double bytes;   /**< memory of the training */
    double steps;   /**< of all seeds together */
    double seconds; /**< estimate for the whole run: training and loss; 0 when it could not be measured */
    double rate;    /**< seed-steps per second */
    char why[512];  /**< why it could not be measured; else empty */
} hspec_calibration;

/** Runs the beginning of the experiment for about 0.3 s, and its loss on few nodes. A step that would take
 *  longer is made smaller, in batch and (explicit engine) in dimension, and its time scaled up again.
 *  @param experiment in its task has a signal
 *  @return OK, EARG, ENOMEM. */
hspec_status hspec_calibrate_run(const hspec_experiment *experiment, int threads, hspec_calibration *calibration,
                                 hspec_error *err);

#endif
