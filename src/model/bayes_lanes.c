/* SPDX-License-Identifier: MIT
 * Likelihood ratios of lattice points and their sums, one native vector of points at a time. */
#include "model/bayes.h"

#include "core/vecmath.h"

/** ln w = ln sum_k exp(theta_k . c + offset_k). @param exponent scratch [K + 3][W] */
HSPEC_INLINE vd log_ratio_points(const hspec_bayes_law *law, const double *c, double *exponent)
{
    const size_t K = law->points, F = law->features;
    vd max = vd_set(-__builtin_inf());
    for (size_t k = 0; k < K; k++) {
        vd x = vd_set(law->offset[k]);
        for (size_t f = 0; f < F; f++) {
            x = x + law->theta[k * F + f] * vd_load(HSPEC_AT(c, f));
        }
        vd_store(HSPEC_AT(exponent, k), x);
        max = vd_max(x, max);
    }
    for (size_t k = K; k % HSPEC_CHAINS != 0; k++) {
        vd_store(HSPEC_AT(exponent, k), vd_set(-__builtin_inf()));
    }
    vd sum = vd_set(0.0);
    for (size_t k = 0; k < K; k += HSPEC_CHAINS) {
        vd x[HSPEC_CHAINS];
        for (size_t j = 0; j < HSPEC_CHAINS; j++) {
            x[j] = vd_load(HSPEC_AT(exponent, k + j)) - max;
        }
        vd_exp_nonpositive(HSPEC_CHAINS, x);
        sum = sum + ((x[0] + x[1]) + (x[2] + x[3]));
    }
    vd logarithm;
    vd_log(1, &sum, &logarithm);
    return max + logarithm;
}

/** ln w = sum_f [V_f c_f^2 / 2 + mu_f c_f] / (1 + V_f) + constant. */
HSPEC_INLINE vd log_ratio_gaussian(const hspec_bayes_law *law, const double *c)
{
    vd sum = vd_set(law->constant);
    for (size_t f = 0; f < law->features; f++) {
        const vd x = vd_load(HSPEC_AT(c, f));
        sum = sum + (law->square[f] * x + law->linear[f]) * x;
    }
    return sum;
}

/** Adds one token c that stands for `share` of the mixture (noise + signal) / 2, to either side by its part in it:
 *  noise 2 / (1 + w), signal 2 w / (1 + w). */
HSPEC_INLINE void add_token(const hspec_bayes_law *law, hspec_bayes_sums *sums, size_t lane, double share)
{
    const double *c = sums->c + lane;
    const vd g =
        law->law == HSPEC_LAW_POINTS ? log_ratio_points(law, c, sums->exponent + lane) : log_ratio_gaussian(law, c);
    const double limit = law->limit;
    const vd w = vd_exp(vd_select(g > limit, vd_set(limit), vd_max(vd_set(-limit), g)));
    const vd noise = (2 * share) / (1.0 + w), signal = noise * w;
    double *A = sums->A + lane, *B = sums->B + lane;
    vd_store(sums->A0 + lane, vd_load(sums->A0 + lane) + signal);
    vd_store(sums->B0 + lane, vd_load(sums->B0 + lane) + noise);
    for (size_t j = 0; j < law->times; j += HSPEC_CHAINS) {
        vd x[HSPEC_CHAINS];
        for (size_t i = 0; i < HSPEC_CHAINS; i++) {
            x[i] = -law->time[j + i] * w;
        }
        vd_exp_nonpositive(HSPEC_CHAINS, x);
        for (size_t i = 0; i < HSPEC_CHAINS; i++) {
            double *a = HSPEC_AT(A, j + i), *b = HSPEC_AT(B, j + i);
            vd_store(a, vd_load(a) + signal * x[i]);
            vd_store(b, vd_load(b) + noise * x[i]);
        }
    }
}

/** c = z + theta_k. */
HSPEC_INLINE void shift_by_point(const hspec_bayes_law *law, hspec_bayes_sums *sums, size_t lane, size_t k)
{
    for (size_t f = 0; f < law->features; f++) {
        const vd z = vd_load(HSPEC_AT(sums->z + lane, f));
        vd_store(HSPEC_AT(sums->c + lane, f), z + law->theta[k * law->features + f]);
    }
}

/** c = z + theta_k with the k of each lane that cumulative[k-1] <= u < cumulative[k]. */
HSPEC_INLINE void shift_by_drawn(const hspec_bayes_law *law, hspec_bayes_sums *sums, size_t lane)
{
    for (size_t w = lane; w < lane + HSPEC_VW; w++) {
        size_t low = 0, high = law->points - 1;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (sums->u[w] < law->cumulative[middle]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        for (size_t f = 0; f < law->features; f++) {
            sums->c[f * HSPEC_W + w] = sums->z[f * HSPEC_W + w] + law->theta[low * law->features + f];
        }
    }
}

/** c = mu + sqrt(1 + V) z: noise and signal of the gaussian law together. */
HSPEC_INLINE void shift_by_gaussian(const hspec_bayes_law *law, hspec_bayes_sums *sums, size_t lane)
{
    for (size_t f = 0; f < law->features; f++) {
        const vd z = vd_load(HSPEC_AT(sums->z + lane, f));
        vd_store(HSPEC_AT(sums->c + lane, f), law->mean[f] + law->spread[f] * z);
    }
}

/** The tokens of one part of a block: noise, and signal in all its kinds. */
HSPEC_INLINE void add_part(const hspec_bayes_law *law, hspec_bayes_sums *sums, size_t lane)
{
    for (size_t f = 0; f < law->features; f++) {
        vd_store(HSPEC_AT(sums->c + lane, f), vd_load(HSPEC_AT(sums->z + lane, f)));
    }
    add_token(law, sums, lane, 0.5);
    if (law->law == HSPEC_LAW_GAUSSIAN) {
        shift_by_gaussian(law, sums, lane);
        add_token(law, sums, lane, 0.5);
    } else if (law->points > HSPEC_BAYES_EXACT) {
        shift_by_drawn(law, sums, lane);
        add_token(law, sums, lane, 0.5);
    } else {
        for (size_t k = 0; k < law->points; k++) {
            shift_by_point(law, sums, lane, k);
            add_token(law, sums, lane, 0.5 * law->weights[k]);
        }
    }
}

static void add(const hspec_bayes_law *law, hspec_bayes_sums *sums)
{
    const hspec_lattice_ops *lattice = &HSPEC_LEVELED(hspec_lattice_ops_table);
    const size_t drawn = law->law == HSPEC_LAW_POINTS && law->points > HSPEC_BAYES_EXACT;
    for (uint64_t block = 0; block < (UINT64_C(1) << sums->lattice.bits) / HSPEC_W; block++) {
        lattice->uniforms(&sums->lattice, block, 0, drawn, sums->u);
        lattice->normals(&sums->lattice, block, drawn, law->features, sums->z);
        for (size_t lane = 0; lane < HSPEC_W; lane += HSPEC_VW) {
            add_part(law, sums, lane);
        }
    }
}

const hspec_bayes_ops HSPEC_LEVELED(hspec_bayes_ops_table) = {add};
