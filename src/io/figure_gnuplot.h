/* SPDX-License-Identifier: MIT
 * A figure as one gnuplot script with the data inside. */
#ifndef HSPEC_IO_FIGURE_GNUPLOT_H
#define HSPEC_IO_FIGURE_GNUPLOT_H

#include "io/figure.h"

/** X(name, extension, sentence): the formats that a figure can have. */
#define HSPEC_FIGURE_FORMAT_TABLE(X)                                                                                   \
    X(SVG, "svg", "gnuplot's svg terminal")                                                                            \
    X(PDF, "pdf", "gnuplot's pdfcairo terminal")                                                                       \
    X(PNG, "png", "gnuplot's pngcairo terminal, 300 pixels per inch")

typedef enum hspec_figure_format {
#define HSPEC_X(name, extension, sentence) HSPEC_FIGURE_##name,
    HSPEC_FIGURE_FORMAT_TABLE(HSPEC_X)
#undef HSPEC_X
        HSPEC_FIGURE_FORMATS
} hspec_figure_format;

/** The format by the extension of a file, in capitals or not. @return OK; EARG (what was found, what is allowed). */
HSPEC_MUST_USE hspec_status hspec_figure_gnuplot_format(const char *path, hspec_figure_format *format,
                                                        hspec_error *err);

/** Writes the script: a complete input of gnuplot 5.2 or newer, UTF-8, lines end with '\n'.
 *
 *  @param output in  the file that the script writes; NULL: it writes to standard output
 *  @param name   in  letters, digits, '_' and '-': starts the ids of an SVG, and is its title
 *  @param script out owned by the caller
 *  @return OK, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_figure_gnuplot_script(const hspec_figure *figure, hspec_figure_format format,
                                                        const char *output, const char *name, char **script,
                                                        hspec_error *err);

#endif
