/* SPDX-License-Identifier: MIT
 * Where everything stands in a figure. */
#ifndef HSPEC_IO_FIGURE_LAYOUT_H
#define HSPEC_IO_FIGURE_LAYOUT_H

#include "io/figure.h"

/** Lengths in cm, heights from the bottom. */
typedef struct hspec_figure_layout {
    double em; /**< the font size */
    double width, height;
    size_t columns, rows; /**< of panels, filled column by column */
    double panel_width, panel_height;
    double left, right, gap;          /**< beside each panel, and between panels */
    double label;                     /**< from a y axis to the middle of its label, of the last line */
    double top;                       /**< upper edge of the highest panel */
    double title_y, legend_y, note_y; /**< middle of the first line of each */
    char *title, *note;               /**< with line breaks; owned */
} hspec_figure_layout;

/** One thing in the legend, in the order in which they stand. */
typedef struct hspec_figure_legend_item {
    double x, y;       /**< cm: where its sample begins, middle of its line */
    double sample;     /**< length of the sample; 0: words alone */
    const char *words; /**< NULL: the number of the head */
    size_t head;       /**< of a head's mean, else HSPEC_FIGURE_NO_HEAD */
    int band, thin;    /**< with a band behind; a single seed */
    int mark, no_line; /**< with a point on it; without the line */
} hspec_figure_legend_item;

/** In how many columns so many panels stand. */
size_t hspec_figure_layout_columns(size_t panels);

/** @return OK; EARG (the panels would be too small); ENOMEM. Release in any case. */
HSPEC_MUST_USE hspec_status hspec_figure_layout_make(const hspec_figure *figure, hspec_figure_layout *layout,
                                                     hspec_error *err);
void hspec_figure_layout_release(hspec_figure_layout *layout);

/** Items of the legend: H + 3 at most. @param items out; NULL: only count lines @param lines out. @return the number */
size_t hspec_figure_layout_legend(const hspec_figure *figure, const hspec_figure_layout *layout,
                                  hspec_figure_legend_item *items, size_t *lines);

/** The corners of panel p. */
void hspec_figure_layout_panel(const hspec_figure_layout *layout, size_t p, double *x0, double *y0, double *x1,
                               double *y1);
/** The least of 1, 2, 5, 10, ... times a power of ten that divides `range` into at most `steps` steps. */
double hspec_figure_layout_step(double range, double steps);
/** The label of a panel, as much of it as there is room for beside it. */
const char *hspec_figure_layout_label(const hspec_figure_layout *layout, const hspec_figure_panel *panel);
/** Does the x axis of panel p bear numbers? The lowest of each column does. */
int hspec_figure_layout_lowest(const hspec_figure *figure, const hspec_figure_layout *layout, size_t p);

#endif
