/* SPDX-License-Identifier: MIT
 * Signals and tasks: a part of headspec.h, which is what programs include. */
#ifndef HEADSPEC_H
#error "include headspec.h"
#endif
#ifndef HEADSPEC_TASK_H
#define HEADSPEC_TASK_H

/* ---- 3. Signals and tasks -------------------------------------------------------------------------------------- */

/** X(name, yaml, sentence): the distributions P_theta of the amplitudes. */
#define HSPEC_SIGNAL_TABLE(X)                                                                                          \
    X(FLIPPED, "flipped", "F = 1, theta = +sqrt(strength) with the given probability, else -sqrt(strength)")           \
    X(GAUSSIAN, "gaussian", "theta ~ N(mean, diag(variance)), any F")                                                  \
    X(DISCRETE, "discrete", "theta = points[k] with probability weights[k], any F")

typedef enum hspec_signal_kind {
#define HSPEC_X(name, yaml, sentence) HSPEC_SIGNAL_##name,
    HSPEC_SIGNAL_TABLE(HSPEC_X)
#undef HSPEC_X
} hspec_signal_kind;

/** Parameters of P_theta. Only the fields of the chosen kind are read. Arrays belong to the caller and are copied. */
typedef struct hspec_signal_params {
    hspec_signal_kind kind;
    double strength;        /**< flipped: nu = theta^2, > 0 */
    double probability;     /**< flipped: p of theta > 0, in [0, 1]; default 0.5 */
    size_t features;        /**< gaussian, discrete: F >= 1 (flipped: always 1) */
    const double *mean;     /**< gaussian: [F], finite */
    const double *variance; /**< gaussian: [F], >= 0 */
    size_t points;          /**< discrete: K >= 1 */
    const double *theta;    /**< discrete: [K][F], finite */
    const double *weights;  /**< discrete: [K], > 0, sum 1 within 1e-6 (then normalized exactly); NULL: all 1/K */
} hspec_signal_params;

typedef struct hspec_signal hspec_signal;

/** A validated signal. @return OK, EARG (which field, what is allowed), ENOMEM. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_signal_create(const hspec_signal_params *params, hspec_signal **signal,
                                                          hspec_error *err);
HSPEC_API void hspec_signal_free(hspec_signal *signal);
/** F, the number of features. */
HSPEC_API size_t hspec_signal_features(const hspec_signal *signal);
/** mu = E theta and C = E theta theta^T (docs/theory.md, "Signal"). @param mu out [F] @param C out [F][F] */
HSPEC_API void hspec_signal_moments(const hspec_signal *signal, double *mu, double *C);
/** Which features can be flipped, theta_f -> -theta_f, without changing P_theta. @param symmetric out [F], 0 or 1 */
HSPEC_API void hspec_signal_symmetries(const hspec_signal *signal, int *symmetric);

/** The task: L tokens in R^D, one of which carries the signal (docs/theory.md, "Data"). */
typedef struct hspec_task_params {
    size_t tokens;              /**< L >= 2 */
    size_t dimension;           /**< D >= F + H, at most 1e12; default 1000 */
    const hspec_signal *signal; /**< borrowed: must outlive what is created from it */
    const double *spikes;       /**< [F][D], orthogonal within 1e-8, |k*_f|^2 = D; NULL: drawn at random from the seed.
                                       Only the explicit engine reads them: the law of the order parameters does not
                                       depend on them. */
} hspec_task_params;

#endif
