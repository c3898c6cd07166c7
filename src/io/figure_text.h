/* SPDX-License-Identifier: MIT
 * Words in figures, as gnuplot's enhanced markup. */
#ifndef HSPEC_IO_FIGURE_TEXT_H
#define HSPEC_IO_FIGURE_TEXT_H

#include "io/figure.h"
#include "io/text.h"

/** Is it UTF-8 that may stand in XML (control characters apart)? */
int hspec_figure_text_utf8(const char *text);
/** May it be the name of a font: letters, digits, spaces, '-', '_', '.', and at least one of them? */
int hspec_figure_text_font(const char *name);
/** Plain UTF-8 as markup that shows exactly that; control characters become spaces. */
void hspec_figure_text_escape(hspec_text *out, const char *plain);
/** A number as a person writes it: 1000, 0.1, 10^{12}, 2.5 x 10^{-7}, with a proper minus. */
void hspec_figure_text_number(hspec_text *out, double value);
/** The characters that a reader sees of a markup. */
size_t hspec_figure_text_length(const char *markup, size_t bytes);
/** Breaks lines at spaces outside braces so that each shows at most `columns` characters, where that is possible. */
void hspec_figure_text_wrap(hspec_text *out, const char *markup, size_t columns);

/** "softmax, H = 3, L = 5, D = 1000; flipped signal, nu = 4, p = 0.7; 8 seeds" */
void hspec_figure_text_title(hspec_text *out, const hspec_figure_source *source);
/** The second line of a feature's label, "(mean 0, variance 9)"; nothing where there is nothing to say. */
void hspec_figure_text_feature(hspec_text *out, const hspec_signal_params *signal, size_t feature);

#endif
