/* SPDX-License-Identifier: MIT
 * What a figure shows, as numbers and marked-up words; figure_gnuplot.h draws it. */
#ifndef HSPEC_IO_FIGURE_H
#define HSPEC_IO_FIGURE_H

#include "headspec.h"

/** X(name, word, sentence): the panels that can be asked for. */
#define HSPEC_FIGURE_PANEL_TABLE(X)                                                                                    \
    X(ALIGNMENT, "alignment", "alignment m_hf of each head, one panel for each feature")                               \
    X(LOSS, "loss", "population location loss")                                                                        \
    X(RESIDUAL, "residual", "residual overlap r_hh of each head")                                                      \
    X(BIAS, "bias", "bias b (softmax1, bayes)")                                                                        \
    X(SCALE, "scale", "scale s (softmax1)")

typedef enum hspec_figure_panel_kind {
#define HSPEC_X(name, word, sentence) HSPEC_FIGURE_##name,
    HSPEC_FIGURE_PANEL_TABLE(HSPEC_X)
#undef HSPEC_X
        HSPEC_FIGURE_PANEL_KINDS
} hspec_figure_panel_kind;

typedef enum hspec_figure_match {
    HSPEC_FIGURE_MATCH_AUTO, /**< heads change places, and signs flip, only where the start leaves the choice */
    HSPEC_FIGURE_MATCH_ALL,  /**< whatever the start was */
    HSPEC_FIGURE_MATCH_NONE  /**< heads and signs as recorded */
} hspec_figure_match;

typedef enum hspec_figure_axis { HSPEC_FIGURE_AXIS_AUTO, HSPEC_FIGURE_LINEAR, HSPEC_FIGURE_LOG } hspec_figure_axis;

/** A horizontal line in the loss panel. */
typedef struct hspec_figure_level {
    const char *words; /**< markup: "Bayes risk" */
    double value;      /**< finite */
} hspec_figure_level;

enum { HSPEC_FIGURE_LEVELS_MAX = 4 };

/** The theory beside a simulation, on times of its own. Nothing is drawn while `trajectory.done` is 0. */
typedef struct hspec_figure_theory {
    hspec_theory_trajectory trajectory;
    hspec_limit limit;
    size_t seed; /**< the run from whose random start it starts, from 1; 0: all runs start as it does */
} hspec_figure_theory;

/** What is drawn. Everything is borrowed. */
typedef struct hspec_figure_source {
    const hspec_experiment *experiment;
    const hspec_signal *signal;
    hspec_trajectory trajectory; /**< done >= 1 */
    const double *loss;          /**< [S][T], finite up to `done`, or NaN: not computed; NULL: none was recorded */
    hspec_figure_theory theory;
    int alone; /**< `trajectory` is that of the theory, as one seed; of `theory` only the limit is read */
    hspec_figure_level levels[HSPEC_FIGURE_LEVELS_MAX];
    size_t level_count;
} hspec_figure_source;

typedef struct hspec_figure_options {
    hspec_figure_panel_kind panels[HSPEC_FIGURE_PANEL_KINDS]; /**< from the top; each kind once */
    size_t panel_count;                                       /**< >= 1; default: alignment, loss */
    hspec_figure_axis xscale; /**< default auto: as the records are spaced. log leaves out N = 0 */
    hspec_figure_match match; /**< default auto */
    const char *title;        /**< plain UTF-8; NULL: the parameters; "": none */
    double width, height;     /**< cm, 4 to 200; height 0: by the number of panels. Default 16 x 0 */
    const char *font;         /**< plain UTF-8; default "sans-serif" */
    double font_size;         /**< points, 4 to 72; default 9 */
} hspec_figure_options;

/** The documented defaults. */
hspec_figure_options hspec_figure_default(void);

/** "alignment,loss" into `panels` and `panel_count`. @return OK; EARG (which word, what is allowed). */
HSPEC_MUST_USE hspec_status hspec_figure_parse_panels(const char *text, hspec_figure_options *options,
                                                      hspec_error *err);

/* A series that belongs to no head is drawn in black. */
#define HSPEC_FIGURE_NO_HEAD ((size_t)-1)

/** One quantity: its mean over seeds, its deviation, single seeds, and its theory. */
typedef struct hspec_figure_series {
    size_t head;       /**< whose colour and dashes it wears, from 0; or HSPEC_FIGURE_NO_HEAD */
    double *mean;      /**< [points] */
    double *deviation; /**< [points] standard deviation over seeds (n - 1); NULL for one seed */
    double *single;    /**< [singles][points] */
    double *theory;    /**< [theory_points]; NULL: none */
    size_t *mark;      /**< [marks] which of the points are drawn beside the theory */
    size_t marks;
} hspec_figure_series;

typedef struct hspec_figure_panel {
    char *label;      /**< markup of the y axis; '\n' between its one or two lines */
    char *symbol;     /**< the same where there is room for little */
    int zero;         /**< a line at y = 0 */
    double low, high; /**< range of y */
    hspec_figure_level levels[HSPEC_FIGURE_LEVELS_MAX];
    size_t level_count;
    hspec_figure_series *series;
    size_t series_count;
} hspec_figure_panel;

/** Texts are gnuplot's enhanced markup. */
typedef struct hspec_figure {
    char *title, *note, *xlabel;
    char *points_words; /**< what the points beside a theory are; "" without one */
    int xlog;
    size_t points;
    double *x; /**< [points] N / D, ascending; positive if xlog */
    size_t heads, seeds, singles;
    size_t theory_points;   /**< 0: no theory; else lines are the theory, and points the simulation */
    double *theory_x;       /**< [theory_points] */
    size_t only;            /**< the one seed that is drawn beside the theory, from 1; 0: the mean over seeds */
    double x_first, x_last; /**< ends of the x axis */
    double width, height;   /**< cm */
    char *font;
    double font_size;
    hspec_figure_panel *panels;
    size_t panel_count;
} hspec_figure;

/** Matches the heads, takes means and deviations over seeds, and chooses rows (at most about 1000, evenly along the
 *  axis) and single seeds (at most 32, evenly) to be drawn. Beside a theory no single seeds are drawn, or one alone.
 *  @return OK; EARG (a panel that the layer does not have, a size out of range, too many panels); ENONFINITE; ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_figure_create(const hspec_figure_source *source, const hspec_figure_options *options,
                                                hspec_figure **figure, hspec_error *err);
void hspec_figure_free(hspec_figure *figure);

#endif
