/* SPDX-License-Identifier: MIT
 * Where everything stands in a figure. The drawing program is told every place, so that axes and labels of all panels
 * line up and nothing depends on how it spaces lines. */
#include "io/figure_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "io/figure_text.h"
#include "io/text.h"

static const double line_height = 1.4;  /* all in font sizes */
static const double note_height = 1.15; /* the note is set smaller */
static const double character = 0.54;   /* a mean character of a wide font */
static const double sample = 2.4;
static const double item_gap = 1.4;

static size_t count_lines(const char *text)
{
    size_t lines = *text ? 1 : 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static char *wrapped(const char *markup, double width, double em)
{
    hspec_text text = {0};
    hspec_figure_text_wrap(&text, markup, (size_t)fmax(width / (character * em), 10.0));
    return hspec_text_take(&text);
}

/* ---- legend ------------------------------------------------------------------------------------------------------- */

/* Places items from left to right and breaks lines. */
typedef struct {
    const hspec_figure_layout *layout;
    hspec_figure_legend_item *items;
    size_t count, lines;
    double x, indent;
} flow;

static double item_length(const flow *f, const hspec_figure_legend_item *item, double characters)
{
    return ((item->sample > 0.0 ? sample + 0.4 : 0.0) + characters * character) * f->layout->em;
}

/* `more` is the room that what follows on the same line needs. */
static void place(flow *f, hspec_figure_legend_item item, double characters, double more)
{
    const hspec_figure_layout *a = f->layout;
    double length = item_length(f, &item, characters);
    if (f->x + length + more > a->width - a->right && f->x > f->indent) {
        f->lines++;
        f->x = f->indent;
    }
    item.x = f->x;
    item.y = a->legend_y - (double)(f->lines - 1) * line_height * a->em;
    item.sample *= a->em;
    if (f->items) {
        f->items[f->count] = item;
    }
    f->count++;
    f->x += length + (item.sample > 0.0 ? item_gap : 0.7) * a->em;
}

static int has_heads(const hspec_figure *figure)
{
    for (size_t p = 0; p < figure->panel_count; p++) {
        if (figure->heads > 1 && figure->panels[p].series[0].head != HSPEC_FIGURE_NO_HEAD) {
            return 1;
        }
    }
    return 0;
}

/* What lines, points and bands mean beside a theory. */
static void place_theory(flow *f, const hspec_figure *figure)
{
    hspec_figure_legend_item line = {.sample = sample, .words = "theory", .head = HSPEC_FIGURE_NO_HEAD};
    hspec_figure_legend_item points = {.sample = sample, .words = figure->points_words, .head = HSPEC_FIGURE_NO_HEAD};
    double characters = (double)strlen(figure->points_words);
    points.mark = points.no_line = 1;
    points.band = figure->seeds > 1;
    place(f, line, 6.0, item_gap * f->layout->em + item_length(f, &points, characters));
    place(f, points, characters, 0.0);
}

/* What lines and bands mean without one. */
static void place_seeds(flow *f)
{
    hspec_figure_legend_item mean = {.sample = sample, .words = "mean ± s.d.", .head = HSPEC_FIGURE_NO_HEAD};
    hspec_figure_legend_item single = {.sample = sample, .words = "single seeds", .head = HSPEC_FIGURE_NO_HEAD};
    mean.band = 1;
    single.thin = 1;
    place(f, mean, 11.0, item_gap * f->layout->em + item_length(f, &single, 12.0));
    place(f, single, 12.0, 0.0);
}

size_t hspec_figure_layout_legend(const hspec_figure *figure, const hspec_figure_layout *layout,
                                  hspec_figure_legend_item *items, size_t *lines)
{
    int theory = figure->theory_points > 0;
    flow f = {.layout = layout, .items = items, .lines = 1, .x = layout->left, .indent = layout->left};
    if (has_heads(figure)) {
        place(&f, (hspec_figure_legend_item){.words = "heads", .head = HSPEC_FIGURE_NO_HEAD}, 5.0, 0.0);
        f.indent = f.x;
        for (size_t h = 0; h < figure->heads; h++) {
            place(&f, (hspec_figure_legend_item){.sample = sample, .head = h, .mark = theory},
                  h < 9    ? 1.0
                  : h < 99 ? 2.0
                           : 3.0,
                  0.0);
        }
    }
    f.indent = layout->left;
    if (theory) {
        place_theory(&f, figure);
    } else if (figure->seeds > 1) {
        place_seeds(&f);
    }
    *lines = f.count > 0 ? f.lines : 0;
    return f.count;
}

/* ---- axes --------------------------------------------------------------------------------------------------------- */

double hspec_figure_layout_step(double range, double steps)
{
    double least = range / fmax(steps, 1.0), unit = pow(10.0, floor(log10(least)));
    double ratio = least / unit;
    return unit * (ratio <= 1.0 ? 1.0 : ratio <= 2.0 ? 2.0 : ratio <= 5.0 ? 5.0 : 10.0);
}

/* Characters of the longest number on any y axis, with some six steps. */
static double number_length(const hspec_figure *figure)
{
    double longest = 3.0;
    for (size_t p = 0; p < figure->panel_count; p++) {
        const hspec_figure_panel *panel = &figure->panels[p];
        double largest = fmax(fabs(panel->low), fabs(panel->high));
        double decimals = fmax(-floor(log10(hspec_figure_layout_step(panel->high - panel->low, 6.0))), 0.0);
        double length = fmax(floor(log10(largest)) + 1.0, 1.0) + (decimals > 0.0 ? 1.0 + decimals : 0.0);
        if (largest < 1e-3 || largest >= 1e6) {
            length = 6.0; /* 1.5 times a power of ten */
        }
        longest = fmax(longest, length + (panel->low < 0.0 ? 1.0 : 0.0));
    }
    return longest;
}

/* ---- layout ------------------------------------------------------------------------------------------------------- */

static hspec_status divide(const hspec_figure *figure, hspec_figure_layout *a, double bottom, hspec_error *err)
{
    const double least_width = 6.0, least_height = 4.0; /* below, tics and labels run into each other */
    double between = (double)(a->rows - 1) * a->gap;
    if (a->height == 0.0) {
        double panel = a->rows == 1 ? 15.0 : a->rows <= 3 ? 12.5 : 10.5;
        /* `top` is still the depth of all that stands above the panels. */
        a->height = a->top + bottom + (double)a->rows * panel * a->em + between;
    }
    a->panel_height = (a->height - a->top - bottom - between) / (double)a->rows;
    a->panel_width = a->width / (double)a->columns - a->left - a->right;
    if (a->panel_height < least_height * a->em || a->panel_width < least_width * a->em) {
        return hspec_error_set(
            err, HSPEC_EARG,
            "size: %g x %g cm leaves %.1f x %.1f cm for each of %zu panels, at least %.1f x %.1f cm is "
            "needed with a font of %g points: make the figure larger, the font smaller or the panels "
            "fewer",
            a->width, a->height, fmax(a->panel_width, 0.0), fmax(a->panel_height, 0.0), figure->panel_count,
            least_width * a->em, least_height * a->em, figure->font_size);
    }
    return HSPEC_OK;
}

size_t hspec_figure_layout_columns(size_t panels)
{
    return panels <= 4 ? 1 : panels <= 10 ? 2 : 3;
}

hspec_status hspec_figure_layout_make(const hspec_figure *figure, hspec_figure_layout *layout, hspec_error *err)
{
    double em = figure->font_size * 2.54 / 72.0;
    int two_lines = 0;
    for (size_t p = 0; p < figure->panel_count; p++) {
        two_lines |= strchr(figure->panels[p].label, '\n') != NULL;
    }
    *layout = (hspec_figure_layout){.em = em, .width = figure->width, .height = figure->height};
    layout->label = (1.5 + 0.6 * number_length(figure)) * em;
    layout->left = layout->label + (two_lines ? 2.1 : 0.9) * em;
    double end = figure->x_last; /* half of the last number stands beside the panel */
    layout->right = (figure->xlog || (end >= 1e-3 && end < 1e4) ? 1.4 : 2.3) * em;
    layout->gap = 0.9 * em;
    layout->columns = hspec_figure_layout_columns(figure->panel_count);
    layout->rows = (figure->panel_count + layout->columns - 1) / layout->columns;
    layout->title = wrapped(figure->title, layout->width - layout->left - layout->right, em);
    layout->note = wrapped(figure->note, layout->width - 1.2 * em, 0.85 * em);
    if (!layout->title || !layout->note) {
        return hspec_error_memory(err, strlen(figure->title) + strlen(figure->note));
    }
    size_t legend = 0;
    (void)hspec_figure_layout_legend(figure, layout, NULL, &legend);
    double title = line_height * em * (double)count_lines(layout->title);
    double note = note_height * em * (double)count_lines(layout->note);
    layout->top = 0.5 * em + title + line_height * em * (double)legend + 0.5 * em;
    HSPEC_TRY(divide(figure, layout, 3.8 * em + note + 0.3 * em, err));
    layout->top = layout->height - layout->top;
    layout->title_y = layout->height - 0.5 * em - 0.5 * line_height * em;
    layout->legend_y = layout->title_y - title;
    layout->note_y = 0.3 * em + note - 0.5 * note_height * em;
    return HSPEC_OK;
}

void hspec_figure_layout_release(hspec_figure_layout *layout)
{
    free(layout->title);
    free(layout->note);
    layout->title = NULL;
    layout->note = NULL;
}

void hspec_figure_layout_panel(const hspec_figure_layout *layout, size_t p, double *x0, double *y0, double *x1,
                               double *y1)
{
    size_t column = p / layout->rows, row = p % layout->rows;
    *x0 = layout->width / (double)layout->columns * (double)column + layout->left;
    *x1 = *x0 + layout->panel_width;
    *y1 = layout->top - (double)row * (layout->panel_height + layout->gap);
    *y0 = *y1 - layout->panel_height;
}

const char *hspec_figure_layout_label(const hspec_figure_layout *layout, const hspec_figure_panel *panel)
{
    const char *second = strchr(panel->label, '\n');
    size_t first_length = second ? (size_t)(second - panel->label) : strlen(panel->label);
    double first = (double)hspec_figure_text_length(panel->label, first_length) * character;
    double other = second ? 0.85 * (double)hspec_figure_text_length(second, strlen(second)) * character : 0.0;
    return fmax(first, other) * layout->em > layout->panel_height + layout->gap ? panel->symbol : panel->label;
}

int hspec_figure_layout_lowest(const hspec_figure *figure, const hspec_figure_layout *layout, size_t p)
{
    return (p + 1) % layout->rows == 0 || p + 1 == figure->panel_count;
}
