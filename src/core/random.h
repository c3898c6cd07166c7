/* SPDX-License-Identifier: MIT
 * Counter-based random streams: Threefry-2x64-13 of Random123 (docs/theory.md, "Random numbers").
 *
 * A stream is a key: (seed, substream, purpose). What it gives depends on the counter only, which callers build from the
 * step, the sequence and the place within it: nothing has a state, so runs resume anywhere and threads cannot matter.
 */
#ifndef HSPEC_CORE_RANDOM_H
#define HSPEC_CORE_RANDOM_H

#include "core/level.h"

#include <stddef.h>
#include <stdint.h>

/** What a stream is used for; values are part of the reproducibility promise and never change. */
typedef enum hspec_purpose {
    HSPEC_PURPOSE_SPIKES = 1,
    HSPEC_PURPOSE_START = 2,
    HSPEC_PURPOSE_EXPLICIT = 3,
    HSPEC_PURPOSE_REDUCED = 4,
    HSPEC_PURPOSE_NODES = 5,  /* of expectations */
    HSPEC_PURPOSE_STARTS = 6, /* starts of searches */
} hspec_purpose;

typedef struct hspec_stream {
    uint64_t key[2];
} hspec_stream;

/** The stream of a seed, a substream (below 2^56: the seed number k) and a purpose. */
hspec_stream hspec_random_stream(uint64_t seed, uint64_t substream, hspec_purpose purpose);

/** The two words of one counter. */
void hspec_random_words(hspec_stream stream, uint64_t c0, uint64_t c1, uint64_t words[2]);
/** The first of these words as a uniform on (0, 1). */
double hspec_random_uniform(hspec_stream stream, uint64_t c0, uint64_t c1);
/** chi-squared with a whole number `degrees` >= 0 of degrees of freedom, exact in law, from the counters (c0, c1 + 0, 1,
 *  2, ...): fewer than 2^20 of them with probability 1 - 10^-5000. */
double hspec_random_chi2(hspec_stream stream, uint64_t c0, uint64_t c1, double degrees);
/** One attempt of the rejection method behind it: from a normal x and a uniform u, for degrees >= 2.
 *  @return 1 and the value when accepted, else 0. */
int hspec_random_chi2_try(double degrees, double x, double u, double *value);

/** The bulk generators of one instruction-set level. */
typedef struct hspec_random_ops {
    /** x[0..n) standard normals from the counters (c0, c1 + g), block by block of W counters: first the first normal of
     *  each of them, then the second ones; n / 2 counters when n is a multiple of 2 W.
     *  x aligned to HSPEC_ALIGN, with room for n rounded up to a multiple of HSPEC_NORMALS_GRAIN. */
    void (*normals)(hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n);
    /** The same in single precision: 4 normals a counter. */
    void (*normals_single)(hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n);
    /** x[i][lane], i = 0..n-1, from the counters (c0, c1 + g), g = 0 .. ceil(n / 2) - 1, of each lane's own stream.
     *  keys [2][W]; x [n + 4][W]. */
    void (*lane_normals)(const uint64_t *keys, uint64_t c0, uint64_t c1, double *x, size_t n);
    /** The words behind them: w[i][lane] from the counters (c0, c1 + i / 2). */
    void (*lane_words)(const uint64_t *keys, uint64_t c0, uint64_t c1, uint64_t *w, size_t n);
} hspec_random_ops;

#define HSPEC_NORMALS_GRAIN 64

HSPEC_DECLARE_LEVELS(hspec_random_ops, hspec_random_ops_table);

/** Bulk generators of this machine. */
const hspec_random_ops *hspec_random_bulk(void);

#endif
