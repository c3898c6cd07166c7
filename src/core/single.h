/* SPDX-License-Identifier: MIT
 * Single precision: blocks of 16 floats, for bulk noise only. */
#ifndef HSPEC_CORE_SINGLE_H
#define HSPEC_CORE_SINGLE_H

#include "core/normal.h"

typedef float vf __attribute__((vector_size(8 * HSPEC_W)));
typedef int32_t vfi __attribute__((vector_size(8 * HSPEC_W)));
typedef uint32_t vfu __attribute__((vector_size(8 * HSPEC_W)));

HSPEC_INLINE vf vf_load(const float *p)
{
    return *(const vf *)__builtin_assume_aligned(p, HSPEC_ALIGN);
}

HSPEC_INLINE void vf_store(float *p, vf x)
{
    *(vf *)__builtin_assume_aligned(p, HSPEC_ALIGN) = x;
}

HSPEC_INLINE vf vf_set(float x)
{
    return x - (vf){0};
}

HSPEC_INLINE vf vf_sqrt(vf x)
{
    vf y;
    for (int i = 0; i < 2 * HSPEC_W; i++) {
        y[i] = __builtin_sqrtf(x[i]);
    }
    return y;
}

/** log(x) for positive, finite, normal x: error <= 2 ulp. */
HSPEC_INLINE vf vf_log(vf x)
{
    /* x = 2^k m, sqrt(1/2) <= m < sqrt 2; log m = f - f^2/2 + f^3 P(f), f = m - 1 (Cephes' logf). */
    const uint32_t base = UINT32_C(0x3f3504f3);
    vfu bits = (vfu)x - base;
    vfi k = (vfi)bits >> 23;
    vf f = (vf)((vfu)x - ((vfu)k << 23)) - 1.0f;
    vf kf = __builtin_convertvector(k, vf);
    vf P = vf_set(7.0376836292e-2f);
    P = P * f + -1.1514610310e-1f;
    P = P * f + 1.1676998740e-1f;
    P = P * f + -1.2420140846e-1f;
    P = P * f + 1.4249322787e-1f;
    P = P * f + -1.6668057665e-1f;
    P = P * f + 2.0000714765e-1f;
    P = P * f + -2.4999993993e-1f;
    P = P * f + 3.3333331174e-1f;
    vf z = f * f;
    return kf * 0.693359375f + (f + (kf * -2.12194440e-4f + (z * (f * P) - 0.5f * z)));
}

/** sin and cos of 2 pi r for |r| <= 1/8: error <= 2 ulp. */
HSPEC_INLINE void vf_sincos_turn(vf r, vf *sine, vf *cosine)
{
    vf z = r * r;
    vf s = vf_set(-75.4016113f);
    vf c = vf_set(59.4241066f);
    s = s * z + 81.5925446f;
    c = c * z + -85.4488220f;
    s = s * z + -41.3416634f;
    c = c * z + 64.9393692f;
    s = s * z + 6.28318548f;
    c = c * z + -19.7392082f;
    *sine = s * r;
    *cosine = c * z + 1.0f;
}

/** Box-Muller in single precision: 32 bits a uniform. The largest normal is sqrt(64 ln 2) = 6.66 (beyond: 3e-11).
 *  As vd_box_muller, the low bits of word1, which the rounding to 24 bits mostly drops, complete the circle. */
HSPEC_INLINE void vf_box_muller(vfu word0, vfu word1, vf *x, vf *y)
{
    const vf u = __builtin_convertvector((vfi)(word0 >> 1), vf) * 0x1p-31f + 0x1p-32f;
    const vf r = vf_sqrt(-2.0f * vf_log(u));
    vf sine, cosine;
    vf_sincos_turn(__builtin_convertvector((vfi)word1, vf) * 0x1p-34f, &sine, &cosine);
    cosine = (vf)((vfu)cosine ^ (word1 << 31));
    const vfi exchange = ((vfi)sine ^ (vfi)cosine) & (((vfi)word1 << 30) >> 31);
    *x = r * (vf)((vfi)cosine ^ exchange);
    *y = r * (vf)((vfi)sine ^ exchange);
}

#endif
