/* SPDX-License-Identifier: MIT
 * Nodes: the fixed set of (theta, c, u) over which expectations are sums (docs/theory.md, "Nodes").
 *
 * A base point is a lattice point x = (normals of a gaussian theta, c [F][L], u [H][L]). Every base point stands for
 *      elements    theta of a law of points, summed exactly; and the signs under which the signal is symmetric
 *      mirrors     u and -u
 *      rotations   the rows of u moved on by 0 .. H - 1 places
 * so that a sum over nodes has the symmetries of the expectation: with the symmetric root of r, fields of equal heads are
 * equal, a symmetric feature that no head has found stays so, and at r = 0 the sum is smooth in r.
 *
 * With `split`, E f(c, R u) = E f(c, 0) + E [f(c, R u) - f(c, 0)]: the first by many points of few coordinates, the
 * difference, small when r is, by few points of many coordinates.
 */
#ifndef HSPEC_THEORY_NODES_H
#define HSPEC_THEORY_NODES_H

#include "core/lattice.h"
#include "core/memory.h"
#include "model/signal.h"

typedef struct hspec_nodes_params {
    double nodes; /**< evaluations of the kernel that are asked for, in all; powers of two of base points follow */
    size_t randomizations; /**< independent sets into which they are split */
    uint64_t seed;
    int noise;  /**< is r there? else u, mirrors and rotations are left out */
    int closed; /**< rotations: needed by fields, not by losses */
    int split;  /**< with noise: some nodes are for r = 0, the others for what r adds to it */
} hspec_nodes_params;

/** Base points of one kind: the points of a lattice, as many in every randomization. */
typedef struct hspec_nodes_set {
    unsigned bits;          /* 2^bits base points in each randomization */
    size_t normals;         /* of theta in a base point: F for a gaussian, else 0 */
    size_t dims;            /* coordinates of a base point */
    int noise;              /* is u among them? */
    double weight;          /* of a node, before that of its element */
    double silent;          /* of the node with u = 0 that comes to them: 0, or minus that of all others */
    double *stored;         /* [Q][blocks][dims][W]; NULL: made block by block */
    hspec_lattice *lattice; /* [Q] */
} hspec_nodes_set;

typedef struct hspec_nodes {
    size_t H, L, F;
    size_t randomizations; /* Q */
    size_t mirrors, rotations;
    size_t elements;   /* E */
    double *weight;    /* [E], sum 1 */
    double *sign;      /* [E][F] +-1: c_f and the normal of theta_f are multiplied by it */
    double *constant;  /* [E][F] theta_f = constant + deviation * normal */
    double *deviation; /* [F] */
    size_t sets;
    hspec_nodes_set set[2];
    hspec_arena arena;
} hspec_nodes;

/** One block of base points. */
typedef struct hspec_nodes_block {
    const hspec_nodes_set *set;
    const double *x; /* [dims][W] */
} hspec_nodes_block;

/** @return OK, ENOMEM, EARG (too many features of a symmetric signal to close over). */
hspec_status hspec_nodes_create(const hspec_signal *signal, size_t heads, size_t tokens,
                                const hspec_nodes_params *params, hspec_nodes *nodes, hspec_error *err);
void hspec_nodes_free(hspec_nodes *nodes);
/** Blocks of base points in one randomization, of all sets. */
size_t hspec_nodes_blocks(const hspec_nodes *nodes);
/** The most coordinates of a base point. */
size_t hspec_nodes_dims(const hspec_nodes *nodes);
/** One block: from store, or made in `scratch` [dims][W]. */
hspec_nodes_block hspec_nodes_get(const hspec_nodes *nodes, size_t randomization, size_t block, double *scratch);

#endif
