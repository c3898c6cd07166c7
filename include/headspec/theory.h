/* SPDX-License-Identifier: MIT
 * Population loss, trajectories, Bayes risk, optima and stability in the limit of large D: a part of headspec.h, which is what programs include. */
#ifndef HEADSPEC_H
#error "include headspec.h"
#endif
#ifndef HEADSPEC_THEORY_H
#define HEADSPEC_THEORY_H

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

/* ---- 9. Optimum ------------------------------------------------------------------------------------------------- */

#define HSPEC_OPTIMUM_MAX_STARTS 100000

typedef struct hspec_optimum_params {
    size_t nodes;  /**< of the searches, 64 to 2^40, default 16384; losses are taken on others, at least as many */
    size_t starts; /**< searches, 1 to HSPEC_OPTIMUM_MAX_STARTS, default 32 */
    uint64_t seed; /**< of the starts, default 1 */
} hspec_optimum_params;

HSPEC_API hspec_optimum_params hspec_optimum_default(void);

/** One of the distinct minima: equal up to permutation of the heads, the signs of symmetric features, and heads without
 *  influence on the loss. Arrays belong to the optimum object. */
typedef struct hspec_optimum_minimum {
    hspec_order order; /**< m [H][F], r [H][H], b [H] (bayes: mean 0), s */
    double loss;       /**< population location loss, on nodes that the search has not seen */
    double loss_error; /**< its standard error */
    size_t count;      /**< how many searches ended here */
    int at_bound;      /**< does a variable of a head with influence stand at its bound? Then the minimum may be at
                            infinity */
    const int *silent; /**< [H] has the head no influence on the loss? */
    const int *alignment_at_bound; /**< [H][F] does m_hf stand at its bound? */
    const int *residual_at_bound;  /**< [H] does the root R of r, in this row? */
    const int *bias_at_bound;      /**< [H] */
    int scale_at_bound;
    double residual_rate;       /**< the least eigenvalue of dE/dr at r = 0: where it is below 0 the loss falls with a
                                     residual, and this is no minimum; NaN: r is not 0 */
    double residual_rate_error; /**< its standard error */
} hspec_optimum_minimum;

typedef struct hspec_optimum hspec_optimum;

/** Searches for the least population location loss E(m, r, b, s) of an activation (docs/theory.md, "Optimum"). b and s are
 *  searched if the layer trains them, else they are as they are initialized.
 *
 *      |m| <= M = 10 + 3 max_f sqrt(E theta_f^2),   |R| <= M, r = R R^T,   |b| <= M^2,   0 <= s <= 10 H
 *
 *  @param task    tokens and signal are read
 *  @param threads 0: as many as OpenMP offers. Results do not depend on it.
 *  @param monitor is told the starts done of all, after each one; NULL: nobody is
 *  @return OK; EARG (which parameter, what is allowed); ENOMEM; ENONFINITE; ESTOPPED (monitor); EUNSUPPORTED (built
 *          without NLopt). */
HSPEC_API HSPEC_MUST_USE hspec_status hspec_optimum_create(const hspec_task_params *task,
                                                           const hspec_layer_params *layer,
                                                           const hspec_optimum_params *params, int threads,
                                                           const hspec_monitor *monitor, hspec_optimum **optimum,
                                                           hspec_error *err);
HSPEC_API void hspec_optimum_free(hspec_optimum *optimum);
/** How many distinct minima were found, at least 1. */
HSPEC_API size_t hspec_optimum_minima(const hspec_optimum *optimum);
/** Minimum i, the lowest first: minimum 0 is the optimum. */
HSPEC_API void hspec_optimum_view(const hspec_optimum *optimum, size_t i, hspec_optimum_minimum *view);

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

#endif
