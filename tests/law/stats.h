/* SPDX-License-Identifier: MIT
 * Statistical tests for the law suite: p-values, and control of the family-wise error. */
#ifndef HSPEC_TESTS_STATS_H
#define HSPEC_TESTS_STATS_H

#include <stddef.h>

/** Outcome of one test. A sample that holds a NaN or an infinity gives p = 0, so that it can never pass.
 *  A sample whose spread is below 1e-12 of its mean counts as constant. Two constant samples have equal variances, and
 *  equal means and laws (p = 1) if the means agree to 1e-12, else p = 0 for the means. */
typedef struct stats_result {
    double statistic;
    double p; /**< two-sided */
} stats_result;

/** A cumulative distribution function with its parameters. */
typedef double (*stats_cdf)(double x, const void *parameters);

/** Regularized lower incomplete gamma function P(a, x), a > 0, x >= 0. */
double stats_gamma_p(double a, double x);
/** Regularized upper incomplete gamma function Q = 1 - P, without cancellation. */
double stats_gamma_q(double a, double x);
/** Regularized incomplete beta function I_x(a, b). */
double stats_beta(double a, double b, double x);
/** P(|T| > |t|) for Student's t with `dof` degrees of freedom. */
double stats_student_p(double t, double dof);
/** P(F > f) for Fisher's F. */
double stats_fisher_p(double f, double d1, double d2);
/** P(K > x) for Kolmogorov's limiting distribution. */
double stats_kolmogorov_p(double x);

/** Cumulative distribution functions for stats_ks_one; parameters: double[2] mean and standard deviation. */
double stats_normal_cdf(double x, const void *parameters);
/** parameters: double[1], degrees of freedom. */
double stats_chi2_cdf(double x, const void *parameters);

/** Two-sample Kolmogorov-Smirnov, asymptotic with Stephens' correction. @param a in [na] @param b in [nb] */
stats_result stats_ks_two(const double *a, size_t na, const double *b, size_t nb);
/** One-sample Kolmogorov-Smirnov against a continuous cdf. */
stats_result stats_ks_one(const double *a, size_t n, stats_cdf cdf, const void *parameters);
/** Welch's t: equal means, whatever the variances. */
stats_result stats_welch(const double *a, size_t na, const double *b, size_t nb);
/** Brown-Forsythe: equal variances, by the distances from the medians. */
stats_result stats_brown_forsythe(const double *a, size_t na, const double *b, size_t nb);
/** Pearson correlation is zero. */
stats_result stats_correlation(const double *a, const double *b, size_t n);
/** The mean of a is `mean`. */
stats_result stats_mean(const double *a, size_t n, double mean);

/** Holm's step-down procedure: the chance of one or more false rejections is at most the level one compares with.
 *  @param p         in  [n]
 *  @param adjusted  out [n] adjusted p-values, to be compared with the level itself
 *  @return the index of the smallest adjusted p-value; n if n = 0. */
size_t stats_holm(const double *p, size_t n, double *adjusted);

/** Median; leaves a as it is. */
double stats_median(const double *a, size_t n);
double stats_average(const double *a, size_t n);
/** Unbiased variance. */
double stats_variance(const double *a, size_t n);

#endif
