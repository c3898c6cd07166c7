/* SPDX-License-Identifier: MIT
 * Sampling of theta, one draw per lane of a part. */
#include "model/signal.h"

#include "core/normal.h"

/** Inverse distribution function: the k with cumulative[k-1] <= u < cumulative[k]. */
static void draw_points(const hspec_signal *signal, const uint64_t *words, double *theta)
{
    const size_t F = signal->features, K = signal->points;
    const vd u = vd_uniform(vu_load(words));
    if (K > 16) { /* many points: search in each lane */
        for (size_t w = 0; w < HSPEC_VW; w++) {
            size_t low = 0, high = K - 1;
            while (low < high) {
                const size_t middle = (low + high) / 2;
                if (u[w] < signal->cumulative[middle]) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            for (size_t f = 0; f < F; f++) {
                theta[f * HSPEC_W + w] = signal->theta[low * F + f];
            }
        }
        return;
    }
    for (size_t f = 0; f < F; f++) {
        vd value = vd_set(signal->theta[(K - 1) * F + f]);
        for (size_t k = K - 1; k > 0; k--) {
            value = vd_select(u < signal->cumulative[k - 1], vd_set(signal->theta[(k - 1) * F + f]), value);
        }
        vd_store(HSPEC_AT(theta, f), value);
    }
}

static void draw(const hspec_signal *signal, const uint64_t *words, const double *normals, double *theta)
{
    if (signal->law == HSPEC_LAW_POINTS) {
        draw_points(signal, words, theta);
        return;
    }
    for (size_t f = 0; f < signal->features; f++) {
        vd_store(HSPEC_AT(theta, f), signal->mean[f] + signal->deviation[f] * vd_load(HSPEC_AT(normals, f)));
    }
}

const hspec_signal_ops HSPEC_LEVELED(hspec_signal_ops_table) = {HSPEC_VW, draw};
