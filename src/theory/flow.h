/* SPDX-License-Identifier: MIT
 * The equations of motion as a system y' = f(y) (docs/theory.md, "Order parameters as D grows").
 *
 *      y = (m [H][F], residual, b, s)   residual: limit sgd, r by its lower triangle; limit flow, R [H][H], r = R R^T
 *      dm_hf  = -eta E sum_l d_hl c_fl
 *      dr_hh' = -eta E sum_l (d_hl n_h'l + d_h'l n_hl) + (eta^2/B) E sum_l d_hl d_h'l      dR_hj = -eta E sum_l d_hl u_jl
 *      db_h   = -eta E dloss/db_h,   ds = -eta E dloss/ds
 */
#ifndef HSPEC_THEORY_FLOW_H
#define HSPEC_THEORY_FLOW_H

#include "sgd/setup.h"
#include "theory/field.h"

typedef struct hspec_flow {
    size_t H, F;
    hspec_limit limit;
    double rate;           /* eta */
    double update;         /* eta^2 / B */
    int noise;             /* is there a residual? in the flow one that is 0 stays so */
    int per_head;          /* biases: one per head, else one for all */
    int bayes;             /* biases are reported with mean 0 */
    size_t biases, scales; /* trained ones among the variables */
    size_t residuals;      /* variables of the residual */
    size_t variables;      /* length of y */
    double *bias;          /* [H] those that are not trained */
    double scale;          /* that is not trained */
    size_t *twin;          /* [H] the first head that is equal at the start */
    int *coincide;         /* [H] are the heads that equal this one the same vector outside the signal? */
    int twins;
    double *root, *scratch; /* [H][H], [2][H][H] */
    double *b, *mean;       /* [H], [size] */
    hspec_field field;
    hspec_arena arena;
} hspec_flow;

/** @param start copied: the variables that are not trained, and which heads are equal
 *  @param nodes `noise`, `closed` and `split` are set here
 *  @return OK, EARG, ENOMEM */
hspec_status hspec_flow_create(const hspec_setup *setup, hspec_limit limit, const hspec_nodes_params *nodes,
                               const hspec_order *start, int threads, hspec_flow *flow, hspec_error *err);
void hspec_flow_free(hspec_flow *flow);
/** Does hspec_flow_create split the nodes: is the residual small all the way? @param residual [H][H] at the start */
int hspec_flow_splits_nodes(const hspec_setup *setup, hspec_limit limit, const double *residual);
/** The variables at given order parameters. @param y out [variables] */
void hspec_flow_pack(hspec_flow *flow, const hspec_order *order, double *y);
/** The order parameters at given variables. @param m out [H][F] @param r out [H][H] @param b out [H] @param s out scalar
 *  @return the least eigenvalue of the residual, 0 when none is negative: r is made positive semidefinite. */
double hspec_flow_unpack(hspec_flow *flow, const double *y, double *m, double *r, double *b, double *s);
/** y'. @return 0, or 1 when it is not finite. */
int hspec_flow_slope(hspec_flow *flow, const double *y, double *slope);

#endif
