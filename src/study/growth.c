/* SPDX-License-Identifier: MIT */
#include "study/growth.h"

#include <math.h>

/** Cosine between the deviations of a row and those of the last row, from which on the pattern counts as the same. */
#define PATTERN 0.95

hspec_growth_line hspec_growth_fit(size_t n, const double *t, const double *y)
{
    const hspec_growth_line none = {NAN, NAN};
    double tm = 0, ym = 0, tt = 0, ty = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        tm += (t[i] - tm) / (double)(i + 1);
        ym += (y[i] - ym) / (double)(i + 1);
    }
    for (size_t i = 0; i < n; i++) {
        tt += (t[i] - tm) * (t[i] - tm);
        ty += (t[i] - tm) * (y[i] - ym);
    }
    const double slope = ty / tt;
    for (size_t i = 0; i < n; i++) {
        const double off = y[i] - ym - slope * (t[i] - tm);
        rest += off * off;
    }
    if (n < 3 || !isfinite(slope) || !isfinite(rest)) {
        return none;
    }
    return (hspec_growth_line){slope, sqrt(rest / (double)(n - 2) / tt)};
}

double hspec_growth_deviation(size_t H, const double *m, size_t stride)
{
    double mean = 0, squares = 0;
    for (size_t h = 0; h < H; h++) {
        mean += m[h * stride] / (double)H;
    }
    for (size_t h = 0; h < H; h++) {
        squares += (m[h * stride] - mean) * (m[h * stride] - mean);
    }
    return sqrt(squares / (double)H);
}

static double mean_of(size_t H, const double *m, size_t F)
{
    double mean = 0;
    for (size_t h = 0; h < H; h++) {
        mean += m[h * F] / (double)H;
    }
    return mean;
}

/** (1/H) sum_h (a_h - mean a) (b_h - mean b), of one feature. */
static double product(size_t H, const double *a, const double *b, size_t F)
{
    const double am = mean_of(H, a, F), bm = mean_of(H, b, F);
    double sum = 0;
    for (size_t h = 0; h < H; h++) {
        sum += (a[h * F] - am) * (b[h * F] - bm) / (double)H;
    }
    return sum;
}

size_t hspec_growth_window(size_t rows, size_t H, size_t F, const double *alignment, const double *deviation, size_t f,
                           size_t *first)
{
    if (rows < HSPEC_GROWTH_POINTS) {
        return 0;
    }
    size_t least = 0;
    for (size_t i = 1; i < rows; i++) {
        least = deviation[i * F + f] <= deviation[least * F + f] ? i : least;
    }
    /* From the last row back to where the pattern is another one, or the deviation is least, or 0. */
    const double *last = alignment + (rows - 1) * H * F + f;
    size_t begin = rows;
    while (begin > least) {
        const double *row = alignment + (begin - 1) * H * F + f;
        const double size = deviation[(begin - 1) * F + f] * deviation[(rows - 1) * F + f];
        if (!(size > 0) || product(H, row, last, F) < PATTERN * size) {
            break;
        }
        begin--;
    }
    if (rows - begin < HSPEC_GROWTH_POINTS) {
        return 0;
    }
    *first = begin;
    return rows - begin;
}
