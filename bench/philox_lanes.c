/* SPDX-License-Identifier: MIT */
#include "philox_lanes.h"

#include "core/single.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define N HSPEC_CHAINS

/** The products of the lower halves of the words. Compilers do not find the instruction by themselves; this is a
 *  measurement, so Philox gets it. */
HSPEC_INLINE vu multiply(vu x, uint32_t factor)
{
#if !defined(__x86_64__)
    return (x & UINT64_C(0xffffffff)) * (uint64_t)factor;
#elif defined(HSPEC_LEVEL_AVX512)
    return (vu)_mm512_mul_epu32((__m512i)x, (__m512i)vu_set(factor));
#elif defined(HSPEC_LEVEL_AVX2)
    return (vu)_mm256_mul_epu32((__m256i)x, (__m256i)vu_set(factor));
#else
    return (vu)_mm_mul_epu32((__m128i)x, (__m128i)vu_set(factor));
#endif
}

/** Rounds on N vectors of counters; a number of 32 bits lies in the lower half of a word, what is above it is left over. */
HSPEC_INLINE void philox(int rounds, uint32_t k0, uint32_t k1, vu (*x)[N])
{
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < N; i++) {
            const vu a = multiply(x[0][i], 0xD2511F53), b = multiply(x[2][i], 0xCD9E8D57);
            x[0][i] = (b >> 32) ^ x[1][i] ^ vu_set(k0);
            x[2][i] = (a >> 32) ^ x[3][i] ^ vu_set(k1);
            x[1][i] = b;
            x[3][i] = a;
        }
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

/** Two words of 64 bits for each of the N VW counters from c1 on. */
HSPEC_INLINE void words(int rounds, hspec_stream stream, uint64_t c0, uint64_t c1, vu *w0, vu *w1)
{
    vu x[4][N];
    for (int i = 0; i < N; i++) {
        const vu counter = vu_iota() + (c1 + (uint64_t)(i * HSPEC_VW));
        x[0][i] = counter;
        x[1][i] = counter >> 32;
        x[2][i] = vu_set(c0);
        x[3][i] = vu_set(c0 >> 32);
    }
    philox(rounds, (uint32_t)stream.key[0], (uint32_t)stream.key[1], x);
    for (int i = 0; i < N; i++) {
        w0[i] = (x[0][i] << 32) | (x[1][i] & UINT64_C(0xffffffff));
        w1[i] = (x[2][i] << 32) | (x[3][i] & UINT64_C(0xffffffff));
    }
}

HSPEC_INLINE void normals(int rounds, hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    for (size_t at = 0; at < n; at += (size_t)2 * N * HSPEC_VW) {
        vu w0[N], w1[N];
        vd a[N], b[N];
        words(rounds, stream, c0, c1 + at / 2, w0, w1);
        vd_box_muller(N, w0, w1, a, b);
        for (size_t i = 0; i < N; i++) {
            vd_store(x + at + 2 * i * HSPEC_VW, a[i]);
            vd_store(x + at + (2 * i + 1) * HSPEC_VW, b[i]);
        }
    }
}

HSPEC_INLINE void single(int rounds, hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n)
{
    for (size_t at = 0; at < n; at += (size_t)4 * N * HSPEC_VW) {
        vu w0[N], w1[N];
        vfu v0[N], v1[N];
        vf a[N], b[N];
        words(rounds, stream, c0, c1 + at / 4, w0, w1);
        for (size_t i = 0; i < N; i++) {
            v0[i] = (vfu)w0[i];
            v1[i] = (vfu)w1[i];
        }
        vf_box_muller(N, v0, v1, a, b);
        for (size_t i = 0; i < N; i++) {
            vf_store(x + at + 4 * i * HSPEC_VW, a[i]);
            vf_store(x + at + (4 * i + 2) * HSPEC_VW, b[i]);
        }
    }
}

static void normals7(hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    normals(7, stream, c0, c1, x, n);
}

static void normals10(hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    normals(10, stream, c0, c1, x, n);
}

static void single7(hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n)
{
    single(7, stream, c0, c1, x, n);
}

static void single10(hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n)
{
    single(10, stream, c0, c1, x, n);
}

static void words10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    vu x[4][N];
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < N; i++) {
            x[j][i] = vu_set(counter[j]);
        }
    }
    philox(10, key[0], key[1], x);
    for (int j = 0; j < 4; j++) {
        out[j] = (uint32_t)x[j][N - 1][HSPEC_VW - 1];
    }
}

const bench_philox HSPEC_LEVELED(bench_philox_table) = {normals7, normals10, single7, single10, words10};
