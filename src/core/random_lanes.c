/* SPDX-License-Identifier: MIT
 * The bulk generators. What a counter gives does not depend on the instruction set but for rounding. */
#include "core/random.h"

#include "core/single.h"

static void normals(hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    const vu k0 = vu_set(stream.key[0]), k1 = vu_set(stream.key[1]);
    const vu lane = {0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < n; i += 4 * HSPEC_W) {
        vu w0[2] = {vu_set(c0), vu_set(c0)};
        vu w1[2] = {lane + (c1 + i / 2), lane + (c1 + i / 2 + HSPEC_W)};
        HSPEC_THREEFRY(2, vu, k0, k1, w0, w1);
        for (size_t j = 0; j < 2; j++) {
            vd a, b;
            vd_box_muller(w0[j], w1[j], &a, &b);
            vd_store(x + i + 2 * j * HSPEC_W, a);
            vd_store(x + i + (2 * j + 1) * HSPEC_W, b);
        }
    }
}

static void normals_single(hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n)
{
    const vu k0 = vu_set(stream.key[0]), k1 = vu_set(stream.key[1]);
    const vu lane = {0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < n; i += 8 * HSPEC_W) {
        vu w0[2] = {vu_set(c0), vu_set(c0)};
        vu w1[2] = {lane + (c1 + i / 4), lane + (c1 + i / 4 + HSPEC_W)};
        HSPEC_THREEFRY(2, vu, k0, k1, w0, w1);
        for (size_t j = 0; j < 2; j++) {
            vf a, b;
            vf_box_muller((vfu)w0[j], (vfu)w1[j], &a, &b);
            vf_store(x + i + 4 * j * HSPEC_W, a);
            vf_store(x + i + (4 * j + 2) * HSPEC_W, b);
        }
    }
}

static void lane_normals(const uint64_t *keys, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    vd_fill_normals(vu_load(keys), vu_load(keys + HSPEC_W), c0, c1, x, n);
}

static void lane_words(const uint64_t *keys, uint64_t c0, uint64_t c1, uint64_t *w, size_t n)
{
    vd_fill_words(vu_load(keys), vu_load(keys + HSPEC_W), c0, c1, w, n);
}

const hspec_random_ops HSPEC_LEVELED(hspec_random_ops_table) = {normals, normals_single, lane_normals, lane_words};
