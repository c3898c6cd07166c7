/* SPDX-License-Identifier: MIT
 * Phases of a trajectory: a part of headspec.h, which is what programs include. */
#ifndef HEADSPEC_H
#error "include headspec.h"
#endif
#ifndef HEADSPEC_PHASES_H
#define HEADSPEC_PHASES_H

/* ---- 11. Phases -------------------------------------------------------------------------------------------------- */

/** One trajectory of order parameters: one seed of a run, or the theory. Arrays belong to the caller. */
typedef struct hspec_phases_trajectory {
    size_t rows, heads, features; /**< T, H, F, all >= 1 */
    const double *time;           /**< [T] t, increasing */
    const double *alignment;      /**< [T][H][F] m */
    const double *residual;       /**< [T][H][H] r; this and what follows is read by hspec_phases_predict only */
    const double *bias;           /**< [T][H] b */
    const double *scale;          /**< [T] s */
} hspec_phases_trajectory;

/** How many heads stand on which side of a feature. */
typedef struct hspec_phases_split {
    size_t positive, negative, neither;
} hspec_phases_split;

/** What became of one feature. */
typedef struct hspec_phases_feature {
    double learned;      /**< t at which the deviation between heads passes the level; NaN: not learned */
    size_t order;        /**< 1: learned first, ...; 0: not learned */
    double growth;       /**< rate of exponential growth of the deviation, per unit of t; NaN: none could be fitted */
    double growth_error; /**< its standard error, from the scatter about the line */
    double predicted;    /**< the same rate as the theory has it; NaN until hspec_phases_predict */
    double predicted_error;          /**< its standard error, by the nodes; NaN: not known */
    size_t first, points;            /**< rows first .. first + points - 1 were fitted; points = 0: none */
    hspec_phases_split split;        /**< when it was learned; all 0: not learned */
    hspec_phases_split split_at_end; /**< at the last row; all 0: not learned */
} hspec_phases_feature;

/** A head that changed sides on a learned feature. */
typedef struct hspec_phases_crossing {
    size_t head, feature;
    double time;  /**< t of its last zero before it was on the other side */
    int from, to; /**< +1 or -1 */
} hspec_phases_crossing;

/** The phases of a trajectory; the arrays belong to the phases object. */
typedef struct hspec_phases_report {
    size_t rows;                           /**< rows read: those before the first that is not finite */
    size_t heads, features;                /**< H, F */
    double level;                          /**< the deviation at which a feature counts as learned */
    double side;                           /**< |m_hf| from which a head counts as on a side: level / 10 */
    double specialized;                    /**< t at which the first feature is learned; NaN: none is */
    const double *deviation;               /**< [rows][F] standard deviation over heads of m_hf, divided by H */
    const hspec_phases_feature *feature;   /**< [F] */
    size_t learned;                        /**< how many features are learned */
    const size_t *order;                   /**< [learned] they, in the order in which they are learned */
    const int *side_at_learning;           /**< [F][H] +1, -1 or 0 at the row at which f is learned */
    const int *side_at_end;                /**< [F][H] the same at the last row; 0 where f is not learned */
    const size_t *owner;                   /**< [H] the learned feature of largest |m_hf| at the end; F: none */
    size_t crossings;                      /**< how many */
    const hspec_phases_crossing *crossing; /**< [crossings] in the order of time */
} hspec_phases_report;

typedef struct hspec_phases hspec_phases;

/** Reads the phases of a trajectory (docs/theory.md, "Phases"). Nothing is borrowed.
 *
 *      deviation_f(t) = sqrt( (1/H) sum_h (m_hf - mean_h m_hf)^2 ),   feature f is learned when it passes `level`
 *
 *  @param level  in  > 0, an alignment; 0.5 is what the program takes
 *  @return OK; EARG (sizes, level, times that do not increase); ENONFINITE (row 0); ENOMEM. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_phases_create(const hspec_phases_trajectory *trajectory, double level,
                                                          hspec_phases **phases, hspec_error *err);
HSPEC_API void hspec_phases_free(hspec_phases *phases);
/** On which nodes, and how often, growth is predicted. */
typedef struct hspec_phases_nodes {
    size_t nodes;  /**< of every expectation in each set, 64 to 2^40 */
    size_t sets;   /**< independent sets of nodes, >= 1: 2 or more for a standard error */
    int own;       /**< 0: `predicted` is the mean over the sets. 1: it is taken on the first one, the nodes on which
                        hspec_theory_run integrates with as many nodes; the error then is that of one set */
    size_t points; /**< rows at which the equations are taken, >= 2; between them they are interpolated */
    hspec_limit limit; /**< in which the trajectory was integrated; sgd for a run */
} hspec_phases_nodes;

/** Fills in `predicted` of every feature whose growth was fitted: deviations move by the linear equations around the
 *  recorded mean alignment, mean residual, bias and scale (docs/theory.md, "Growth of deviations"), from the recorded
 *  ones at the first row of the fit, and are fitted in the same way.
 *
 *  @param trajectory in  the one that the phases were created from, with residual, bias and scale
 *  @param training   in  learning rate; everything must be valid
 *  @param threads    in  0: as many as OpenMP offers. Results do not depend on it.
 *  @return OK; EARG (which parameter, sizes that differ); ENOMEM. */
HSPEC_API HSPEC_MUST_USE hspec_status
hspec_phases_predict(hspec_phases *phases, const hspec_phases_trajectory *trajectory, const hspec_task_params *task,
                     const hspec_layer_params *layer, const hspec_training_params *training,
                     const hspec_phases_nodes *nodes, int threads, hspec_error *err);
/** Fills the view. */
HSPEC_API void hspec_phases_view(const hspec_phases *phases, hspec_phases_report *report);

#endif
