/* SPDX-License-Identifier: MIT
 * Which rows of a trajectory are drawn, and where. */
#ifndef HSPEC_IO_FIGURE_POINTS_H
#define HSPEC_IO_FIGURE_POINTS_H

#include "io/figure_panels.h"

/** Fills the x axis of the figure, whose `xlog` is known, and the rows of the builder.
 *  @return OK; EARG (nothing to show on a log axis); ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_figure_points_choose(hspec_figure_builder *builder, hspec_error *err);

/** Which points are drawn beside a line: at most one for each of `most` equal parts of the axis, as far behind its
 *  beginning as `phase` tells, so that the points of several heads do not hide each other.
 *  @param phase in  0 to 1 @param mark out [*marks], ascending; owned by the caller. @return OK, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_figure_points_mark(const hspec_figure *figure, size_t most, double phase,
                                                     size_t **mark, size_t *marks, hspec_error *err);

#endif
