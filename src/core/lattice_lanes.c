/* SPDX-License-Identifier: MIT
 * Points of the lattice, one native vector of points at a time. */
#include "core/lattice.h"

#include "core/normal.h"
#include "core/quantile.h"

/** The uniform of one coordinate of the points from `point` on. */
static vd uniform(const hspec_lattice *lattice, uint64_t point, size_t j)
{
    uint64_t words[2];
    vu x;
    if (j < HSPEC_LATTICE_COORDINATES) {
        hspec_random_words(lattice->stream, j, 0, words); /* the shift */
        const uint64_t step = (uint64_t)hspec_lattice_vector[j] << (64 - lattice->bits);
        x = words[0] + vu_set(step * point) + vu_iota() * step; /* modulo 2^64: the fractional part */
    } else {
        for (size_t w = 0; w < HSPEC_VW; w++) {
            hspec_random_words(lattice->stream, j, point + w, words);
            x[w] = words[0];
        }
    }
    /* 1 - |2 x - 1|: the upper half runs back. */
    return vd_uniform((x ^ (vu)((vi)x >> 63)) << 1);
}

static void uniforms(const hspec_lattice *lattice, uint64_t block, size_t first, size_t n, double *x)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t part = 0; part < HSPEC_W; part += HSPEC_VW) {
            vd_store(HSPEC_AT(x, j) + part, uniform(lattice, block * HSPEC_W + part, first + j));
        }
    }
}

static void normals(const hspec_lattice *lattice, uint64_t block, size_t first, size_t n, double *x)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t part = 0; part < HSPEC_W; part += HSPEC_VW) {
            vd_store(HSPEC_AT(x, j) + part, vd_quantile(uniform(lattice, block * HSPEC_W + part, first + j)));
        }
    }
}

const hspec_lattice_ops HSPEC_LEVELED(hspec_lattice_ops_table) = {normals, uniforms};
