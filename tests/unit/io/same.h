/* SPDX-License-Identifier: MIT
 * Are two experiments the same? */
#ifndef HSPEC_TESTS_SAME_H
#define HSPEC_TESTS_SAME_H

#include "headspec.h"

/** The first field in which two experiments differ (numbers exactly), or NULL. Their texts and names are not compared. */
const char *same_difference(const hspec_experiment *a, const hspec_experiment *b);

#endif
