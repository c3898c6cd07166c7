/* SPDX-License-Identifier: MIT
 * Plain functions around the inline ones. */
#include "unit/core_ops.h"

#include "core/bartlett_lanes.h"
#include "core/lq_lanes.h"
#include "core/quantile.h"
#include "core/single.h"

#define N HSPEC_CHAINS

static void exponential(const double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i += HSPEC_VW) {
        vd_store(y + i, vd_exp(vd_load(x + i)));
    }
}

static void exponential_nonpositive(const double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i += (size_t)N * HSPEC_VW) {
        vd value[N];
        for (size_t j = 0; j < N; j++) {
            value[j] = vd_load(x + i + j * HSPEC_VW);
        }
        vd_exp_nonpositive(N, value);
        for (size_t j = 0; j < N; j++) {
            vd_store(y + i + j * HSPEC_VW, value[j]);
        }
    }
}

static void logarithm(const double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i += (size_t)N * HSPEC_VW) {
        vd in[N], out[N];
        for (size_t j = 0; j < N; j++) {
            in[j] = vd_load(x + i + j * HSPEC_VW);
        }
        vd_log(N, in, out);
        for (size_t j = 0; j < N; j++) {
            vd_store(y + i + j * HSPEC_VW, out[j]);
        }
    }
}

static void sincos_turn(const double *r, double *sine, double *cosine, size_t n)
{
    for (size_t i = 0; i < n; i += (size_t)N * HSPEC_VW) {
        vd in[N], s[N], c[N];
        for (size_t j = 0; j < N; j++) {
            in[j] = vd_load(r + i + j * HSPEC_VW);
        }
        vd_sincos_turn(N, in, s, c);
        for (size_t j = 0; j < N; j++) {
            vd_store(sine + i + j * HSPEC_VW, s[j]);
            vd_store(cosine + i + j * HSPEC_VW, c[j]);
        }
    }
}

static void quantile(const double *u, double *x, size_t n)
{
    for (size_t i = 0; i < n; i += HSPEC_VW) {
        vd_store(x + i, vd_quantile(vd_load(u + i)));
    }
}

static void uniform(const uint64_t *words, double *u, size_t n)
{
    for (size_t i = 0; i < n; i += HSPEC_VW) {
        vd_store(u + i, vd_uniform(vu_load(words + i)));
    }
}

static void log_single(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i += (size_t)N * 2 * HSPEC_VW) {
        vf in[N], out[N];
        for (size_t j = 0; j < N; j++) {
            in[j] = vf_load(x + i + j * 2 * HSPEC_VW);
        }
        vf_log(N, in, out);
        for (size_t j = 0; j < N; j++) {
            vf_store(y + i + j * 2 * HSPEC_VW, out[j]);
        }
    }
}

static void sincos_turn_single(const float *r, float *sine, float *cosine, size_t n)
{
    for (size_t i = 0; i < n; i += (size_t)N * 2 * HSPEC_VW) {
        vf in[N], s[N], c[N];
        for (size_t j = 0; j < N; j++) {
            in[j] = vf_load(r + i + j * 2 * HSPEC_VW);
        }
        vf_sincos_turn(N, in, s, c);
        for (size_t j = 0; j < N; j++) {
            vf_store(sine + i + j * 2 * HSPEC_VW, s[j]);
            vf_store(cosine + i + j * 2 * HSPEC_VW, c[j]);
        }
    }
}

static void lq(size_t n, size_t m, double *A)
{
    vd_lq(HSPEC_PARTS, n, m, A);
}

static void bartlett(const hspec_bartlett *b, const uint64_t *keys, uint64_t c0, uint64_t c1, const double *normals,
                     const uint64_t *words, double *A)
{
    for (size_t lane = 0; lane < HSPEC_W; lane += HSPEC_VW) {
        vd_bartlett(b, keys + lane, c0, c1, normals + lane, words + lane, A + lane);
    }
}

const core_ops HSPEC_LEVELED(core_ops_table) = {.exp = exponential,
                                                .exp_nonpositive = exponential_nonpositive,
                                                .log = logarithm,
                                                .sincos_turn = sincos_turn,
                                                .quantile = quantile,
                                                .uniform = uniform,
                                                .log_single = log_single,
                                                .sincos_turn_single = sincos_turn_single,
                                                .lq = lq,
                                                .bartlett = bartlett};
