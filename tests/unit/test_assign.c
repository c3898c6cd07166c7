/* SPDX-License-Identifier: MIT
 * Assignment against all permutations, and at sizes where only the optimality conditions can be checked. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study/assign.h"

static uint64_t state = 1;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

/* The least cost of pairing rows row..n-1 with the columns that are not used yet. */
static double brute_force(size_t n, const double *cost, size_t row, unsigned used)
{
    if (row == n) {
        return 0.0;
    }
    double best = INFINITY;
    for (size_t j = 0; j < n; j++) {
        if (!(used & (1u << j))) {
            best = fmin(best, cost[row * n + j] + brute_force(n, cost, row + 1, used | (1u << j)));
        }
    }
    return best;
}

static void solve(size_t n, const double *cost, size_t *column, double *total)
{
    hspec_assign *assign = NULL;
    hspec_error err = {0};
    assert_int_equal(hspec_assign_create(n, &assign, &err), HSPEC_OK);
    assert_int_equal(hspec_assign_solve(assign, n, cost, column, total, &err), HSPEC_OK);
    hspec_assign_free(assign);
    unsigned char seen[512] = {0};
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        assert_true(column[i] < n);
        assert_false(seen[column[i]]);
        seen[column[i]] = 1;
        sum += cost[i * n + column[i]];
    }
    assert_true(fabs(sum - *total) <= 1e-12 * (1.0 + fabs(sum)));
}

static void test_against_brute_force(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < 400; trial++) {
        size_t n = 1 + (size_t)(trial % 7);
        double cost[49];
        for (size_t i = 0; i < n * n; i++) {
            /* Every other problem has few distinct costs, hence many ties; negative costs are allowed. */
            cost[i] = (trial % 2) ? floor(4.0 * uniform()) - 2.0 : 10.0 * uniform() - 5.0;
        }
        size_t column[7];
        double total = 0.0;
        solve(n, cost, column, &total);
        double best = brute_force(n, cost, 0, 0);
        assert_true(fabs(total - best) <= 1e-12 * (1.0 + fabs(best)));
    }
}

static void test_planted_permutation(void **unused)
{
    (void)unused;
    enum { N = 300 };
    double *cost = malloc(N * N * sizeof(double));
    size_t planted[N], column[N];
    assert_non_null(cost);
    for (size_t i = 0; i < N; i++) {
        planted[i] = i;
    }
    for (size_t i = N - 1; i > 0; i--) {
        size_t j = (size_t)(uniform() * (double)(i + 1));
        size_t swap = planted[i];
        planted[i] = planted[j];
        planted[j] = swap;
    }
    /* Shifts of whole rows and columns change the cost but not the best permutation. */
    double *shift = malloc(2 * N * sizeof(double));
    assert_non_null(shift);
    for (size_t i = 0; i < 2 * N; i++) {
        shift[i] = 100.0 * uniform();
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            cost[i * N + j] = shift[i] + shift[N + j] + (planted[i] == j ? 0.0 : 1e-3 + uniform());
        }
    }
    double total = 0.0;
    solve(N, cost, column, &total);
    assert_memory_equal(column, planted, sizeof planted);
    free(cost);
    free(shift);
}

static void test_bad_arguments(void **unused)
{
    (void)unused;
    hspec_assign *assign = NULL;
    hspec_error err = {0};
    assert_int_equal(hspec_assign_create(0, &assign, &err), HSPEC_EARG);
    assert_null(assign);
    assert_int_equal(hspec_assign_create(2, &assign, &err), HSPEC_OK);
    double cost[9] = {1.0, 2.0, NAN, 4.0};
    size_t column[3] = {7, 7, 7};
    double total = 7.0;
    assert_int_equal(hspec_assign_solve(assign, 2, cost, column, &total, &err), HSPEC_ENONFINITE);
    assert_non_null(strstr(err.message, "row 1, column 0"));
    cost[2] = INFINITY;
    assert_int_equal(hspec_assign_solve(assign, 2, cost, column, &total, &err), HSPEC_ENONFINITE);
    assert_int_equal(hspec_assign_solve(assign, 3, cost, column, &total, &err), HSPEC_EARG);
    assert_int_equal(hspec_assign_solve(assign, 0, cost, column, &total, &err), HSPEC_EARG);
    assert_int_equal(column[0], 7);
    assert_true(total == 7.0);
    hspec_assign_free(assign);
    hspec_assign_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_planted_permutation),
        cmocka_unit_test(test_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
