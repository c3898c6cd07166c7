/* SPDX-License-Identifier: MIT
 * Statistical tests of one executable as one family. Include it in one file of a test.
 *
 * Level: an executable whose laws are all right fails with probability at most FAMILY_LEVEL, over the choice of its fixed
 * seeds (Bonferroni). */
#ifndef HSPEC_TESTS_FAMILY_H
#define HSPEC_TESTS_FAMILY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "law/stats.c"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FAMILY_LEVEL 1e-4
#define FAMILY_TESTS 2000

static size_t family_count;
static double family_smallest = 1;
static char family_label[160];

/** One test with its p-value. A NaN fails. */
__attribute__((format(printf, 2, 3))) static void family_check(double p, const char *format, ...)
{
    char label[160];
    va_list args;
    va_start(args, format);
    vsnprintf(label, sizeof label, format, args);
    va_end(args);
    if (++family_count > FAMILY_TESTS) {
        fail_msg("more than %d tests share the level", FAMILY_TESTS);
    }
    if (!(p >= FAMILY_LEVEL / FAMILY_TESTS)) {
        fail_msg("%s: p = %.3g", label, p);
    }
    if (p < family_smallest) {
        family_smallest = p;
        snprintf(family_label, sizeof family_label, "%s", label);
    }
}

/** A statistic that is standard normal under the hypothesis, two-sided. */
static inline double family_z(double z)
{
    return erfc(fabs(z) / sqrt(2.0));
}

/** A statistic that is chi-squared under the hypothesis, two-sided: too good is wrong, too. */
static inline double family_chi2(double statistic, double degrees)
{
    const double below = stats_gamma_p(0.5 * degrees, 0.5 * statistic);
    const double above = stats_gamma_q(0.5 * degrees, 0.5 * statistic);
    return fmin(1, 2 * fmin(below, above));
}

/** Observed counts against equal expected ones. */
static inline double family_even(const size_t *counts, size_t n)
{
    double total = 0, statistic = 0;
    for (size_t i = 0; i < n; i++) {
        total += (double)counts[i];
    }
    for (size_t i = 0; i < n; i++) {
        const double off = (double)counts[i] - total / (double)n;
        statistic += off * off * (double)n / total;
    }
    return family_chi2(statistic, (double)n - 1);
}

/** n of a Poisson law of the given mean, two-sided. */
static inline double family_poisson(size_t n, double mean)
{
    const double above = n == 0 ? 1 : stats_gamma_p((double)n, mean); /* P(X >= n) */
    const double below = stats_gamma_q((double)n + 1, mean);          /* P(X <= n) */
    return fmin(1, 2 * fmin(above, below));
}

/** Kolmogorov-Smirnov against the standard normal law. */
static inline double family_normal(const double *x, size_t n)
{
    const double parameters[2] = {0, 1};
    return stats_ks_one(x, n, stats_normal_cdf, parameters).p;
}

/** Of chi-squared, for any number of degrees of freedom: Wilson and Hilferty's normal law of the cube root from 10^5 on,
 *  where it is good to 1e-6. */
static inline double family_chi2_cdf(double x, const void *parameters)
{
    const double k = *(const double *)parameters;
    if (k < 1e5) {
        return stats_chi2_cdf(x, parameters);
    }
    return 0.5 * erfc(-(cbrt(x / k) - (1 - 2 / (9 * k))) / sqrt(2 * 2 / (9 * k)));
}

/** Law, mean and variance of a chi-squared sample. */
static inline void family_check_chi2(const double *x, size_t n, double degrees, const char *what)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] - degrees;
        squares += (x[i] - degrees) * (x[i] - degrees);
    }
    const double N = (double)n, k = degrees;
    family_check(family_z(sum / sqrt(2 * k * N)), "%s, %g degrees: mean", what, degrees);
    family_check(family_z((squares / N - 2 * k) / sqrt((8 * k * k + 48 * k) / N)), "%s, %g degrees: variance", what,
                 degrees);
    family_check(stats_ks_one(x, n, family_chi2_cdf, &degrees).p, "%s, %g degrees: law", what, degrees);
}

/** Fewer numbers under valgrind. */
static inline size_t family_size(size_t n)
{
    return getenv("HSPEC_VALGRIND") ? n / 32 : n;
}

/** For the end of the group. */
static int family_report(void **state)
{
    (void)state;
    printf("  %zu tests at level %g together, smallest p %.2g: %s\n", family_count, FAMILY_LEVEL, family_smallest,
           family_label);
    return 0;
}

#endif
