/* SPDX-License-Identifier: MIT
 * Quasi-random normals: a rank-1 lattice, shifted at random, folded and mapped to normals (docs/theory.md, "Nodes").
 *
 *      x_ij = frac(i z_j / N + shift_j),   N = 2^bits points i,   z_j a fixed generating vector
 *      normal_ij = Phi^-1(1 - |2 x_ij - 1|)
 *
 * A stream gives the shifts, so that sets of different streams are independent randomizations of the same rule; every
 * single point is exactly normal in law. Coordinates beyond the vector are plain random numbers.
 */
#ifndef HSPEC_CORE_LATTICE_H
#define HSPEC_CORE_LATTICE_H

#include "core/random.h"

/** Coordinates of the generating vector, made by scripts/lattice.py. */
#define HSPEC_LATTICE_COORDINATES 1024
/** The most points: 2^20. */
#define HSPEC_LATTICE_MAX_BITS 20

extern const uint32_t hspec_lattice_vector[HSPEC_LATTICE_COORDINATES];

typedef struct hspec_lattice {
    hspec_stream stream;
    unsigned bits; /**< 2^bits points, 3 to HSPEC_LATTICE_MAX_BITS */
} hspec_lattice;

typedef struct hspec_lattice_ops {
    /** x[j][lane], j < n: normals of the coordinates first .. first + n - 1 of the points W block + lane.
     *  @param x out [n][W] */
    void (*normals)(const hspec_lattice *lattice, uint64_t block, size_t first, size_t n, double *x);
    /** The uniforms on (0, 1) behind them. */
    void (*uniforms)(const hspec_lattice *lattice, uint64_t block, size_t first, size_t n, double *x);
} hspec_lattice_ops;

HSPEC_DECLARE_LEVELS(hspec_lattice_ops, hspec_lattice_ops_table);

/** The generators of this machine. */
const hspec_lattice_ops *hspec_lattice_bulk(void);
/** The smallest bits with 2^bits >= points, within what is allowed. */
unsigned hspec_lattice_bits(double points);

#endif
