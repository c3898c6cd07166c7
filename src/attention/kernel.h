/* SPDX-License-Identifier: MIT
 * The attention kernel: scores in; loss and gradients out, for the lanes of one native vector at a time. Every engine uses this one; what a
 * lane is (a sequence of the batch, a seed, a quadrature node) is the caller's affair.
 *
 * docs/theory.md, "Activations" and "Loss and gradients":
 *      a_hl = gain p_hl          softmax: gain 1;  softmax1: gain s;  bayes: gain H
 *      v_l  = (gain/H) sum_h p_hl - [l = target]
 *      g    = 2 v (location),  2 G v (token);  loss = g . v / 2
 *      d_hl = dloss/dchi_hl,  db_h = dloss/db_h,  ds = dloss/ds
 */
#ifndef HSPEC_ATTENTION_KERNEL_H
#define HSPEC_ATTENTION_KERNEL_H

#include "core/level.h"
#include "core/memory.h"
#include "headspec.h"

/** One block of lanes; every array is [...][W], lane innermost, and belongs to the arena it was laid out in. */
typedef struct hspec_kernel {
    size_t heads, tokens; /* H, L */
    double *chi;          /* in  [H][L] scores */
    double *bias;         /* in  [H] */
    double *scale;        /* in  [1] */
    double *target;       /* in  [L] 1 at the target, else 0 */
    double *gram;         /* in  [L][L] G of the token loss; NULL: location loss */
    double *p;            /* out [H][L], with room for 3 more */
    double *gain;         /* out [1] */
    double *rest;         /* out [H] softmax1: the probability p_h0 of attending to nothing */
    double *v;            /* out [L] */
    double *g;            /* out [L] dloss/dabar */
    double *loss;         /* out [1] */
    double *d;            /* out [H][L] */
    double *db;           /* out [H] */
    double *ds;           /* out [1] */
} hspec_kernel;

/** Lays the arrays out in an arena; `token_loss` decides whether there is a gram matrix. */
void hspec_kernel_layout(hspec_kernel *kernel, size_t heads, size_t tokens, int token_loss, hspec_arena *arena);

/** The kernel of one activation at one level. Scores up to +-1e4 are safe, and any finite ones give finite results. */
typedef struct hspec_activation_ops {
    size_t width;                           /**< lanes that one call works on, from those that the arrays point at */
    void (*forward)(hspec_kernel *kernel);  /**< p, gain, rest, v, g, loss */
    void (*gradient)(hspec_kernel *kernel); /**< forward, then d, db, ds */
} hspec_activation_ops;

/** The same kernel, pointing at the lanes from `lane` on. */
hspec_kernel hspec_kernel_part(const hspec_kernel *kernel, size_t lane);
/** The gradient (or without it the forward pass) of the first `lanes` lanes of a block. */
void hspec_kernel_run(const hspec_activation_ops *ops, const hspec_kernel *kernel, size_t lanes, int gradient);

/** The kernel of an activation on this machine. */
const hspec_activation_ops *hspec_kernel_activation(hspec_activation activation);

/** What an activation reads: which of bias and scale, and whether its bias is always one per head. */
typedef struct hspec_activation_traits {
    int has_bias, has_scale, bias_per_head;
} hspec_activation_traits;
hspec_activation_traits hspec_kernel_traits(hspec_activation activation);

HSPEC_DECLARE_LEVELS(hspec_activation_ops, hspec_softmax_ops);
HSPEC_DECLARE_LEVELS(hspec_activation_ops, hspec_softmax1_ops);
HSPEC_DECLARE_LEVELS(hspec_activation_ops, hspec_bayes_ops);

#endif
