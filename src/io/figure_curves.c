/* SPDX-License-Identifier: MIT
 * The curves of a figure: styles, numbers and plot commands. */
#include "io/figure_curves.h"

/* The palette of Okabe and Ito without yellow, in an order in which neighbours also differ in grey; dashes tell heads
 * apart without any colour. 7 and 5 have no common factor: 35 heads before a pair returns. */
static const char *const colours[] = {"0072B2", "E69F00", "009E73", "D55E00", "56B4E9", "CC79A7", "000000"};
/* In points: drawn, left out, drawn, left out; nothing: a solid line. */
static const double dashes[][4] = {{0}, {6.0, 2.0}, {1.6, 1.6}, {8.0, 2.0, 1.6, 2.0}, {3.2, 1.6}};
enum { COLOURS = 7, DASHES = 5 };

/* In this order, filled and open: circle, square, triangle, diamond, triangle upside down. */
static const int filled[] = {7, 5, 9, 13, 11}, open[] = {6, 4, 8, 12, 10};
static const double sizes[] = {0.5, 0.46, 0.54, 0.6, 0.54};
enum { SHAPES = 5 };

/* Numbers of styles: heads from 1, black, and what is added for single seeds and for points. */
enum { PLAIN = 100000, THIN = 200000, MARK = 400000 };

/* ---- styles ------------------------------------------------------------------------------------------------------- */

/* The svg terminal counts dashes in pixels, the others in points at this line width. */
static void add_dash(hspec_text *out, size_t head, hspec_figure_format format)
{
    const double *dash = dashes[head % DASHES];
    double unit = format == HSPEC_FIGURE_SVG ? 96.0 / 72.0 : 1.0;
    if (dash[0] == 0.0) {
        hspec_text_add(out, "solid");
        return;
    }
    for (size_t i = 0; i < 4 && dash[i] > 0.0; i++) {
        hspec_text_add(out, "%s%.3g", i == 0 ? "(" : ",", dash[i] * unit);
    }
    hspec_text_add(out, ")");
}

static size_t plain_style(size_t head)
{
    return head == HSPEC_FIGURE_NO_HEAD ? PLAIN : head + 1;
}

size_t hspec_figure_curves_style(size_t head, hspec_figure_style kind)
{
    return plain_style(head) + (kind == HSPEC_FIGURE_THIN ? THIN : kind == HSPEC_FIGURE_MARK ? MARK : 0);
}

static const char *colour_of(size_t head)
{
    return head == HSPEC_FIGURE_NO_HEAD ? "000000" : colours[head % COLOURS];
}

static void add_style(hspec_text *out, const hspec_figure *figure, size_t head, hspec_figure_format format)
{
    const char *colour = colour_of(head);
    size_t shape = head == HSPEC_FIGURE_NO_HEAD ? 0 : head % SHAPES;
    hspec_text_add(out, "set style line %zu lc rgb '#%s' lw 1.5 dt ", plain_style(head), colour);
    add_dash(out, head == HSPEC_FIGURE_NO_HEAD ? 0 : head, format);
    hspec_text_add(out, "\nset style line %zu lc rgb '#90%s' lw 0.4 dt solid\n", THIN + plain_style(head), colour);
    if (figure->theory_points > 0) {
        /* the png terminal counts in pixels of a screen */
        double size = sizes[shape] * (format == HSPEC_FIGURE_PNG ? 300.0 / 72.0 : 1.0);
        hspec_text_add(out, "set style line %zu lc rgb '#%s' lw 0.7 pt %d ps %.4g\n", MARK + plain_style(head), colour,
                       figure->only > 0 ? open[shape] : filled[shape], size);
    }
}

void hspec_figure_curves_styles(hspec_text *out, const hspec_figure *figure, hspec_figure_format format)
{
    if (figure->theory_points > 0) {
        hspec_text_add(out, "\n# Line styles: 1, 2, ... the theory of the heads; %d, ... points beside it.\n",
                       MARK + 1);
    } else {
        hspec_text_add(out, "\n# Line styles: 1, 2, ... means of heads; %d, ... their single seeds.\n", THIN + 1);
    }
    for (size_t h = 0; h < figure->heads; h++) {
        add_style(out, figure, h, format);
    }
    add_style(out, figure, HSPEC_FIGURE_NO_HEAD, format);
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

static void add_mean(hspec_text *out, const hspec_figure *figure, const hspec_figure_series *series, size_t p, size_t j)
{
    hspec_text_add(out, "\n# Panel %zu, curve %zu: N/D, mean%s\n$mean_%zu_%zu << EOD\n", p + 1, j + 1,
                   series->deviation ? ", mean - s.d., mean + s.d." : "", p + 1, j + 1);
    for (size_t i = 0; i < figure->points; i++) {
        hspec_text_add(out, "%.9g %.9g", figure->x[i], series->mean[i]);
        if (series->deviation) {
            hspec_text_add(out, " %.9g %.9g", series->mean[i] - series->deviation[i],
                           series->mean[i] + series->deviation[i]);
        }
        hspec_text_add(out, "\n");
    }
    hspec_text_add(out, "EOD\n");
}

static void add_seeds(hspec_text *out, const hspec_figure *figure, const hspec_figure_series *series, size_t p,
                      size_t j)
{
    size_t n = figure->points;
    hspec_text_add(out, "# Single seeds, with an empty line between them\n$seeds_%zu_%zu << EOD\n", p + 1, j + 1);
    for (size_t s = 0; s < figure->singles; s++) {
        for (size_t i = 0; i < n; i++) {
            hspec_text_add(out, "%.9g %.9g\n", figure->x[i], series->single[s * n + i]);
        }
        hspec_text_add(out, s + 1 < figure->singles ? "\n" : "");
    }
    hspec_text_add(out, "EOD\n");
}

static void add_theory(hspec_text *out, const hspec_figure *figure, const hspec_figure_series *series, size_t p,
                       size_t j)
{
    hspec_text_add(out, "\n# Panel %zu, curve %zu: points beside the theory\n$marks_%zu_%zu << EOD\n", p + 1, j + 1,
                   p + 1, j + 1);
    for (size_t k = 0; k < series->marks; k++) {
        hspec_text_add(out, "%.9g %.9g\n", figure->x[series->mark[k]], series->mean[series->mark[k]]);
    }
    hspec_text_add(out, "EOD\n# The theory\n$theory_%zu_%zu << EOD\n", p + 1, j + 1);
    for (size_t i = 0; i < figure->theory_points; i++) {
        hspec_text_add(out, "%.9g %.9g\n", figure->theory_x[i], series->theory[i]);
    }
    hspec_text_add(out, "EOD\n");
}

void hspec_figure_curves_data(hspec_text *out, const hspec_figure *figure)
{
    for (size_t p = 0; p < figure->panel_count; p++) {
        for (size_t j = 0; j < figure->panels[p].series_count; j++) {
            const hspec_figure_series *series = &figure->panels[p].series[j];
            if (!series->theory || series->deviation) {
                add_mean(out, figure, series, p, j);
            }
            if (figure->singles > 0) {
                add_seeds(out, figure, series, p, j);
            }
            if (series->theory) {
                add_theory(out, figure, series, p, j);
            }
        }
    }
}

/* ---- plot commands ------------------------------------------------------------------------------------------------ */

/* Bands first, then single seeds, then means or theory, then points: what matters most lies on top. */
void hspec_figure_curves_plot(hspec_text *out, const hspec_figure *figure, size_t p)
{
    static const struct {
        const char *block, *with;
        hspec_figure_style kind;
    } layers[] = {
        {"seeds", "lines", HSPEC_FIGURE_THIN},
        {"mean", "lines", HSPEC_FIGURE_LINE},
        {"theory", "lines", HSPEC_FIGURE_LINE},
        {"marks", "points", HSPEC_FIGURE_MARK},
    };
    const hspec_figure_panel *panel = &figure->panels[p];
    int theory = figure->theory_points > 0, wanted[] = {figure->singles > 0, !theory, theory, theory};
    const char *separator = "plot ";
    for (size_t j = 0; j < panel->series_count && figure->seeds > 1; j++) {
        hspec_text_add(out,
                       "%s$mean_%zu_%zu using 1:3:4 with filledcurves fc rgb '#%s' fs transparent solid 0.18 noborder "
                       "notitle",
                       separator, p + 1, j + 1, colour_of(panel->series[j].head));
        separator = ", \\\n     ";
    }
    for (size_t k = 0; k < sizeof layers / sizeof *layers; k++) {
        for (size_t j = 0; j < panel->series_count && wanted[k]; j++) {
            hspec_text_add(out, "%s$%s_%zu_%zu using 1:2 with %s ls %zu notitle", separator, layers[k].block, p + 1,
                           j + 1, layers[k].with, hspec_figure_curves_style(panel->series[j].head, layers[k].kind));
            separator = ", \\\n     ";
        }
    }
    hspec_text_add(out, "\n");
}
