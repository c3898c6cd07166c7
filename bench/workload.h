/* SPDX-License-Identifier: MIT
 * The job that the engines are measured at: the task of experiments/two_phases.yaml, at any size. */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "headspec.h"

typedef struct workload {
    hspec_engine engine;
    hspec_loss loss;
    hspec_noise noise;
    hspec_activation activation;
    uint64_t D;
    size_t H, L, F, B, seeds;
    uint64_t steps; /* in a piece of work: one record */
    double units;   /* of work that a step of one seed counts for */
} workload;

/** For bench_contender: sizes is a workload. */
void *workload_create(const void *sizes);
double workload_run(void *state, size_t pieces);
void workload_free(void *state);

#endif
