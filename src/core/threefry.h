/* SPDX-License-Identifier: MIT
 * Threefry-2x64-13 (Salmon et al. 2011, Random123), for words of any type: uint64_t or a block of lanes.
 * tests/unit/test_random.c holds it against Random123's scalar code, bit for bit; bench/bench_random.c has the
 * measurement by which it was chosen over Philox-4x32. */
#ifndef HSPEC_CORE_THREEFRY_H
#define HSPEC_CORE_THREEFRY_H

#include <stdint.h>

/** Rotation by R bits to the left. */
#ifndef HSPEC_ROTATE
#define HSPEC_ROTATE(x, R) (((x) << (R)) | ((x) >> (64 - (R))))
#endif

#define HSPEC_THREEFRY_MIX(N, x0, x1, R)                                                                               \
    for (int i_ = 0; i_ < (N); i_++) {                                                                                 \
        (x0)[i_] = (x0)[i_] + (x1)[i_];                                                                                \
        (x1)[i_] = HSPEC_ROTATE((x1)[i_], R) ^ (x0)[i_];                                                               \
    }

#define HSPEC_THREEFRY_KEY(N, x0, x1, a, b, n)                                                                         \
    for (int i_ = 0; i_ < (N); i_++) {                                                                                 \
        (x0)[i_] = (x0)[i_] + (a);                                                                                     \
        (x1)[i_] = (x1)[i_] + ((b) + UINT64_C(n));                                                                     \
    }

/** Enciphers the counters (x0[i], x1[i]), i < N, under the keys (k0, k1), in place: two words of 64 random bits each.
 *  N is a constant, so that the loops unroll and N independent chains fill the pipelines. */
#define HSPEC_THREEFRY(N, type, k0, k1, x0, x1)                                                                        \
    do {                                                                                                               \
        const type k2_ = (k0) ^ (k1) ^ UINT64_C(0x1BD11BDAA9FC1A22);                                                   \
        HSPEC_THREEFRY_KEY(N, x0, x1, k0, k1, 0)                                                                       \
        HSPEC_THREEFRY_MIX(N, x0, x1, 16)                                                                              \
        HSPEC_THREEFRY_MIX(N, x0, x1, 42)                                                                              \
        HSPEC_THREEFRY_MIX(N, x0, x1, 12)                                                                              \
        HSPEC_THREEFRY_MIX(N, x0, x1, 31)                                                                              \
        HSPEC_THREEFRY_KEY(N, x0, x1, k1, k2_, 1)                                                                      \
        HSPEC_THREEFRY_MIX(N, x0, x1, 16)                                                                              \
        HSPEC_THREEFRY_MIX(N, x0, x1, 32)                                                                              \
        HSPEC_THREEFRY_MIX(N, x0, x1, 24)                                                                              \
        HSPEC_THREEFRY_MIX(N, x0, x1, 21)                                                                              \
        HSPEC_THREEFRY_KEY(N, x0, x1, k2_, k0, 2)                                                                      \
        HSPEC_THREEFRY_MIX(N, x0, x1, 16)                                                                              \
        HSPEC_THREEFRY_MIX(N, x0, x1, 42)                                                                              \
        HSPEC_THREEFRY_MIX(N, x0, x1, 12)                                                                              \
        HSPEC_THREEFRY_MIX(N, x0, x1, 31)                                                                              \
        HSPEC_THREEFRY_KEY(N, x0, x1, k0, k1, 3)                                                                       \
        HSPEC_THREEFRY_MIX(N, x0, x1, 16)                                                                              \
    } while (0)

#endif
