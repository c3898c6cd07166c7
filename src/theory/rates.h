/* SPDX-License-Identifier: MIT
 * How deviations between heads grow around a state of equal heads (docs/theory.md, "Growth of deviations").
 *
 *      d delta_i / dt = sum_j block_ij delta_j,   block_ij = -eta d^2 E / (d x_i d x_j) along (+1, -1, 0, ...) / sqrt 2
 *
 * for x = (m_1 .. m_F, and b if each head trains its own). All deviations with sum_h delta_h = 0 share this block.
 */
#ifndef HSPEC_THEORY_RATES_H
#define HSPEC_THEORY_RATES_H

#include "sgd/setup.h"
#include "theory/field.h"

/** A state in which all heads are equal. */
typedef struct hspec_rates_state {
    const double *alignment;             /**< [F] of every head */
    double residual_own, residual_other; /**< r_hh and r_hh'; 0 <= own - other, 0 <= own + (H - 1) other */
    double bias, scale;
} hspec_rates_state;

typedef struct hspec_rates {
    size_t H, F;
    size_t size; /* of the block: F, and one more for a bias of each head that is trained */
    double rate; /* eta */
    int noise;   /* do the nodes have noise? else residuals are not read */
    hspec_field field;
    hspec_field_state *states; /* [2 size] */
    double *alignment;         /* [2 size][H][F] */
    double *bias;              /* [2 size][H] */
    double *root;              /* [H][H] */
    double *mean;              /* [2 size][size of the field] */
    hspec_arena arena;
} hspec_rates;

/** @param setup read now only; H >= 2 @param nodes `noise` is the caller's choice, `closed` is set here
 *  @return OK, EARG (one head does not deviate), ENOMEM */
hspec_status hspec_rates_create(const hspec_setup *setup, const hspec_nodes_params *nodes, int threads,
                                hspec_rates *rates, hspec_error *err);
void hspec_rates_free(hspec_rates *rates);
/** @param block out [size][size], symmetric but for the error of the differences (1e-7 of its size) */
void hspec_rates_block(hspec_rates *rates, const hspec_rates_state *state, double *block);

#endif
