#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes src/core/lattice_table.c: the generating vector of an embedded rank-1 lattice, component by component.

    point i of 2^k, coordinate j:   frac(i z_j / 2^k),   k <= 20

z_j is the best of random odd candidates for the worst-case error of a weighted Korobov space with kernel
prod_j (1 + gamma_j 2 pi^2 B_2(x_j)), gamma_j = 0.3 / j, at all sizes 2^7 .. 2^MAX together: the candidate whose largest
ratio to the least error at each size is smallest (Cools, Kuo, Nuyens, SIAM J. Sci. Comput. 28, 2162, 2006).
Later coordinates are chosen by the sizes up to 2^14 only; their upper bits are random.
"""
import sys

import numpy as np

COORDINATES, MAX, FINE, COARSE, CANDIDATES = 1024, 20, 48, 14, 48


def errors(product, z, bits):
    """Squared worst-case error minus that without the new coordinate, at 2^7 .. 2^bits points."""
    n = 1 << bits
    total = []
    index = np.arange(n, dtype=np.uint64)
    x = ((index * np.uint64(z)) & np.uint64(n - 1)).astype(float) / n
    omega = product * (x * x - x + 1 / 6)
    for k in range(7, bits + 1):
        total.append(omega[:: 1 << (bits - k)].mean())
    return np.array(total)


def main():
    random = np.random.default_rng(20240229)
    z = [1]
    products = {bits: np.ones(1 << bits) for bits in (MAX, COARSE)}
    for j in range(COORDINATES):
        bits = MAX if j < FINE else COARSE
        if j > 0:
            candidates = 2 * random.integers(0, 1 << (MAX - 1), CANDIDATES, dtype=np.uint64) + 1
            table = np.array([errors(products[bits], int(c) & ((1 << bits) - 1), bits) for c in candidates])
            table -= table.min(axis=0) - np.abs(table).mean(axis=0) * 1e-3
            z.append(int(candidates[np.argmin((table / table.mean(axis=0)).max(axis=1))]))
        for b in products:
            if b == COARSE or j < FINE:
                n = 1 << b
                x = ((np.arange(n, dtype=np.uint64) * np.uint64(z[j])) & np.uint64(n - 1)).astype(float) / n
                products[b] *= 1 + 0.3 / (j + 1) * 2 * np.pi**2 * (x * x - x + 1 / 6)
    out = ["/* SPDX-License-Identifier: MIT", " * Generating vector of the lattice; made by scripts/lattice.py. */",
           '#include "core/lattice.h"', "", "/* clang-format off */",
           "const uint32_t hspec_lattice_vector[HSPEC_LATTICE_COORDINATES] = {"]
    for i in range(0, COORDINATES, 13):
        out.append("    " + ", ".join(str(v) for v in z[i:i + 13]) + ",")
    out += ["};", "/* clang-format on */", ""]
    sys.stdout.write("\n".join(out))


main()
