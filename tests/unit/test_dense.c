/* SPDX-License-Identifier: MIT
 * The LQ decomposition, scalar and in lanes, and the root of a positive semidefinite matrix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/dense.h"
#include "core/memory.h"
#include "unit/core_ops.h"
#include "unit/levels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_MAX = 70, M_MAX = 140 };

static double uniform(uint64_t *s)
{
    *s += 0x9E3779B97F4A7C15U;
    uint64_t z = *s;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *s)
{
    const double radius = sqrt(-2.0 * log(uniform(s)));
    return radius * cos(6.283185307179586477 * uniform(s));
}

/* ---- LQ -------------------------------------------------------------------------------------------------------------- */

/* What is special about a matrix. */
typedef enum shape {
    PLAIN,
    COINCIDING, /* every row equals the first */
    TWINS,      /* rows in equal pairs */
    RANK_ONE,   /* every row a multiple of the first */
    ZERO,
    ZERO_ROWS,   /* every second row 0 */
    ZERO_COLUMN, /* the first column 0 */
    HEADS_ONLY,  /* nothing to the right of the diagonal */
    GRADED,      /* row i times 10^(-7 i), down to 1e-300 and below */
    TINY,        /* rows of 1e-150 */
    TINIER,      /* rows of 1e-300 */
    LARGE,       /* rows of 1e100 */
    ONE_TINY,    /* the first row 1e-90, the others 1 */
    SHAPES
} shape;

static void draw(shape kind, size_t n, size_t m, double *A, uint64_t *s)
{
    for (size_t i = 0; i < n; i++) {
        const double grade = kind == GRADED     ? pow(10, -7.0 * (double)i)
                             : kind == TINY     ? 1e-150
                             : kind == TINIER   ? 1e-300
                             : kind == LARGE    ? 1e100
                             : kind == ONE_TINY ? (i == 0 ? 1e-90 : 1)
                                                : 1;
        const double factor = normal(s);
        for (size_t j = 0; j < m; j++) {
            double x = normal(s) * grade;
            if (i > 0 && (kind == COINCIDING || (kind == TWINS && i % 2))) {
                x = A[(i - 1) * m + j];
            } else if (i > 0 && kind == RANK_ONE) {
                x = factor * A[j];
            } else if (kind == ZERO || (kind == ZERO_ROWS && i % 2 == 0) || (kind == ZERO_COLUMN && j == 0) ||
                       (kind == HEADS_ONLY && j > i)) {
                x = 0;
            }
            A[i * m + j] = x;
        }
    }
}

static double norm(const double *x, size_t m)
{
    double largest = 0, sum = 0;
    for (size_t j = 0; j < m; j++) {
        largest = fmax(largest, fabs(x[j]));
    }
    for (size_t j = 0; j < m && largest > 0; j++) {
        sum += x[j] / largest * (x[j] / largest);
    }
    return largest * sqrt(sum);
}

/* (x . y) / (|x| |y|), also where the product itself has no double; 0 if one of them is 0. */
static double cosine(const double *x, const double *y, size_t m)
{
    const double a = norm(x, m), b = norm(y, m);
    double sum = 0;
    for (size_t j = 0; j < m && a > 0 && b > 0; j++) {
        sum += x[j] / a * (y[j] / b);
    }
    return sum;
}

/* L L^T = A A^T, row by row relative to the norms of the rows: with that L = A Q^T for an orthonormal Q. Numbers below
 * 1e-100 may count as zero. @param L [n][stride], of which the lower trapezoid counts */
static void assert_factor(const char *who, shape kind, size_t n, size_t m, const double *A, const double *L,
                          size_t stride)
{
    static double rows[N_MAX][M_MAX];
    const size_t K = n < m ? n : m;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < K; j++) {
            rows[i][j] = j <= i ? L[i * stride + j] : 0;
            if (!isfinite(rows[i][j])) {
                fail_msg("%s, shape %d, %zu x %zu: L[%zu][%zu] is %g", who, (int)kind, n, m, i, j, rows[i][j]);
            }
        }
    }
    const double rounding = 8 * DBL_EPSILON * (double)(n + m);
    for (size_t i = 0; i < n; i++) {
        const double a = norm(A + i * m, m), length = norm(rows[i], K);
        if (fabs(length - a) > rounding * a + 1e-99) {
            fail_msg("%s, shape %d, %zu x %zu: row %zu has length %.17g, not %.17g", who, (int)kind, n, m, i, length,
                     a);
        }
        for (size_t k = 0; k < i; k++) {
            const double b = norm(A + k * m, m);
            if (a < 1e-99 || b < 1e-99) {
                continue; /* the length of the short one was all there is to say */
            }
            const double found = cosine(rows[i], rows[k], K), wanted = cosine(A + i * m, A + k * m, m);
            if (fabs(found - wanted) > rounding) {
                fail_msg("%s, shape %d, %zu x %zu: rows %zu and %zu have cosine %.17g, not %.17g", who, (int)kind, n, m,
                         k, i, found, wanted);
            }
        }
    }
}

static const struct {
    size_t n, m;
} sizes[] = {{1, 1}, {1, 2}, {1, 9},  {2, 1},  {2, 2},   {3, 3},    {3, 6},   {3, 8},  {8, 3},
             {5, 4}, {4, 5}, {6, 12}, {16, 1}, {1, 140}, {64, 128}, {64, 66}, {40, 20}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void test_lq_scalar(void **state)
{
    (void)state;
    static double A[N_MAX * M_MAX], L[N_MAX * (M_MAX + 3)], again[N_MAX * (M_MAX + 3)];
    uint64_t s = 1;
    for (size_t size = 0; size < SIZES; size++) {
        for (int kind = 0; kind < SHAPES; kind++) {
            const size_t n = sizes[size].n, m = sizes[size].m, stride = m + 3;
            draw((shape)kind, n, m, A, &s);
            for (size_t i = 0; i < n; i++) {
                memcpy(L + i * stride, A + i * m, m * sizeof *A);
                for (size_t j = m; j < stride; j++) {
                    L[i * stride + j] = -7.5;
                }
            }
            hspec_dense_lq(n, m, L, stride);
            assert_factor("scalar", (shape)kind, n, m, A, L, stride);
            for (size_t i = 0; i < n; i++) {
                for (size_t j = i + 1; j < m; j++) {
                    assert_true(L[i * stride + j] == 0); /* nothing is left above the diagonal */
                }
                for (size_t j = m; j < stride; j++) {
                    assert_true(L[i * stride + j] == -7.5); /* nor touched beyond the row */
                }
            }
            assert_true(L[0] == 0 || signbit(L[0]) == signbit(A[0]) || A[0] == 0);
            /* A triangular matrix is its own factor, exactly. */
            memcpy(again, L, n * stride * sizeof *L);
            hspec_dense_lq(n, m, again, stride);
            assert_memory_equal(again, L, n * stride * sizeof *L);
        }
    }
}

/* Lanes hold different matrices of different shapes; each must come out as if it were alone. */
static void test_lq_lanes(void **state)
{
    (void)state;
    static double A[HSPEC_W][N_MAX * M_MAX], L[N_MAX * M_MAX];
    double *X = hspec_memory_alloc((size_t)N_MAX * M_MAX * HSPEC_W, sizeof *X);
    double *same = hspec_memory_alloc((size_t)N_MAX * M_MAX * HSPEC_W, sizeof *X);
    assert_true(X && same);
    for (int level = 0; level < levels_here(); level++) {
        const core_ops *ops = HSPEC_PICK(core_ops_table, (hspec_level)level);
        uint64_t s = 2;
        for (size_t size = 0; size < SIZES; size++) {
            const size_t n = sizes[size].n, m = sizes[size].m;
            for (int round = 0; round < SHAPES; round++) {
                for (int lane = 0; lane < HSPEC_W; lane++) {
                    draw((shape)((round + lane * (1 + round % 3)) % SHAPES), n, m, A[lane], &s);
                    for (size_t i = 0; i < n * m; i++) {
                        X[i * HSPEC_W + (size_t)lane] = A[lane][i];
                    }
                }
                ops->lq(n, m, X);
                for (size_t lane = 0; lane < HSPEC_W; lane++) {
                    const shape kind = (shape)((round + (int)lane * (1 + round % 3)) % SHAPES);
                    for (size_t i = 0; i < n * m; i++) {
                        L[i] = X[i * HSPEC_W + lane];
                        for (size_t w = 0; w < HSPEC_W; w++) {
                            same[i * HSPEC_W + w] = A[lane][i];
                        }
                    }
                    assert_factor(level_names[level], kind, n, m, A[lane], L, m);
                    if (lane == (size_t)round % HSPEC_W) {
                        ops->lq(n, m, same);
                        for (size_t i = 0; i < n * m; i++) {
                            for (size_t w = 0; w < HSPEC_W; w++) {
                                assert_true(same[i * HSPEC_W + w] == L[i]);
                            }
                        }
                    }
                }
            }
        }
    }
    hspec_memory_free(X);
    hspec_memory_free(same);
}

/* The same matrix, scalar and in lanes: the same factor, also in its signs, where the problem is well conditioned. */
static void test_lq_agreement(void **state)
{
    (void)state;
    enum { N = 6, M = 12 };
    double A[N * M], *X = hspec_memory_alloc((size_t)N * M * HSPEC_W, sizeof *X);
    assert_non_null(X);
    for (int level = 0; level < levels_here(); level++) {
        for (uint64_t k = 0; k < 50; k++) {
            uint64_t s = 100 + k;
            draw(PLAIN, N, M, A, &s);
            for (size_t i = 0; i < (size_t)N * M * HSPEC_W; i++) {
                X[i] = A[i / HSPEC_W];
            }
            hspec_dense_lq(N, M, A, M);
            HSPEC_PICK(core_ops_table, (hspec_level)level)->lq(N, M, X);
            for (size_t i = 0; i < N; i++) {
                for (size_t j = 0; j <= i; j++) {
                    for (size_t w = 0; w < HSPEC_W; w++) {
                        assert_true(fabs(X[(i * M + j) * HSPEC_W + w] - A[i * M + j]) < 1e-13);
                    }
                }
            }
        }
    }
    hspec_memory_free(X);
}

/* ---- root ------------------------------------------------------------------------------------------------------------ */

/* The largest |S - R R^T| relative to the largest diagonal entry; R must be lower triangular, its diagonal >= 0. */
static double root_error(size_t n, const double *S, const double *R)
{
    double largest = 0, error = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, S[i * n + i]);
        assert_true(R[i * n + i] >= 0);
        for (size_t j = i + 1; j < n; j++) {
            assert_true(R[i * n + j] == 0);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = S[i * n + j];
            for (size_t k = 0; k < n; k++) {
                sum -= R[i * n + k] * R[j * n + k];
            }
            assert_true(isfinite(sum));
            error = fmax(error, fabs(sum));
        }
    }
    return largest > 0 ? error / largest : error;
}

static void test_root(void **state)
{
    (void)state;
    static double G[N_MAX * N_MAX], S[N_MAX * N_MAX], R[N_MAX * N_MAX];
    uint64_t s = 3;
    for (size_t n = 1; n <= 24; n += n < 6 ? 1 : 6) {
        for (size_t rank = 0; rank <= n; rank++) {
            for (int graded = 0; graded < 3; graded++) {
                for (size_t i = 0; i < n; i++) {
                    for (size_t k = 0; k < rank; k++) {
                        G[i * rank + k] = normal(&s) * (graded ? pow(10, -(double)(graded * (int)(i % 5))) : 1);
                    }
                }
                hspec_dense_gram(n, rank, G, S);
                for (size_t i = 0; i < n; i++) {
                    for (size_t j = i + 1; j < n; j++) {
                        assert_true(S[i * n + j] == S[j * n + i]);
                        S[i * n + j] = NAN; /* only the lower triangle is read */
                    }
                }
                assert_int_equal(hspec_dense_root(n, S, R), 0);
                assert_true(root_error(n, S, R) < 1e-13 * (double)n);
            }
        }
    }
}

/* A small pivot beside entries as large as its square root: leaving it out would lose them. */
static void test_root_small_pivots(void **state)
{
    (void)state;
    const double S[][4] = {{1e-14, 0, 0, 1},      {1e-13, 3e-7, 3e-7, 1},       {1e-20, 1e-10, 1e-10, 1},
                           {1e-300, 0, 0, 1},     {1, 1 - 1e-14, 1 - 1e-14, 1}, {1e300, 0, 0, 1},
                           {1e-300, 0, 0, 1e-300}};
    for (size_t k = 0; k < sizeof S / sizeof *S; k++) {
        double R[4];
        assert_int_equal(hspec_dense_root(2, S[k], R), 0);
        if (!(root_error(2, S[k], R) <= 2e-13)) {
            fail_msg("case %zu: R R^T is off by %g", k, root_error(2, S[k], R));
        }
    }
}

static void test_root_refuses(void **state)
{
    (void)state;
    double R[9];
    const struct {
        size_t n;
        double S[9];
        size_t row; /* counted from 1 */
    } cases[] = {
        {1, {-1}, 1},
        {1, {NAN}, 1},
        {1, {INFINITY}, 1},
        {2, {1, 2, 2, 1}, 2},
        {2, {0, 1, 1, 0}, 2},
        {2, {0, 1e-5, 1e-5, 1}, 1}, /* seen as soon as the larger pivot is used */
        {2, {0, 0, 0, -1}, 2},
        {2, {1, 0, 0, -1e-9}, 2},
        {2, {1, NAN, NAN, 1}, 2},
        {2, {1, 0, 0, NAN}, 2},
        {2, {1, 0, 0, INFINITY}, 2},
        {2, {NAN, 0, 0, 1}, 1},
        {3, {1, 0, 0, 0, 1, 1.001, 0, 1.001, 1}, 3},
        {3, {1, 1, 0, 1, 1, 0.1, 0, 0.1, 1}, 2}, /* coinciding rows that differ in the third column */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const size_t row = hspec_dense_root(cases[k].n, cases[k].S, R);
        if (row == 0 || row > cases[k].n) {
            fail_msg("case %zu was taken for positive semidefinite", k);
        }
        if (row != cases[k].row) {
            fail_msg("case %zu: refused at row %zu, not %zu", k, row, cases[k].row);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lq_scalar), cmocka_unit_test(test_lq_lanes),          cmocka_unit_test(test_lq_agreement),
        cmocka_unit_test(test_root),      cmocka_unit_test(test_root_small_pivots), cmocka_unit_test(test_root_refuses),
    };
    return cmocka_run_group_tests_name("dense", tests, NULL, NULL);
}
