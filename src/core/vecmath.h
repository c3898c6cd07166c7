/* SPDX-License-Identifier: MIT
 * exp, log, sin and cos of a block of lanes. Errors are the largest seen by tests/unit/test_vecmath.c against long double.
 * Coefficients: interpolation at Chebyshev nodes in 50 digits, except log (fdlibm's minimax). */
#ifndef HSPEC_CORE_VECMATH_H
#define HSPEC_CORE_VECMATH_H

#include "core/lanes.h"

/** exp(y) / 2^n for |y| < 710, and n = round(y / ln 2) in the low bits of *t. */
HSPEC_INLINE vd vd_exp_fraction(vd y, vi *n_bits)
{
    /* y = n ln 2 + r, |r| <= ln 2 / 2; exp r = 1 + r + r^2 q(r), q of degree 9: 1.7e-17 relative. */
    const double shift = 0x1.8p52;
    vd t = y * 0x1.71547652b82fep0 + shift;
    vd n = t - shift;
    vd r = y - n * 0x1.62e42fefa0000p-1;
    r = r - n * 0x1.cf79abc9e3b39p-40;
    vd q = vd_set(2.510038549551032e-08);
    q = q * r + 2.7620088445409746e-07;
    q = q * r + 2.7557268459997064e-06;
    q = q * r + 2.4801521295954376e-05;
    q = q * r + 0.00019841269863053618;
    q = q * r + 0.0013888888917213717;
    q = q * r + 0.008333333333330062;
    q = q * r + 0.04166666666662413;
    q = q * r + 0.16666666666666669;
    q = q * r + 0.5;
    *n_bits = (vi)t;
    return 1.0 + (r + (r * r) * q);
}

/** exp(x) for any x: error <= 1.5 ulp; 0 below -708 (no subnormal results), inf above 709.78; NaN stays NaN. */
HSPEC_INLINE vd vd_exp(vd x)
{
    const double low = -708.0, high = 709.782712893384;
    vd y = vd_select(x < low, vd_set(low), x);
    y = vd_select(y > high, vd_set(high), y);
    vi t;
    vd p = vd_exp_fraction(y, &t);
    /* 2^n in two factors: n = 1024 has no exponent of its own. */
    vi n = t - (vi)vd_set(0x1.8p52);
    vi half = n >> 1;
    p = p * (vd)((half + 1023) << 52) * (vd)((n - half + 1023) << 52);
    p = vd_select(x < low, vd_set(0.0), p);
    return vd_select(x > high, vd_set(__builtin_inf()), p);
}

/** exp(x) for x <= 0 or NaN, the case of attention after its shift by the maximum: error and limits as vd_exp. */
HSPEC_INLINE vd vd_exp_nonpositive(vd x)
{
    const double low = -708.0;
    vi t;
    vd p = vd_exp_fraction(vd_select(x < low, vd_set(low), x), &t);
    p = (vd)((vi)p + (t << 52)); /* p is in [0.7, 1.42): n moves the exponent, which stays normal */
    return (vd)(~(vi)(x < low) & (vi)p);
}

/** log(x) for positive, finite, normal x: error <= 1.0 ulp. */
HSPEC_INLINE vd vd_log(vd x)
{
    /* x = 2^k m, sqrt(1/2) <= m < sqrt 2; f = m - 1, s = f / (2 + f); log m = f - f^2/2 + s (f^2/2 + R(s^2)). */
    const uint64_t base = UINT64_C(0x3fe6a09e667f3bcd);
    vu bits = (vu)x - base;
    vi k = (vi)bits >> 52;
    vd m = (vd)((vu)x - ((vu)k << 52));
    /* (double)k without a conversion instruction: |k| < 2^51. */
    vd kd = (vd)(k + (vi)vd_set(0x1.8p52)) - 0x1.8p52;
    vd f = m - 1.0;
    vd s = f / (2.0 + f);
    vd z = s * s;
    vd R = vd_set(1.479819860511658591e-01);
    R = R * z + 1.531383769920937332e-01;
    R = R * z + 1.818357216161805012e-01;
    R = R * z + 2.222219843214978396e-01;
    R = R * z + 2.857142874366239149e-01;
    R = R * z + 3.999999999940941908e-01;
    R = R * z + 6.666666666666735130e-01;
    R = R * z;
    vd half = 0.5 * f * f;
    return kd * 6.93147180369123816490e-01 - ((half - (s * (half + R) + kd * 1.90821492927058770002e-10)) - f);
}

/** sin(2 pi r) and cos(2 pi r) for |r| <= 1/8: error <= 1.5 ulp. */
HSPEC_INLINE void vd_sincos_turn(vd r, vd *sine, vd *cosine)
{
    vd z = r * r;
    vd s = vd_set(3.7808689593022957);
    vd c = vd_set(7.810290968144191);
    s = s * z + -15.093804209987114;
    c = c * z + -26.42425703488269;
    s = s * z + 42.058685020160894;
    c = c * z + 60.24462008593029;
    s = s * z + -76.70585970427454;
    c = c * z + -85.45681709034115;
    s = s * z + 81.60524927594804;
    c = c * z + 64.93939402236538;
    s = s * z + -41.341702240399634;
    c = c * z + -19.73920880217842;
    s = s * z + 6.283185307179586;
    *sine = s * r;
    *cosine = c * z + 1.0;
}

#endif
