/* SPDX-License-Identifier: MIT
 * The curves of a figure in a gnuplot script. */
#ifndef HSPEC_IO_FIGURE_CURVES_H
#define HSPEC_IO_FIGURE_CURVES_H

#include "io/figure_gnuplot.h"
#include "io/text.h"

typedef enum hspec_figure_style {
    HSPEC_FIGURE_LINE, /**< mean of a head, or its theory */
    HSPEC_FIGURE_THIN, /**< single seeds */
    HSPEC_FIGURE_MARK  /**< points beside the theory */
} hspec_figure_style;

/** The number of a line style. @param head from 0, or HSPEC_FIGURE_NO_HEAD */
size_t hspec_figure_curves_style(size_t head, hspec_figure_style kind);
/** Defines all line styles. */
void hspec_figure_curves_styles(hspec_text *out, const hspec_figure *figure, hspec_figure_format format);
/** The numbers of all panels, as data blocks. */
void hspec_figure_curves_data(hspec_text *out, const hspec_figure *figure);
/** The plot command of panel p. */
void hspec_figure_curves_plot(hspec_text *out, const hspec_figure *figure, size_t p);

#endif
