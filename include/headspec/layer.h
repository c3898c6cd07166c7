/* SPDX-License-Identifier: MIT
 * The attention layer: a part of headspec.h, which is what programs include. */
#ifndef HEADSPEC_H
#error "include headspec.h"
#endif
#ifndef HEADSPEC_LAYER_H
#define HEADSPEC_LAYER_H

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

#endif
