/* SPDX-License-Identifier: MIT
 * From a trajectory to the numbers and words of a figure. */
#include "io/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "io/figure_panels.h"
#include "io/figure_text.h"
#include "io/text.h"
#include "study/match.h"

enum { SINGLES_MAX = 32, CURVES_MAX = 384, POINTS_MAX = 800 }; /* more would make heavy files, and no one sees them */

hspec_figure_options hspec_figure_default(void)
{
    return (hspec_figure_options){
        .panels = {HSPEC_FIGURE_ALIGNMENT, HSPEC_FIGURE_LOSS},
        .panel_count = 2,
        .width = 16.0,
        .font = "sans-serif",
        .font_size = 9.0,
    };
}

/* ---- panels that are asked for ----------------------------------------------------------------------------------- */

static char *listed_words(void)
{
    hspec_text text = {0};
    for (size_t i = 0; i < HSPEC_FIGURE_PANEL_KINDS; i++) {
        hspec_text_add(&text, "%s%s", i > 0 ? ", " : "", hspec_figure_panels_words[i]);
    }
    return hspec_text_take(&text);
}

static hspec_status refuse_panel(hspec_error *err, const char *word, size_t length, const char *why)
{
    char *allowed = listed_words();
    hspec_status status =
        hspec_error_set(err, HSPEC_EARG, "panels: found '%.*s'%s, allowed is a list of: %s (with commas, each once)",
                        (int)(length < 100 ? length : 100), word, why, allowed ? allowed : "");
    free(allowed);
    return status;
}

hspec_status hspec_figure_parse_panels(const char *text, hspec_figure_options *options, hspec_error *err)
{
    hspec_figure_panel_kind found[HSPEC_FIGURE_PANEL_KINDS];
    size_t count = 0;
    for (const char *word = text;; word++) {
        size_t length = strcspn(word, ",");
        size_t kind = 0;
        while (kind < HSPEC_FIGURE_PANEL_KINDS && !(strlen(hspec_figure_panels_words[kind]) == length &&
                                                    strncmp(word, hspec_figure_panels_words[kind], length) == 0)) {
            kind++;
        }
        if (kind == HSPEC_FIGURE_PANEL_KINDS) {
            return refuse_panel(err, word, length, "");
        }
        for (size_t i = 0; i < count; i++) {
            if (found[i] == (hspec_figure_panel_kind)kind) {
                return refuse_panel(err, word, length, " twice");
            }
        }
        found[count++] = (hspec_figure_panel_kind)kind;
        word += length;
        if (*word == '\0') {
            break;
        }
    }
    memcpy(options->panels, found, count * sizeof *found);
    options->panel_count = count;
    return HSPEC_OK;
}

/* ---- what is drawn ------------------------------------------------------------------------------------------------ */

/* N / D = B t */
static double abscissa(const hspec_figure_builder *b, size_t row)
{
    return (double)b->source->experiment->training.batch * b->source->trajectory.time[row];
}

/* Chooses rows that lie at least 1/POINTS_MAX of the axis apart. */
static hspec_status choose_rows(hspec_figure_builder *b, hspec_error *err)
{
    const hspec_trajectory *tr = &b->source->trajectory;
    hspec_figure *figure = b->figure;
    size_t first = 0, last = tr->done - 1, n = 0;
    while (figure->xlog && first < tr->done && !(abscissa(b, first) > 0.0)) {
        first++;
    }
    if (first >= tr->done) {
        return hspec_error_set(err, HSPEC_EARG,
                               "xscale: log has nothing to show, as only N = 0 is recorded so far; "
                               "allowed here: linear");
    }
    figure->x = calloc(tr->done, sizeof(double));
    b->row = calloc(tr->done, sizeof(size_t));
    if (!figure->x || !b->row) {
        return hspec_error_memory(err, tr->done * (sizeof(double) + sizeof(size_t)));
    }
    double start = abscissa(b, first), end = abscissa(b, last);
    double step = (figure->xlog ? log(end / start) : end - start) / POINTS_MAX;
    for (size_t t = first; t <= last; t++) {
        double x = abscissa(b, t);
        double gap = n == 0 ? INFINITY : figure->xlog ? log(x / figure->x[n - 1]) : x - figure->x[n - 1];
        if (gap >= step || t == last) {
            figure->x[n] = x;
            b->row[n++] = t;
        }
    }
    figure->points = n;
    return HSPEC_OK;
}

static hspec_status match(hspec_figure_builder *b, hspec_error *err)
{
    const hspec_trajectory *tr = &b->source->trajectory;
    const hspec_init_params *init = &b->source->experiment->training.init;
    size_t S = tr->seeds, H = tr->heads, F = tr->features;
    b->head = calloc(S * H, sizeof(size_t));
    b->sign = calloc(S * F, sizeof(int));
    b->group = calloc(H, sizeof(size_t));
    b->flip = calloc(F, sizeof(int));
    b->column = calloc(S, sizeof(double));
    if (!b->head || !b->sign || !b->group || !b->flip || !b->column) {
        return hspec_error_memory(err, S * (H + F + 1) * sizeof(double));
    }
    for (size_t h = 0; h < H; h++) {
        b->group[h] = b->options->match == HSPEC_FIGURE_MATCH_NONE ? h : 0;
    }
    if (b->options->match != HSPEC_FIGURE_MATCH_NONE) {
        hspec_signal_symmetries(b->source->signal, b->flip);
    }
    if (b->options->match == HSPEC_FIGURE_MATCH_AUTO && init->kind == HSPEC_INIT_ALIGNED) {
        hspec_match_groups(H, F, init->alignment, init->residual, b->group);
        for (size_t i = 0; i < H * F; i++) {
            b->flip[i % F] &= init->alignment[i] == 0.0;
        }
    }
    return hspec_match_heads(tr, b->group, b->flip, b->head, b->sign, NULL, err);
}

/* ---- words -------------------------------------------------------------------------------------------------------- */

/* How the heads of different seeds were brought together. */
static void add_matching(hspec_text *out, const hspec_figure_builder *b)
{
    size_t F = b->source->trajectory.features, flips = 0, moved = 0;
    int aligned = b->source->experiment->training.init.kind == HSPEC_INIT_ALIGNED;
    for (size_t h = 0; h < b->figure->heads; h++) {
        moved += b->group[h] != h;
    }
    for (size_t f = 0; f < F; f++) {
        flips += b->flip[f] != 0;
    }
    if (moved > 0) {
        hspec_text_add(out, "Heads %sare matched over seeds by their trajectories",
                       b->options->match == HSPEC_FIGURE_MATCH_AUTO && aligned ? "that start alike " : "");
    } else if (b->figure->heads > 1) {
        hspec_text_add(out, aligned ? "Heads are numbered as at the start, the same in every seed"
                                    : "Heads are not matched over seeds");
    }
    hspec_text_add(out, flips > 0 && out->length > 0 ? "; " : "");
    if (flips > 0 && F == 1) {
        hspec_text_add(out, "the signal is symmetric, and signs are flipped to agree");
    } else if (flips > 0) {
        hspec_text_add(out, "signs of the symmetric feature%s", flips > 1 ? "s" : "");
        for (size_t f = 0, left = flips; f < F; f++) {
            if (b->flip[f]) {
                hspec_text_add(out, "%s%zu", left == flips ? " " : left == 1 ? " and " : ", ", f + 1);
                left--;
            }
        }
        hspec_text_add(out, " are flipped to agree");
    }
    hspec_text_add(out, out->length > 0 ? ". " : "");
}

static void add_note(hspec_text *out, const hspec_figure_builder *b)
{
    const hspec_figure *figure = b->figure;
    if (figure->seeds < 2) {
        return;
    }
    add_matching(out, b);
    if (b->source->experiment->training.init.kind == HSPEC_INIT_RANDOM && figure->heads > 1) {
        hspec_text_add(out, "After a random start heads part at times that differ from seed to seed: mean and band mix "
                            "these times. ");
    }
    if (figure->singles < figure->seeds) {
        hspec_text_add(out, "%zu of the %zu seeds are drawn singly. ", figure->singles, figure->seeds);
    }
    if (out->length > 0) {
        out->data[--out->length] = '\0';
    }
}

static hspec_status fill_words(hspec_figure_builder *b, hspec_error *err)
{
    hspec_figure *figure = b->figure;
    hspec_text title = {0}, note = {0}, xlabel = {0}, font = {0};
    if (b->options->title) {
        hspec_figure_text_escape(&title, b->options->title);
    } else {
        hspec_figure_text_title(&title, b->source);
    }
    add_note(&note, b);
    hspec_text_add(&xlabel, "samples  {/:Italic N} / {/:Italic D}");
    hspec_text_add(&font, "%s", b->options->font);
    figure->title = hspec_text_take(&title);
    figure->note = hspec_text_take(&note);
    figure->xlabel = hspec_text_take(&xlabel);
    figure->font = hspec_text_take(&font);
    if (!figure->title || !figure->note || !figure->xlabel || !figure->font) {
        return hspec_error_memory(err, 1000);
    }
    return HSPEC_OK;
}

/* ---- all of it ---------------------------------------------------------------------------------------------------- */

static hspec_status check_options(const hspec_figure_options *o, hspec_error *err)
{
    if (!(o->width >= 4.0 && o->width <= 200.0) || !(o->height == 0.0 || (o->height >= 4.0 && o->height <= 200.0))) {
        return hspec_error_set(err, HSPEC_EARG, "size: found %g x %g cm, allowed are 4 to 200 each way", o->width,
                               o->height);
    }
    if (!(o->font_size >= 4.0 && o->font_size <= 72.0)) {
        return hspec_error_set(err, HSPEC_EARG, "font: found size %g, allowed are 4 to 72 points", o->font_size);
    }
    if (!o->font || !hspec_figure_text_font(o->font)) {
        return hspec_error_set(err, HSPEC_EARG,
                               "font: found the name '%.100s', allowed are letters, digits, spaces, '-', '_' and '.'",
                               o->font ? o->font : "");
    }
    if (o->title && !hspec_figure_text_utf8(o->title)) {
        return hspec_error_set(err, HSPEC_EARG, "title: found bytes that are not UTF-8");
    }
    if (o->panel_count == 0 || o->panel_count > HSPEC_FIGURE_PANEL_KINDS) {
        return hspec_error_set(err, HSPEC_EARG, "panels: found %zu, allowed are 1 to %d", o->panel_count,
                               HSPEC_FIGURE_PANEL_KINDS);
    }
    return HSPEC_OK;
}

static hspec_status build(hspec_figure_builder *b, hspec_error *err)
{
    hspec_figure *figure = b->figure;
    const hspec_trajectory *tr = &b->source->trajectory;
    hspec_figure_axis axis = b->options->xscale;
    if (axis == HSPEC_FIGURE_AXIS_AUTO) {
        int log_spaced = b->source->experiment->training.spacing == HSPEC_SPACING_LOG && tr->done > 1;
        axis = log_spaced ? HSPEC_FIGURE_LOG : HSPEC_FIGURE_LINEAR;
    }
    figure->xlog = axis == HSPEC_FIGURE_LOG;
    figure->heads = tr->heads;
    figure->seeds = tr->seeds;
    size_t singles = CURVES_MAX / tr->heads < SINGLES_MAX ? CURVES_MAX / tr->heads : SINGLES_MAX;
    singles = singles < 4 ? 4 : singles;
    figure->singles = tr->seeds == 1 ? 0 : tr->seeds < singles ? tr->seeds : singles;
    figure->width = b->options->width;
    figure->height = b->options->height;
    figure->font_size = b->options->font_size;
    HSPEC_TRY(choose_rows(b, err));
    HSPEC_TRY(match(b, err));
    HSPEC_TRY(hspec_figure_panels_fill(b, err));
    return fill_words(b, err);
}

hspec_status hspec_figure_create(const hspec_figure_source *source, const hspec_figure_options *options,
                                 hspec_figure **figure, hspec_error *err)
{
    HSPEC_TRY(check_options(options, err));
    if (source->trajectory.done == 0) {
        return hspec_error_set(err, HSPEC_EARG, "figure: the trajectory has no rows");
    }
    hspec_figure_builder b = {.source = source, .options = options, .figure = calloc(1, sizeof(hspec_figure))};
    if (!b.figure) {
        return hspec_error_memory(err, sizeof(hspec_figure));
    }
    hspec_status status = build(&b, err);
    free(b.row);
    free(b.head);
    free(b.sign);
    free(b.group);
    free(b.flip);
    free(b.column);
    if (status == HSPEC_OK) {
        *figure = b.figure;
    } else {
        hspec_figure_free(b.figure);
    }
    return status;
}

void hspec_figure_free(hspec_figure *figure)
{
    if (!figure) {
        return;
    }
    for (size_t p = 0; p < figure->panel_count; p++) {
        hspec_figure_panel *panel = &figure->panels[p];
        for (size_t j = 0; panel->series && j < panel->series_count; j++) {
            free(panel->series[j].mean);
            free(panel->series[j].deviation);
            free(panel->series[j].single);
        }
        free(panel->series);
        free(panel->label);
        free(panel->symbol);
    }
    free(figure->panels);
    free(figure->x);
    free(figure->title);
    free(figure->note);
    free(figure->xlabel);
    free(figure->font);
    free(figure);
}
