/* SPDX-License-Identifier: MIT
 * The field: expectations of the location loss and of its gradients over the nodes (docs/theory.md, "Population loss",
 * "Order parameters as D grows"). Scores are chi = m c + R u with the symmetric root R of r.
 */
#ifndef HSPEC_THEORY_FIELD_H
#define HSPEC_THEORY_FIELD_H

#include "attention/kernel.h"
#include "theory/nodes.h"

/** What is to be summed. */
typedef enum hspec_field_what {
    HSPEC_FIELD_LOSS,     /**< E |v|^2 alone */
    HSPEC_FIELD_PARTS,    /**< and its two parts with the share of each head, but no derivatives */
    HSPEC_FIELD_GRADIENT, /**< E |v|^2 and its first derivatives: alignment, root, bias, scale */
    HSPEC_FIELD_ALL       /**< and E sum_l d_hl d_h'l */
} hspec_field_what;

/** One state; arrays belong to the caller. */
typedef struct hspec_field_state {
    const double *alignment; /**< [H][F] m */
    const double *root;      /**< [H][H] R; not read when the nodes have no noise */
    const double *bias;      /**< [H] b */
    double scale;            /**< s */
} hspec_field_state;

/** Where the expectations stand in an array of hspec_field_size doubles. */
typedef struct hspec_field_places {
    size_t loss;      /**< [1] E |v|^2 */
    size_t alignment; /**< [H][F] E sum_l d_hl c_fl = dE/dm */
    size_t root;      /**< [H][H] E sum_l d_hl u_jl = dE/dR */
    size_t update;    /**< [H][H] E sum_l d_hl d_h'l, the lower triangle until hspec_field_mean fills the rest */
    size_t bias;      /**< [H] E dloss/db_h */
    size_t scale;     /**< [1] E dloss/ds */
    size_t parts;     /**< [2][1 + H] missed target, noise let in, where derivatives would stand */
    size_t size;
} hspec_field_places;

hspec_field_places hspec_field_layout(size_t H, size_t F);

/** Scratch of one thread; arrays are [...][W], a lane is a base point. */
typedef struct hspec_field_worker {
    size_t H, L, F;
    const hspec_activation_ops *activation;
    hspec_kernel kernel;
    double *x;            /* [dims] a block of base points, when they are not stored */
    double *c;            /* [F][L] of one element */
    double *base;         /* [H][L] m c */
    double *z;            /* [H][L] R u */
    double *sum;          /* [H][L] d, summed over what shares c */
    double *plus, *minus; /* [H][L] d at u and at -u */
    double *sums;         /* [size] */
    hspec_arena arena;
} hspec_field_worker;

typedef struct hspec_field_ops {
    size_t width;
    /** Adds one block of base points, all its nodes, to worker->sums, lane by lane. */
    void (*add)(hspec_field_worker *worker, const hspec_nodes *nodes, hspec_nodes_block block,
                const hspec_field_state *state, hspec_field_what what);
} hspec_field_ops;

HSPEC_DECLARE_LEVELS(hspec_field_ops, hspec_field_ops_table);

typedef struct hspec_field {
    hspec_nodes nodes;
    hspec_field_places places;
    hspec_field_worker *workers; /* [threads] */
    int threads;
    size_t parts;    /* of each randomization; sums are taken part by part, in a fixed order */
    double *sums;    /* [capacity][Q][parts][size] */
    size_t capacity; /* states that are evaluated at a time */
    hspec_arena arena;
} hspec_field;

/** @param capacity how many states are evaluated together at most @param threads 0: as many as OpenMP offers
 *  @return OK, ENOMEM, EARG. The signal is read now only. */
hspec_status hspec_field_create(const hspec_signal *signal, const hspec_layer_params *layer, size_t tokens,
                                const hspec_nodes_params *params, size_t capacity, int threads, hspec_field *field,
                                hspec_error *err);
void hspec_field_free(hspec_field *field);

/** Expectations of n states, and their standard errors from the spread over the randomizations (NULL: not wanted).
 *  Does not depend on the number of threads.
 *  @param n at most the capacity @param mean out [n][size] @param error out [n][size] */
void hspec_field_evaluate(hspec_field *field, size_t n, const hspec_field_state *states, hspec_field_what what,
                          double *mean, double *error);

#endif
