/* SPDX-License-Identifier: MIT
 * Statistical tests for the law suite. Plain and slow on purpose; checked in tests/unit/test_stats.c. */
#include "stats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int all_finite(const double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i])) {
            return 0;
        }
    }
    return 1;
}

static double *copy_sorted(const double *a, size_t n)
{
    double *sorted = malloc((n ? n : 1) * sizeof *sorted);
    if (sorted == NULL) {
        abort();
    }
    memcpy(sorted, a, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    return sorted;
}

/* ---- special functions ---------------------------------------------------------------------------------------- */

/* At most so many terms of a series or fraction; all of them converge long before. */
enum { ROUNDS = 1000000 };

/* P(a, x) by its series for x < a + 1; Q(a, x) by Lentz's continued fraction otherwise. */
static double gamma_series(double a, double x)
{
    double term = 1.0 / a;
    double sum = term;
    for (int i = 1; i < ROUNDS; i++) {
        const double k = i;
        term *= x / (a + k);
        sum += term;
        if (term < sum * DBL_EPSILON) {
            break;
        }
    }
    return sum * exp(-x + a * log(x) - lgamma(a));
}

static double gamma_fraction(double a, double x)
{
    const double tiny = 1e-300;
    double b = x + 1.0 - a;
    double c = 1.0 / tiny;
    double d = 1.0 / b;
    double h = d;
    for (int i = 1; i < ROUNDS; i++) {
        const double k = i;
        const double numerator = -k * (k - a);
        b += 2.0;
        d = numerator * d + b;
        d = fabs(d) < tiny ? tiny : d;
        c = b + numerator / c;
        c = fabs(c) < tiny ? tiny : c;
        d = 1.0 / d;
        h *= d * c;
        if (fabs(d * c - 1.0) < DBL_EPSILON) {
            break;
        }
    }
    return h * exp(-x + a * log(x) - lgamma(a));
}

double stats_gamma_p(double a, double x)
{
    if (x <= 0.0) {
        return 0.0;
    }
    return x < a + 1.0 ? gamma_series(a, x) : 1.0 - gamma_fraction(a, x);
}

double stats_gamma_q(double a, double x)
{
    if (x <= 0.0) {
        return 1.0;
    }
    return x < a + 1.0 ? 1.0 - gamma_series(a, x) : gamma_fraction(a, x);
}

static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1.0;
    double d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int i = 1; i < ROUNDS; i++) {
        const double k = i;
        const double even = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k));
        d = 1.0 + even * d;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = 1.0 + even / c;
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        const double odd = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
        d = 1.0 + odd * d;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = 1.0 + odd / c;
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1.0) < DBL_EPSILON) {
            break;
        }
    }
    return h;
}

double stats_beta(double a, double b, double x)
{
    if (x <= 0.0) {
        return 0.0;
    }
    if (x >= 1.0) {
        return 1.0;
    }
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1.0) / (a + b + 2.0)) {
        return front * beta_fraction(a, b, x) / a;
    }
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double stats_student_p(double t, double dof)
{
    if (isnan(t) || !(dof > 0.0)) {
        return 0.0;
    }
    return stats_beta(0.5 * dof, 0.5, dof / (dof + t * t));
}

double stats_fisher_p(double f, double d1, double d2)
{
    if (isnan(f)) {
        return 0.0;
    }
    return f <= 0.0 ? 1.0 : stats_beta(0.5 * d2, 0.5 * d1, d2 / (d2 + d1 * f));
}

double stats_kolmogorov_p(double x)
{
    if (isnan(x)) {
        return 0.0;
    }
    if (x < 0.2) {
        return 1.0;
    }
    const double pi = 3.14159265358979323846;
    double sum = 0.0;
    if (x < 1.18) {
        for (int i = 1; i < 40; i += 2) {
            const double k = i;
            sum += exp(-k * k * pi * pi / (8.0 * x * x));
        }
        return 1.0 - sqrt(2.0 * pi) / x * sum;
    }
    for (int i = 1; i < 20; i++) {
        const double k = i;
        sum += (i % 2 ? 1.0 : -1.0) * exp(-2.0 * k * k * x * x);
    }
    return 2.0 * sum;
}

double stats_normal_cdf(double x, const void *parameters)
{
    const double *mean_std = parameters;
    return 0.5 * erfc(-(x - mean_std[0]) / (mean_std[1] * sqrt(2.0)));
}

double stats_chi2_cdf(double x, const void *parameters)
{
    return stats_gamma_p(0.5 * *(const double *)parameters, 0.5 * x);
}

/* ---- moments --------------------------------------------------------------------------------------------------- */

double stats_average(const double *a, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i];
    }
    return sum / (double)n;
}

double stats_variance(const double *a, size_t n)
{
    const double mean = stats_average(a, n);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += (a[i] - mean) * (a[i] - mean);
    }
    return sum / (double)(n - 1);
}

double stats_median(const double *a, size_t n)
{
    double *sorted = copy_sorted(a, n);
    const double median = n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
    free(sorted);
    return median;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

/* Stephens (1970): the limiting law is good from few points on when the distance is scaled like this. */
static double kolmogorov_scaled(double distance, double n)
{
    return distance * (sqrt(n) + 0.12 + 0.11 / sqrt(n));
}

/* Beside numbers as large as these, differences come from rounding alone. */
#define ROUNDING 1e-12

/* Equal numbers, apart from the rounding of the sums in which they were made. */
static int constant(const double *a, size_t n)
{
    return n > 1 && sqrt(stats_variance(a, n)) <= ROUNDING * fabs(stats_average(a, n));
}

static int same_constant(double a, double b)
{
    return fabs(a - b) <= ROUNDING * fmax(fabs(a), fabs(b));
}

/* Two constant samples carry no error bar: they agree only when they are equal. */
static stats_result constant_samples(double a, double b)
{
    const stats_result equal = {0.0, 1.0};
    const stats_result differ = {INFINITY, 0.0};
    return same_constant(a, b) ? equal : differ;
}

stats_result stats_ks_two(const double *a, size_t na, const double *b, size_t nb)
{
    stats_result result = {1.0, 0.0};
    if (na == 0 || nb == 0 || !all_finite(a, na) || !all_finite(b, nb)) {
        return result;
    }
    if (constant(a, na) && constant(b, nb) && same_constant(stats_average(a, na), stats_average(b, nb))) {
        return (stats_result){0.0, 1.0};
    }
    double *x = copy_sorted(a, na);
    double *y = copy_sorted(b, nb);
    double distance = 0.0;
    size_t i = 0;
    size_t j = 0;
    while (i < na && j < nb) {
        const double value = x[i] < y[j] ? x[i] : y[j];
        while (i < na && x[i] <= value) {
            i++;
        }
        while (j < nb && y[j] <= value) {
            j++;
        }
        const double gap = fabs((double)i / (double)na - (double)j / (double)nb);
        distance = gap > distance ? gap : distance;
    }
    free(x);
    free(y);
    result.statistic = distance;
    result.p = stats_kolmogorov_p(kolmogorov_scaled(distance, (double)na * (double)nb / (double)(na + nb)));
    return result;
}

stats_result stats_ks_one(const double *a, size_t n, stats_cdf cdf, const void *parameters)
{
    stats_result result = {1.0, 0.0};
    if (n == 0 || !all_finite(a, n)) {
        return result;
    }
    double *x = copy_sorted(a, n);
    double distance = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double f = cdf(x[i], parameters);
        const double above = (double)(i + 1) / (double)n - f;
        const double below = f - (double)i / (double)n;
        distance = fmax(distance, fmax(above, below));
    }
    free(x);
    result.statistic = distance;
    result.p = stats_kolmogorov_p(kolmogorov_scaled(distance, (double)n));
    return result;
}

stats_result stats_welch(const double *a, size_t na, const double *b, size_t nb)
{
    stats_result result = {NAN, 0.0};
    if (na < 2 || nb < 2 || !all_finite(a, na) || !all_finite(b, nb)) {
        return result;
    }
    const double mean_a = stats_average(a, na);
    const double mean_b = stats_average(b, nb);
    if (constant(a, na) && constant(b, nb)) {
        return constant_samples(mean_a, mean_b);
    }
    const double ea = stats_variance(a, na) / (double)na;
    const double eb = stats_variance(b, nb) / (double)nb;
    const double dof = (ea + eb) * (ea + eb) / (ea * ea / (double)(na - 1) + eb * eb / (double)(nb - 1));
    result.statistic = (mean_a - mean_b) / sqrt(ea + eb);
    result.p = stats_student_p(result.statistic, dof);
    return result;
}

stats_result stats_brown_forsythe(const double *a, size_t na, const double *b, size_t nb)
{
    stats_result result = {NAN, 0.0};
    if (na < 2 || nb < 2 || !all_finite(a, na) || !all_finite(b, nb)) {
        return result;
    }
    if (constant(a, na) && constant(b, nb)) {
        return (stats_result){0.0, 1.0};
    }
    double *z = malloc((na + nb) * sizeof *z);
    if (z == NULL) {
        abort();
    }
    const double median_a = stats_median(a, na);
    const double median_b = stats_median(b, nb);
    for (size_t i = 0; i < na; i++) {
        z[i] = fabs(a[i] - median_a);
    }
    for (size_t i = 0; i < nb; i++) {
        z[na + i] = fabs(b[i] - median_b);
    }
    /* One-way analysis of variance of the distances, two groups. */
    const double mean_a = stats_average(z, na);
    const double mean_b = stats_average(z + na, nb);
    const double within = stats_variance(z, na) * (double)(na - 1) + stats_variance(z + na, nb) * (double)(nb - 1);
    const double dof = (double)(na + nb - 2);
    const double between = (mean_a - mean_b) * (mean_a - mean_b) * (double)na * (double)nb / (double)(na + nb);
    free(z);
    if (within == 0.0) {
        return constant_samples(mean_a, mean_b);
    }
    result.statistic = between / (within / dof);
    result.p = stats_fisher_p(result.statistic, 1.0, dof);
    return result;
}

stats_result stats_correlation(const double *a, const double *b, size_t n)
{
    stats_result result = {NAN, 0.0};
    if (n < 3 || !all_finite(a, n) || !all_finite(b, n)) {
        return result;
    }
    const double mean_a = stats_average(a, n);
    const double mean_b = stats_average(b, n);
    double aa = 0.0;
    double bb = 0.0;
    double ab = 0.0;
    for (size_t i = 0; i < n; i++) {
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
        ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    if (aa == 0.0 || bb == 0.0) {
        return result;
    }
    const double r = ab / sqrt(aa * bb);
    const double dof = (double)(n - 2);
    result.statistic = r;
    result.p = fabs(r) >= 1.0 ? 0.0 : stats_student_p(r * sqrt(dof / (1.0 - r * r)), dof);
    return result;
}

stats_result stats_mean(const double *a, size_t n, double mean)
{
    stats_result result = {NAN, 0.0};
    if (n < 2 || !all_finite(a, n)) {
        return result;
    }
    if (constant(a, n)) {
        return constant_samples(stats_average(a, n), mean);
    }
    result.statistic = (stats_average(a, n) - mean) / sqrt(stats_variance(a, n) / (double)n);
    result.p = stats_student_p(result.statistic, (double)(n - 1));
    return result;
}

/* ---- family-wise control --------------------------------------------------------------------------------------- */

typedef struct ranked {
    double p;
    size_t index;
} ranked;

static int by_p(const void *a, const void *b)
{
    const ranked *x = a;
    const ranked *y = b;
    if (x->p != y->p) {
        return x->p < y->p ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

size_t stats_holm(const double *p, size_t n, double *adjusted)
{
    if (n == 0) {
        return n;
    }
    ranked *order = malloc(n * sizeof *order);
    if (order == NULL) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = (ranked){isnan(p[i]) ? 0.0 : p[i], i};
    }
    qsort(order, n, sizeof *order, by_p);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fmin(1.0, (double)(n - i) * order[i].p));
        adjusted[order[i].index] = largest;
    }
    const size_t first = order[0].index;
    free(order);
    return first;
}
