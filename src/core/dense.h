/* SPDX-License-Identifier: MIT
 * The small dense algebra that is needed, on matrices of a few heads: C order, no aliasing unless said. */
#ifndef HSPEC_CORE_DENSE_H
#define HSPEC_CORE_DENSE_H

#include <stddef.h>

/** LQ by Householder reflections: A = L Q with orthonormal rows in Q. Only L is formed, in place.
 *  @param A inout [n][m], row stride `stride` >= m; on return the lower trapezoid holds L [n][min(n, m)], the rest is 0.
 *  The diagonal of L keeps the signs of the diagonal of A as it comes to it. Exact zeros and coinciding rows are fine. */
void hspec_dense_lq(size_t n, size_t m, double *A, size_t stride);

/** A lower triangular R with a diagonal >= 0 and R R^T = S, entry by entry within 1e-13 n times the largest diagonal entry
 *  of S, for symmetric positive semidefinite S of any rank.
 *  @param S in [n][n] (the lower triangle is read) @param R out [n][n]
 *  @return 0, or 1 + the index of the first row at which S is seen not to be positive semidefinite, or not finite. */
size_t hspec_dense_root(size_t n, const double *S, double *R);

/** S = R R^T. @param R in [n][m] @param S out [n][n] */
void hspec_dense_gram(size_t n, size_t m, const double *R, double *S);

/** Eigenvalues and eigenvectors of a symmetric matrix by Jacobi rotations: A = V diag V^T.
 *  @param A inout [n][n]; on return the eigenvalues on the diagonal, in no order @param V out [n][n], in columns */
void hspec_dense_eigen(size_t n, double *A, double *V);

/** The symmetric R with R R = S, eigenvalues below 0 taken as 0.
 *  @param R out [n][n] @param scratch [2][n][n] @return the least eigenvalue of S, or 0 when none is negative */
double hspec_dense_symmetric_root(size_t n, const double *S, double *R, double *scratch);

#endif
