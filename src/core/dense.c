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

/** One Jacobi rotation of rows and columns p and q of A, gathered in V. */
static void rotate(size_t n, double *A, double *V, size_t p, size_t q)
{
    const double apq = A[p * n + q];
    const double theta = (A[q * n + q] - A[p * n + p]) / (2 * apq);
    const double t = copysign(1, theta) / (fabs(theta) + sqrt(1 + theta * theta));
    const double c = 1 / sqrt(1 + t * t), s = t * c;
    for (size_t k = 0; k < n; k++) {
        const double kp = A[k * n + p], kq = A[k * n + q];
        A[k * n + p] = c * kp - s * kq;
        A[k * n + q] = s * kp + c * kq;
    }
    for (size_t k = 0; k < n; k++) {
        const double pk = A[p * n + k], qk = A[q * n + k];
        A[p * n + k] = c * pk - s * qk;
        A[q * n + k] = s * pk + c * qk;
        const double vp = V[k * n + p], vq = V[k * n + q];
        V[k * n + p] = c * vp - s * vq;
        V[k * n + q] = s * vp + c * vq;
    }
    A[p * n + q] = A[q * n + p] = 0;
}

void hspec_dense_eigen(size_t n, double *A, double *V)
{
    memset(V, 0, n * n * sizeof *V);
    double size = 0;
    for (size_t i = 0; i < n; i++) {
        V[i * n + i] = 1;
        for (size_t j = 0; j < n; j++) {
            size = fmax(size, fabs(A[i * n + j]));
        }
    }
    /* Convergence is quadratic: some eight sweeps for hundreds of rows. */
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0;
        for (size_t p = 0; p < n; p++) {
            for (size_t q = p + 1; q < n; q++) {
                const double apq = fabs(A[p * n + q]);
                if (apq > 1e-18 * size && apq > 1e-300) {
                    off = fmax(off, apq);
                    rotate(n, A, V, p, q);
                }
            }
        }
        if (!(off > 1e-17 * size)) {
            break;
        }
    }
}

double hspec_dense_symmetric_root(size_t n, const double *S, double *R, double *scratch)
{
    double *A = scratch, *V = scratch + n * n, least = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            A[i * n + j] = (S[i * n + j] + S[j * n + i]) / 2;
        }
    }
    hspec_dense_eigen(n, A, V);
    memset(R, 0, n * n * sizeof *R);
    for (size_t k = 0; k < n; k++) {
        const double value = A[k * n + k];
        least = fmin(least, value);
        const double root = value > 0 ? sqrt(value) : 0;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j <= i; j++) {
                R[i * n + j] += V[i * n + k] * root * V[j * n + k];
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            R[j * n + i] = R[i * n + j];
        }
    }
    return least;
}
