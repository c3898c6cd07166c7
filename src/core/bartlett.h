/* SPDX-License-Identifier: MIT
 * The Bartlett factor of a Wishart matrix (docs/theory.md, "Random numbers"): what a matrix of unit normals with very many
 * columns leaves of itself in its Gram matrix, at a cost that does not depend on their number. */
#ifndef HSPEC_CORE_BARTLETT_H
#define HSPEC_CORE_BARTLETT_H

#include "core/memory.h"

/** A [order][columns], lower trapezoidal, with A A^T ~ Wishart_order(degrees) for any whole number of degrees >= 0, up to
 *  2^53: columns = min(order, degrees), A_jj^2 ~ chi^2(degrees - j) with j from 0, unit normals below.
 *  bartlett_lanes.h draws it. */
typedef struct hspec_bartlett {
    size_t order, columns;
    size_t normals; /* how many normals a draw takes: first one for each diagonal entry, then the entries below */
    size_t words;   /* how many words: 21 bits for each diagonal entry */
    double degrees;
    /* [columns][W], the same in every lane; 0 where fewer than 2 degrees of freedom are left: */
    double *d;     /* (degrees - j) / 2 - 1/3 */
    double *c;     /* 1 / sqrt(9 d) */
    double *bound; /* 1 / (54 d) */
} hspec_bartlett;

/** Counters that the exact path of one diagonal entry may use, and of a whole draw: this times `columns`. */
#define HSPEC_BARTLETT_COUNTERS 4096

/** Sizes, and places in the arena (NULL while it measures). */
void hspec_bartlett_layout(hspec_bartlett *b, size_t order, double degrees, hspec_arena *arena);
/** The tables, once the arena has memory. */
void hspec_bartlett_fill(hspec_bartlett *b);

#endif
