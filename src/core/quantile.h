/* SPDX-License-Identifier: MIT
 * The quantile of the normal distribution, Phi^-1, for native vectors: algorithm AS 241 (Wichura, Applied Statistics 37,
 * 477, 1988). Relative error below 2e-15 (tests/unit/test_lattice.c). */
#ifndef HSPEC_CORE_QUANTILE_H
#define HSPEC_CORE_QUANTILE_H

#include "core/vecmath.h"

/** P(x) / Q(x) with 8 coefficients each, lowest first. */
HSPEC_INLINE vd vd_ratio(vd x, const double *p, const double *q)
{
    vd a = vd_set(p[7]), b = vd_set(q[7]);
    for (int i = 6; i >= 0; i--) {
        a = a * x + p[i];
        b = b * x + q[i];
    }
    return a / b;
}

/** Phi^-1(u) for u in (0, 1), both u and 1 - u at least 1e-300. */
HSPEC_INLINE vd vd_quantile(vd u)
{
    static const double A[] = {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
                               13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                               33430.575583588128105, 2509.0809287301226727};
    static const double B[] = {1.0,
                               42.313330701600911252,
                               687.18700749205790830,
                               5394.1960214247511077,
                               21213.794301586595867,
                               39307.895800092710610,
                               28729.085735721942674,
                               5226.4952788528545610};
    static const double C[] = {1.42343711074968357734,   4.63033784615654529590,   5.76949722146069140550,
                               3.64784832476320460504,   1.27045825245236838258,   0.241780725177450611770,
                               0.0227238449892691845833, 7.74545014278341407640e-4};
    static const double D[] = {1.0,
                               2.05319162663775882187,
                               1.67638483018380384940,
                               0.689767334985100004550,
                               0.148103976427480074590,
                               0.0151986665636164571966,
                               5.47593808499534494600e-4,
                               1.05075007164441684324e-9};
    static const double E[] = {6.65790464350110377720,    5.46378491116411436990,   1.78482653991729133580,
                               0.296560571828504891230,   0.0265321895265761230930, 0.00124266094738807843860,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double G[] = {1.0,
                               0.599832206555887937690,
                               0.136929880922735805310,
                               0.0148753612908506148525,
                               7.86869131145613259100e-4,
                               1.84631831751005468180e-5,
                               1.42151175831644588870e-7,
                               2.04426310338993978564e-15};
    const vd q = u - 0.5;
    const vd center = q * vd_ratio(0.180625 - q * q, A, B);
    const vi far = vd_abs(q) > 0.425;
    if (!vi_any(far)) {
        return center;
    }
    const vd small = vd_select(q < 0.0, u, 1.0 - u);
    vd logarithm;
    vd_log(1, &small, &logarithm);
    const vd r = vd_sqrt(-logarithm);
    const vd tail = vd_select(r <= 5.0, vd_ratio(r - 1.6, C, D), vd_ratio(r - 5.0, E, G));
    return vd_select(far, vd_copysign(tail, q), center);
}

#endif
