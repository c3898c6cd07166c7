/* SPDX-License-Identifier: MIT
 * Single precision: native vectors of 2 VW floats, for bulk noise only. */
#ifndef HSPEC_CORE_SINGLE_H
#define HSPEC_CORE_SINGLE_H

#include "core/normal.h"

typedef float vf __attribute__((vector_size(8 * HSPEC_VW)));
typedef int32_t vfi __attribute__((vector_size(8 * HSPEC_VW)));
typedef uint32_t vfu __attribute__((vector_size(8 * HSPEC_VW)));

HSPEC_INLINE vf vf_load(const float *p)
{
    return *(const vf *)__builtin_assume_aligned(p, sizeof(vf));
}

HSPEC_INLINE void vf_store(float *p, vf x)
{
    *(vf *)__builtin_assume_aligned(p, sizeof(vf)) = x;
}

/** VW floats as doubles. GCC makes one instruction of the list of elements, but not of __builtin_convertvector. */
HSPEC_INLINE vd vd_widen(const float *p)
{
#if HSPEC_VW == 2
    return (vd){p[0], p[1]};
#elif HSPEC_VW == 4
    return (vd){p[0], p[1], p[2], p[3]};
#else
    return (vd){p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
#endif
}

HSPEC_INLINE vf vf_set(float x)
{
    return x - (vf){0};
}

HSPEC_INLINE vf vf_sqrt(vf x)
{
    vf y;
    for (int i = 0; i < 2 * HSPEC_VW; i++) {
        y[i] = __builtin_sqrtf(x[i]);
    }
    return y;
}

/** y[i] = log(x[i]) for positive, finite, normal x: error <= 1 ulp (0.89). */
HSPEC_INLINE void vf_log(int N, const vf *x, vf *y)
{
    /* x = 2^k m, sqrt(1/2) <= m < sqrt 2; log m = f - f^2/2 + f^3 P(f), f = m - 1 (Cephes' logf). */
    static const float coefficients[] = {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                                         -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f};
    const uint32_t base = UINT32_C(0x3f3504f3);
    vf k[HSPEC_CHAINS], f[HSPEC_CHAINS], P[HSPEC_CHAINS];
    for (int i = 0; i < N; i++) {
        const vfi exponent = (vfi)((vfu)x[i] - base) >> 23;
        f[i] = (vf)((vfi)x[i] - (vfi)((vfu)exponent << 23)) - 1.0f;
        k[i] = __builtin_convertvector(exponent, vf);
        P[i] = vf_set(7.0376836292e-2f);
    }
    for (int j = 0; j < 8; j++) {
        for (int i = 0; i < N; i++) {
            P[i] = P[i] * f[i] + coefficients[j];
        }
    }
    for (int i = 0; i < N; i++) {
        const vf z = f[i] * f[i];
        y[i] = k[i] * 0.693359375f + (f[i] + (k[i] * -2.12194440e-4f + (z * (f[i] * P[i]) - 0.5f * z)));
    }
}

/** sin and cos of 2 pi r[i] for |r| <= 1/8: error <= 2 ulp (1.71) and 1.5 ulp (1.26). */
HSPEC_INLINE void vf_sincos_turn(int N, const vf *r, vf *sine, vf *cosine)
{
    static const float S[] = {81.5925446f, -41.3416634f, 6.28318548f};
    static const float C[] = {-85.4488220f, 64.9393692f, -19.7392082f};
    vf z[HSPEC_CHAINS], s[HSPEC_CHAINS], c[HSPEC_CHAINS];
    for (int i = 0; i < N; i++) {
        z[i] = r[i] * r[i];
        s[i] = vf_set(-75.4016113f);
        c[i] = vf_set(59.4241066f);
    }
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < N; i++) {
            s[i] = s[i] * z[i] + S[j];
            c[i] = c[i] * z[i] + C[j];
        }
    }
    for (int i = 0; i < N; i++) {
        sine[i] = s[i] * r[i];
        cosine[i] = c[i] * z[i] + 1.0f;
    }
}

/** Box-Muller in single precision: 32 bits a uniform. The largest normal is sqrt(64 ln 2) = 6.66 (beyond: 3e-11).
 *  As in vd_box_muller, low bits of word1, which the rounding to 24 bits mostly drops, complete the circle. */
HSPEC_INLINE void vf_box_muller(int N, const vfu *word0, const vfu *word1, vf *x, vf *y)
{
    vf u[HSPEC_CHAINS], turn[HSPEC_CHAINS], sine[HSPEC_CHAINS], cosine[HSPEC_CHAINS], logarithm[HSPEC_CHAINS];
    for (int i = 0; i < N; i++) {
        u[i] = __builtin_convertvector((vfi)(word0[i] >> 1), vf) * 0x1p-31f + 0x1p-32f;
        turn[i] = __builtin_convertvector((vfi)word1[i], vf) * 0x1p-34f;
    }
    vf_log(N, u, logarithm);
    vf_sincos_turn(N, turn, sine, cosine);
    for (int i = 0; i < N; i++) {
        const vf r = vf_sqrt(-2.0f * logarithm[i]);
        cosine[i] = (vf)((vfu)cosine[i] ^ (word1[i] << 31));
        const vfu mask = (vfu)((vfi)(word1[i] << 30) >> 31);
        const vfu exchange = ((vfu)sine[i] ^ (vfu)cosine[i]) & mask;
        x[i] = r * (vf)((vfu)cosine[i] ^ exchange);
        y[i] = r * (vf)((vfu)sine[i] ^ exchange);
    }
}

#endif
