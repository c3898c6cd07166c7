/* SPDX-License-Identifier: MIT
 * Phases of a trajectory, as include/headspec.h tells them: what phases.c and phases_predict.c share. */
#ifndef HSPEC_STUDY_PHASES_H
#define HSPEC_STUDY_PHASES_H

#include "core/memory.h"

/** Up to this part of the level, and never above the second number, deviations of all features count as small: the linear
 *  regime. Where a deviation is larger, heads have parted. */
#define HSPEC_PHASES_LINEAR 0.2
#define HSPEC_PHASES_LINEAR_MAX 0.1
/** From this part of the level on a head is on a side. */
#define HSPEC_PHASES_SIDE 0.1

struct hspec_phases {
    hspec_phases_report report;
    double *deviation;               /* [rows][F] */
    hspec_phases_feature *feature;   /* [F] */
    size_t *order;                   /* [F] */
    int *side_at_learning;           /* [F][H] */
    int *side_at_end;                /* [F][H] */
    size_t *owner;                   /* [H] */
    hspec_phases_crossing *crossing; /* [crossings] */
    double *logarithm;               /* [rows] */
    hspec_arena arena;
};

#endif
