/* SPDX-License-Identifier: MIT
 * Lattice points: their definition, the quantile behind the normals, and that they integrate better than random numbers,
 * at every instruction-set level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/lattice.h"
#include "core/memory.h"
#include "unit/core_ops.h"
#include "unit/levels.h"

#include <math.h>
#include <string.h>

enum { COORDINATES = HSPEC_LATTICE_COORDINATES + 3 };

static const hspec_lattice_ops *ops(int level)
{
    return HSPEC_PICK(hspec_lattice_ops_table, (hspec_level)level);
}

static hspec_lattice lattice(uint64_t seed, unsigned bits)
{
    return (hspec_lattice){hspec_random_stream(seed, 1, HSPEC_PURPOSE_NODES), bits};
}

/* frac(i z / N + shift), folded, by ordinary arithmetic; the 52-bit grid of the uniforms allows 2^-52. */
static void test_definition(void **state)
{
    (void)state;
    double *x = hspec_memory_alloc((size_t)COORDINATES * HSPEC_W, sizeof *x);
    for (int level = 0; level < levels_here(); level++) {
        for (unsigned bits = 3; bits <= 20; bits += 17) {
            const hspec_lattice l = lattice(7, bits);
            const uint64_t block = bits == 3 ? 0 : 77777;
            ops(level)->uniforms(&l, block, 0, COORDINATES, x);
            for (size_t j = 0; j < COORDINATES; j++) {
                for (size_t lane = 0; lane < HSPEC_W; lane++) {
                    const uint64_t i = block * HSPEC_W + lane;
                    uint64_t words[2];
                    double value;
                    if (j < HSPEC_LATTICE_COORDINATES) {
                        hspec_random_words(l.stream, j, 0, words);
                        const uint64_t N = UINT64_C(1) << bits;
                        value =
                            (double)(i * (hspec_lattice_vector[j] % N) % N) / (double)N + ldexp((double)words[0], -64);
                        value -= floor(value);
                    } else {
                        hspec_random_words(l.stream, j, i, words);
                        value = ldexp((double)words[0], -64);
                    }
                    assert_true(fabs(x[j * HSPEC_W + lane] - (1 - fabs(2 * value - 1))) < 0x1p-50);
                }
            }
        }
    }
    hspec_memory_free(x);
}

/* |Phi(x) - u| / phi(x) is the error of x. */
static void test_quantile(void **state)
{
    (void)state;
    _Alignas(HSPEC_ALIGN) double u[64 * HSPEC_W];
    _Alignas(HSPEC_ALIGN) double x[64 * HSPEC_W];
    for (int level = 0; level < levels_here(); level++) {
        double worst = 0, least = 0;
        for (uint64_t block = 0; block < (1U << 14); block++) {
            const hspec_lattice l = lattice(block % 5, 17);
            ops(level)->uniforms(&l, block, block % 5, 8, u);
            ops(level)->normals(&l, block, block % 5, 8, x);
            for (size_t i = 0; i < (size_t)8 * HSPEC_W; i++) {
                const double lower = fmin(u[i], 1 - u[i]), z = -fabs(x[i]);
                const double density = exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
                const double error = fabs(erfc(-z / sqrt(2)) / 2 - lower) / density;
                assert_true(x[i] * (u[i] - 0.5) >= 0);
                worst = fmax(worst, error / (1e-16 + fabs(z)));
                least = fmin(least, z);
            }
        }
        assert_true(least < -4.5); /* the tails were seen */
        assert_true(worst < 5e-15);
    }
}

/* Down to the smallest uniform, 2^-53, which points hardly ever reach, and far beyond. */
static void test_quantile_tail(void **state)
{
    (void)state;
    enum { N = 1 << 14 };
    double *u = hspec_memory_alloc(N, sizeof *u), *x = hspec_memory_alloc(N, sizeof *x);
    assert_true(u && x);
    for (size_t i = 0; i < N; i++) {
        u[i] = exp2(-1 - 999.0 * pow((double)i / N, 4)); /* a third of them above 2^-13, half above 2^-63 */
    }
    for (int level = 0; level < levels_here(); level++) {
        HSPEC_PICK(core_ops_table, (hspec_level)level)->quantile(u, x, N);
        for (size_t i = 0; i < N; i++) {
            const long double z = x[i], density = expl(-z * z / 2) / sqrtl(2 * 3.14159265358979323846264L);
            const double error = (double)((erfcl(-z / sqrtl(2)) / 2 - u[i]) / density);
            if (!(fabs(error) <= 2e-15 * fabs(x[i]) + 1e-18)) {
                fail_msg("%s: u = %a gives %.17g, off by %g", level_names[level], u[i], x[i], error);
            }
        }
    }
    hspec_memory_free(u);
    hspec_memory_free(x);
}

/* The mean of prod_j (1 + g_j (x_j^2 - 1)) cos-like parts: exactly 1 for normals. Errors fall much faster than with random
 * numbers, and the spread over randomizations is that of the errors. */
static double product_error(int level, uint64_t seed, unsigned bits, size_t n)
{
    const hspec_lattice l = lattice(seed, bits);
    _Alignas(HSPEC_ALIGN) double x[16 * HSPEC_W];
    double sum = 0;
    for (uint64_t block = 0; block < (UINT64_C(1) << bits) / HSPEC_W; block++) {
        ops(level)->normals(&l, block, 0, n, x);
        for (size_t lane = 0; lane < HSPEC_W; lane++) {
            double f = 1;
            for (size_t j = 0; j < n; j++) {
                const double z = x[j * HSPEC_W + lane];
                f *= 1 + (sin(z) + cos(z) - exp(-0.5)) / (double)(j + 1);
            }
            sum += f;
        }
    }
    return sum / (double)(UINT64_C(1) << bits) - 1;
}

static void test_integrates(void **state)
{
    (void)state;
    /* One standard deviation of the integrand: E (sin + cos - e^-1/2)^2 = 1 - e^-1 in each coordinate. */
    double variance = 1;
    for (int j = 1; j <= 12; j++) {
        variance *= 1 + (1 - exp(-1)) / (j * j);
    }
    const double deviation = sqrt(variance - 1);
    for (int level = 0; level < levels_here(); level++) {
        for (unsigned bits = 10; bits <= 14; bits += 4) {
            double squares = 0, mean = 0;
            for (uint64_t seed = 1; seed <= 16; seed++) {
                const double error = product_error(level, seed, bits, 12);
                squares += error * error / 16;
                mean += error / 16;
            }
            const double ratio = deviation / sqrt((double)(1U << bits)) / sqrt(squares);
            assert_true(ratio > (bits == 10 ? 4 : 10));       /* times less than with as many random points */
            assert_true(fabs(mean) < 4 * sqrt(squares / 16)); /* unbiased; 4 standard errors: 1e-4 a case */
        }
    }
}

static void test_bits(void **state)
{
    (void)state;
    assert_int_equal(hspec_lattice_bits(1), 3);
    assert_int_equal(hspec_lattice_bits(8), 3);
    assert_int_equal(hspec_lattice_bits(9), 4);
    assert_int_equal(hspec_lattice_bits(1e30), HSPEC_LATTICE_MAX_BITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition), cmocka_unit_test(test_quantile), cmocka_unit_test(test_quantile_tail),
        cmocka_unit_test(test_integrates), cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests_name("lattice", tests, NULL, NULL);
}
