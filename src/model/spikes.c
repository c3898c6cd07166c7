/* SPDX-License-Identifier: MIT */
#include "model/spikes.h"

#include <math.h>
#include <string.h>

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

void hspec_spikes_complete(hspec_stream stream, size_t first, size_t n, size_t D, size_t stride, double *Q)
{
    for (size_t i = first; i < n; i++) {
        double *q = Q + i * stride;
        double norm = 0;
        /* A draw that happens to lie in the span of the others (probability 0, but D = n is near it) is drawn again. */
        for (uint64_t attempt = 0; norm < 1e-6; attempt++) {
            hspec_random_bulk()->normals(stream, ((uint64_t)i << 16) + attempt, 0, q, D);
            memset(q + D, 0, (stride - D) * sizeof *q);
            norm = 1;
            for (int pass = 0; pass < 2; pass++) { /* twice is enough: what is left is orthogonal to rounding */
                for (size_t j = 0; j < i; j++) {
                    const double along = dot(D, q, Q + j * stride);
                    for (size_t d = 0; d < D; d++) {
                        q[d] -= along * Q[j * stride + d];
                    }
                }
                const double length = sqrt(dot(D, q, q));
                norm *= length;
                for (size_t d = 0; d < D && length > 0; d++) {
                    q[d] /= length;
                }
            }
        }
    }
}

hspec_status hspec_spikes_check(size_t F, size_t D, const double *spikes, hspec_error *err)
{
    for (size_t f = 0; f < F; f++) {
        for (size_t g = 0; g <= f; g++) {
            const double product = dot(D, spikes + f * D, spikes + g * D) / (double)D;
            const double wanted = f == g ? 1 : 0;
            if (!(fabs(product - wanted) <= 1e-8)) {
                return hspec_error_set(err, HSPEC_EARG,
                                       "spikes: k*_%zu . k*_%zu / D is %.12g, allowed %g within 1e-8 (orthogonal, "
                                       "|k*_f|^2 = D)",
                                       f, g, product, wanted);
            }
        }
    }
    return HSPEC_OK;
}
