/* SPDX-License-Identifier: MIT
 * The tests of the law suite, themselves tested: reference values, calibration under the null, power. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "law/stats.c"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void assert_close(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected))) {
        fail_msg("found %.17g, expected %.17g within %g", found, expected, relative);
    }
}

/* Reference values: SciPy 1.10.1 (scipy.special, scipy.stats). */
static void test_special_functions(void **state)
{
    (void)state;
    const double gamma[][4] = {{0.5, 0.2, 0.47291074313446196, 0.52708925686553809},
                               {2.5, 2.0, 0.45058404864721979, 0.54941595135278021},
                               {2.5, 9.0, 0.99705359541211969, 0.0029464045878802923},
                               {30, 25.0, 0.18210391597745509, 0.81789608402254488},
                               {30, 80.0, 0.99999999995096767, 4.9032295558107701e-11},
                               {470, 500.0, 0.91476580003388375, 0.085234199966116198}};
    for (size_t i = 0; i < COUNT(gamma); i++) {
        assert_close(stats_gamma_p(gamma[i][0], gamma[i][1]), gamma[i][2], 1e-11);
        assert_close(stats_gamma_q(gamma[i][0], gamma[i][1]), gamma[i][3], 1e-11);
    }
    const double beta[][4] = {{0.5, 0.5, 0.3, 0.36901011956554541},
                              {2, 3, 0.9, 0.99629999999999996},
                              {50, 0.5, 0.97, 0.08169933372182267},
                              {700, 0.5, 0.96, 4.0784101998965044e-14}};
    for (size_t i = 0; i < COUNT(beta); i++) {
        assert_close(stats_beta(beta[i][0], beta[i][1], beta[i][2]), beta[i][3], 1e-11);
    }
    const double kolmogorov[][2] = {{0.3, 0.99999069419866549},    {0.7, 0.71123519502968935},
                                    {1.0, 0.26999967167735456},    {1.3, 0.068092221844766362},
                                    {2.0, 0.00067092525577969533}, {3.0, 3.0459959489425258e-08}};
    for (size_t i = 0; i < COUNT(kolmogorov); i++) {
        assert_close(stats_kolmogorov_p(kolmogorov[i][0]), kolmogorov[i][1], 1e-11);
    }
}

static void test_tails(void **state)
{
    (void)state;
    const double student[][3] = {{0.3, 3, 0.78376329203991901},
                                 {2.0, 10.5, 0.072033800156968281},
                                 {-6.0, 200, 9.1151203488104038e-09},
                                 {5.0, 3998, 5.9788841867267941e-07}};
    for (size_t i = 0; i < COUNT(student); i++) {
        assert_close(stats_student_p(student[i][0], student[i][1]), student[i][2], 1e-9);
    }
    const double fisher[][4] = {
        {0.5, 1, 10, 0.49564750438311966}, {4.0, 2, 93, 0.021553272851764605}, {30.0, 1, 1998, 4.8657148572792079e-08}};
    for (size_t i = 0; i < COUNT(fisher); i++) {
        assert_close(stats_fisher_p(fisher[i][0], fisher[i][1], fisher[i][2]), fisher[i][3], 1e-9);
    }
    const double normal[][4] = {
        {1, 0, 1, 0.84134474606854293}, {-3, 1, 2, 0.022750131948179195}, {-8, 0, 1, 6.2209605742717405e-16}};
    for (size_t i = 0; i < COUNT(normal); i++) {
        assert_close(stats_normal_cdf(normal[i][0], &normal[i][1]), normal[i][3], 1e-12);
    }
    const double chi2[][3] = {
        {1, 1, 0.68268949213708585}, {30, 17, 0.97365492171646384}, {58, 59, 0.48760484879858079}};
    for (size_t i = 0; i < COUNT(chi2); i++) {
        assert_close(stats_chi2_cdf(chi2[i][0], &chi2[i][1]), chi2[i][2], 1e-11);
    }
}

/* Two fixed samples; the same integers give them in SciPy. */
static void fixed_samples(double a[40], double b[55])
{
    for (size_t i = 0; i < 40; i++) {
        a[i] = (double)((37 * i + 11) % 101) / 101.0;
    }
    for (size_t i = 0; i < 55; i++) {
        const double x = (double)((53 * i + 29) % 97) / 97.0;
        b[i] = x * x * 1.3 - 0.1;
    }
}

static void assert_result(stats_result found, double statistic, double p)
{
    assert_close(found.statistic, statistic, 1e-11);
    assert_close(found.p, p, 1e-9);
}

static void test_samples(void **state)
{
    (void)state;
    double a[40];
    double b[55];
    fixed_samples(a, b);
    const double normal[2] = {0.5, 0.3};
    assert_result(stats_ks_two(a, 40, b, 55), 0.28863636363636364, 0.03344121519188574);
    assert_result(stats_ks_one(a, 40, stats_normal_cdf, normal), 0.09007101509992077, 0.8871400208348893);
    assert_result(stats_welch(a, 40, b, 55), 1.9467337558238216, 0.054586108236046454);
    assert_result(stats_brown_forsythe(a, 40, b, 55), 3.4578339167610133, 0.066114181018468429);
    assert_result(stats_correlation(a, b, 40), -0.15984561956672633, 0.32450175051438584);
    assert_result(stats_mean(a, 40, 0.4), 1.6759068418138803, 0.10175674362263712);
    assert_close(stats_median(a, 40), 0.47029702970297027, 1e-14);
    assert_close(stats_median(b, 55), 0.23173557232437028, 1e-14);
    assert_close(stats_average(a, 40), 0.47747524752475246, 1e-14);
    assert_close(stats_variance(a, 40), 0.08548426624840702, 1e-13);
}

static void test_bad_samples_never_pass(void **state)
{
    (void)state;
    double a[40];
    double b[55];
    fixed_samples(a, b);
    a[7] = NAN;
    assert_true(stats_ks_two(a, 40, b, 55).p == 0.0);
    assert_true(stats_ks_two(b, 55, a, 40).p == 0.0);
    assert_true(stats_welch(a, 40, b, 55).p == 0.0);
    assert_true(stats_brown_forsythe(b, 55, a, 40).p == 0.0);
    assert_true(stats_correlation(a, b, 40).p == 0.0);
    assert_true(stats_mean(a, 40, 0.0).p == 0.0);
    const double one[3] = {1, 1, 1};
    const double two[3] = {2, 2, 2};
    assert_true(stats_welch(one, 3, one, 3).p == 1.0);
    assert_true(stats_welch(one, 3, two, 3).p == 0.0);
    assert_true(stats_brown_forsythe(one, 3, two, 3).p == 1.0);
    assert_true(stats_ks_two(one, 3, one, 3).statistic == 0.0);
    assert_true(stats_ks_two(one, 3, two, 3).statistic == 1.0);
    assert_true(stats_mean(two, 3, 1.0).p == 0.0);
}

/* A constant has the spread and the mean that rounding gives it, which differ with the size of the sample. */
static void test_constants(void **state)
{
    (void)state;
    enum { NA = 8000, NB = 2000 };
    static double a[NA];
    static double b[NB];
    static const double values[] = {0.1, -1.3, 1e-9, 3e7, 0.0};
    for (size_t v = 0; v < COUNT(values); v++) {
        for (size_t i = 0; i < NA; i++) {
            a[i] = values[v];
        }
        for (size_t i = 0; i < NB; i++) {
            b[i] = values[v] * (1.0 + 1e-15);
        }
        assert_true(stats_welch(a, NA, b, NB).p == 1.0);
        assert_true(stats_brown_forsythe(a, NA, b, NB).p == 1.0);
        assert_true(stats_ks_two(a, NA, b, NB).p == 1.0);
        assert_true(stats_mean(a, NA, values[v] * (1.0 + 1e-15)).p == 1.0);
        for (size_t i = 0; i < NB; i++) {
            b[i] = values[v] * (1.0 + 1e-11) + (values[v] == 0.0);
        }
        assert_true(stats_welch(a, NA, b, NB).p == 0.0);
        assert_true(stats_brown_forsythe(a, NA, b, NB).p == 1.0);
        assert_true(stats_ks_two(a, NA, b, NB).p < 1e-12);
        assert_true(stats_mean(b, NB, values[v]).p == 0.0);
        /* A spread that is there, however small, is no constant. */
        for (size_t i = 0; i < NB; i++) {
            b[i] = values[v] + (values[v] == 0.0 ? 1e-9 : 1e-9 * fabs(values[v])) * (i % 2 ? 1.0 : -1.0);
        }
        assert_true(stats_ks_two(a, NA, b, NB).p < 1e-12);
        assert_true(stats_brown_forsythe(a, NA, b, NB).p < 1e-12);
    }
}

static void test_holm(void **state)
{
    (void)state;
    const double p[5] = {0.01, 0.04, 0.03, 0.005, 0.5};
    const double expected[5] = {0.04, 0.09, 0.09, 0.025, 0.5};
    double adjusted[5];
    assert_int_equal(stats_holm(p, 5, adjusted), 3);
    for (size_t i = 0; i < 5; i++) {
        assert_close(adjusted[i], expected[i], 1e-14);
    }
    const double broken[2] = {0.7, NAN};
    assert_int_equal(stats_holm(broken, 2, adjusted), 1);
    assert_true(adjusted[1] == 0.0);
    assert_int_equal(stats_holm(broken, 0, adjusted), 0);
}

static double uniform(uint64_t *s)
{
    *s += 0x9E3779B97F4A7C15U;
    uint64_t z = *s;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static void fill(double *a, size_t n, double mean, double deviation, uint64_t *s)
{
    for (size_t i = 0; i < n; i++) {
        a[i] = mean + deviation * sqrt(-2.0 * log(uniform(s))) * cos(6.283185307179586477 * uniform(s));
    }
}

enum { KIND_KS, KIND_WELCH, KIND_BROWN_FORSYTHE, KIND_KS_ONE, KIND_CORRELATION, KINDS };

static double one_p(int kind, size_t n, double shift, double stretch, uint64_t *s)
{
    double a[400];
    double b[400];
    const double normal[2] = {0.0, 1.0};
    fill(a, n, shift, stretch, s);
    fill(b, n, 0.0, 1.0, s);
    switch (kind) {
    case KIND_KS: /* sizes without a common factor: with equal sizes the distance takes few values, and so does p */
        return stats_ks_two(a, n - 3, b, n).p;
    case KIND_WELCH:
        return stats_welch(a, n, b, n).p;
    case KIND_BROWN_FORSYTHE:
        return stats_brown_forsythe(a, n, b, n).p;
    case KIND_KS_ONE:
        return stats_ks_one(a, n, stats_normal_cdf, normal).p;
    default:
        for (size_t i = 0; i < n; i++) {
            b[i] += 10.0 * shift * a[i];
        }
        return stats_correlation(a, b, n).p;
    }
}

static double uniform_cdf(double x, const void *parameters)
{
    (void)parameters;
    return x;
}

/* Under the null the p-values are uniform: 2000 repetitions, each at level 1e-4. */
static void test_calibration(void **state)
{
    (void)state;
    static double p[2000];
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t s = 20 + (uint64_t)kind;
        for (size_t i = 0; i < COUNT(p); i++) {
            p[i] = one_p(kind, 300, 0.0, 1.0, &s);
        }
        const stats_result result = stats_ks_one(p, COUNT(p), uniform_cdf, NULL);
        if (result.p < 1e-4) {
            fail_msg("test %d: p-values are not uniform, distance %g, p = %g", kind, result.statistic, result.p);
        }
    }
}

/* A shift of half a deviation, or a deviation larger by one half, is seen at 1e-6 with 400 points. */
static void test_power(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t s = 7;
        const int spread = kind == KIND_BROWN_FORSYTHE;
        assert_true(one_p(kind, 400, spread ? 0.0 : 0.5, spread ? 1.5 : 1.0, &s) < 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_functions), cmocka_unit_test(test_tails),
        cmocka_unit_test(test_samples),           cmocka_unit_test(test_bad_samples_never_pass),
        cmocka_unit_test(test_constants),         cmocka_unit_test(test_holm),
        cmocka_unit_test(test_calibration),       cmocka_unit_test(test_power),
    };
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
