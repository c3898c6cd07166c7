/* SPDX-License-Identifier: MIT
 * A figure as a gnuplot script. */
#include "io/figure_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/status.h"
#include "io/figure_curves.h"
#include "io/figure_layout.h"
#include "io/text.h"

/* ---- words -------------------------------------------------------------------------------------------------------- */

hspec_status hspec_figure_gnuplot_format(const char *path, hspec_figure_format *format, hspec_error *err)
{
    static const char *const extensions[] = {
#define HSPEC_X(name, extension, sentence) extension,
        HSPEC_FIGURE_FORMAT_TABLE(HSPEC_X)
#undef HSPEC_X
    };
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < HSPEC_FIGURE_FORMATS; i++) {
        if (strcasecmp(dot + 1, extensions[i]) == 0) {
            *format = (hspec_figure_format)i;
            return HSPEC_OK;
        }
    }
    return hspec_error_set(err, HSPEC_EARG,
                           "%s: the extension chooses the format: found '%s', allowed are .svg, .pdf and "
                           ".png",
                           path, dot ? dot : "");
}

/* A string constant of gnuplot. Nothing is special between single quotes but the quote; control characters, which could
 * end the line, go through the escapes of double quotes. */
static void add_string(hspec_text *out, const char *text)
{
    hspec_text_add(out, "'");
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            hspec_text_add(out, "''");
        } else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            hspec_text_add(out, "'.\"\\%03o\".'", (unsigned)*c);
        } else {
            hspec_text_append(out, c, 1);
        }
    }
    hspec_text_add(out, "'");
}

/* ---- parts of the script ------------------------------------------------------------------------------------------ */

static void add_screen(hspec_text *out, const hspec_figure_layout *a, double x, double y)
{
    hspec_text_add(out, "screen %.5f, screen %.5f", x / a->width, y / a->height);
}

static void add_terminal(hspec_text *out, const hspec_figure *figure, const hspec_figure_layout *a,
                         hspec_figure_format format, const char *output, const char *name)
{
    /* Lines and fonts come out in points of 1/72 inch everywhere. */
    hspec_text font = {0};
    double inch_x = a->width / 2.54, inch_y = a->height / 2.54;
    switch (format) {
    case HSPEC_FIGURE_SVG:
        hspec_text_add(&font, "%s,%.5g", figure->font, figure->font_size * 96.0 / 72.0);
        hspec_text_add(out,
                       "set terminal svg size %.0f,%.0f enhanced linewidth %.4f background rgb 'white' name '%s' font ",
                       inch_x * 96.0, inch_y * 96.0, 96.0 / 72.0, name);
        break;
    case HSPEC_FIGURE_PDF:
        hspec_text_add(&font, "%s,%.5g", figure->font, figure->font_size);
        hspec_text_add(
            out,
            "set terminal pdfcairo size %.5gcm,%.5gcm enhanced color linewidth 2 dashlength 2.5 fontscale 0.75 font ",
            a->width, a->height);
        break;
    case HSPEC_FIGURE_PNG:
        hspec_text_add(&font, "%s,%.5g", figure->font, figure->font_size);
        hspec_text_add(out,
                       "set terminal pngcairo size %.0f,%.0f enhanced color linewidth %.4f dashlength 2.5 fontscale "
                       "%.4f background rgb "
                       "'white' font ",
                       inch_x * 300.0, inch_y * 300.0, 300.0 / 72.0, 300.0 / 96.0);
        break;
    case HSPEC_FIGURE_FORMATS:
        break;
    }
    add_string(out, font.data ? font.data : "");
    out->failed |= font.failed;
    hspec_text_free(&font);
    hspec_text_add(out, "\n");
    if (output) {
        hspec_text_add(out, "set output ");
        add_string(out, output);
        hspec_text_add(out, "\n");
    }
}

static void add_label(hspec_text *out, const hspec_figure_layout *a, const char *markup, double x, double y,
                      const char *how)
{
    hspec_text_add(out, "set label ");
    add_string(out, markup);
    hspec_text_add(out, " at ");
    add_screen(out, a, x, y);
    hspec_text_add(out, " %s front\n", how);
}

/* One label for each line: terminals do not agree on the distance of lines within a label. Each line is one step
 * (dx, dy) further. `size` is "" or the beginning of a markup that a brace ends. */
static void add_lines(hspec_text *out, const hspec_figure_layout *a, const char *markup, double x, double y, double dx,
                      double dy, const char *how, const char *size)
{
    while (*markup) {
        size_t length = strcspn(markup, "\n");
        hspec_text line = {0};
        hspec_text_add(&line, "%s", size);
        hspec_text_append(&line, markup, length);
        hspec_text_add(&line, *size ? "}" : "");
        add_label(out, a, line.data ? line.data : "", x, y, how);
        out->failed |= line.failed;
        hspec_text_free(&line);
        x += dx;
        y += dy;
        markup += length + (markup[length] == '\n');
    }
}

static void add_legend(hspec_text *out, const hspec_figure *figure, const hspec_figure_layout *a)
{
    size_t lines = 0;
    hspec_figure_legend_item *items = calloc(figure->heads + 3, sizeof *items);
    if (!items) {
        out->failed = 1;
        return;
    }
    size_t count = hspec_figure_layout_legend(figure, a, items, &lines);
    for (size_t i = 0; i < count; i++) {
        const hspec_figure_legend_item *item = &items[i];
        double end = item->x + item->sample, half = 0.35 * a->em;
        char number[24];
        if (item->band) {
            hspec_text_add(out, "set object rectangle from ");
            add_screen(out, a, item->x, item->y - half);
            hspec_text_add(out, " to ");
            add_screen(out, a, end, item->y + half);
            hspec_text_add(out, " fc rgb '#000000' fs transparent solid 0.2 noborder\n");
        }
        if (item->sample > 0.0 && !item->no_line) {
            hspec_text_add(out, "set arrow from ");
            add_screen(out, a, item->x, item->y);
            hspec_text_add(out, " to ");
            add_screen(out, a, end, item->y);
            hspec_text_add(out, " nohead front ls %zu\n",
                           hspec_figure_curves_style(item->head, item->thin ? HSPEC_FIGURE_THIN : HSPEC_FIGURE_LINE));
        }
        if (item->mark) {
            hspec_text_add(out, "set label '' at ");
            add_screen(out, a, item->x + 0.5 * item->sample, item->y);
            hspec_text_add(out, " point ls %zu front\n", hspec_figure_curves_style(item->head, HSPEC_FIGURE_MARK));
        }
        end += item->sample > 0.0 ? 0.4 * a->em : 0.0;
        (void)snprintf(number, sizeof number, "%zu", item->head + 1);
        add_label(out, a, item->words ? item->words : number, end, item->y, "left");
    }
    free(items);
}

/* The end of the x axis; something behind a single point. */
static double x_end(const hspec_figure *figure)
{
    double first = figure->x_first, last = figure->x_last;
    return last > first ? last : first > 0.0 ? 2.0 * first : 1.0;
}

/* Numbers on the x axis, and room for one of them in font sizes. */
static const char *x_format(const hspec_figure *figure, double *room)
{
    double end = x_end(figure);
    int plain = end >= 1e-3 && end < 1e5;
    *room = plain ? 4.0 : 6.0;
    return figure->xlog ? "10^{%T}" : plain ? "%g" : end >= 1e5 && end < 1e8 ? "%.0f" : "%h";
}

/* Dashed lines with their words at the left, where the loss is still high: those of the lowest below, the others above. */
static void add_levels(hspec_text *out, const hspec_figure_panel *panel)
{
    double lowest = INFINITY;
    for (size_t i = 0; i < panel->level_count; i++) {
        lowest = fmin(lowest, panel->levels[i].value);
    }
    for (size_t i = 0; i < panel->level_count; i++) {
        const hspec_figure_level *level = &panel->levels[i];
        hspec_text_add(
            out,
            "set arrow from graph 0, first %.12g to graph 1, first %.12g nohead back lc rgb '#606060' lw 0.8 "
            "dt (4,3)\nset label ",
            level->value, level->value);
        hspec_text line = {0};
        hspec_text_add(&line, "{/*0.85 %s}", level->words);
        add_string(out, line.data ? line.data : "");
        out->failed |= line.failed;
        hspec_text_free(&line);
        hspec_text_add(out, " at graph 0.015, first %.12g left offset 0, character %s front tc rgb '#404040'\n",
                       level->value, level->value > lowest ? "0.55" : "-0.6");
    }
}

static void add_panel(hspec_text *out, const hspec_figure *figure, const hspec_figure_layout *a, size_t p)
{
    const hspec_figure_panel *panel = &figure->panels[p];
    int lowest = hspec_figure_layout_lowest(figure, a, p);
    double x0, y0, x1, y1;
    hspec_figure_layout_panel(a, p, &x0, &y0, &x1, &y1);
    hspec_text_add(out, "\n# Panel %zu\n", p + 1);
    hspec_text_add(out, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", x0 / a->width, x1 / a->width);
    hspec_text_add(out, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n", y1 / a->height, y0 / a->height);
    double step = hspec_figure_layout_step(panel->high - panel->low, (y1 - y0) / (1.9 * a->em));
    hspec_text_add(out, "set yrange [%.12g:%.12g]\nset ytics %.12g\n", panel->low, panel->high, step);
    const char *label = hspec_figure_layout_label(a, panel);
    int lines = strchr(label, '\n') ? 2 : 1;
    add_lines(out, a, label, x0 - a->label - (lines == 2 ? 1.2 * a->em : 0.0), 0.5 * (y0 + y1), 1.2 * a->em, 0.0,
              "center rotate by 90", "");
    if (panel->zero) {
        hspec_text_add(out,
                       "set arrow from graph 0, first 0 to graph 1, first 0 nohead back lc rgb '#808080' lw 0.5\n");
    }
    add_levels(out, panel);
    double room = 0.0;
    const char *format = x_format(figure, &room);
    if (!figure->xlog) {
        step = hspec_figure_layout_step(x_end(figure) - figure->x_first, (x1 - x0) / (room * a->em));
        hspec_text_add(out, "set xtics %.12g\n", step);
    }
    hspec_text_add(out, "set format x '%s'\n", lowest ? format : "");
    if (lowest) {
        add_label(out, a, figure->xlabel, 0.5 * (x0 + x1), y0 - 2.9 * a->em, "center");
    }
    hspec_figure_curves_plot(out, figure, p);
    hspec_text_add(out, "unset label\nunset arrow\nunset object\n");
}

hspec_status hspec_figure_gnuplot_script(const hspec_figure *figure, hspec_figure_format format, const char *output,
                                         const char *name, char **script, hspec_error *err)
{
    hspec_figure_layout a = {0};
    hspec_status status = hspec_figure_layout_make(figure, &a, err);
    if (status != HSPEC_OK) {
        hspec_figure_layout_release(&a);
        return status;
    }
    hspec_text out = {0};
    hspec_text_add(&out, "# Written by headspec %s. Change what you like and run gnuplot on this file.\nreset\n",
                   HSPEC_VERSION);
    hspec_text_add(&out, "set encoding utf8\n");
    add_terminal(&out, figure, &a, format, output, name);
    hspec_figure_curves_styles(&out, figure, format);
    hspec_figure_curves_data(&out, figure);
    hspec_text_add(&out, "\nset minussign\nset border 15 lw 0.6\nset tics front scale 0.6\nset xrange [%.9g:%.9g]\n",
                   figure->x_first, x_end(figure));
    hspec_text_add(&out, figure->xlog ? "set logscale x\n" : "");
    hspec_text_add(&out, "set multiplot\n\n# Title, legend and note\n");
    add_lines(&out, &a, a.title, a.left, a.title_y, 0.0, -1.4 * a.em, "left", "");
    add_legend(&out, figure, &a);
    add_lines(&out, &a, a.note, 0.6 * a.em, a.note_y, 0.0, -1.15 * a.em, "left", "{/*0.85 ");
    for (size_t p = 0; p < figure->panel_count; p++) {
        add_panel(&out, figure, &a, p);
    }
    hspec_text_add(&out, "unset multiplot\n");
    hspec_text_add(&out, output ? "set output\n" : "");
    hspec_figure_layout_release(&a);
    *script = hspec_text_take(&out);
    return *script ? HSPEC_OK : hspec_error_memory(err, 1 << 20);
}
