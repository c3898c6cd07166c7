/* SPDX-License-Identifier: MIT
 * The Bartlett factor: number by number against its definition, and in law against chi-squared and against matrices of
 * normals. Level: 1e-4 for everything together (family.h). */
#include "unit/family.h"

#include "core/random.h"
#include "unit/core_ops.h"
#include "unit/levels.h"

#include <float.h>
#include <string.h>

/* A factor, and what a draw of it takes. */
typedef struct factor {
    hspec_bartlett b;
    uint64_t *keys; /* [2][W] */
    double *normals, *A;
    uint64_t *words;
    hspec_arena arena;
} factor;

static void factor_layout(factor *f, size_t order, double degrees)
{
    hspec_bartlett_layout(&f->b, order, degrees, &f->arena);
    f->keys = hspec_arena_take(&f->arena, 2 * HSPEC_W, sizeof *f->keys);
    f->normals = hspec_arena_doubles(&f->arena, (f->b.normals + 4) * HSPEC_W);
    f->words = hspec_arena_take(&f->arena, (f->b.words + 4) * HSPEC_W, sizeof *f->words);
    f->A = hspec_arena_doubles(&f->arena, order * f->b.columns * HSPEC_W);
}

static factor factor_make(size_t order, double degrees, uint64_t seed)
{
    factor f = {0};
    factor_layout(&f, order, degrees);
    hspec_error err;
    if (hspec_arena_commit(&f.arena, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    factor_layout(&f, order, degrees);
    hspec_bartlett_fill(&f.b);
    for (size_t w = 0; w < HSPEC_W; w++) {
        const hspec_stream stream = hspec_random_stream(seed, w + 1, HSPEC_PURPOSE_REDUCED);
        f.keys[w] = stream.key[0];
        f.keys[HSPEC_W + w] = stream.key[1];
    }
    return f;
}

enum { EXACT = 1 << 30, WORDS = 1 << 29 }; /* places of the counters, as an engine would choose them */

static void factor_draw(factor *f, int level, uint64_t step)
{
    const hspec_random_ops *random = HSPEC_PICK(hspec_random_ops_table, (hspec_level)level);
    random->lane_normals(f->keys, step, 0, f->normals, f->b.normals);
    random->lane_words(f->keys, step, WORDS, f->words, f->b.words);
    HSPEC_PICK(core_ops_table, (hspec_level)level)->bartlett(&f->b, f->keys, step, EXACT, f->normals, f->words, f->A);
}

static uint64_t bits_of(const factor *f, size_t j, size_t lane)
{
    return f->words[j / 3 * HSPEC_W + lane] >> (21 * (j % 3)) & 0x1fffff;
}

/* ---- shape ----------------------------------------------------------------------------------------------------------- */

static void test_layout(void **state)
{
    (void)state;
    const struct {
        size_t order;
        double degrees;
        size_t columns, normals, words;
    } cases[] = {{1, 0, 0, 0, 0}, {3, 0, 0, 0, 0},  {3, 1, 1, 3, 1},     {3, 2, 2, 5, 1}, {3, 3, 3, 6, 1},
                 {3, 4, 3, 6, 1}, {4, 4, 4, 10, 2}, {7, 1e12, 7, 28, 3}, {5, 2, 2, 9, 1}, {1, 1e12, 1, 1, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        hspec_bartlett b;
        hspec_arena arena = {0};
        hspec_bartlett_layout(&b, cases[k].order, cases[k].degrees, &arena);
        assert_int_equal(b.order, cases[k].order);
        assert_int_equal(b.columns, cases[k].columns);
        assert_int_equal(b.normals, cases[k].normals);
        assert_int_equal(b.words, cases[k].words);
        assert_true(b.degrees == cases[k].degrees && b.d == NULL);
    }
}

/* ---- number by number ------------------------------------------------------------------------------------------------ */

/* The square of diagonal entry j, written down again from the definition; *slow: the 21 bits did not decide. */
static double reference_chi2(const factor *f, uint64_t step, size_t j, size_t lane, int *slow)
{
    const double x = f->normals[j * HSPEC_W + lane], degrees = f->b.degrees - (double)j;
    *slow = 0;
    if (degrees < 2) {
        return x * x;
    }
    const double bits = (double)bits_of(f, j, lane), d = 0.5 * degrees - 1.0 / 3, t = x / sqrt(9 * d);
    const double promised = 1 - x * x * x * x / (54 * d), upper = (bits + 1) * 0x1p-21;
    if (fabs(upper - promised) < 1e-12 || fabs(fabs(t) - 0.5) < 1e-12) {
        *slow = -1; /* on the edge: rounding decides, and both ways are right */
    } else {
        *slow = upper > promised || fabs(t) > 0.5;
    }
    const hspec_stream stream = {{f->keys[lane], f->keys[HSPEC_W + lane]}};
    const uint64_t place = EXACT + j * HSPEC_BARTLETT_COUNTERS;
    const double u = (bits + hspec_random_uniform(stream, step, place)) * 0x1p-21;
    double value;
    /* Where the fast test is sure, so is the exact one. */
    if (hspec_random_chi2_try(degrees, x, u, &value)) {
        return value;
    }
    return hspec_random_chi2(stream, step, place + 1, degrees);
}

static void test_numbers(void **state)
{
    (void)state;
    const double degrees[] = {1, 2, 3, 4, 5, 7, 8, 10, 30, 1000, 1e6, 1e12};
    const size_t orders[] = {1, 2, 3, 7, 8};
    size_t slow_paths = 0, fast_paths = 0;
    for (int level = 0; level < levels_here(); level++) {
        for (size_t n = 0; n < sizeof degrees / sizeof *degrees; n++) {
            for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
                factor f = factor_make(orders[o], degrees[n], 10 * n + o);
                const size_t K = f.b.columns;
                for (uint64_t step = 0; step < family_size(3200); step++) {
                    factor_draw(&f, level, step);
                    if (step % 4 == 3) { /* all ones: the fast test can never be sure */
                        memset(f.words, 0xff, f.b.words * HSPEC_W * sizeof *f.words);
                        HSPEC_PICK(core_ops_table, (hspec_level)level)
                            ->bartlett(&f.b, f.keys, step, EXACT, f.normals, f.words, f.A);
                    }
                    for (size_t lane = 0; lane < HSPEC_W; lane++) {
                        for (size_t j = 0; j < K; j++) {
                            int slow;
                            const double chi2 = reference_chi2(&f, step, j, lane, &slow);
                            const double found = f.A[(j * K + j) * HSPEC_W + lane];
                            if (!(fabs(found - sqrt(chi2)) <= 1e-13 * (1 + sqrt(chi2)))) {
                                fail_msg("%s: A[%zu][%zu] of order %zu at %g degrees is %.17g, not %.17g",
                                         level_names[level], j, j, f.b.order, degrees[n], found, sqrt(chi2));
                            }
                            slow_paths += slow == 1;
                            fast_paths += slow == 0;
                        }
                        size_t next = K; /* the entries below the diagonal, row by row, from the normals that follow */
                        for (size_t i = 0; i < f.b.order; i++) {
                            for (size_t j = 0; j < i && j < K; j++, next++) {
                                assert_true(f.A[(i * K + j) * HSPEC_W + lane] == f.normals[next * HSPEC_W + lane]);
                            }
                        }
                        assert_int_equal(next, f.b.normals);
                    }
                }
                hspec_arena_free(&f.arena);
            }
        }
    }
    printf("  the fast test decided %zu times, the exact path %zu times\n", fast_paths, slow_paths);
    assert_true(slow_paths > fast_paths / 20 && fast_paths > slow_paths);
}

/* ---- law ------------------------------------------------------------------------------------------------------------- */

static void test_diagonal(void **state)
{
    (void)state;
    const double degrees[] = {1, 2, 3, 5, 10, 1000, 1e6, 1e12};
    enum { ORDER = 4 };
    const size_t draws = family_size(8192), n = draws * HSPEC_W;
    double *x[ORDER], *below = hspec_memory_alloc(n, sizeof(double));
    for (size_t j = 0; j < ORDER; j++) {
        x[j] = hspec_memory_alloc(n, sizeof(double));
        assert_non_null(x[j]);
    }
    assert_non_null(below);
    for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++) {
        factor f = factor_make(ORDER, degrees[k], 100 + k);
        const size_t K = f.b.columns;
        for (size_t step = 0; step < draws; step++) {
            factor_draw(&f, (int)hspec_cpu_level(), step);
            for (size_t lane = 0; lane < HSPEC_W; lane++) {
                for (size_t j = 0; j < K; j++) {
                    const double a = f.A[(j * K + j) * HSPEC_W + lane];
                    assert_true(a >= 0);
                    x[j][step * HSPEC_W + lane] = a * a;
                }
                below[step * HSPEC_W + lane] = f.A[(ORDER - 1) * K * HSPEC_W + lane];
            }
        }
        for (size_t j = 0; j < K; j++) {
            char label[60];
            snprintf(label, sizeof label, "diagonal entry %zu of %g degrees", j, degrees[k]);
            family_check_chi2(x[j], n, degrees[k] - (double)j, label);
            family_check(stats_correlation(x[j], below, n).p, "%s and the entry below", label);
            for (size_t i = 0; i < j; i++) {
                family_check(stats_correlation(x[i], x[j], n).p, "%s and entry %zu", label, i);
            }
        }
        family_check(family_normal(below, n), "entry below, %g degrees", degrees[k]);
        hspec_arena_free(&f.arena);
    }
    for (size_t j = 0; j < ORDER; j++) {
        hspec_memory_free(x[j]);
    }
    hspec_memory_free(below);
}

/* A A^T against the Gram matrix of order x degrees unit normals: each entry, and the form z^T A A^T z for a fixed z, which
 * sees how the entries hang together. */
static void test_wishart(void **state)
{
    (void)state;
    enum { ORDER = 3, FORMS = 8 };
    static const double z[FORMS][ORDER] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},  {1, 1, 0},
                                           {1, 0, -1}, {0, 1, -1}, {1, -2, 1}, {1, 1, 1}};
    const size_t degrees[] = {1, 2, 3, 4, 7};
    const size_t draws = family_size(4096), n = draws * HSPEC_W;
    double *found[FORMS], *wanted[FORMS];
    for (size_t i = 0; i < FORMS; i++) {
        found[i] = hspec_memory_alloc(n, sizeof(double));
        wanted[i] = hspec_memory_alloc(n, sizeof(double));
        assert_true(found[i] && wanted[i]);
    }
    for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++) {
        factor f = factor_make(ORDER, (double)degrees[k], 200 + k);
        factor other = factor_make(ORDER * 7, 1e3, 300 + k); /* only its normals are used */
        const size_t K = f.b.columns;
        for (size_t step = 0; step < draws; step++) {
            factor_draw(&f, (int)hspec_cpu_level(), step);
            factor_draw(&other, (int)hspec_cpu_level(), step);
            for (size_t lane = 0; lane < HSPEC_W; lane++) {
                for (size_t i = 0; i < FORMS; i++) {
                    double a = 0, b = 0;
                    for (size_t j = 0; j < degrees[k]; j++) { /* column by column: (z^T A_j)^2 */
                        double in_a = 0, in_b = 0;
                        for (size_t h = 0; h < ORDER; h++) {
                            in_a += j < K && j <= h ? z[i][h] * f.A[(h * K + j) * HSPEC_W + lane] : 0;
                            in_b += z[i][h] * other.normals[(h * degrees[k] + j) * HSPEC_W + lane];
                        }
                        a += in_a * in_a;
                        b += in_b * in_b;
                    }
                    found[i][step * HSPEC_W + lane] = a;
                    wanted[i][step * HSPEC_W + lane] = b;
                }
            }
        }
        for (size_t i = 0; i < FORMS; i++) {
            family_check(stats_ks_two(found[i], n, wanted[i], n).p, "form %zu, %zu degrees: law", i, degrees[k]);
            family_check(stats_welch(found[i], n, wanted[i], n).p, "form %zu, %zu degrees: mean", i, degrees[k]);
            family_check(stats_brown_forsythe(found[i], n, wanted[i], n).p, "form %zu, %zu degrees: variance", i,
                         degrees[k]);
        }
        hspec_arena_free(&f.arena);
        hspec_arena_free(&other.arena);
    }
    for (size_t i = 0; i < FORMS; i++) {
        hspec_memory_free(found[i]);
        hspec_memory_free(wanted[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_wishart),
    };
    return cmocka_run_group_tests_name("bartlett", tests, NULL, family_report);
}
