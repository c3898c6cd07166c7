/* SPDX-License-Identifier: MIT
 * Philox-4x32 (Salmon et al. 2011) in the style of core/normal.h: what Threefry-2x64 was chosen over. */
#ifndef BENCH_PHILOX_LANES_H
#define BENCH_PHILOX_LANES_H

#include "core/random.h"

typedef struct bench_philox {
    /** As normals and normals_single of hspec_random_ops, with 7 or 10 rounds. */
    void (*normals7)(hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n);
    void (*normals10)(hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n);
    void (*single7)(hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n);
    void (*single10)(hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n);
    /** The four words of one counter, for a test against the published ones. */
    void (*words10)(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]);
} bench_philox;

HSPEC_DECLARE_LEVELS(bench_philox, bench_philox_table);

#endif
