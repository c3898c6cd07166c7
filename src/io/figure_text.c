/* SPDX-License-Identifier: MIT */
#include "io/figure_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A space at which no line is broken. */
#define NBSP "\xc2\xa0"

/* Bytes of the character of UTF-8 at `c`, 0 if there is none. */
static size_t character(const char *c)
{
    const unsigned char *u = (const unsigned char *)c;
    unsigned long code = u[0];
    size_t n = code < 0x80                   ? 1
               : code >= 0xc2 && code < 0xe0 ? 2
               : code >= 0xe0 && code < 0xf0 ? 3
               : code < 0xf5                 ? 4
                                             : 0;
    if (n == 0 || (code >= 0x80 && code < 0xc2)) {
        return 0;
    }
    code = n == 1 ? code : code & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (u[i] & 0x3f);
    }
    int shorter = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
    int no_character = code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff;
    return shorter || no_character ? 0 : n;
}

int hspec_figure_text_utf8(const char *text)
{
    while (*text) {
        size_t n = character(text);
        if (n == 0) {
            return 0;
        }
        text += n;
    }
    return 1;
}

int hspec_figure_text_font(const char *name)
{
    for (const char *c = name; *c; c++) {
        int letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!letter && !strchr(" -_.", *c) && (unsigned char)*c < 0x80) {
            return 0;
        }
    }
    return *name != '\0' && hspec_figure_text_utf8(name);
}

void hspec_figure_text_escape(hspec_text *out, const char *plain)
{
    for (const char *c = plain; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            hspec_text_append(out, " ", 1);
        } else {
            if (strchr("\\{}^_@&~", *c)) {
                hspec_text_append(out, "\\", 1);
            }
            hspec_text_append(out, c, 1);
        }
    }
}

void hspec_figure_text_number(hspec_text *out, double value)
{
    char digits[40];
    double size = fabs(value);
    int exponent = 0;
    if (size != 0.0 && (size < 1e-3 || size >= 1e5)) {
        /* The exponent as printf rounds it, so that 9.9999999e5 is 10^6. */
        (void)snprintf(digits, sizeof digits, "%.5e", size);
        exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
        double mantissa = strtod(digits, NULL) / pow(10.0, exponent);
        (void)snprintf(digits, sizeof digits, "%.6g", mantissa);
    } else {
        (void)snprintf(digits, sizeof digits, "%.6g", size);
    }
    hspec_text_add(out, "%s", value < 0.0 ? "−" : "");
    if (exponent == 0) {
        hspec_text_add(out, "%s", digits);
        return;
    }
    if (strcmp(digits, "1") != 0) {
        hspec_text_add(out, "%s×", digits);
    }
    hspec_text_add(out, "10^{%s%d}", exponent < 0 ? "−" : "", abs(exponent));
}

/* Does `c` start a character (and not continue one of UTF-8)? */
static int starts(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t hspec_figure_text_length(const char *markup, size_t bytes)
{
    size_t seen = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (markup[i] == '\\' && i + 1 < bytes) {
            i++;
            seen++;
        } else if (markup[i] == '{' && i + 1 < bytes && markup[i + 1] == '/') {
            while (i + 1 < bytes && markup[i] != ' ') {
                i++;
            }
        } else if (!strchr("{}^_@&~", markup[i]) && starts(markup[i])) {
            seen++;
        }
    }
    return seen;
}

void hspec_figure_text_wrap(hspec_text *out, const char *markup, size_t columns)
{
    size_t line = 0;  /* where the line begins */
    size_t space = 0; /* the last place to break it, if behind `line` */
    int depth = 0;
    for (size_t i = 0;; i++) {
        char c = markup[i];
        if (c == '\\' && markup[i + 1]) {
            i++;
            continue;
        }
        depth += (c == '{') - (c == '}');
        if (c != '\0' && (c != ' ' || depth > 0)) {
            continue;
        }
        if (space > line && hspec_figure_text_length(markup + line, i - line) > columns) {
            hspec_text_append(out, markup + line, space - line);
            hspec_text_append(out, "\n", 1);
            line = space + 1;
        }
        space = i;
        if (c == '\0') {
            hspec_text_append(out, markup + line, i - line);
            return;
        }
    }
}

static void add_quantity(hspec_text *out, const char *symbol, double value)
{
    hspec_text_add(out, "%s" NBSP "=" NBSP, symbol);
    hspec_figure_text_number(out, value);
}

static void add_vector(hspec_text *out, const double *values, size_t n)
{
    hspec_text_add(out, n > 1 ? "(" : "");
    for (size_t i = 0; i < n; i++) {
        hspec_text_add(out, i > 0 ? "," NBSP : "");
        hspec_figure_text_number(out, values[i]);
    }
    hspec_text_add(out, n > 1 ? ")" : "");
}

static void add_signal(hspec_text *out, const hspec_signal_params *signal)
{
    enum { LISTED_MAX = 4 }; /* longer lists would fill the title */
    switch (signal->kind) {
    case HSPEC_SIGNAL_FLIPPED:
        add_quantity(out, "flipped signal, {/:Italic ν}", signal->strength);
        add_quantity(out, ", {/:Italic p}", signal->probability);
        break;
    case HSPEC_SIGNAL_GAUSSIAN:
        hspec_text_add(out, "Gaussian signal");
        if (signal->features <= LISTED_MAX) {
            hspec_text_add(out, ", mean" NBSP);
            add_vector(out, signal->mean, signal->features);
            hspec_text_add(out, ", variance" NBSP);
            add_vector(out, signal->variance, signal->features);
        } else {
            add_quantity(out, ", {/:Italic F}", (double)signal->features);
        }
        break;
    case HSPEC_SIGNAL_DISCRETE:
        hspec_text_add(out, "discrete signal with %zu points", signal->points);
        add_quantity(out, ", {/:Italic F}", (double)signal->features);
        break;
    }
}

void hspec_figure_text_title(hspec_text *out, const hspec_figure_source *source)
{
#define HSPEC_X(name, yaml, sentence) yaml,
    static const char *const activations[] = {HSPEC_ACTIVATION_TABLE(HSPEC_X)};
#undef HSPEC_X
    const hspec_experiment *e = source->experiment;
    hspec_text_add(out, "%s", activations[e->layer.activation]);
    add_quantity(out, ", {/:Italic H}", (double)e->layer.heads);
    add_quantity(out, ", {/:Italic L}", (double)e->task.tokens);
    if (!source->alone) {
        add_quantity(out, ", {/:Italic D}", (double)e->task.dimension);
    }
    if (e->training.batch != 1) {
        add_quantity(out, ", {/:Italic B}", (double)e->training.batch);
    }
    if (e->training.learning_rate != 1.0) {
        add_quantity(out, ", {/:Italic η}", e->training.learning_rate);
    }
    if (e->training.loss == HSPEC_LOSS_TOKEN && !source->alone) {
        hspec_text_add(out, ", token loss");
    }
    hspec_text_add(out, "; ");
    add_signal(out, &e->signal);
    if (source->alone || source->theory.trajectory.done > 0) {
        hspec_text_add(out, "; theory%s", source->theory.limit == HSPEC_LIMIT_FLOW ? " (gradient flow)" : "");
    }
    if (source->theory.trajectory.done > 0 && source->theory.seed > 0) {
        hspec_text_add(out, " and seed" NBSP "%zu", source->theory.seed);
    } else if (!source->alone) {
        hspec_text_add(out, "%s%zu" NBSP "seed%s", source->theory.trajectory.done > 0 ? " and " : "; ",
                       source->trajectory.seeds, source->trajectory.seeds == 1 ? "" : "s");
    }
}

void hspec_figure_text_feature(hspec_text *out, const hspec_signal_params *signal, size_t feature)
{
    if (signal->kind == HSPEC_SIGNAL_GAUSSIAN && signal->features > 1) {
        hspec_text_add(out, "\n{/*0.85 mean ");
        hspec_figure_text_number(out, signal->mean[feature]);
        hspec_text_add(out, ", variance ");
        hspec_figure_text_number(out, signal->variance[feature]);
        hspec_text_add(out, "}");
    }
}
