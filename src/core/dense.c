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

size_t hspec_dense_root(size_t n, const double *S, double *R)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(S[i * n + i]));
    }
    /* What a pivot of an exactly singular matrix can be off by. */
    const double zero = 1e-13 * (double)n * largest;
    memset(R, 0, n * n * sizeof *R);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = S[i * n + j];
            for (size_t k = 0; k < j; k++) {
                sum -= R[i * n + k] * R[j * n + k];
            }
            if (j < i) {
                if (R[j * n + j] > 0) {
                    R[i * n + j] = sum / R[j * n + j];
                } else if (fabs(sum) > sqrt(zero * largest)) {
                    return 1 + i; /* a zero pivot under a column that is not zero */
                }
            } else if (sum > zero) {
                R[i * n + i] = sqrt(sum);
            } else if (sum < -zero) {
                return 1 + i;
            }
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
