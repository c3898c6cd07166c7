/* SPDX-License-Identifier: MIT */
#include "io/figure_panels.h"

#include <math.h>
#include <stdlib.h>

#include "core/status.h"
#include "io/figure_layout.h"
#include "io/figure_points.h"
#include "io/figure_text.h"
#include "io/text.h"

enum { PANELS_MAX = 40 };

const char *const hspec_figure_panels_words[HSPEC_FIGURE_PANEL_KINDS] = {
#define HSPEC_X(name, word, sentence) word,
    HSPEC_FIGURE_PANEL_TABLE(HSPEC_X)
#undef HSPEC_X
};

static const char *word_of(hspec_figure_panel_kind kind)
{
    return kind < HSPEC_FIGURE_PANEL_KINDS ? hspec_figure_panels_words[kind] : "";
}

/* What role j of a panel is worth in seed s and row t; f is the feature of an alignment. */
static double value(const hspec_figure_builder *b, hspec_figure_panel_kind kind, size_t f, size_t j, size_t s, size_t t)
{
    const hspec_trajectory *tr = &b->source->trajectory;
    size_t H = tr->heads, F = tr->features, at = s * tr->rows + t;
    size_t h = b->head[s * H + j];
    switch (kind) {
    case HSPEC_FIGURE_ALIGNMENT:
        return b->sign[s * F + f] * tr->alignment[(at * H + h) * F + f];
    case HSPEC_FIGURE_LOSS:
        return b->source->loss[at];
    case HSPEC_FIGURE_RESIDUAL:
        return tr->residual[(at * H + h) * H + h];
    case HSPEC_FIGURE_BIAS:
        return tr->bias[at * H + h];
    case HSPEC_FIGURE_SCALE:
        return tr->scale[at];
    case HSPEC_FIGURE_PANEL_KINDS:
        break;
    }
    return NAN;
}

/* The same of the theory. */
static double theory_value(const hspec_figure_builder *b, hspec_figure_panel_kind kind, size_t f, size_t j, size_t t)
{
    const hspec_theory_trajectory *tr = &b->source->theory.trajectory;
    size_t H = tr->heads, F = tr->features, h = b->theory_head[j];
    switch (kind) {
    case HSPEC_FIGURE_ALIGNMENT:
        return b->theory_sign[f] * tr->alignment[(t * H + h) * F + f];
    case HSPEC_FIGURE_LOSS:
        return tr->loss[t];
    case HSPEC_FIGURE_RESIDUAL:
        return tr->residual[(t * H + h) * H + h];
    case HSPEC_FIGURE_BIAS:
        return tr->bias[t * H + h];
    case HSPEC_FIGURE_SCALE:
        return tr->scale[t];
    case HSPEC_FIGURE_PANEL_KINDS:
        break;
    }
    return NAN;
}

static void widen(hspec_figure_panel *panel, double y)
{
    panel->low = fmin(panel->low, y);
    panel->high = fmax(panel->high, y);
}

static hspec_status fill_series(hspec_figure_builder *b, hspec_figure_panel *panel, hspec_figure_series *series,
                                hspec_figure_panel_kind kind, size_t f, size_t j, hspec_error *err)
{
    const hspec_figure *figure = b->figure;
    size_t S = figure->seeds, n = figure->points;
    series->mean = calloc(n, sizeof(double));
    series->single = calloc(n * figure->singles + 1, sizeof(double));
    series->deviation = S > 1 ? calloc(n, sizeof(double)) : NULL;
    if (!series->mean || !series->single || (S > 1 && !series->deviation)) {
        return hspec_error_memory(err, n * (figure->singles + 2) * sizeof(double));
    }
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0, sum2 = 0.0;
        for (size_t s = 0; s < S; s++) {
            b->column[s] = value(b, kind, f, j, s, b->row[i]);
            if (kind == HSPEC_FIGURE_LOSS && isnan(b->column[s])) {
                return hspec_error_set(err, HSPEC_ENONFINITE,
                                       "panels: found 'loss', but the run was killed before the loss of row %zu was "
                                       "computed; allowed: panels without it, such as alignment",
                                       b->row[i]);
            }
            if (!isfinite(b->column[s])) {
                return hspec_error_set(err, HSPEC_ENONFINITE, "%s of seed %zu in row %zu is %g", word_of(kind), s + 1,
                                       b->row[i], b->column[s]);
            }
            sum += b->column[s];
        }
        double mean = sum / (double)S;
        series->mean[i] = mean;
        widen(panel, mean);
        if (S > 1) {
            for (size_t s = 0; s < S; s++) {
                sum2 += (b->column[s] - mean) * (b->column[s] - mean);
            }
            series->deviation[i] = sqrt(sum2 / (double)(S - 1));
            widen(panel, mean - series->deviation[i]);
            widen(panel, mean + series->deviation[i]);
        }
        for (size_t k = 0; k < figure->singles; k++) {
            size_t s = figure->singles == S ? k : k * (S - 1) / (figure->singles - 1);
            series->single[k * n + i] = b->column[s];
            widen(panel, b->column[s]);
        }
    }
    return HSPEC_OK;
}

static hspec_status fill_theory(hspec_figure_builder *b, hspec_figure_panel *panel, hspec_figure_series *series,
                                hspec_figure_panel_kind kind, size_t f, size_t j, hspec_error *err)
{
    size_t n = b->figure->theory_points;
    if (n == 0) {
        return HSPEC_OK;
    }
    series->theory = calloc(n, sizeof(double));
    if (!series->theory) {
        return hspec_error_memory(err, n * sizeof(double));
    }
    for (size_t i = 0; i < n; i++) {
        series->theory[i] = theory_value(b, kind, f, j, b->theory_row[i]);
        if (!isfinite(series->theory[i])) {
            return hspec_error_set(err, HSPEC_ENONFINITE, "%s of the theory in row %zu is %g", word_of(kind),
                                   b->theory_row[i], series->theory[i]);
        }
        widen(panel, series->theory[i]);
    }
    return hspec_figure_points_mark(b->figure, b->marks, (double)j / (double)panel->series_count, &series->mark,
                                    &series->marks, err);
}

static int bias_per_head(const hspec_layer_params *layer)
{
    return layer->activation == HSPEC_BAYES || layer->bias_per_head;
}

/* Does the layer have what the panel shows? */
static hspec_status check_panel(const hspec_figure_builder *b, hspec_figure_panel_kind kind, hspec_error *err)
{
    hspec_activation activation = b->source->experiment->layer.activation;
    if (kind == HSPEC_FIGURE_BIAS && activation == HSPEC_SOFTMAX) {
        return hspec_error_set(err, HSPEC_EARG, "panels: found 'bias', but softmax has none");
    }
    if (kind == HSPEC_FIGURE_SCALE && activation != HSPEC_SOFTMAX1) {
        return hspec_error_set(err, HSPEC_EARG, "panels: found 'scale', but only softmax1 has one");
    }
    if (kind == HSPEC_FIGURE_LOSS && !b->source->loss) {
        return hspec_error_set(err, HSPEC_EARG, "panels: found 'loss', but no loss was recorded");
    }
    return HSPEC_OK;
}

static void add_symbol(hspec_text *out, const hspec_figure_builder *b, hspec_figure_panel_kind kind, size_t f)
{
    switch (kind) {
    case HSPEC_FIGURE_ALIGNMENT:
        hspec_text_add(out, "{/:Italic m_h}");
        if (b->source->trajectory.features > 1) {
            hspec_text_add(out, "_{%zu}", f + 1); /* the paper counts from 1 */
        }
        break;
    case HSPEC_FIGURE_LOSS:
        hspec_text_add(out, "{/:Italic E}");
        break;
    case HSPEC_FIGURE_RESIDUAL:
        hspec_text_add(out, "{/:Italic r_{hh}}");
        break;
    case HSPEC_FIGURE_BIAS:
        hspec_text_add(out, bias_per_head(&b->source->experiment->layer) ? "{/:Italic b_h}" : "{/:Italic b}");
        break;
    case HSPEC_FIGURE_SCALE:
        hspec_text_add(out, "{/:Italic s}");
        break;
    case HSPEC_FIGURE_PANEL_KINDS:
        break;
    }
}

static hspec_status fill_labels(const hspec_figure_builder *b, hspec_figure_panel *panel, hspec_figure_panel_kind kind,
                                size_t f, hspec_error *err)
{
    hspec_text symbol = {0}, label = {0};
    add_symbol(&symbol, b, kind, f);
    panel->symbol = hspec_text_take(&symbol);
    if (!panel->symbol) {
        return hspec_error_memory(err, 100);
    }
    const char *word = kind == HSPEC_FIGURE_LOSS ? "population loss" : word_of(kind);
    hspec_text_add(&label, "%s  %s", word, panel->symbol);
    if (kind == HSPEC_FIGURE_ALIGNMENT) {
        hspec_figure_text_feature(&label, &b->source->experiment->signal, f);
    }
    panel->label = hspec_text_take(&label);
    return panel->label ? HSPEC_OK : hspec_error_memory(err, 200);
}

/* Below the lowest level there is room for its words. */
static hspec_status fill_levels(const hspec_figure_builder *b, hspec_figure_panel *panel, hspec_error *err)
{
    for (size_t i = 0; i < b->source->level_count; i++) {
        double value = b->source->levels[i].value;
        if (!isfinite(value)) {
            return hspec_error_set(err, HSPEC_ENONFINITE, "%s is %g", b->source->levels[i].words, value);
        }
        widen(panel, value);
        panel->levels[panel->level_count++] = b->source->levels[i];
    }
    if (panel->level_count > 0) {
        panel->low -= 0.12 * (panel->high - panel->low);
    }
    return HSPEC_OK;
}

static hspec_status fill_panel(hspec_figure_builder *b, hspec_figure_panel *panel, hspec_figure_panel_kind kind,
                               size_t f, hspec_error *err)
{
    HSPEC_TRY(fill_labels(b, panel, kind, f, err));
    int heads = kind == HSPEC_FIGURE_ALIGNMENT || kind == HSPEC_FIGURE_RESIDUAL ||
                (kind == HSPEC_FIGURE_BIAS && bias_per_head(&b->source->experiment->layer));
    panel->series_count = heads ? b->figure->heads : 1;
    panel->series = calloc(panel->series_count, sizeof *panel->series);
    if (!panel->series) {
        return hspec_error_memory(err, panel->series_count * sizeof *panel->series);
    }
    panel->zero = kind == HSPEC_FIGURE_ALIGNMENT || kind == HSPEC_FIGURE_BIAS;
    panel->low = INFINITY;
    panel->high = -INFINITY;
    for (size_t j = 0; j < panel->series_count; j++) {
        panel->series[j].head = heads ? j : HSPEC_FIGURE_NO_HEAD;
        HSPEC_TRY(fill_series(b, panel, &panel->series[j], kind, f, j, err));
        HSPEC_TRY(fill_theory(b, panel, &panel->series[j], kind, f, j, err));
    }
    if (panel->zero) {
        widen(panel, 0.0);
    }
    if (kind == HSPEC_FIGURE_LOSS) {
        HSPEC_TRY(fill_levels(b, panel, err));
    }
    /* Room around the curves, also around a constant. */
    double room = 0.05 * (panel->high - panel->low);
    if (!(room > 1e-9 * fmax(fabs(panel->low), fabs(panel->high)))) {
        room = fmax(0.1 * fabs(panel->high), 1e-3);
    }
    panel->low -= room;
    panel->high += room;
    return HSPEC_OK;
}

hspec_status hspec_figure_panels_fill(hspec_figure_builder *b, hspec_error *err)
{
    size_t F = b->source->trajectory.features, count = 0;
    for (size_t i = 0; i < b->options->panel_count; i++) {
        HSPEC_TRY(check_panel(b, b->options->panels[i], err));
        count += b->options->panels[i] == HSPEC_FIGURE_ALIGNMENT ? F : 1;
    }
    if (count == 0 || count > PANELS_MAX) {
        return hspec_error_set(err, HSPEC_EARG, "panels: %zu features make %zu panels, allowed are 1 to %d", F, count,
                               PANELS_MAX);
    }
    /* some 5 mm apart */
    b->marks = (size_t)fmax(2.0 * b->options->width / (double)hspec_figure_layout_columns(count), 10.0);
    b->figure->panels = calloc(count, sizeof *b->figure->panels);
    if (!b->figure->panels) {
        return hspec_error_memory(err, count * sizeof *b->figure->panels);
    }
    for (size_t i = 0; i < b->options->panel_count; i++) {
        hspec_figure_panel_kind kind = b->options->panels[i];
        for (size_t f = 0; f < (kind == HSPEC_FIGURE_ALIGNMENT ? F : 1); f++) {
            /* Counted first, so that a panel that fails is freed too. */
            hspec_figure_panel *panel = &b->figure->panels[b->figure->panel_count++];
            HSPEC_TRY(fill_panel(b, panel, kind, f, err));
        }
    }
    return HSPEC_OK;
}
