/* SPDX-License-Identifier: MIT
 *
 * headspec: how the heads of a softmax attention layer specialize.
 *
 * Contents, simple to advanced
 *   1. Status and errors
 *   2. Events: progress and warnings
 *   3. Signals and tasks            the data of the single-location model
 *   4. The attention layer          scores in; attention, loss and gradients out
 *   5. Training                     online SGD, explicit or reduced
 *   6. Population loss              the expected loss at given order parameters
 *   7. Theory                       order parameters as D grows
 *   8. Bayes risk                   the posterior of the position, and what no layer can beat
 *   10. Stability                   how fast heads part at a fixed point, and in which order
 *   11. Phases                      when features are learned, how fast, by which heads
 *   12. Experiments and archives    YAML in, HDF5 out (built with HEADSPEC_IO)
 *
 * Letters, as in the paper: D dimension, L tokens, H heads, F features, B batch, S seeds, T recorded rows.
 * Order parameters: alignment m_hf = k_h . k*_f / D, residual overlap r = q - m m^T with q_hh' = k_h . k_h' / D.
 * Time is counted in t = steps / D, samples in N = B D t.
 *
 * Conventions
 *   - Every function that can fail returns a status and takes a `hspec_error *` of the caller as its last argument
 *     (NULL is allowed). Results go through out-pointers that stay untouched on error.
 *   - Arrays are C order, dense, of double, and owned by whom the comment names. No argument may alias another.
 *   - The library never prints, exits, reads the environment or the clock. Equal input gives equal output, whatever
 *     the number of threads; across instruction sets results agree to rounding (hspec_cpu_name tells which is in use).
 *   - Objects live between `create` and `free`; `free(NULL)` does nothing. One object, one thread at a time.
 *   - Equations are derived in docs/theory.md under the anchors that the comments name.
 */
#ifndef HEADSPEC_H
#define HEADSPEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HSPEC_API __attribute__((visibility("default")))
#define HSPEC_MUST_USE __attribute__((warn_unused_result))
#else
#define HSPEC_API
#define HSPEC_MUST_USE
#endif

#define HSPEC_VERSION "0.1.0"

/* ---- 1. Status and errors ------------------------------------------------------------------------------------- */

/** X(name, value, sentence): every status that a function can return. */
#define HSPEC_STATUS_TABLE(X)                                                                                          \
    X(OK, 0, "success")                                                                                                \
    X(EARG, 1, "an argument is out of its range")                                                                      \
    X(ECONFIG, 2, "the experiment is not valid")                                                                       \
    X(ENOMEM, 3, "memory could not be had")                                                                            \
    X(EIO, 4, "a file could not be read or written")                                                                   \
    X(ENONFINITE, 5, "a number is not finite")                                                                         \
    X(ESTOPPED, 6, "the caller asked to stop")                                                                         \
    X(EUNSUPPORTED, 7, "not supported by this build")                                                                  \
    X(EEXTERNAL, 8, "a library or program that headspec uses failed")

typedef enum hspec_status {
#define HSPEC_X(name, value, sentence) HSPEC_##name = (value),
    HSPEC_STATUS_TABLE(HSPEC_X)
#undef HSPEC_X
} hspec_status;

/** What went wrong: where, what was found, what is allowed. Written only when a function fails. */
typedef struct hspec_error {
    hspec_status status;
    char message[2048]; /**< one or more lines of UTF-8, no trailing newline */
} hspec_error;

/** The sentence of a status ("success"); never NULL. */
HSPEC_API const char *hspec_status_sentence(hspec_status status);
/** The version of the library that is running, as HSPEC_VERSION was when it was built. */
HSPEC_API const char *hspec_status_version(void);
/** The instruction set in use: "baseline", "avx2" or "avx512". It is recorded in every archive. */
HSPEC_API const char *hspec_cpu_name(void);

/* ---- 2. Events: progress and warnings -------------------------------------------------------------------------- */

typedef enum hspec_event_kind {
    HSPEC_EVENT_PROGRESS, /**< `done` of `total` units are finished; message is NULL */
    HSPEC_EVENT_WARNING   /**< message is one sentence; done and total are 0 */
} hspec_event_kind;

typedef struct hspec_event {
    hspec_event_kind kind;
    double done, total;
    const char *message; /**< owned by the library, valid during the call */
} hspec_event;

/** Called from the thread that called the library. Return 0 to go on, anything else to stop (HSPEC_ESTOPPED). */
typedef struct hspec_monitor {
    int (*notify)(void *user, const hspec_event *event);
    void *user;
} hspec_monitor;

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

/* ---- 4. The attention layer ------------------------------------------------------------------------------------ */

/** X(name, yaml, sentence): the activations. A new one is one file in src/attention and one row here. */
#define HSPEC_ACTIVATION_TABLE(X)                                                                                      \
    X(SOFTMAX, "softmax", "a_hl = exp(chi_hl) / sum_l' exp(chi_hl')")                                                  \
    X(SOFTMAX1, "softmax1", "a_hl = s exp(chi_hl) / (exp(b_h) + sum_l' exp(chi_hl'))")                                 \
    X(BAYES, "bayes", "a_hl = H exp(chi_hl + b_h) / sum_h'l' exp(chi_h'l' + b_h')")

typedef enum hspec_activation {
#define HSPEC_X(name, yaml, sentence) HSPEC_##name,
    HSPEC_ACTIVATION_TABLE(HSPEC_X)
#undef HSPEC_X
} hspec_activation;

typedef enum hspec_loss {
    HSPEC_LOSS_LOCATION, /**< |v|^2, v_l = (1/H) sum_h a_hl - [l = target] */
    HSPEC_LOSS_TOKEN     /**< v^T G v, G_ll' = x_l . x_l' / D */
} hspec_loss;

typedef struct hspec_layer_params {
    size_t heads;                /**< H >= 1 */
    hspec_activation activation; /**< default softmax */
    double bias_init;            /**< default 0, finite */
    int bias_train;              /**< default 1; softmax1, bayes */
    int bias_per_head;           /**< default 0; softmax1 (bayes: always per head) */
    double scale_init;           /**< default 1, finite; softmax1 */
    int scale_train;             /**< default 1; softmax1 */
} hspec_layer_params;

/** The documented defaults with the given number of heads. */
HSPEC_API hspec_layer_params hspec_layer_default(size_t heads);

/** Scratch space for evaluating one layer on single sequences. */
typedef struct hspec_layer hspec_layer;

/** @param tokens L >= 2. @return OK, EARG, ENOMEM. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_layer_create(const hspec_layer_params *params, size_t tokens,
                                                         hspec_layer **layer, hspec_error *err);
HSPEC_API void hspec_layer_free(hspec_layer *layer);

/** Attention of one sequence (docs/theory.md, "Activations").
 *
 *  @param chi    in  [H][L], scores, finite; safe for |chi| <= 1e4
 *  @param bias   in  [H], finite; NULL: bias_init of the layer
 *  @param scale  in  finite; read by softmax1 only
 *  @param a      out [H][L]
 *  @return OK; EARG (NULL pointer); ENONFINITE (the message names h and l). Outputs untouched on error.
 *  Never allocates.
 */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_layer_attention(hspec_layer *layer, const double *chi, const double *bias,
                                                            double scale, double *a, hspec_error *err);

/** Loss of one sequence and its exact gradients (docs/theory.md, "Loss and gradients").
 *
 *      v_l = (1/H) sum_h a_hl - [l = target],   loss = v^T G v   (G = I for the location loss)
 *      d_hl = dloss/dchi_hl,  db_h = dloss/db_h,  ds = dloss/ds
 *
 *  @param chi     in  [H][L], scores, finite; safe for |chi| <= 1e4
 *  @param bias    in  [H], finite; NULL: bias_init of the layer
 *  @param scale   in  finite; read by softmax1 only
 *  @param target  in  0 <= target < L (the paper counts from 1)
 *  @param gram    in  [L][L], symmetric, finite: G of the token loss; NULL: the location loss
 *  @param loss    out scalar
 *  @param d       out [H][L]
 *  @param db      out [H], each head's own (sum them when the bias is shared); NULL if not wanted
 *  @param ds      out scalar; NULL if not wanted
 *  @return OK; EARG (NULL pointer, target >= L); ENONFINITE (the message names h and l). Outputs untouched on error.
 *  Never allocates.
 */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_layer_gradient(hspec_layer *layer, const double *chi, const double *bias,
                                                           double scale, size_t target, const double *gram,
                                                           double *loss, double *d, double *db, double *ds,
                                                           hspec_error *err);

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

/* ---- 6. Population loss ----------------------------------------------------------------------------------------- */

/** Order parameters of one layer; arrays belong to the caller. */
typedef struct hspec_order {
    const double *alignment; /**< [H][F] m */
    const double *residual;  /**< [H][H] r, positive semidefinite within rounding */
    const double *bias;      /**< [H] b */
    double scale;            /**< s */
} hspec_order;

/** The most nodes that the loss of a record takes, in archives of simulations and of the theory. */
#define HSPEC_RECORD_NODES 32768

/** Population location loss E(m, r, b, s) = E |v|^2 of many states, on the same nodes for all of them
 *  (docs/theory.md, "Population loss").
 *
 *  @param nodes  in  evaluations of the layer that are asked for, 64 to 2^40: 8 independent sets of lattice points; the
 *                    number of points is rounded up to a power of two
 *  @param seed   in  seed of the nodes
 *  @param states in  [n]
 *  @param loss   out [n]
 *  @param error  out [n] standard errors; NULL if not wanted
 *  @return OK, EARG, ENOMEM, ENONFINITE (which state). Outputs untouched on error. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_population_loss(const hspec_task_params *task,
                                                            const hspec_layer_params *layer, size_t nodes,
                                                            uint64_t seed, int threads, size_t n,
                                                            const hspec_order *states, double *loss, double *error,
                                                            hspec_error *err);

/** The two parts of the population loss, missed target and noise let in, and each head's share (docs/theory.md, "Parts of
 *  the loss"), of many states on the same nodes.
 *
 *      missed = E (1 - abar_e)^2 = sum_h missed_h,         missed_h = (1/H) E (1 - a_he) (1 - abar_e)
 *      noise  = E sum_{l != e} abar_l^2 = sum_h noise_h,   noise_h  = (1/H) E sum_{l != e} a_hl abar_l
 *      E = missed + noise
 *
 *  @param nodes  in  as for hspec_population_loss; heads that coincide get equal shares
 *  @param states in  [n]
 *  @param parts  out [n][2][1 + H]: missed, missed_1 .. missed_H, noise, noise_1 .. noise_H
 *  @param error  out [n][2][1 + H] standard errors; NULL if not wanted
 *  @return OK, EARG, ENOMEM, ENONFINITE (which state). Outputs untouched on error. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_population_parts(const hspec_task_params *task,
                                                             const hspec_layer_params *layer, size_t nodes,
                                                             uint64_t seed, int threads, size_t n,
                                                             const hspec_order *states, double *parts, double *error,
                                                             hspec_error *err);

/* ---- 7. Theory: order parameters as D grows --------------------------------------------------------------------- */

typedef enum hspec_limit { HSPEC_LIMIT_SGD, HSPEC_LIMIT_FLOW } hspec_limit;

typedef enum hspec_theory_start_kind { HSPEC_START_SEED, HSPEC_START_GIVEN } hspec_theory_start_kind;

typedef struct hspec_theory_params {
    hspec_limit limit;                  /**< default sgd: keeps the eta^2 term; flow drops it */
    hspec_theory_start_kind start_kind; /**< default seed: the recorded t = 0 state of a simulation */
    uint64_t start_seed;                /**< 1..seeds; default 1 */
    hspec_init_params start;            /**< given: alignment and residual as for `aligned` */
    size_t nodes;                       /**< nodes of every expectation (the loss of a row: at most
                                             HSPEC_RECORD_NODES); default 16384 */
    double tolerance;                   /**< of the ODE solver; default 1e-6 */
} hspec_theory_params;

/** A view of an integrated trajectory; the arrays belong to the theory object. Rows 0..done-1 of the T are valid. */
typedef struct hspec_theory_trajectory {
    size_t rows, heads, features; /**< T, H, F */
    size_t done;                  /**< valid rows */
    const uint64_t *step;         /**< [T] the steps of a simulation at each row */
    const double *time;           /**< [T] steps / D */
    const double *alignment;      /**< [T][H][F] m */
    const double *residual;       /**< [T][H][H] r, positive semidefinite within rounding */
    const double *loss;           /**< [T] population location loss; NaN in the last rows of a stopped run */
    const double *loss_error;     /**< [T] its standard error */
    const double *bias;           /**< [T][H]; bayes: shifted to mean 0 */
    const double *scale;          /**< [T] */
} hspec_theory_trajectory;

typedef struct hspec_theory hspec_theory;

/** The equations of motion of the order parameters (docs/theory.md, "Order parameters as D grows").
 *
 *  @param training learning rate, batch, time, records and spacing are read; the start is not
 *  @param start    m, r, b and s at t = 0; copied
 *  @param threads  0: as many as OpenMP offers. Results do not depend on it.
 *  @return OK; EARG (which parameter, what is allowed); ENOMEM; EUNSUPPORTED (built without SUNDIALS). */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_theory_create(const hspec_task_params *task,
                                                          const hspec_layer_params *layer,
                                                          const hspec_training_params *training,
                                                          const hspec_theory_params *params, const hspec_order *start,
                                                          int threads, hspec_theory **theory, hspec_error *err);
HSPEC_API void hspec_theory_free(hspec_theory *theory);
/** Integrates to the end, from row to row; after each one the monitor is told the rows done of the total. Warns when
 *  heads that are equal cannot part.
 *  @return OK; ESTOPPED (monitor; call again to go on); ENONFINITE; EEXTERNAL (the solver gave up: the message says
 *          where; earlier rows stay valid). */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_theory_run(hspec_theory *theory, const hspec_monitor *monitor,
                                                       hspec_error *err);
HSPEC_API void hspec_theory_view(const hspec_theory *theory, hspec_theory_trajectory *view);

/* ---- 8. Bayes risk ---------------------------------------------------------------------------------------------- */

/** Posterior probability that token l is the target, at known spikes (docs/theory.md, "Bayes risk").
 *
 *      p_l = w(c_l) / sum_l' w(c_l'),   w(c) = E_theta exp(theta . c - |theta|^2 / 2)
 *      gaussian:  w(c) = prod_f (1 + V_f)^(-1/2) exp[(V_f c_f^2 + 2 mu_f c_f - mu_f^2) / (2 (1 + V_f))]
 *
 *  @param tokens in  L, 2 to 1e6
 *  @param c      in  [F][L] c_fl = k*_f . x_l / sqrt(D), up to 1e100 in size
 *  @param p      out [L], sum 1
 *  @return OK; EARG; ENONFINITE (the message names f and l). Outputs untouched on error. Never allocates. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_bayes_posterior(const hspec_signal *signal, size_t tokens, const double *c,
                                                            double *p, hspec_error *err);

/** Bayes risk E |p - 1_e|^2 = 1 - E sum_l p_l^2: the least location loss of any estimator of the position (docs/theory.md,
 *  "Bayes risk"). Only the tokens and the signal of the task are read.
 *
 *      risk = (L - 1) int_0^inf A(t)^2 B(t)^(L - 2) dt,   A, B = E exp(-t w(c)), c with and without signal
 *
 *  @param nodes   in  points of the quasi-Monte Carlo rule for A and B, 1 to 2^24; rounded up to 16 times a power of two,
 *                     at least 128
 *  @param seed    in  seed of the rule
 *  @param threads in  0: as many as OpenMP offers. The result does not depend on it.
 *  @param risk    out scalar, between 0 and 1 - 1/L within its error
 *  @param error   out standard error from 16 independent randomizations, to which 2e-11 of the integral over t comes; NULL
 *                     if not wanted
 *  @return OK, EARG, ENOMEM, ENONFINITE. Outputs untouched on error. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_bayes_risk(const hspec_task_params *task, size_t nodes, uint64_t seed,
                                                       int threads, double *risk, double *error, hspec_error *err);

/* ---- 10. Stability ----------------------------------------------------------------------------------------------- */

typedef enum hspec_stability_at {
    HSPEC_STABILITY_UNSPECIALIZED, /**< where the flow of equal heads ends from a small push along mu = E theta; the
                                        origin if mu = 0 */
    HSPEC_STABILITY_ORIGIN         /**< m = 0 */
} hspec_stability_at;

/** One way to move away from the point. */
typedef struct hspec_stability_mode {
    double rate;          /**< of exponential growth, per unit of t: -eta times an eigenvalue of the Hessian of E */
    double rate_error;    /**< its standard error, by the nodes */
    double closed_form;   /**< softmax at the origin: the rate for small weights and r = 0; else NaN */
    size_t feature;       /**< index of the largest component of the vector; F and beyond: bias, scale */
    const double *vector; /**< [mean_modes] or [deviation_modes], length 1: features, then what takes part of b and s */
    double time;          /**< deviations: t at which they are as large as `level`; NaN: the rate is not above twice its
                               error, or the start is 0 */
    double samples;       /**< N = B D t */
} hspec_stability_mode;

/** What there is to know about the point; the arrays belong to the stability object. */
typedef struct hspec_stability_report {
    hspec_stability_at at; /**< where it is: `origin` also when mu = 0 took it there */
    size_t heads, features;
    const double *alignment; /**< [F] m_hf of every head */
    double residual;         /**< r_hh' of every pair of heads: 0 in the flow */
    double bias, scale;      /**< of every head */
    double loss, loss_error;
    const double *gradient;           /**< [F] dE/dm_hf for every head */
    const double *gradient_error;     /**< [F] at the origin; 0 at the fixed point, where the gradient is solved for */
    size_t mean_modes;                /**< F, + 1 for a trained bias (not bayes), + 1 for a trained scale */
    const hspec_stability_mode *mean; /**< [mean_modes] all heads together, largest rate first */
    int mean_bias, mean_scale;        /**< do bias and scale take part in them? in this order, behind the features */
    size_t deviation_modes;           /**< F, + 1 for trained biases of each head; 0 for one head */
    const hspec_stability_mode *deviation; /**< [deviation_modes] heads against each other, largest rate first; each one
                                                H - 1 times */
    double residual_rate;       /**< of deviations between heads along a direction of pure noise; NaN for one head */
    double residual_rate_error; /**< its standard error */
    double residual_growth;     /**< of the residual of deviations, r_hh - r_hh', while it is small; NaN for one head */
    double level;               /**< at which a deviation counts as large: 0.5 */
} hspec_stability_report;

typedef struct hspec_stability hspec_stability;

/** Linear stability of equal heads (docs/theory.md, "Stability").
 *
 *  @param training in  learning rate, batch and the start (for the predicted times)
 *  @param params   in  limit and nodes
 *  @param threads  in  0: as many as OpenMP offers. Results do not depend on it.
 *  @return OK; EARG (which parameter, what is allowed); ENOMEM; ENONFINITE (the flow of equal heads does not come to
 *          rest: the message says where it got). */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_stability_create(const hspec_task_params *task,
                                                             const hspec_layer_params *layer,
                                                             const hspec_training_params *training,
                                                             const hspec_theory_params *params, hspec_stability_at at,
                                                             int threads, hspec_stability **stability,
                                                             hspec_error *err);
HSPEC_API void hspec_stability_free(hspec_stability *stability);
/** Fills the view. */
HSPEC_API void hspec_stability_view(const hspec_stability *stability, hspec_stability_report *report);

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
    double learned;           /**< t at which the deviation between heads passes the level; NaN: not learned */
    size_t order;             /**< 1: learned first, ...; 0: not learned */
    double growth;            /**< rate of exponential growth of the deviation, per unit of t; NaN: none could be fitted */
    double growth_error;      /**< its standard error, from the scatter about the line */
    double predicted;         /**< the same rate as the theory has it; NaN until hspec_phases_predict */
    double predicted_error;   /**< its standard error, by the nodes; NaN: not known */
    size_t first, points;     /**< rows first .. first + points - 1 were fitted; points = 0: none */
    hspec_phases_split split; /**< when it was learned; all 0: not learned */
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
HSPEC_API HSPEC_MUST_USE hspec_status hspec_phases_predict(hspec_phases *phases,
                                                           const hspec_phases_trajectory *trajectory,
                                                           const hspec_task_params *task,
                                                           const hspec_layer_params *layer,
                                                           const hspec_training_params *training,
                                                           const hspec_phases_nodes *nodes, int threads,
                                                           hspec_error *err);
/** Fills the view. */
HSPEC_API void hspec_phases_view(const hspec_phases *phases, hspec_phases_report *report);

/* ---- 12. Experiments and archives (built with HEADSPEC_IO) ------------------------------------------------------ */

/** An experiment file, read and validated. Everything inside belongs to it. */
typedef struct hspec_experiment {
    char *name;                 /**< the file's name without folder and extension */
    char *yaml;                 /**< the text after --set, as the archive stores it */
    hspec_signal_params signal; /**< task.signal */
    hspec_task_params task;     /**< task.signal is not filled in: create it from `signal` */
    hspec_layer_params layer;
    hspec_training_params training;
    hspec_theory_params theory;
    char **unused; /**< [unused_count] paths that are set but not read by this activation or kind */
    size_t unused_count;
    void *owned; /**< internal: the arrays above */
} hspec_experiment;

/** Reads a file. `sets` holds "path=value" texts, applied in order.
 *  @return OK; ECONFIG ("file:line: path: found ..., allowed ..."); EIO; ENOMEM. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_experiment_load(const char *path, const char *const *sets, size_t n_sets,
                                                            hspec_experiment **experiment, hspec_error *err);
/** The same from a text; `origin` stands for the file in messages. */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_experiment_parse(const char *text, size_t length, const char *origin,
                                                             const char *const *sets, size_t n_sets,
                                                             hspec_experiment **experiment, hspec_error *err);
HSPEC_API void hspec_experiment_free(hspec_experiment *experiment);

#ifdef __cplusplus
}
#endif

#endif
