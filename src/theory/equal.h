/* SPDX-License-Identifier: MIT
 * The flow of equal heads: the equations of motion where all heads are the same vector, and where they come to rest
 * (docs/theory.md, "Unspecialized fixed point").
 *
 *      x = (m [F] of every head, rho, b, s)
 *      rho    r_hh' of every pair of heads, in limit sgd only; in the flow it is 0
 *      b, s   those that are trained; bayes has no b, a common shift changes nothing
 */
#ifndef HSPEC_THEORY_EQUAL_H
#define HSPEC_THEORY_EQUAL_H

#include "theory/flow.h"

/** The place of a variable that is not there. */
#define HSPEC_EQUAL_NONE SIZE_MAX

typedef struct hspec_equal {
    size_t H, F, n;          /* n: length of x */
    size_t rho, bias, scale; /* places in x, or HSPEC_EQUAL_NONE */
    size_t first;            /* variables before it are held: 0, or F at the origin */
    double small_rho;        /* eta / (B H L): where rho is of small weights */
    double step;             /* of differences along m */
    double bias_init, scale_init;
    hspec_flow flow;
    double *y, *dy;           /* [variables of the flow] */
    double *J, *A;            /* [n][n] */
    double *k1, *k2, *x1, *f; /* [n] */
    double *up, *down, *kept; /* [n] */
    size_t *pivot;            /* [n] */
    hspec_arena arena;
} hspec_equal;

/** @param at_origin is m held at 0?
 *  @param nodes as for hspec_flow_create; one randomization
 *  @return OK, EARG, ENOMEM */
hspec_status hspec_equal_create(const hspec_setup *setup, hspec_limit limit, int at_origin,
                                const hspec_nodes_params *nodes, int threads, hspec_equal *equal, hspec_error *err);
void hspec_equal_free(hspec_equal *equal);
/** Where the flow starts: m = push, b and s as they are initialized, a small rho. @param push [F] @param x out [n] */
void hspec_equal_start(const hspec_equal *equal, const double *push, double *x);
/** dx/dt, of all variables, held or not. @param slope out [n] */
void hspec_equal_slope(hspec_equal *equal, const double *x, double *slope);
/** Follows the flow from x until it moves slowly, then Newton's method until it does not move; if that fails, the flow
 *  until it creeps.
 *  @param x inout [n] @return OK; ENONFINITE (it does not come to rest: the message says where it got) */
hspec_status hspec_equal_settle(hspec_equal *equal, double *x, hspec_error *err);
/** Only Newton's method, from an x close to rest. */
hspec_status hspec_equal_polish(hspec_equal *equal, double *x, hspec_error *err);
/** The variables without rho, as a list of places in x. @param place out [n] @return how many */
size_t hspec_equal_places(const hspec_equal *equal, size_t *place);
/** The linearized flow of the mean at fixed rho, in coordinates in which a move by 1 is one of unit length of all heads
 *  together: -eta times the Hessian of E, symmetric. @param block out [size][size], size from hspec_equal_places */
void hspec_equal_block(hspec_equal *equal, const double *x, double *block);

#endif
