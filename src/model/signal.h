/* SPDX-License-Identifier: MIT
 * Signals P_theta: validation, moments, symmetries, and sampling in lanes (docs/theory.md, "Signal"). */
#ifndef HSPEC_MODEL_SIGNAL_H
#define HSPEC_MODEL_SIGNAL_H

#include "core/level.h"
#include "core/status.h"

/** A law is what a kind of signal comes down to when it is sampled: a finite set of points, or a gaussian. */
typedef enum hspec_signal_law { HSPEC_LAW_POINTS, HSPEC_LAW_GAUSSIAN } hspec_signal_law;

#define HSPEC_SIGNAL_MAX_FEATURES 1024
#define HSPEC_SIGNAL_MAX_POINTS 10000

struct hspec_signal {
    hspec_signal_law law;
    size_t features;    /* F */
    size_t points;      /* K of the law of points, else 0 */
    double *theta;      /* [K][F] */
    double *weights;    /* [K], sum 1 */
    double *cumulative; /* [K], sum of the weights up to and with k; the last is 1 */
    double *mean;       /* [F] of the gaussian law */
    double *deviation;  /* [F] of the gaussian law, standard deviations */
};

/** Words and normals that one draw of theta consumes: one word for points, F normals for the gaussian. */
size_t hspec_signal_normals(const hspec_signal *signal);

typedef struct hspec_signal_ops {
    size_t width; /**< lanes that one call draws for, from those that the arrays point at */
    /** One theta per lane.
     *  @param words in [W] random bits (points) @param normals in [F][W] (gaussian) @param theta out [F][W] */
    void (*draw)(const hspec_signal *signal, const uint64_t *words, const double *normals, double *theta);
} hspec_signal_ops;

HSPEC_DECLARE_LEVELS(hspec_signal_ops, hspec_signal_ops_table);

#endif
