/* SPDX-License-Identifier: MIT
 * The phases of an archive, for people and for programs. */
#ifndef HSPEC_CLI_PHASES_REPORT_H
#define HSPEC_CLI_PHASES_REPORT_H

#include <cjson/cJSON.h>

#include "cli/phases_read.h"

/** Tables on standard output: one for the theory; one for a single seed, or a summary over all seeds.
 *  @return OK, ENOMEM. */
hspec_status hspec_phases_report_print(const hspec_phases_read *read, hspec_error *err);
/** Every trajectory (docs/guide.md, "Phases"). @return OK, ENOMEM. */
hspec_status hspec_phases_report_json(const hspec_phases_read *read, cJSON *object, hspec_error *err);

#endif
