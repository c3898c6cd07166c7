/* SPDX-License-Identifier: MIT
 * Random bits to uniforms and normals, on blocks of lanes (docs/theory.md, "Random numbers"). */
#ifndef HSPEC_CORE_NORMAL_H
#define HSPEC_CORE_NORMAL_H

#include "core/threefry.h"
#include "core/vecmath.h"

/** (k + 1/2) 2^-52 with k the upper 52 bits of the word: uniform on (0, 1), symmetric, never 0 or 1. */
HSPEC_INLINE vd vd_uniform(vu word)
{
    return (vd)((word >> 12) | UINT64_C(0x3ff0000000000000)) - (1.0 - 0x1p-53);
}

/** Box-Muller: two words to two independent normals. The largest is sqrt(106 ln 2) = 8.57.
 *
 *      r = sqrt(-2 ln u),  (r cos phi, r sin phi)
 *
 *  phi is uniform on (-pi/4, pi/4) by the upper 52 bits of word1; bit 0 of word1 mirrors that quarter turn to the other
 *  side, bit 1 exchanges the coordinates: together the whole circle. The low 12 bits of word0 stay unused. */
HSPEC_INLINE void vd_box_muller(vu word0, vu word1, vd *x, vd *y)
{
    const vd r = vd_sqrt(-2.0 * vd_log(vd_uniform(word0)));
    vd sine, cosine;
    vd_sincos_turn(0.25 * (vd_uniform(word1) - 0.5), &sine, &cosine);
    cosine = (vd)((vu)cosine ^ (word1 << 63));
    const vi exchange = ((vi)sine ^ (vi)cosine) & (((vi)word1 << 62) >> 63);
    *x = r * (vd)((vi)cosine ^ exchange);
    *y = r * (vd)((vi)sine ^ exchange);
}

/** 4 normals a lane from the counters (c0, c1) and (c0, c1 + 1): x[0], x[1] belong to the first. */
HSPEC_INLINE void vd_normals4(vu k0, vu k1, vu c0, vu c1, vd x[4])
{
    vu w0[2] = {c0, c0}, w1[2] = {c1, c1 + 1};
    HSPEC_THREEFRY(2, vu, k0, k1, w0, w1);
    vd_box_muller(w0[0], w1[0], &x[0], &x[1]);
    vd_box_muller(w0[1], w1[1], &x[2], &x[3]);
}

/** x[i], i < n: normals from the counters (c0, c1 + i / 2). @param x out [n rounded up to a multiple of 4][W] */
HSPEC_INLINE void vd_fill_normals(vu k0, vu k1, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    for (size_t i = 0; i < n; i += 4) {
        vd y[4];
        vd_normals4(k0, k1, vu_set(c0), vu_set(c1 + i / 2), y);
        for (size_t j = 0; j < 4; j++) {
            vd_store(x + (i + j) * HSPEC_W, y[j]);
        }
    }
}

/** w[i], i < n: words from the counters (c0, c1 + i / 2). @param w out [n rounded up to a multiple of 4][W] */
HSPEC_INLINE void vd_fill_words(vu k0, vu k1, uint64_t c0, uint64_t c1, uint64_t *w, size_t n)
{
    for (size_t i = 0; i < n; i += 4) {
        vu w0[2] = {vu_set(c0), vu_set(c0)}, w1[2] = {vu_set(c1 + i / 2), vu_set(c1 + i / 2 + 1)};
        HSPEC_THREEFRY(2, vu, k0, k1, w0, w1);
        for (size_t j = 0; j < 2; j++) {
            vu_store(w + (i + 2 * j) * HSPEC_W, w0[j]);
            vu_store(w + (i + 2 * j + 1) * HSPEC_W, w1[j]);
        }
    }
}

#endif
