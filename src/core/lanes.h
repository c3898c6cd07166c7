/* SPDX-License-Identifier: MIT
 * Lanes: the block of W = 8 doubles in which all engines compute, as one compiler vector.
 *
 * Only files named *_lanes.c include this header; they are compiled once per instruction set. The compilers split a
 * block into as many native vectors as it takes; the pieces are independent chains, which is what hides the latency of
 * the arithmetic. Data is laid out `double x[...][HSPEC_W]`, lane innermost. No sum runs across lanes here, so that
 * instruction sets differ by rounding (fused multiply-add) only.
 */
#ifndef HSPEC_CORE_LANES_H
#define HSPEC_CORE_LANES_H

#include "core/level.h"

#include <stddef.h>
#include <stdint.h>

#if !defined(HSPEC_LEVEL_AVX512) && !defined(HSPEC_LEVEL_AVX2) && !defined(HSPEC_LEVEL_BASELINE)
#error "a *_lanes.c file is compiled with one of HSPEC_LEVEL_BASELINE, HSPEC_LEVEL_AVX2, HSPEC_LEVEL_AVX512"
#endif

#define HSPEC_INLINE static inline __attribute__((always_inline))

typedef double vd __attribute__((vector_size(8 * HSPEC_W)));
typedef int64_t vi __attribute__((vector_size(8 * HSPEC_W)));
typedef uint64_t vu __attribute__((vector_size(8 * HSPEC_W)));

HSPEC_INLINE vd vd_load(const double *p)
{
    return *(const vd *)__builtin_assume_aligned(p, HSPEC_ALIGN);
}

HSPEC_INLINE void vd_store(double *p, vd x)
{
    *(vd *)__builtin_assume_aligned(p, HSPEC_ALIGN) = x;
}

HSPEC_INLINE vu vu_load(const uint64_t *p)
{
    return *(const vu *)__builtin_assume_aligned(p, HSPEC_ALIGN);
}

HSPEC_INLINE void vu_store(uint64_t *p, vu x)
{
    *(vu *)__builtin_assume_aligned(p, HSPEC_ALIGN) = x;
}

HSPEC_INLINE vd vd_set(double x)
{
    return x - (vd){0}; /* x - 0 keeps the sign of x = -0 */
}

HSPEC_INLINE vu vu_set(uint64_t x)
{
    return x + (vu){0};
}

/** mask ? a : b, lane by lane; every lane of the mask is 0 or -1, as comparisons give it. */
HSPEC_INLINE vd vd_select(vi mask, vd a, vd b)
{
    return (vd)((mask & (vi)a) | (~mask & (vi)b));
}

HSPEC_INLINE vd vd_max(vd a, vd b)
{
    return vd_select(a > b, a, b);
}

HSPEC_INLINE vd vd_abs(vd x)
{
    return (vd)((vu)x & ~(UINT64_C(1) << 63));
}

/** x with the sign of s. */
HSPEC_INLINE vd vd_copysign(vd x, vd s)
{
    const uint64_t sign = UINT64_C(1) << 63;
    return (vd)(((vu)x & ~sign) | ((vu)s & sign));
}

HSPEC_INLINE vd vd_sqrt(vd x)
{
    vd y;
    for (int i = 0; i < HSPEC_W; i++) {
        y[i] = __builtin_sqrt(x[i]);
    }
    return y;
}

/** Is any lane of the mask set? */
HSPEC_INLINE int vi_any(vi mask)
{
    int64_t any = 0;
    for (int i = 0; i < HSPEC_W; i++) {
        any |= mask[i];
    }
    return any != 0;
}

#endif
