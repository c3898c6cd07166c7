/* SPDX-License-Identifier: MIT */
#include "core/dense.h"

#include <math.h>
#include <string.h>

void hspec_dense_lq(size_t n, size_t m, double *A, size_t stride)
{
    for (size_t i = 0; i < n && i < m; i++) {
        double *row = A + i * stride;
        double tail = 0;
        for (size_t j = i + 1; j < m; j++) {
            tail += row[j] * row[j];
        }
        if (tail <= 1e-200) { /* nothing to reflect: entries below 1e-100 count as zero */
            memset(row + i + 1, 0, (m - i - 1) * sizeof *row);
            continue;
        }
        /* Reflect onto alpha = +-|row| with the sign of row[i]: row[i] - alpha without cancellation. */
        const double alpha = copysign(sqrt(row[i] * row[i] + tail), row[i]);
        const double first = -tail / (row[i] + alpha);
        const double beta = (row[i] + alpha) / (alpha * tail); /* 2 / v.v */
        for (size_t k = i + 1; k < n; k++) {
            double *other = A + k * stride;
            double dot = other[i] * first;
            for (size_t j = i + 1; j < m; j++) {
                dot += other[j] * row[j];
            }
            dot *= beta;
            other[i] -= dot * first;
            for (size_t j = i + 1; j < m; j++) {
                other[j] -= dot * row[j];
            }
        }
        row[i] = alpha;
        memset(row + i + 1, 0, (m - i - 1) * sizeof *row);
    }
}

/** (S - R R^T)_ij for the first `columns` columns of R, from the lower triangle of S. */
static double rest(size_t n, const double *S, size_t columns, const double *R, size_t i, size_t j)
{
    double sum = i > j ? S[i * n + j] : S[j * n + i];
    for (size_t k = 0; k < columns; k++) {
        sum -= R[i * n + k] * R[j * n + k];
    }
    return sum;
}

size_t hspec_dense_root(size_t n, const double *S, double *R)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(S[i * n + i]));
    }
    /* What an exactly singular matrix can be off by. */
    const double zero = 1e-13 * (double)n * largest;
    memset(R, 0, n * n * sizeof *R);
    /* Cholesky, always with the largest pivot that is left: when it vanishes, so does all the rest of a positive
     * semidefinite matrix. In a fixed order a vanishing pivot can hide entries as large as its square root. */
    size_t rank = 0;
    for (; rank < n; rank++) {
        size_t pivot = 0;
        double top = zero;
        for (size_t i = 0; i < n; i++) {
            const double left = rest(n, S, rank, R, i, i);
            pivot = left > top ? i : pivot;
            top = left > top ? left : top;
        }
        if (!(top > zero)) {
            break;
        }
        for (size_t i = 0; i < n; i++) {
            R[i * n + rank] = rest(n, S, rank, R, i, pivot) / sqrt(top);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double left = rest(n, S, rank, R, i, j);
            if (!isfinite(left) || fabs(left) > zero) {
                return 1 + i;
            }
        }
    }
    hspec_dense_lq(n, n, R, n); /* the columns stand in the order of the pivots */
    for (size_t j = 0; j < n; j++) {
        const double sign = R[j * n + j] < 0 ? -1 : 1;
        for (size_t i = j; i < n; i++) {
            R[i * n + j] *= sign;
        }
    }
    return 0;
}

void hspec_dense_gram(size_t n, size_t m, const double *R, double *S)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k < m; k++) {
                sum += R[i * m + k] * R[j * m + k];
            }
            S[i * n + j] = S[j * n + i] = sum;
        }
    }
}
