/* SPDX-License-Identifier: MIT
 * What gnuplot leaves to be done on an SVG. */
#ifndef HSPEC_IO_FIGURE_SVG_H
#define HSPEC_IO_FIGURE_SVG_H

#include "headspec.h"

/** A name for the ids of an SVG: the file's name as far as it may stand in an id, and a hash of the content, so that
 *  several figures can live in one HTML page.
 *  @param path in @param content in, hashed @param name out, owned by the caller @return OK, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_figure_svg_name(const char *path, const char *content, char **name, hspec_error *err);

/** Finishes an SVG of gnuplot:
 *  - its marks and patterns have the same ids in every file: "NAME_" is put before each id that does not start with
 *    NAME, where it is set and where it is used;
 *  - some viewers drop the spaces between parts of a text: they are told to keep them.
 *  @param svg in [size] @param bytes out [new_size], owned by the caller @return OK, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_figure_svg_finish(const char *svg, size_t size, const char *name, char **bytes,
                                                    size_t *new_size, hspec_error *err);

#endif
