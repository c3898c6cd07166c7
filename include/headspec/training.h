/* SPDX-License-Identifier: MIT
 * Training: a part of headspec.h, which is what programs include. */
#ifndef HEADSPEC_H
#error "include headspec.h"
#endif
#ifndef HEADSPEC_TRAINING_H
#define HEADSPEC_TRAINING_H

/* ---- 5. Training ------------------------------------------------------------------------------------------------ */

typedef enum hspec_engine {
    HSPEC_ENGINE_EXPLICIT, /**< full vectors in R^D */
    HSPEC_ENGINE_REDUCED   /**< exact in law, at a cost that does not depend on D */
} hspec_engine;

typedef enum hspec_noise {
    HSPEC_NOISE_DOUBLE, /**< token noise with 52 random bits a number */
    HSPEC_NOISE_SINGLE  /**< in single precision, with 32 random bits: faster; scores and keys stay double */
} hspec_noise;

typedef enum hspec_spacing { HSPEC_SPACING_LINEAR, HSPEC_SPACING_LOG } hspec_spacing;

typedef enum hspec_init_kind {
    HSPEC_INIT_RANDOM, /**< components of k_h are N(0, scale^2) */
    HSPEC_INIT_ALIGNED /**< exactly the given m and r */
} hspec_init_kind;

/** Initial keys. Arrays belong to the caller and are copied by hspec_training_create. */
typedef struct hspec_init_params {
    hspec_init_kind kind;
    double scale;             /**< random: standard deviation of each component, >= 0; default 0.1 */
    const double *alignment;  /**< aligned: [H][F], finite */
    const double *residual;   /**< aligned: [H][H], symmetric positive semidefinite; NULL: residual_diagonal times I */
    double residual_diagonal; /**< aligned: >= 0; default 0 */
} hspec_init_params;

typedef struct hspec_training_params {
    hspec_engine engine;    /**< default reduced */
    hspec_loss loss;        /**< default location */
    hspec_noise noise;      /**< default double; explicit engine only */
    double learning_rate;   /**< eta > 0; default 1 */
    size_t batch;           /**< B >= 1; default 1 */
    double time;            /**< > 0, in steps / D; round(time D) steps, at most 2^53; default 100 */
    size_t seeds;           /**< S >= 1; default 8 */
    uint64_t seed;          /**< seed k = 0..S-1 uses the stream (seed, k + 1); default 1 */
    size_t records;         /**< T - 1 >= 1, at most the number of steps; default 200 */
    hspec_spacing spacing;  /**< default linear */
    hspec_init_params init; /**< default random, scale 0.1 */
} hspec_training_params;

/** The documented defaults. */
HSPEC_API hspec_training_params hspec_training_default(void);

/** A view of what has been recorded; the arrays belong to the training object. Rows 0..done-1 of the T are valid. */
typedef struct hspec_trajectory {
    size_t seeds, rows, heads, features; /**< S, T, H, F */
    size_t done;                         /**< valid rows */
    const uint64_t *step;                /**< [T] steps at each row; row 0 is the start */
    const double *time;                  /**< [T] steps / D */
    const double *alignment;             /**< [S][T][H][F] m */
    const double *residual;              /**< [S][T][H][H] r */
    const double *bias;                  /**< [S][T][H]; bayes: shifted to mean 0 */
    const double *scale;                 /**< [S][T] */
} hspec_trajectory;

/** The state from which a run can go on; the arrays belong to the training object.
 *  Streams are counter-based, so the step and the seed are all that the random numbers need. */
typedef struct hspec_training_state {
    uint64_t step;
    size_t seeds, size;   /**< S, doubles per seed */
    const double *values; /**< [S][size] engine-specific: reduced m, R, b, s; explicit k, b, s (docs/archive.md) */
} hspec_training_state;

typedef struct hspec_training hspec_training;

/** Validates everything, allocates everything, draws the initial keys and records row 0.
 *  Sequences, streams and order parameters: docs/theory.md, "Online SGD" and "Reduced engine".
 *  @param threads 0: as many as OpenMP offers. Results do not depend on it.
 *  @return OK, EARG (which parameter, what is allowed), ENOMEM. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_training_create(const hspec_task_params *task,
                                                            const hspec_layer_params *layer,
                                                            const hspec_training_params *params, int threads,
                                                            hspec_training **training, hspec_error *err);
HSPEC_API void hspec_training_free(hspec_training *training);
/** Runs to the end, from record to record; after each one the monitor is told the steps done of the total.
 *  @return OK; ESTOPPED (monitor; what is recorded stays valid, call again to go on);
 *          ENONFINITE (diverged: the message names seed and time; earlier rows stay valid). */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_training_run(hspec_training *training, const hspec_monitor *monitor,
                                                         hspec_error *err);
/** Fills the view. */
HSPEC_API void hspec_training_trajectory(const hspec_training *training, hspec_trajectory *trajectory);
/** Fills the state as of the last recorded row. @return OK, ENOMEM; ENONFINITE (the run diverged behind that row). */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_training_checkpoint(hspec_training *training, hspec_training_state *state,
                                                                hspec_error *err);
/** Estimated memory in bytes, and the total number of steps over all seeds. @return OK, EARG. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_training_estimate(const hspec_task_params *task,
                                                              const hspec_layer_params *layer,
                                                              const hspec_training_params *params, double *bytes,
                                                              double *steps, hspec_error *err);

#endif
