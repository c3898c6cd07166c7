/* SPDX-License-Identifier: MIT
 * Lanes: the W = 8 doubles in which all engines compute, and the native vectors that they are taken in.
 *
 * Only files named *_lanes.c include this header; they are compiled once per instruction set. Data is laid out
 * `double x[...][HSPEC_W]`, lane innermost, on every instruction set; one native vector holds HSPEC_VW of the lanes, and
 * code that works on lanes runs once for each of the W / VW parts of a block, on pointers shifted by VW doubles. Wider
 * compiler vectors than the native ones would be shorter to write, but GCC keeps those in memory.
 *
 * Where a chain of dependent operations is long, HSPEC_CHAINS independent vectors go side by side through it, as
 * `for (int i = 0; i < N; i++)` around every line: that is what hides the latency of the arithmetic.
 */
#ifndef HSPEC_CORE_LANES_H
#define HSPEC_CORE_LANES_H

#include "core/level.h"

#include <stddef.h>
#include <stdint.h>

#if defined(HSPEC_LEVEL_AVX512)
#define HSPEC_VW HSPEC_WIDTH_AVX512
#elif defined(HSPEC_LEVEL_AVX2)
#define HSPEC_VW HSPEC_WIDTH_AVX2
#elif defined(HSPEC_LEVEL_BASELINE)
#define HSPEC_VW HSPEC_WIDTH_BASELINE
#else
#error "a *_lanes.c file is compiled with one of HSPEC_LEVEL_BASELINE, HSPEC_LEVEL_AVX2, HSPEC_LEVEL_AVX512"
#endif

#define HSPEC_PARTS (HSPEC_W / HSPEC_VW)
#define HSPEC_CHAINS 4

#define HSPEC_INLINE static inline __attribute__((always_inline))

typedef double vd __attribute__((vector_size(8 * HSPEC_VW)));
typedef int64_t vi __attribute__((vector_size(8 * HSPEC_VW)));
typedef uint64_t vu __attribute__((vector_size(8 * HSPEC_VW)));

/** Runs `call`, in which L stands for the number of tokens, with L a constant for the common numbers: the loops over
 *  tokens unroll, and sums over tokens stay in registers. */
#define HSPEC_WITH_TOKENS(tokens, call)                                                                                \
    do {                                                                                                               \
        switch (tokens) {                                                                                              \
            HSPEC_TOKENS_CASE(3, call)                                                                                 \
            HSPEC_TOKENS_CASE(5, call)                                                                                 \
            HSPEC_TOKENS_CASE(10, call)                                                                                \
        default: {                                                                                                     \
            const size_t L = (tokens);                                                                                 \
            call;                                                                                                      \
        } break;                                                                                                       \
        }                                                                                                              \
    } while (0)
#define HSPEC_TOKENS_CASE(number, call)                                                                                \
    case number: {                                                                                                     \
        const size_t L = (number);                                                                                     \
        call;                                                                                                          \
    } break;

/** Item i of an array [...][W], seen from the part at which x points. */
#define HSPEC_AT(x, i) ((x) + (size_t)(i)*HSPEC_W)

HSPEC_INLINE vd vd_load(const double *p)
{
    return *(const vd *)__builtin_assume_aligned(p, sizeof(vd));
}

HSPEC_INLINE void vd_store(double *p, vd x)
{
    *(vd *)__builtin_assume_aligned(p, sizeof(vd)) = x;
}

HSPEC_INLINE vu vu_load(const uint64_t *p)
{
    return *(const vu *)__builtin_assume_aligned(p, sizeof(vu));
}

HSPEC_INLINE void vu_store(uint64_t *p, vu x)
{
    *(vu *)__builtin_assume_aligned(p, sizeof(vu)) = x;
}

HSPEC_INLINE vd vd_set(double x)
{
    return x - (vd){0}; /* x - 0 keeps the sign of x = -0 */
}

HSPEC_INLINE vu vu_set(uint64_t x)
{
    return x + (vu){0};
}

/** 0, 1, 2, ... */
HSPEC_INLINE vu vu_iota(void)
{
    vu x;
    for (int i = 0; i < HSPEC_VW; i++) {
        x[i] = (uint64_t)i;
    }
    return x;
}

/** mask ? a : b, lane by lane; every lane of the mask is 0 or -1, as comparisons give it. */
HSPEC_INLINE vd vd_select(vi mask, vd a, vd b)
{
    return (vd)((mask & (vi)a) | (~mask & (vi)b));
}

/** a > b ? a : b, lane by lane: b where one of them is NaN. Compilers make one instruction of this form. */
HSPEC_INLINE vd vd_max(vd a, vd b)
{
    vd y;
    for (int i = 0; i < HSPEC_VW; i++) {
        y[i] = a[i] > b[i] ? a[i] : b[i];
    }
    return y;
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
    for (int i = 0; i < HSPEC_VW; i++) {
        y[i] = __builtin_sqrt(x[i]);
    }
    return y;
}

/** The sum of the lanes: the one operation whose rounding depends on the instruction set. */
HSPEC_INLINE double vd_sum(vd x)
{
    double sum = x[0];
    for (int i = 1; i < HSPEC_VW; i++) {
        sum += x[i];
    }
    return sum;
}

/** Is any lane of the mask set? */
HSPEC_INLINE int vi_any(vi mask)
{
    int64_t any = 0;
    for (int i = 0; i < HSPEC_VW; i++) {
        any |= mask[i];
    }
    return any != 0;
}

#endif
