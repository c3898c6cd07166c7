/* SPDX-License-Identifier: MIT
 * The numbers of each panel: mean, deviation and single seeds of what it shows. */
#ifndef HSPEC_IO_FIGURE_PANELS_H
#define HSPEC_IO_FIGURE_PANELS_H

#include "io/figure.h"

/** A figure that is being made. */
typedef struct hspec_figure_builder {
    const hspec_figure_source *source; /**< beside a theory of one seed, that seed alone */
    const hspec_figure_options *options;
    hspec_figure *figure; /**< points, heads, seeds and singles are known */
    size_t *row;          /**< [points] rows that are drawn */
    size_t *theory_row;   /**< [theory_points] */
    size_t *head;         /**< [S][H] the head of each seed that plays role j */
    int *sign;            /**< [S][F] */
    size_t *theory_head;  /**< [H] the same of the theory, behind those of the seeds */
    int *theory_sign;     /**< [F] */
    size_t *group;        /**< [H] heads that may change places */
    int *flip;            /**< [F] features whose sign may be flipped */
    double *column;       /**< [S] scratch */
    size_t marks;         /**< points beside each line of the theory, at most */
} hspec_figure_builder;

/** The words that stand for the kinds of panels. */
extern const char *const hspec_figure_panels_words[HSPEC_FIGURE_PANEL_KINDS];

/** Makes the panels that the options ask for. @return OK; EARG (a panel that the layer does not have, or too many);
 *  ENONFINITE; ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_figure_panels_fill(hspec_figure_builder *builder, hspec_error *err);

#endif
