/* SPDX-License-Identifier: MIT
 * From a trajectory to the numbers and words of a figure. */
#include "io/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "io/figure_panels.h"
#include "io/figure_points.h"
#include "io/figure_text.h"
#include "io/text.h"
#include "study/match.h"

enum { SINGLES_MAX = 32, CURVES_MAX = 384 }; /* more would make heavy files, and no one sees them */

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

/* The theory is matched as if it were one more seed. */
static hspec_status match_all(hspec_figure_builder *b, hspec_error *err)
{
    const hspec_theory_trajectory *theory = &b->source->theory.trajectory;
    hspec_trajectory tr = b->source->trajectory;
    if (theory->done == 0) {
        return hspec_match_heads(&tr, b->group, b->flip, b->head, b->sign, NULL, err);
    }
    size_t row = tr.heads * tr.features, rows = theory->done < tr.done ? theory->done : tr.done;
    double *alignment = calloc((tr.seeds + 1) * rows * row + 1, sizeof *alignment);
    if (!alignment) {
        return hspec_error_memory(err, (tr.seeds + 1) * rows * row * sizeof *alignment);
    }
    for (size_t s = 0; s < tr.seeds; s++) {
        memcpy(alignment + s * rows * row, tr.alignment + s * tr.rows * row, rows * row * sizeof *alignment);
    }
    memcpy(alignment + tr.seeds * rows * row, theory->alignment, rows * row * sizeof *alignment);
    tr.seeds++;
    tr.rows = tr.done = rows;
    tr.alignment = alignment;
    hspec_status status = hspec_match_heads(&tr, b->group, b->flip, b->head, b->sign, NULL, err);
    free(alignment);
    return status;
}

static hspec_status match(hspec_figure_builder *b, hspec_error *err)
{
    const hspec_trajectory *tr = &b->source->trajectory;
    const hspec_init_params *init = &b->source->experiment->training.init;
    size_t S = tr->seeds, H = tr->heads, F = tr->features;
    b->head = calloc((S + 1) * H, sizeof(size_t));
    b->sign = calloc((S + 1) * F, sizeof(int));
    b->group = calloc(H, sizeof(size_t));
    b->flip = calloc(F, sizeof(int));
    b->column = calloc(S, sizeof(double));
    if (!b->head || !b->sign || !b->group || !b->flip || !b->column) {
        return hspec_error_memory(err, (S + 1) * (H + F + 1) * sizeof(double));
    }
    b->theory_head = b->head + S * H;
    b->theory_sign = b->sign + S * F;
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
    return match_all(b, err);
}

/* ---- words -------------------------------------------------------------------------------------------------------- */

/* How the heads of different seeds, or of one seed and its theory, were brought together. */
static void add_matching(hspec_text *out, const hspec_figure_builder *b)
{
    size_t F = b->source->trajectory.features, flips = 0, moved = 0, begin = out->length;
    const char *over = b->figure->only > 0 ? "" : "over seeds ";
    int aligned = b->source->experiment->training.init.kind == HSPEC_INIT_ALIGNED;
    for (size_t h = 0; h < b->figure->heads; h++) {
        moved += b->group[h] != h;
    }
    for (size_t f = 0; f < F; f++) {
        flips += b->flip[f] != 0;
    }
    if (moved > 0) {
        hspec_text_add(out, "Heads %sare matched %sby their trajectories",
                       b->options->match == HSPEC_FIGURE_MATCH_AUTO && aligned ? "that start alike " : "", over);
    } else if (b->figure->heads > 1) {
        hspec_text_add(out, aligned               ? "Heads are numbered as at the start, the same in every seed"
                            : b->figure->only > 0 ? "Heads are not matched"
                                                  : "Heads are not matched over seeds");
    }
    hspec_text_add(out, flips > 0 && out->length > begin ? "; " : "");
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
    hspec_text_add(out, out->length > begin ? ". " : "");
}

static void add_note(hspec_text *out, const hspec_figure_builder *b)
{
    const hspec_figure *figure = b->figure;
    if (figure->seeds < 2 && figure->only == 0) {
        return;
    }
    if (figure->only > 0) {
        hspec_text_add(out, "The theory starts where seed %zu does. ", figure->only);
    }
    add_matching(out, b);
    if (figure->only > 0) {
        hspec_text_add(out, "After a random start noise decides when heads part, and which: compare theory and "
                            "simulation up to a shift in time. ");
    } else if (b->source->experiment->training.init.kind == HSPEC_INIT_RANDOM && figure->heads > 1) {
        hspec_text_add(out, "After a random start heads part at times that differ from seed to seed: mean and band mix "
                            "these times. ");
    }
    if (figure->singles < figure->seeds && figure->theory_points == 0) {
        hspec_text_add(out, "%zu of the %zu seeds are drawn singly. ", figure->singles, figure->seeds);
    }
    if (out->length > 0) {
        out->data[--out->length] = '\0';
    }
}

static hspec_status fill_words(hspec_figure_builder *b, hspec_error *err)
{
    hspec_figure *figure = b->figure;
    hspec_text title = {0}, note = {0}, xlabel = {0}, font = {0}, points = {0};
    if (b->options->title) {
        hspec_figure_text_escape(&title, b->options->title);
    } else {
        hspec_figure_text_title(&title, b->source);
    }
    add_note(&note, b);
    hspec_text_add(&xlabel, "samples  {/:Italic N} / {/:Italic D}");
    hspec_text_add(&font, "%s", b->options->font);
    if (figure->only > 0) {
        hspec_text_add(&points, "SGD, seed %zu", figure->only);
    } else if (figure->theory_points > 0) {
        hspec_text_add(&points, figure->seeds > 1 ? "SGD, mean ± s.d." : "SGD");
    }
    figure->title = hspec_text_take(&title);
    figure->note = hspec_text_take(&note);
    figure->xlabel = hspec_text_take(&xlabel);
    figure->font = hspec_text_take(&font);
    figure->points_words = hspec_text_take(&points);
    if (!figure->points_words || !figure->title || !figure->note || !figure->xlabel || !figure->font) {
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
    figure->singles = tr->seeds == 1 || b->source->theory.trajectory.done > 0 ? 0
                      : tr->seeds < singles                                   ? tr->seeds
                                                                              : singles;
    figure->width = b->options->width;
    figure->height = b->options->height;
    figure->font_size = b->options->font_size;
    HSPEC_TRY(hspec_figure_points_choose(b, err));
    HSPEC_TRY(match(b, err));
    HSPEC_TRY(hspec_figure_panels_fill(b, err));
    return fill_words(b, err);
}

/* Seed `seed` of the source, as if it were the only one. */
static hspec_figure_source narrow(const hspec_figure_source *source, size_t seed)
{
    hspec_figure_source one = *source;
    hspec_trajectory *t = &one.trajectory;
    size_t at = (seed - 1) * t->rows;
    t->seeds = 1;
    t->alignment += at * t->heads * t->features;
    t->residual += at * t->heads * t->heads;
    t->bias += at * t->heads;
    t->scale += at;
    one.loss = one.loss ? one.loss + at : NULL;
    return one;
}

static hspec_status check_source(const hspec_figure_source *source, hspec_error *err)
{
    const hspec_trajectory *tr = &source->trajectory;
    const hspec_theory_trajectory *theory = &source->theory.trajectory;
    if (tr->done == 0) {
        return hspec_error_set(err, HSPEC_EARG, "figure: the trajectory has no rows");
    }
    if (theory->done > 0 && (theory->heads != tr->heads || theory->features != tr->features)) {
        return hspec_error_set(err, HSPEC_EARG, "figure: theory and simulation differ in their heads or features");
    }
    for (size_t t = 0; t < theory->done && t < tr->done; t++) {
        if (!(fabs(theory->time[t] - tr->time[t]) <= 1e-9 * tr->time[t])) {
            return hspec_error_set(err, HSPEC_EARG,
                                   "figure: row %zu is at time %g in the theory, but %g in the simulation", t,
                                   theory->time[t], tr->time[t]);
        }
    }
    if (theory->done > 0 && source->theory.seed > tr->seeds) {
        return hspec_error_set(err, HSPEC_EARG, "figure: the theory starts at seed %zu, but there are %zu",
                               source->theory.seed, tr->seeds);
    }
    return HSPEC_OK;
}

hspec_status hspec_figure_create(const hspec_figure_source *source, const hspec_figure_options *options,
                                 hspec_figure **figure, hspec_error *err)
{
    HSPEC_TRY(check_options(options, err));
    HSPEC_TRY(check_source(source, err));
    size_t only = source->theory.trajectory.done > 0 ? source->theory.seed : 0;
    hspec_figure_source drawn = only > 0 ? narrow(source, only) : *source;
    hspec_figure_builder b = {.source = &drawn, .options = options, .figure = calloc(1, sizeof(hspec_figure))};
    if (!b.figure) {
        return hspec_error_memory(err, sizeof(hspec_figure));
    }
    b.figure->only = only;
    hspec_status status = build(&b, err);
    free(b.row);
    free(b.theory_row);
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
            free(panel->series[j].theory);
            free(panel->series[j].mark);
        }
        free(panel->series);
        free(panel->label);
        free(panel->symbol);
    }
    free(figure->panels);
    free(figure->x);
    free(figure->theory_x);
    free(figure->title);
    free(figure->note);
    free(figure->xlabel);
    free(figure->font);
    free(figure->points_words);
    free(figure);
}
