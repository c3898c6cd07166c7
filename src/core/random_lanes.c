/* SPDX-License-Identifier: MIT
 * The bulk generators. What a counter gives does not depend on the instruction set but for rounding. */
#include "core/random.h"

#include "core/single.h"

#define N HSPEC_CHAINS

/** Place of what chain i gives: counters go through blocks of W lanes, native vector by native vector. */
#define BLOCK(i) ((size_t)(i)*HSPEC_VW / HSPEC_W)
#define LANE(i) ((size_t)(i)*HSPEC_VW % HSPEC_W)

/** The words of N VW counters that follow each other. */
HSPEC_INLINE void words(hspec_stream stream, uint64_t c0, uint64_t c1, vu *w0, vu *w1)
{
    for (int i = 0; i < N; i++) {
        w0[i] = vu_set(c0);
        w1[i] = vu_iota() + (c1 + (uint64_t)(i * HSPEC_VW));
    }
    HSPEC_THREEFRY(N, vu, vu_set(stream.key[0]), vu_set(stream.key[1]), w0, w1);
}

/** A block of W counters gives 2 W numbers: first one of each lane, then the other. */
static void normals(hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    for (size_t at = 0; at < n; at += (size_t)2 * N * HSPEC_VW) {
        vu w0[N], w1[N];
        vd a[N], b[N];
        words(stream, c0, c1 + at / 2, w0, w1);
        vd_box_muller(N, w0, w1, a, b);
        for (int i = 0; i < N; i++) {
            double *place = x + at + 2 * BLOCK(i) * HSPEC_W + LANE(i);
            vd_store(place, a[i]);
            vd_store(place + HSPEC_W, b[i]);
        }
    }
}

/** A block of W counters gives 4 W numbers: first two of each lane, then the others. */
static void normals_single(hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n)
{
    for (size_t at = 0; at < n; at += (size_t)4 * N * HSPEC_VW) {
        vu w0[N], w1[N];
        vfu v0[N], v1[N];
        vf a[N], b[N];
        words(stream, c0, c1 + at / 4, w0, w1);
        for (int i = 0; i < N; i++) {
            v0[i] = (vfu)w0[i];
            v1[i] = (vfu)w1[i];
        }
        vf_box_muller(N, v0, v1, a, b);
        for (int i = 0; i < N; i++) {
            float *place = x + at + 4 * BLOCK(i) * HSPEC_W + 2 * LANE(i);
            vf_store(place, a[i]);
            vf_store(place + (size_t)2 * HSPEC_W, b[i]);
        }
    }
}

static void lane_normals(const uint64_t *keys, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    for (size_t part = 0; part < HSPEC_W; part += HSPEC_VW) {
        vd_fill_normals(vu_load(keys + part), vu_load(keys + HSPEC_W + part), c0, c1, x + part, n);
    }
}

static void lane_words(const uint64_t *keys, uint64_t c0, uint64_t c1, uint64_t *w, size_t n)
{
    for (size_t part = 0; part < HSPEC_W; part += HSPEC_VW) {
        vd_fill_words(vu_load(keys + part), vu_load(keys + HSPEC_W + part), c0, c1, w + part, n);
    }
}

const hspec_random_ops HSPEC_LEVELED(hspec_random_ops_table) = {normals, normals_single, lane_normals, lane_words};
