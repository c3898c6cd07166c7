/* SPDX-License-Identifier: MIT
 * Running gnuplot on a script. */
#ifndef HSPEC_IO_FIGURE_RENDER_H
#define HSPEC_IO_FIGURE_RENDER_H

#include "io/figure_gnuplot.h"

/** How gnuplot is started. The library looks for nothing itself. */
typedef struct hspec_gnuplot {
    const char *program;      /**< path of the program; NULL: there is none */
    char *const *environment; /**< "NAME=value" texts, ends with NULL, as in environ */
} hspec_gnuplot;

/** Runs gnuplot without the user's start-up files and returns what it writes to standard output, an SVG after
 *  hspec_figure_svg_finish. What gnuplot complains about without failing becomes a warning.
 *
 *  @param name   in  the name that the script was made with
 *  @param bytes  out [size], owned by the caller
 *  @return OK; EEXTERNAL (no gnuplot, or it failed: the message holds its own words); EIO; ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_figure_render(const hspec_gnuplot *gnuplot, const char *script,
                                                hspec_figure_format format, const char *name,
                                                const hspec_monitor *monitor, char **bytes, size_t *size,
                                                hspec_error *err);

#endif
