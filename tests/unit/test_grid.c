/* SPDX-License-Identifier: MIT
 * The record grid: places, ends, and that no two rows fall together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sgd/grid.h"

#include <math.h>
#include <stdlib.h>

enum { RECORDS_MAX = 3000 };

static uint64_t step[RECORDS_MAX + 1];

static void assert_rising(uint64_t steps, size_t records)
{
    assert_true(step[0] == 0 && step[records] == steps);
    for (size_t k = 1; k <= records; k++) {
        if (step[k] <= step[k - 1]) {
            fail_msg("%zu records of %llu steps: row %zu stands at %llu after %llu", records, (unsigned long long)steps,
                     k, (unsigned long long)step[k], (unsigned long long)step[k - 1]);
        }
    }
}

/* round(k steps / records) with halves upward, in whole numbers. */
static void test_linear(void **state)
{
    (void)state;
    for (uint64_t steps = 1; steps <= 700; steps++) {
        for (size_t records = 1; records <= steps; records++) {
            hspec_grid_fill(steps, records, HSPEC_SPACING_LINEAR, step);
            assert_rising(steps, records);
            for (size_t k = 0; k <= records; k++) {
                const uint64_t wanted = (2 * k * steps + records) / (2 * records);
                if (step[k] != wanted) {
                    fail_msg("%zu records of %d steps: row %zu stands at %d, not %d", records, (int)steps, k,
                             (int)step[k], (int)wanted);
                }
            }
        }
    }
    /* The default grid of the first experiment: even. */
    hspec_grid_fill(400000, 200, HSPEC_SPACING_LINEAR, step);
    for (size_t k = 0; k <= 200; k++) {
        assert_true(step[k] == 2000 * k);
    }
    /* As many steps as a double counts: the place of row k is exact. */
    const uint64_t most = UINT64_C(1) << 53;
    hspec_grid_fill(most, RECORDS_MAX, HSPEC_SPACING_LINEAR, step);
    assert_rising(most, RECORDS_MAX);
    assert_true(step[1000] == (most + 1) / 3 && step[1500] == most / 2);
}

static void test_log(void **state)
{
    (void)state;
    const uint64_t steps[] = {1, 2, 3, 7, 100, 9999, 10000, 10001, 400000, UINT64_C(1) << 53};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (size_t records = 1; records <= RECORDS_MAX && records <= steps[i]; records += records < 50 ? 1 : 37) {
            hspec_grid_fill(steps[i], records, HSPEC_SPACING_LOG, step);
            assert_rising(steps[i], records);
            const double first = fmax(1, (double)steps[i] * 1e-4);
            if (records > 1) {
                /* Row 1 begins the geometric row; the others follow it but where whole numbers are too few. */
                assert_true(fabs((double)step[1] - first) <= 0.5 || (double)(steps[i] - records + 1) < first);
            }
            for (size_t k = 1; k <= records && records > 1; k++) {
                const double place = first * pow((double)steps[i] / first, (double)(k - 1) / (double)(records - 1));
                const double off = fabs((double)step[k] - place);
                const int crowded =
                    place < 2 * (double)records * (double)records || (double)records > 0.1 * (double)steps[i];
                assert_true(off <= 0.501 + 1e-12 * place || crowded);
            }
        }
    }
    /* Ratios of neighbours are equal. */
    hspec_grid_fill(10000000, 5, HSPEC_SPACING_LOG, step);
    const uint64_t wanted[] = {0, 1000, 10000, 100000, 1000000, 10000000};
    for (size_t k = 0; k <= 5; k++) {
        assert_true(step[k] == wanted[k]);
    }
    /* One record is the end; every step a record is every step. */
    hspec_grid_fill(1000, 1, HSPEC_SPACING_LOG, step);
    assert_true(step[1] == 1000);
    hspec_grid_fill(1000, 1000, HSPEC_SPACING_LOG, step);
    for (size_t k = 0; k <= 1000; k++) {
        assert_true(step[k] == k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_log),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
