/* SPDX-License-Identifier: MIT */
#include "core/lattice.h"

#include "core/cpu.h"

const hspec_lattice_ops *hspec_lattice_bulk(void)
{
    return HSPEC_PICK(hspec_lattice_ops_table, hspec_cpu_level());
}

unsigned hspec_lattice_bits(double points)
{
    unsigned bits = 3;
    while (bits < HSPEC_LATTICE_MAX_BITS && (double)(UINT64_C(1) << bits) < points) {
        bits++;
    }
    return bits;
}
