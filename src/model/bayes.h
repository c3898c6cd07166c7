/* SPDX-License-Identifier: MIT
 * The Bayes risk as an integral over one token (docs/theory.md, "Bayes risk").
 *
 *      w(c) = E_theta exp(theta . c - |theta|^2 / 2)        likelihood ratio of a token: signal over noise
 *      A(t) = E[exp(-t w(c)); c signal],   B(t) = E[exp(-t w(c)); c noise]
 *      risk = (L - 1) int_0^inf A(t)^2 B(t)^(L - 2) dt
 *
 * One set of points serves both expectations: half of them signal, half noise, each weighted by its share of the mixture.
 */
#ifndef HSPEC_MODEL_BAYES_H
#define HSPEC_MODEL_BAYES_H

#include "core/lattice.h"
#include "model/signal.h"

/** Points of the law up to which all are summed; of more, one is drawn for each point of the lattice. */
#define HSPEC_BAYES_EXACT 8
/** The most tokens. */
#define HSPEC_BAYES_MAX_TOKENS 1000000

/** What is integrated; the same for all randomizations. */
typedef struct hspec_bayes_law {
    hspec_signal_law law;
    size_t features;    /* F, of points at most K: only their mutual products matter */
    size_t points;      /* K, those of weight 0 left out */
    double *theta;      /* [K][F] */
    double *weights;    /* [K] */
    double *cumulative; /* [K] */
    double *offset;     /* [K] ln pi_k - |theta_k|^2 / 2 */
    double *mean;       /* [F] gaussian: mu_f */
    double *spread;     /* [F] gaussian: sqrt(1 + V_f), deviation of c_f of a token with signal */
    double *linear;     /* [F] gaussian: mu_f / (1 + V_f) */
    double *square;     /* [F] gaussian: V_f / (2 (1 + V_f)) */
    double constant;    /* gaussian: what does not depend on c */
    size_t times;       /* n */
    double *time;       /* [n + 3] t_j, geometric */
    double limit;       /* |ln w| is cut off here: beyond it exp(-t_j w) is 0 or 1 for all j */
} hspec_bayes_law;

/** One randomization: sums over the points of its lattice, lane by lane. */
typedef struct hspec_bayes_sums {
    hspec_lattice lattice;
    double *z;        /* [F + 1][W] normals of a block */
    double *u;        /* [1][W] uniforms that choose theta */
    double *c;        /* [F][W] */
    double *exponent; /* [K + 3][W] */
    double *A, *B;    /* [n + 3][W] */
    double *A0, *B0;  /* [1][W] the same at t = 0: exactly 1 but for the error of the points */
} hspec_bayes_sums;

typedef struct hspec_bayes_ops {
    /** Adds all points of the lattice. */
    void (*add)(const hspec_bayes_law *law, hspec_bayes_sums *sums);
} hspec_bayes_ops;

HSPEC_DECLARE_LEVELS(hspec_bayes_ops, hspec_bayes_ops_table);

/** hspec_bayes_risk of valid arguments with the code of one level; writes risk and error unless memory is short. */
hspec_status hspec_bayes_integrate(const hspec_bayes_ops *ops, const hspec_task_params *task, size_t nodes,
                                   uint64_t seed, int threads, double *risk, double *error, hspec_error *err);

#endif
