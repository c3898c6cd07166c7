/* SPDX-License-Identifier: MIT
 * Random bits to uniforms and normals, on blocks of lanes (docs/theory.md, "Random numbers"). */
#ifndef HSPEC_CORE_NORMAL_H
#define HSPEC_CORE_NORMAL_H

#include "core/vecmath.h"

#if defined(HSPEC_LEVEL_AVX2)
/** AVX2 has no rotation, but one instruction that moves bytes. */
HSPEC_INLINE vu vu_rotate(vu x, int R)
{
    typedef uint8_t vb __attribute__((vector_size(8 * HSPEC_VW)));
    const vb b = (vb)x;
    if (R == 16) {
        return (vu)__builtin_shufflevector(b, b, 6, 7, 0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13, 22, 23, 16, 17,
                                           18, 19, 20, 21, 30, 31, 24, 25, 26, 27, 28, 29);
    }
    if (R == 24) {
        return (vu)__builtin_shufflevector(b, b, 5, 6, 7, 0, 1, 2, 3, 4, 13, 14, 15, 8, 9, 10, 11, 12, 21, 22, 23, 16,
                                           17, 18, 19, 20, 29, 30, 31, 24, 25, 26, 27, 28);
    }
    return (x << R) | (x >> (64 - R));
}
#define HSPEC_ROTATE(x, R) vu_rotate(x, R)
#endif
#include "core/threefry.h"

/** (k + 1/2) 2^-52 with k the upper 52 bits of the word: uniform on (0, 1), symmetric, never 0 or 1. */
HSPEC_INLINE vd vd_uniform(vu word)
{
    return (vd)((word >> 12) | UINT64_C(0x3ff0000000000000)) - (1.0 - 0x1p-53);
}

/** Box-Muller: pairs of words to pairs of independent normals. The largest is sqrt(106 ln 2) = 8.57.
 *
 *      r = sqrt(-2 ln u),  (r cos phi, r sin phi)
 *
 *  phi is uniform on (-pi/4, pi/4) by the upper 52 bits of word1; bit 0 of word1 mirrors that quarter turn to the other
 *  side, bit 1 exchanges the coordinates: together the whole circle. The low 12 bits of word0 stay unused. */
HSPEC_INLINE void vd_box_muller(int N, const vu *word0, const vu *word1, vd *x, vd *y)
{
    vd u[HSPEC_CHAINS], turn[HSPEC_CHAINS], sine[HSPEC_CHAINS], cosine[HSPEC_CHAINS], logarithm[HSPEC_CHAINS];
    for (int i = 0; i < N; i++) {
        u[i] = vd_uniform(word0[i]);
        turn[i] = (vd)((word1[i] >> 12) | UINT64_C(0x3fd0000000000000)) - 0.375; /* k 2^-54 - 1/8 */
    }
    vd_log(N, u, logarithm);
    vd_sincos_turn(N, turn, sine, cosine);
    for (int i = 0; i < N; i++) {
        const vd r = vd_sqrt(-2.0 * logarithm[i]);
        cosine[i] = (vd)((vu)cosine[i] ^ (word1[i] << 63));
        /* Exchange where bit 1 is set: 0 - bit is the mask, and the difference of the two goes to both. */
        const vu exchange = ((vu)sine[i] ^ (vu)cosine[i]) & (0 - ((word1[i] >> 1) & 1));
        x[i] = r * (vd)((vu)cosine[i] ^ exchange);
        y[i] = r * (vd)((vu)sine[i] ^ exchange);
    }
}

/** Words of the counters (c0, c1 + i), i < N. */
HSPEC_INLINE void vu_words(int N, vu k0, vu k1, uint64_t c0, uint64_t c1, vu *w0, vu *w1)
{
    for (int i = 0; i < N; i++) {
        w0[i] = vu_set(c0);
        w1[i] = vu_set(c1 + (uint64_t)i);
    }
    HSPEC_THREEFRY(N, vu, k0, k1, w0, w1);
}

/** x[2 i], x[2 i + 1], i < N: normals from the counters (c0, c1 + i). @param x out [2 N][W] */
HSPEC_INLINE void vd_normals(int N, vu k0, vu k1, uint64_t c0, uint64_t c1, double *x)
{
    vu w0[HSPEC_CHAINS], w1[HSPEC_CHAINS];
    vd a[HSPEC_CHAINS], b[HSPEC_CHAINS];
    vu_words(N, k0, k1, c0, c1, w0, w1);
    vd_box_muller(N, w0, w1, a, b);
    for (int i = 0; i < N; i++) {
        vd_store(HSPEC_AT(x, 2 * i), a[i]);
        vd_store(HSPEC_AT(x, 2 * i + 1), b[i]);
    }
}

/** Room that the two functions below want behind what they are asked for. */
#define HSPEC_FILL_SLACK 4

/** x[i], i < n: normals from the counters (c0, c1 + i / 2). @param x out [n + HSPEC_FILL_SLACK][W] */
HSPEC_INLINE void vd_fill_normals(vu k0, vu k1, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    /* Groups of four counters, then 3 + 2, 3, 2 or 1: a single one would have nothing to hide its latency behind. */
    size_t left = (n + 1) / 2;
    for (; left > 5 || left == 4; left -= 4, c1 += 4, x += (size_t)8 * HSPEC_W) {
        vd_normals(4, k0, k1, c0, c1, x);
    }
    if (left == 5 || left == 3) {
        vd_normals(3, k0, k1, c0, c1, x);
        left -= 3, c1 += 3, x += (size_t)6 * HSPEC_W;
    }
    if (left == 2) {
        vd_normals(2, k0, k1, c0, c1, x);
    } else if (left == 1) {
        vd_normals(1, k0, k1, c0, c1, x);
    }
}

/** w[i], i < n: words from the counters (c0, c1 + i / 2). @param w out [n + HSPEC_FILL_SLACK][W] */
HSPEC_INLINE void vd_fill_words(vu k0, vu k1, uint64_t c0, uint64_t c1, uint64_t *w, size_t n)
{
    for (size_t i = 0; i < n; i += 2) {
        vu w0, w1;
        vu_words(1, k0, k1, c0, c1 + i / 2, &w0, &w1);
        vu_store(HSPEC_AT(w, i), w0);
        vu_store(HSPEC_AT(w, i + 1), w1);
    }
}

#endif
