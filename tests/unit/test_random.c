/* SPDX-License-Identifier: MIT
 * Random streams, number by number: words against Random123's scalar code, bit for bit; uniforms, normals and the
 * rejection method of chi-squared against long double. Their laws are tested in test_random_law.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/memory.h"
#include "core/random.h"
#include "unit/core_ops.h"
#include "unit/levels.h"

#include <Random123/threefry.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.141592653589793238462643383279502884L
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The reference for everything here. */
static void reference_words(const uint64_t key[2], uint64_t c0, uint64_t c1, uint64_t words[2])
{
    const threefry2x64_ctr_t counter = {{c0, c1}};
    const threefry2x64_key_t k = {{key[0], key[1]}};
    const threefry2x64_ctr_t out = threefry2x64_R(13, counter, k);
    words[0] = out.v[0];
    words[1] = out.v[1];
}

static uint64_t mix(uint64_t *s)
{
    *s += 0x9E3779B97F4A7C15U;
    uint64_t z = *s;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

static const hspec_random_ops *ops_of(int level)
{
    return HSPEC_PICK(hspec_random_ops_table, (hspec_level)level);
}

/* ---- words ----------------------------------------------------------------------------------------------------------- */

static void test_words(void **state)
{
    (void)state;
    const uint64_t special[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0x1BD11BDAA9FC1A22), 42};
    const size_t n = COUNT(special);
    uint64_t s = 1;
    for (size_t i = 0; i < n * n * n * n + 20000; i++) {
        uint64_t in[4], found[2], wanted[2];
        for (size_t j = 0, rest = i; j < 4; j++, rest /= n) {
            in[j] = i < n * n * n * n ? special[rest % n] : mix(&s);
        }
        reference_words(in, in[2], in[3], wanted);
        hspec_random_words((hspec_stream){{in[0], in[1]}}, in[2], in[3], found);
        assert_true(found[0] == wanted[0] && found[1] == wanted[1]);
    }
    /* Random123's own known answer for 13 rounds. */
    uint64_t words[2];
    hspec_random_words((hspec_stream){{0, 0}}, 0, 0, words);
    assert_true(words[0] == UINT64_C(0xf167b032c3b480bd) && words[1] == UINT64_C(0xe91f9fee4b7a6fb5));
}

/* Keys of eight lanes that have nothing to do with each other. */
static void lane_keys(uint64_t *keys, uint64_t *s)
{
    for (size_t i = 0; i < 2 * HSPEC_W; i++) {
        keys[i] = mix(s);
    }
}

static void test_lane_words(void **state)
{
    (void)state;
    enum { N_MAX = 40 };
    uint64_t *keys = hspec_memory_alloc(2 * HSPEC_W, sizeof *keys);
    assert_non_null(keys);
    uint64_t s = 2;
    for (int level = 0; level < levels_here(); level++) {
        for (size_t n = 1; n <= N_MAX; n++) {
            /* Room for exactly what random.h asks for: tools that watch memory see what goes beyond. */
            uint64_t *w = hspec_memory_alloc((n + 4) * HSPEC_W, sizeof *w);
            assert_non_null(w);
            lane_keys(keys, &s);
            const uint64_t c0 = mix(&s), c1 = n % 3 ? mix(&s) : UINT64_MAX - 3; /* the counter may wrap */
            ops_of(level)->lane_words(keys, c0, c1, w, n);
            for (size_t i = 0; i < n; i++) {
                for (size_t lane = 0; lane < HSPEC_W; lane++) {
                    const uint64_t key[2] = {keys[lane], keys[HSPEC_W + lane]};
                    uint64_t wanted[2];
                    reference_words(key, c0, c1 + i / 2, wanted);
                    if (w[i * HSPEC_W + lane] != wanted[i % 2]) {
                        fail_msg("%s: word %zu of %zu in lane %zu differs", level_names[level], i, n, lane);
                    }
                }
            }
            hspec_memory_free(w);
        }
    }
    hspec_memory_free(keys);
}

/* A stream is its seed, its substream and its purpose, without overlap. */
static void test_streams(void **state)
{
    (void)state;
    const hspec_purpose purposes[] = {HSPEC_PURPOSE_SPIKES, HSPEC_PURPOSE_START, HSPEC_PURPOSE_EXPLICIT,
                                      HSPEC_PURPOSE_REDUCED, HSPEC_PURPOSE_NODES};
    const int values[] = {1, 2, 3, 4, 5}; /* part of the promise of reproducible runs */
    for (size_t i = 0; i < COUNT(purposes); i++) {
        assert_int_equal((int)purposes[i], values[i]);
        const hspec_stream stream = hspec_random_stream(UINT64_MAX - 1, (UINT64_C(1) << 56) - 1, purposes[i]);
        assert_true(stream.key[0] == UINT64_MAX - 1);
        assert_true(stream.key[1] == UINT64_MAX - 255 + (uint64_t)values[i]);
    }
}

/* ---- uniforms -------------------------------------------------------------------------------------------------------- */

static void test_uniform(void **state)
{
    (void)state;
    uint64_t *w = hspec_memory_alloc(CORE_OPS_GRAIN, sizeof *w);
    double *u = hspec_memory_alloc(CORE_OPS_GRAIN, sizeof *u);
    assert_true(w && u);
    uint64_t s = 3;
    for (int level = 0; level < levels_here(); level++) {
        for (int round = 0; round < 100; round++) {
            for (size_t i = 0; i < CORE_OPS_GRAIN; i++) {
                w[i] = mix(&s);
            }
            w[round % CORE_OPS_GRAIN] = 0;
            w[(round + 1) % CORE_OPS_GRAIN] = UINT64_MAX;
            w[(round + 2) % CORE_OPS_GRAIN] = UINT64_C(1) << 63;
            HSPEC_PICK(core_ops_table, (hspec_level)level)->uniform(w, u, CORE_OPS_GRAIN);
            for (size_t i = 0; i < CORE_OPS_GRAIN; i++) {
                assert_true((long double)u[i] == ((long double)(w[i] >> 12) + 0.5L) * 0x1p-52L);
                assert_true(u[i] > 0 && u[i] < 1);
            }
        }
    }
    for (uint64_t i = 0; i < 1000; i++) {
        const hspec_stream stream = {{mix(&s), mix(&s)}};
        uint64_t words[2];
        reference_words(stream.key, i, 7, words);
        assert_true((long double)hspec_random_uniform(stream, i, 7) ==
                    ((long double)(words[0] >> 12) + 0.5L) * 0x1p-52L);
    }
    hspec_memory_free(w);
    hspec_memory_free(u);
}

/* ---- normals --------------------------------------------------------------------------------------------------------- */

/* Box-Muller as core/normal.h states it. */
static void reference_normals(const uint64_t key[2], uint64_t c0, uint64_t c1, long double out[2])
{
    uint64_t w[2];
    reference_words(key, c0, c1, w);
    const long double u = ((long double)(w[0] >> 12) + 0.5L) * 0x1p-52L;
    const long double phi = PI / 2 * (((long double)(w[1] >> 12) + 0.5L) * 0x1p-52L - 0.5L);
    const long double r = sqrtl(-2 * logl(u)), x = (w[1] & 1 ? -r : r) * cosl(phi), y = r * sinl(phi);
    out[0] = w[1] & 2 ? y : x;
    out[1] = w[1] & 2 ? x : y;
}

/* The same in single precision, from the lower (half 0) or the upper 32 bits of both words. */
static void reference_normals_single(const uint64_t key[2], uint64_t c0, uint64_t c1, int half, long double out[2])
{
    uint64_t w[2];
    reference_words(key, c0, c1, w);
    const uint32_t a = (uint32_t)(w[0] >> (32 * half)), b = (uint32_t)(w[1] >> (32 * half));
    const float u = (float)(a >> 1) * 0x1p-31F + 0x1p-32F;
    const float turn = (float)(int32_t)b * 0x1p-34F;
    const long double phi = 2 * PI * turn, r = sqrtl(-2 * logl(u));
    const long double x = (b & 1 ? -r : r) * cosl(phi), y = r * sinl(phi);
    out[0] = b & 2 ? y : x;
    out[1] = b & 2 ? x : y;
}

static const size_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 1000};

static size_t with_room(size_t n)
{
    return (n + HSPEC_NORMALS_GRAIN - 1) / HSPEC_NORMALS_GRAIN * HSPEC_NORMALS_GRAIN;
}

/* Block by block of 8 counters: first the first normals of all eight, then the second ones. */
static void test_normals(void **state)
{
    (void)state;
    uint64_t s = 4;
    for (int level = 0; level < levels_here(); level++) {
        for (size_t k = 0; k < COUNT(sizes); k++) {
            const size_t n = sizes[k];
            double *x = hspec_memory_alloc(with_room(n), sizeof *x);
            assert_non_null(x);
            const hspec_stream stream = {{mix(&s), mix(&s)}};
            const uint64_t c0 = mix(&s), c1 = k % 3 ? mix(&s) : UINT64_MAX - 3;
            ops_of(level)->normals(stream, c0, c1, x, n);
            for (size_t i = 0; i < n; i++) {
                long double wanted[2];
                reference_normals(stream.key, c0, c1 + i / 16 * 8 + i % 8, wanted);
                const long double error = fabsl(x[i] - wanted[i % 16 / 8]);
                if (!(error <= 8e-16L * hypotl(wanted[0], wanted[1]))) {
                    fail_msg("%s: normal %zu of %zu is %.17g, not %.17Lg", level_names[level], i, n, x[i],
                             wanted[i % 16 / 8]);
                }
            }
            hspec_memory_free(x);
        }
    }
}

static void test_normals_single(void **state)
{
    (void)state;
    uint64_t s = 5;
    for (int level = 0; level < levels_here(); level++) {
        for (size_t k = 0; k < COUNT(sizes); k++) {
            const size_t n = sizes[k];
            float *x = hspec_memory_alloc(with_room(n), sizeof *x);
            assert_non_null(x);
            const hspec_stream stream = {{mix(&s), mix(&s)}};
            const uint64_t c0 = mix(&s), c1 = mix(&s);
            ops_of(level)->normals_single(stream, c0, c1, x, n);
            for (size_t i = 0; i < n; i++) {
                long double wanted[2];
                reference_normals_single(stream.key, c0, c1 + i / 32 * 8 + i % 16 / 2, (int)(i % 2), wanted);
                const long double error = fabsl(x[i] - wanted[i % 32 / 16]);
                if (!(error <= 4e-7L * hypotl(wanted[0], wanted[1]))) {
                    fail_msg("%s: single normal %zu of %zu is %.9g, not %.9Lg", level_names[level], i, n, (double)x[i],
                             wanted[i % 32 / 16]);
                }
            }
            hspec_memory_free(x);
        }
    }
}

/* Each lane has its own stream; a counter gives two numbers that follow each other. */
static void test_lane_normals(void **state)
{
    (void)state;
    uint64_t *keys = hspec_memory_alloc(2 * HSPEC_W, sizeof *keys);
    assert_non_null(keys);
    uint64_t s = 6;
    for (int level = 0; level < levels_here(); level++) {
        for (size_t n = 1; n <= 40; n++) {
            double *x = hspec_memory_alloc((n + 4) * HSPEC_W, sizeof *x);
            assert_non_null(x);
            lane_keys(keys, &s);
            const uint64_t c0 = mix(&s), c1 = mix(&s);
            ops_of(level)->lane_normals(keys, c0, c1, x, n);
            for (size_t i = 0; i < n; i++) {
                for (size_t lane = 0; lane < HSPEC_W; lane++) {
                    const uint64_t key[2] = {keys[lane], keys[HSPEC_W + lane]};
                    long double wanted[2];
                    reference_normals(key, c0, c1 + i / 2, wanted);
                    const long double error = fabsl(x[i * HSPEC_W + lane] - wanted[i % 2]);
                    if (!(error <= 8e-16L * hypotl(wanted[0], wanted[1]))) {
                        fail_msg("%s: normal %zu of %zu in lane %zu is %.17g, not %.17Lg", level_names[level], i, n,
                                 lane, x[i * HSPEC_W + lane], wanted[i % 2]);
                    }
                }
            }
            hspec_memory_free(x);
        }
    }
    hspec_memory_free(keys);
}

/* ---- chi-squared ----------------------------------------------------------------------------------------------------- */

/* One attempt: its value, and its threshold ln u = d (3/2 t^2 - 3 t - t^3 + 3 ln(1 + t)) approached from both sides. The
 * threshold suffers from cancellation at small t, where the code changes to a series: hence long double, and a margin
 * that covers its rounding. */
static void test_chi2_try(void **state)
{
    (void)state;
    const double degrees[] = {2, 3, 5, 10, 100, 1e3, 1e4, 1e6, 1e9};
    const long double epsilon = levels_long_double() ? LDBL_EPSILON : DBL_EPSILON;
    size_t decided = 0;
    for (size_t k = 0; k < COUNT(degrees); k++) {
        for (int i = -600; i <= 600; i++) {
            const double x = 0.01 * i + 0.003;
            const long double d = 0.5L * degrees[k] - 1.0L / 3, t = x / sqrtl(9 * d);
            double value = -1;
            if (t <= -1) {
                assert_int_equal(hspec_random_chi2_try(degrees[k], x, 1e-300, &value), 0);
                continue;
            }
            const long double f = d * (1.5L * t * t - 3 * t - t * t * t + 3 * log1pl(t));
            const long double margin = 1e-9L * fabsl(f) + 4 * epsilon * d * fabsl(3 * t) + 2 * DBL_EPSILON;
            const double below = (double)expl(f - margin), above = (double)expl(f + margin);
            if (below > 0) {
                assert_int_equal(hspec_random_chi2_try(degrees[k], x, below, &value), 1);
                const long double exact = 2 * d * (1 + t) * (1 + t) * (1 + t);
                assert_true(fabsl(value - exact) <= 8 * DBL_EPSILON * exact * (1 + fabsl(t) / (1 + t)));
                decided++;
            }
            if (above < 1) {
                assert_int_equal(hspec_random_chi2_try(degrees[k], x, above, &value), 0);
                decided++;
            }
        }
    }
    assert_true(decided > 14000);
}

static void test_chi2_edges(void **state)
{
    (void)state;
    const hspec_stream stream = hspec_random_stream(1, 1, HSPEC_PURPOSE_START);
    assert_true(hspec_random_chi2(stream, 0, 0, 0) == 0);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t words[2];
        reference_words(stream.key, 3, i, words);
        const long double u = ((long double)(words[0] >> 12) + 0.5L) * 0x1p-52L;
        const long double v = ((long double)(words[1] >> 12) + 0.5L) * 0x1p-52L;
        const long double square = -2 * logl(u) * cosl(2 * PI * v) * cosl(2 * PI * v);
        const double one = hspec_random_chi2(stream, 3, i, 1);
        assert_true(fabsl(one - square) <= 1e-14L * (1 + square));
        /* What a counter gives does not depend on what was asked before. */
        assert_true(hspec_random_chi2(stream, 3, i, 1e12) == hspec_random_chi2(stream, 3, i, 1e12));
        assert_true(hspec_random_chi2(stream, 3, i, 2) > 0 && one >= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),        cmocka_unit_test(test_lane_words), cmocka_unit_test(test_streams),
        cmocka_unit_test(test_uniform),      cmocka_unit_test(test_normals),    cmocka_unit_test(test_normals_single),
        cmocka_unit_test(test_lane_normals), cmocka_unit_test(test_chi2_try),   cmocka_unit_test(test_chi2_edges),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
