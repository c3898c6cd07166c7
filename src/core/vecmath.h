/* SPDX-License-Identifier: MIT
 * exp, log, sin and cos of native vectors, N of them side by side where N is asked for. Errors are limits that
 * tests/unit/test_vecmath.c holds against long double; the largest it has seen are in brackets.
 * Coefficients: interpolation at Chebyshev nodes in 50 digits, except log (fdlibm's minimax). */
#ifndef HSPEC_CORE_VECMATH_H
#define HSPEC_CORE_VECMATH_H

#include "core/lanes.h"

/** exp(y[i]) / 2^n for |y| < 710, and n = round(y / ln 2) in the low bits of n_bits[i]. */
HSPEC_INLINE void vd_exp_fraction(int N, const vd *y, vd *p, vi *n_bits)
{
    /* y = n ln 2 + r, |r| <= ln 2 / 2; exp r = 1 + r + r^2 q(r), q of degree 9: 1.7e-17 relative. */
    static const double Q[] = {2.7620088445409746e-07, 2.7557268459997064e-06, 2.4801521295954376e-05,
                               0.00019841269863053618, 0.0013888888917213717,  0.008333333333330062,
                               0.04166666666662413,    0.16666666666666669,    0.5};
    const double shift = 0x1.8p52;
    vd r[HSPEC_CHAINS], q[HSPEC_CHAINS];
    for (int i = 0; i < N; i++) {
        const vd t = y[i] * 0x1.71547652b82fep0 + shift;
        const vd n = t - shift;
        n_bits[i] = (vi)t;
        r[i] = (y[i] - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b39p-40;
        q[i] = vd_set(2.510038549551032e-08);
    }
    for (int j = 0; j < 9; j++) {
        for (int i = 0; i < N; i++) {
            q[i] = q[i] * r[i] + Q[j];
        }
    }
    for (int i = 0; i < N; i++) {
        p[i] = 1.0 + (r[i] + (r[i] * r[i]) * q[i]);
    }
}

/** exp(x) for any x: error <= 1.5 ulp (1.20); 0 below -708 (no subnormal results), inf above 709.78; NaN stays NaN. */
HSPEC_INLINE vd vd_exp(vd x)
{
    const double low = -708.0, high = 709.782712893384;
    vd y = vd_select(x < low, vd_set(low), x);
    y = vd_select(y > high, vd_set(high), y);
    vd p;
    vi t;
    vd_exp_fraction(1, &y, &p, &t);
    /* 2^n in two factors: n = 1024 has no exponent of its own. */
    const vi n = t - (vi)vd_set(0x1.8p52);
    const vi half = n >> 1;
    p = p * (vd)((half + 1023) << 52) * (vd)((n - half + 1023) << 52);
    p = vd_select(x < low, vd_set(0.0), p);
    return vd_select(x > high, vd_set(__builtin_inf()), p);
}

/** x[i] = exp(x[i]) for x <= 0 or NaN, the case of attention after its shift by the maximum: error and limits as above. */
HSPEC_INLINE void vd_exp_nonpositive(int N, vd *x)
{
    const double low = -708.0;
    vd y[HSPEC_CHAINS], p[HSPEC_CHAINS];
    vi t[HSPEC_CHAINS];
    for (int i = 0; i < N; i++) {
        y[i] = vd_max(vd_set(low), x[i]);
    }
    vd_exp_fraction(N, y, p, t);
    for (int i = 0; i < N; i++) {
        const vd value = (vd)((vi)p[i] + (t[i] << 52)); /* p is in [0.7, 1.42): n moves the exponent, it stays normal */
        x[i] = (vd)(~(vi)(x[i] < low) & (vi)value);
    }
}

/** y[i] = log(x[i]) for positive, finite, normal x: error <= 1.0 ulp (0.86). */
HSPEC_INLINE void vd_log(int N, const vd *x, vd *y)
{
    /* x = 2^k m, sqrt(1/2) <= m < sqrt 2; f = m - 1, s = f / (2 + f); log m = f - f^2/2 + s (f^2/2 + R(s^2)). */
    const uint64_t base = UINT64_C(0x3fe6a09e667f3bcd);
    vd k[HSPEC_CHAINS], f[HSPEC_CHAINS], s[HSPEC_CHAINS], z[HSPEC_CHAINS], R[HSPEC_CHAINS];
    for (int i = 0; i < N; i++) {
        const vi exponent = (vi)((vu)x[i] - base) >> 52;
        f[i] = (vd)((vi)x[i] - (vi)((vu)exponent << 52)) - 1.0;
        /* The integer as a double without a conversion instruction: |k| < 2^51. */
        k[i] = (vd)(exponent + (vi)vd_set(0x1.8p52)) - 0x1.8p52;
        s[i] = f[i] / (2.0 + f[i]);
        z[i] = s[i] * s[i];
        R[i] = z[i] * 1.479819860511658591e-01 + 1.531383769920937332e-01;
    }
    for (int i = 0; i < N; i++) {
        R[i] = R[i] * z[i] + 1.818357216161805012e-01;
    }
    for (int i = 0; i < N; i++) {
        R[i] = R[i] * z[i] + 2.222219843214978396e-01;
    }
    for (int i = 0; i < N; i++) {
        R[i] = R[i] * z[i] + 2.857142874366239149e-01;
    }
    for (int i = 0; i < N; i++) {
        R[i] = R[i] * z[i] + 3.999999999940941908e-01;
    }
    for (int i = 0; i < N; i++) {
        R[i] = R[i] * z[i] + 6.666666666666735130e-01;
    }
    for (int i = 0; i < N; i++) {
        const vd half = 0.5 * f[i] * f[i];
        const vd low = s[i] * (half + R[i] * z[i]) + k[i] * 1.90821492927058770002e-10;
        y[i] = k[i] * 6.93147180369123816490e-01 - ((half - low) - f[i]);
    }
}

/** sin(2 pi r[i]) and cos(2 pi r[i]) for |r| <= 1/8: error <= 1.75 ulp (1.51) and 2.25 ulp (2.00). */
HSPEC_INLINE void vd_sincos_turn(int N, const vd *r, vd *sine, vd *cosine)
{
    static const double S[] = {-15.093804209987114, 42.058685020160894,  -76.70585970427454,
                               81.60524927594804,   -41.341702240399634, 6.283185307179586};
    static const double C[] = {-26.42425703488269, 60.24462008593029,  -85.45681709034115,
                               64.93939402236538,  -19.73920880217842, 1.0};
    vd z[HSPEC_CHAINS], s[HSPEC_CHAINS], c[HSPEC_CHAINS];
    for (int i = 0; i < N; i++) {
        z[i] = r[i] * r[i];
        s[i] = vd_set(3.7808689593022957);
        c[i] = vd_set(7.810290968144191);
    }
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < N; i++) {
            s[i] = s[i] * z[i] + S[j];
            c[i] = c[i] * z[i] + C[j];
        }
    }
    for (int i = 0; i < N; i++) {
        sine[i] = s[i] * r[i];
        cosine[i] = c[i];
    }
}

#endif
