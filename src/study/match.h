/* SPDX-License-Identifier: MIT
 * Matching the heads of different seeds before anything is averaged over seeds (docs/figures.md, "Matching").
 *
 * The loss does not change when heads are permuted, nor when a feature with a symmetric amplitude changes sign, so that
 * after a random start the same role is played by different heads, with different signs, in different seeds. */
#ifndef HSPEC_STUDY_MATCH_H
#define HSPEC_STUDY_MATCH_H

#include "headspec.h"

/** Permutes heads and flips signs so that the seeds agree best with their common mean.
 *
 *  Minimized over permutations pi_s and signs sigma_s, with M the mean over seeds of the matched trajectories:
 *      sum_s sum_t w_t sum_j sum_f ( sigma_sf m[s, t, pi_s(j), f] - M[t, j, f] )^2,   w_t = t dt, of sum 1.
 *  The weight t dt means: what a head becomes decides, and its history separates heads that end alike. The start, which
 *  is noise, counts nothing. Long trajectories are thinned to at most 256 rows for the distance.
 *  The reference starts as the medoid (the seed nearest to all others; of more than 128 seeds, of 128 evenly chosen
 *  ones); then pairings and mean are improved in turn until no pairing changes.
 *  Signs are searched exhaustively for up to 10 features that may flip, by single flips beyond.
 *
 *  The order of the matched heads: within each group, by the mean alignment in the last row along the feature
 *  on which the heads differ most, largest first. The overall sign of a feature: its sum over heads in the last row is
 *  not negative. So the result does not depend on the order of the seeds.
 *
 *  @param trajectory in  rows 0..done-1 are used, done >= 1; finite; times ascend
 *  @param group      in  [H] only heads with equal numbers may change places; NULL: all may
 *  @param flip       in  [F] nonzero: the sign of this feature may be flipped, seed by seed; NULL: none
 *  @param head       out [S][H] head[s][j] = the head of seed s that plays role j
 *  @param sign       out [S][F] +1 or -1
 *  @param spread     out [2] root mean square distance of a seed to the mean before and after matching (w_t as
 *                    above, per head); NULL if not wanted
 *  @return OK; EARG (sizes); ENONFINITE (which entry); ENOMEM. Outputs untouched on error. */
HSPEC_MUST_USE hspec_status hspec_match_heads(const hspec_trajectory *trajectory, const size_t *group, const int *flip,
                                              size_t *head, int *sign, double *spread, hspec_error *err);

/** Which heads a given start (m, r) leaves exchangeable: those whose exchange changes neither m nor r.
 *  @param alignment in [H][F] @param residual in [H][H]; NULL: a number times I
 *  @param group     out [H] the first head that each may change places with (itself, if none) */
void hspec_match_groups(size_t heads, size_t features, const double *alignment, const double *residual, size_t *group);

#endif
