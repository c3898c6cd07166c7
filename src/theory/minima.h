/* SPDX-License-Identifier: MIT
 * The distinct minima among those that a search has found (docs/theory.md, "Optimum"): equal up to permutation of the
 * heads, the signs of symmetric features, and heads without influence on the loss. */
#ifndef HSPEC_THEORY_MINIMA_H
#define HSPEC_THEORY_MINIMA_H

#include "core/memory.h"

typedef struct hspec_minimum {
    double loss;       /* on the nodes of the search, at last on others */
    double loss_error; /* of the latter */
    size_t count;      /* how often it was found */
    double *m;         /* [H][F] */
    double *r;         /* [H][H] */
    double *b;         /* [H] */
    double s;
    int *silent;             /* [H] has the head no influence? */
    int *at_bound;           /* [H F + H + H + 1] does it stand at a bound? m, R of each head, b, s */
    int bound;               /* does anything of a head with influence? */
    int residual;            /* is there one? */
    double rate, rate_error; /* without: at which the loss changes with the residual that lowers it most */
} hspec_minimum;

typedef struct hspec_minima {
    size_t H, F;
    const int *symmetric; /* [F] */
    int shared;           /* bayes: several heads in one place are as good as one */
    size_t count, capacity;
    hspec_minimum *list; /* [capacity] */
    int *taken;          /* [H] scratch */
    hspec_arena arena;
} hspec_minima;

/** Room for `capacity` minima. @param symmetric [F], must outlive it @param shared may heads share a place?
 *  @return OK, ENOMEM */
hspec_status hspec_minima_create(size_t heads, size_t features, const int *symmetric, int shared, size_t capacity,
                                 hspec_minima *minima, hspec_error *err);
void hspec_minima_free(hspec_minima *minima);
/** The length of at_bound. */
size_t hspec_minima_flags(size_t heads, size_t features);
/** The index of the one that equals `found`, or their number. */
size_t hspec_minima_find(const hspec_minima *minima, const hspec_minimum *found);
/** Adds a copy of `found`, or counts it with the one that it equals; of the two the lower one is kept. */
void hspec_minima_add(hspec_minima *minima, const hspec_minimum *found);
/** The lowest first. */
void hspec_minima_sort(hspec_minima *minima);

#endif
