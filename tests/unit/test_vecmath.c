/* SPDX-License-Identifier: MIT
 * exp, log, sin and cos of the lanes against long double: the largest error in units in the last place, at every
 * instruction-set level. The limits are those that core/vecmath.h and core/single.h promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/memory.h"
#include "unit/core_ops.h"
#include "unit/levels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.141592653589793238462643383279502884L

/* Arguments of one case: a multiple of the grain; under valgrind fewer. */
static size_t many(void)
{
    return getenv("HSPEC_VALGRIND") ? (size_t)1 << 12 : (size_t)1 << 18;
}

static uint64_t bits(uint64_t *s)
{
    *s += 0x9E3779B97F4A7C15U;
    uint64_t z = *s;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

static double between(double low, double high, uint64_t *s)
{
    return low + (high - low) * (((double)(bits(s) >> 11) + 0.5) * 0x1p-53);
}

/* |found - exact| in units of the last of `digits` binary digits of `exact`. */
static double ulps(long double found, long double exact, int digits)
{
    int exponent;
    (void)frexpl(exact, &exponent);
    return exact == 0 ? (found == 0 ? 0 : HUGE_VAL) : (double)(fabsl(found - exact) / ldexpl(1, exponent - digits));
}

/* ---- double precision ------------------------------------------------------------------------------------------------ */

typedef enum function { EXP, EXP_NONPOSITIVE, LOG, SINE, COSINE } function;

/* How arguments fill the interval: evenly, evenly in the logarithm of their distance from 0 or 1 (with both signs for 0),
 * or in clusters around the places where the reduction of exp jumps, (n + 1/2) ln 2. */
typedef enum filling { EVEN, NEAR_ZERO, NEAR_ONE, JUMPS, POWERS } filling;

typedef struct range {
    function f;
    filling how;
    double low, high;
    double limit; /* ulp */
} range;

static double argument(const range *r, size_t i, size_t n, uint64_t *s)
{
    switch (r->how) {
    case NEAR_ZERO: {
        const double x = exp2(between(-60, log2(r->high), s));
        return r->f == EXP_NONPOSITIVE || (r->low < 0 && bits(s) % 2) ? -x : x;
    }
    case NEAR_ONE:
        return 1 + (bits(s) % 2 ? 1 : -1) * exp2(between(-53, -1.1, s));
    case JUMPS:
        return (floor(between(r->low / M_LN2, r->high / M_LN2, s)) + 0.5) * M_LN2 * (1 + between(-1e-13, 1e-13, s));
    case POWERS:
        return exp2(between(r->low, r->high, s));
    default:
        if (i < 2) {
            return i ? r->high : r->low; /* the ends themselves */
        }
        return i % 2 ? between(r->low, r->high, s)
                     : r->low + (r->high - r->low) * ((double)i / (double)n); /* random and regular by turns */
    }
}

static long double exact(function f, double x)
{
    switch (f) {
    case EXP:
    case EXP_NONPOSITIVE:
        return expl(x);
    case LOG:
        return logl(x);
    case SINE:
        return sinl(2 * PI * x);
    default:
        return cosl(2 * PI * x);
    }
}

static void run(const core_ops *ops, function f, const double *x, double *y, double *z, size_t n)
{
    switch (f) {
    case EXP:
        ops->exp(x, y, n);
        break;
    case EXP_NONPOSITIVE:
        ops->exp_nonpositive(x, y, n);
        break;
    case LOG:
        ops->log(x, y, n);
        break;
    case SINE:
        ops->sincos_turn(x, y, z, n);
        break;
    case COSINE:
        ops->sincos_turn(x, z, y, n);
        break;
    }
}

static void test_double(void **state)
{
    (void)state;
    static const char *const names[] = {"exp", "exp of x <= 0", "log", "sin", "cos"};
    static const range ranges[] = {
        {EXP, EVEN, -708, 709.782712893384, 1.5},
        {EXP, EVEN, -1, 1, 1.5},
        {EXP, NEAR_ZERO, -1, 1, 1.5},
        {EXP, JUMPS, -700, 700, 1.5},
        {EXP_NONPOSITIVE, EVEN, -708, 0, 1.5},
        {EXP_NONPOSITIVE, EVEN, -3, 0, 1.5},
        {EXP_NONPOSITIVE, NEAR_ZERO, -1, 1, 1.5},
        {EXP_NONPOSITIVE, JUMPS, -700, -1, 1.5},
        {LOG, EVEN, 0x1p-53, 1 - 0x1p-53, 1.0},
        {LOG, EVEN, 0.5, 2, 1.0},
        {LOG, EVEN, 0.70, 0.72, 1.0},
        {LOG, EVEN, 1.40, 1.43, 1.0},
        {LOG, NEAR_ONE, 0, 2, 1.0},
        {LOG, POWERS, -1022, 1023, 1.0},
        {SINE, EVEN, -0.125, 0.125, 1.75},
        {SINE, NEAR_ZERO, -0.125, 0.125, 1.75},
        {COSINE, EVEN, -0.125, 0.125, 2.25},
        {COSINE, NEAR_ZERO, -0.125, 0.125, 2.25},
    };
    const size_t n = many();
    double *x = hspec_memory_alloc(n, sizeof *x), *y = hspec_memory_alloc(n, sizeof *y);
    double *z = hspec_memory_alloc(n, sizeof *z);
    double worst[3][5] = {{0}};
    assert_true(x && y && z);
    const double slack = levels_long_double() ? 0 : 1; /* the reference has an ulp of its own */
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        uint64_t s = k;
        for (size_t i = 0; i < n; i++) {
            x[i] = argument(&ranges[k], i, n, &s);
        }
        for (int level = 0; level < levels_here(); level++) {
            run(HSPEC_PICK(core_ops_table, (hspec_level)level), ranges[k].f, x, y, z, n);
            for (size_t i = 0; i < n; i++) {
                const double error = ulps(y[i], exact(ranges[k].f, x[i]), DBL_MANT_DIG);
                if (!(error <= ranges[k].limit + slack)) {
                    fail_msg("%s, %s: %a (%.17g) gives %a, off by %g ulp, allowed %g", level_names[level],
                             names[ranges[k].f], x[i], x[i], y[i], error, ranges[k].limit);
                }
                worst[level][ranges[k].f] = fmax(worst[level][ranges[k].f], error);
            }
        }
    }
    for (int level = 0; level < levels_here(); level++) {
        for (int f = 0; f < 5; f++) {
            printf("  %-8s %-13s largest error %.3f ulp\n", level_names[level], names[f], worst[level][f]);
        }
    }
    hspec_memory_free(x);
    hspec_memory_free(y);
    hspec_memory_free(z);
}

/* ---- what exp does beyond its range ---------------------------------------------------------------------------------- */

static void test_special(void **state)
{
    (void)state;
    static const struct {
        double x, y;
    } cases[] = {
        {-INFINITY, 0}, {INFINITY, INFINITY}, {-1e308, 0},       {1e308, INFINITY},  {-745, 0},
        {-708.4, 0},    {-708.0000001, 0},    {710, INFINITY},   {709.79, INFINITY}, {0, 1},
        {-0.0, 1},      {DBL_MIN / 4, 1},     {-DBL_MIN / 4, 1}, {4.9e-324, 1},      {-4.9e-324, 1},
        {1e-300, 1},    {-1e-300, 1},
    };
    double *x = hspec_memory_alloc(CORE_OPS_GRAIN, sizeof *x), *y = hspec_memory_alloc(CORE_OPS_GRAIN, sizeof *y);
    assert_true(x && y);
    for (int level = 0; level < levels_here(); level++) {
        const core_ops *ops = HSPEC_PICK(core_ops_table, (hspec_level)level);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            const size_t lane = k % HSPEC_W; /* its neighbours must not mind */
            for (size_t i = 0; i < CORE_OPS_GRAIN; i++) {
                x[i] = i == lane ? cases[k].x : -1;
            }
            ops->exp(x, y, CORE_OPS_GRAIN);
            for (size_t i = 0; i < CORE_OPS_GRAIN; i++) {
                const double wanted = i == lane ? cases[k].y : 0x1.78b56362cef38p-2;
                if (!(fabs(y[i] - wanted) <= 0x1p-54 || y[i] == wanted)) {
                    fail_msg("%s: exp(%.17g) gives %.17g", level_names[level], x[i], y[i]);
                }
            }
            if (cases[k].x <= 0) {
                ops->exp_nonpositive(x, y, CORE_OPS_GRAIN);
                for (size_t i = 0; i < CORE_OPS_GRAIN; i++) {
                    const double wanted = i == lane ? cases[k].y : 0x1.78b56362cef38p-2;
                    if (!(fabs(y[i] - wanted) <= 0x1p-54 || y[i] == wanted)) {
                        fail_msg("%s: exp(%.17g) gives %.17g in the form for x <= 0", level_names[level], x[i], y[i]);
                    }
                }
            }
        }
        /* The last finite result and the first zero stand where they are promised. */
        for (size_t i = 0; i < CORE_OPS_GRAIN; i++) {
            x[i] = i % 2 ? 709.78 : -708;
        }
        ops->exp(x, y, CORE_OPS_GRAIN);
        assert_true(y[1] < INFINITY && y[1] > 1.79e308 && y[0] >= DBL_MIN);
        /* NaN: of both signs, quiet, as arithmetic makes it. */
        volatile double zero = 0;
        for (size_t i = 0; i < CORE_OPS_GRAIN; i++) {
            x[i] = i % 4 == 0 ? zero / zero : i % 4 == 1 ? -(zero / zero) : i % 4 == 2 ? -3 : -800;
        }
        ops->exp(x, y, CORE_OPS_GRAIN);
        for (int form = 0; form < 2; form++) {
            for (size_t i = 0; i < CORE_OPS_GRAIN; i++) {
                assert_true(i % 4 < 2 ? isnan(y[i]) : i % 4 == 2 ? fabs(y[i] - exp(-3)) < 1e-16 : y[i] == 0);
            }
            ops->exp_nonpositive(x, y, CORE_OPS_GRAIN);
        }
    }
    hspec_memory_free(x);
    hspec_memory_free(y);
}

/* ---- single precision ------------------------------------------------------------------------------------------------ */

enum { SINGLE_LOG, SINGLE_SINE, SINGLE_COSINE };

static void check_single(size_t n, const float *x, float *y, float *z, int f, double limit, double worst[3][3])
{
    static const char *const names[] = {"log", "sin", "cos"};
    for (int level = 0; level < levels_here(); level++) {
        const core_ops *ops = HSPEC_PICK(core_ops_table, (hspec_level)level);
        if (f == SINGLE_LOG) {
            ops->log_single(x, y, n);
        } else {
            ops->sincos_turn_single(x, f == SINGLE_SINE ? y : z, f == SINGLE_SINE ? z : y, n);
        }
        for (size_t i = 0; i < n; i++) {
            const double phi = 2 * (double)PI * (double)x[i];
            const double wanted = f == SINGLE_LOG ? log((double)x[i]) : f == SINGLE_SINE ? sin(phi) : cos(phi);
            const double error = ulps(y[i], wanted, FLT_MANT_DIG);
            if (!(error <= limit)) {
                fail_msg("%s, single %s: %a gives %a, off by %g ulp, allowed %g", level_names[level], names[f],
                         (double)x[i], (double)y[i], error, limit);
            }
            worst[level][f] = fmax(worst[level][f], error);
        }
    }
}

static void test_single(void **state)
{
    (void)state;
    static const char *const names[] = {"log", "sin", "cos"};
    const size_t n = many();
    float *x = hspec_memory_alloc(n, sizeof *x), *y = hspec_memory_alloc(n, sizeof *y);
    float *z = hspec_memory_alloc(n, sizeof *z);
    double worst[3][3] = {{0}};
    assert_true(x && y && z);
    uint64_t s = 7;
    for (int k = 0; k < 3; k++) { /* uniforms, powers, near 1 */
        for (size_t i = 0; i < n; i++) {
            x[i] = k == 0   ? (float)between(0x1p-32, 1, &s)
                   : k == 1 ? (float)exp2(between(-126, 127, &s))
                            : (float)(1 + (i % 2 ? 1 : -1) * exp2(between(-24, -1.1, &s)));
        }
        check_single(n, x, y, z, SINGLE_LOG, 1, worst);
    }
    /* Every number from 1/2 to 2, where the result is small; under valgrind the first ones. */
    for (size_t first = 0; first < (getenv("HSPEC_VALGRIND") ? n : (size_t)1 << 24); first += n) {
        for (size_t i = 0; i < n; i++) {
            const uint32_t word = UINT32_C(0x3f000000) + (uint32_t)(first + i);
            memcpy(&x[i], &word, sizeof word);
        }
        check_single(n, x, y, z, SINGLE_LOG, 1, worst);
    }
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < n; i++) {
            x[i] = k == 0 ? (float)(-0.125 + 0.25 * (double)i / (double)(n - 1))
                          : (float)((i % 2 ? 1 : -1) * exp2(between(-34, -3, &s)));
        }
        check_single(n, x, y, z, SINGLE_SINE, 2, worst);
        check_single(n, x, y, z, SINGLE_COSINE, 1.5, worst);
    }
    for (int level = 0; level < levels_here(); level++) {
        for (int f = 0; f < 3; f++) {
            printf("  %-8s single %-6s largest error %.3f ulp\n", level_names[level], names[f], worst[level][f]);
        }
    }
    hspec_memory_free(x);
    hspec_memory_free(y);
    hspec_memory_free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double),
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_single),
    };
    return cmocka_run_group_tests_name("vecmath", tests, NULL, NULL);
}
