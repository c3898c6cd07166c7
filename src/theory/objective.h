/* SPDX-License-Identifier: MIT
 * The population loss as a function of one vector, with its exact gradient: what a search for optima works on
 * (docs/theory.md, "Optimum").
 *
 *      x = (m [H][F], R [H][H], b, s)   R only with noise; b [H], or one that all heads share, and s if they are trained
 */
#ifndef HSPEC_THEORY_OBJECTIVE_H
#define HSPEC_THEORY_OBJECTIVE_H

#include "theory/field.h"

typedef struct hspec_objective {
    size_t H, F, n;          /* n: length of x */
    size_t root;             /* H H doubles with noise, else 0 */
    size_t biases, scales;   /* trained ones */
    double bias, scale;      /* those that are not trained */
    double *b, *zero, *mean; /* [H], [H][H], [size] */
    hspec_field field;
    hspec_arena arena;
} hspec_objective;

/** @param nodes `noise` says whether R is there; `closed` and `split` are set here
 *  @return OK, ENOMEM */
hspec_status hspec_objective_create(const hspec_signal *signal, const hspec_layer_params *layer, size_t tokens,
                                    const hspec_nodes_params *nodes, int threads, hspec_objective *objective,
                                    hspec_error *err);
void hspec_objective_free(hspec_objective *objective);
/** E(x) over the nodes. @param gradient out [n]; NULL: not wanted */
double hspec_objective_value(hspec_objective *objective, const double *x, double *gradient);
/** b of every head, and s. @param b out [H] @param s out scalar */
void hspec_objective_parameters(const hspec_objective *objective, const double *x, double *b, double *s);

#endif
