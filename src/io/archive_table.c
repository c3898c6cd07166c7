/* SPDX-License-Identifier: MIT */
#include "io/archive_table.h"

#include <string.h>

#define D HSPEC_ARCHIVE_DOUBLE
#define U HSPEC_ARCHIVE_UINT64

/* clang-format off */
const hspec_archive_row hspec_archive_rows[] = {
    {"/sgd/time", D, 1, "time", "steps / D", HSPEC_ARCHIVE_INCREASING,
     "time of each recorded row; row 0 is the start"},
    {"/sgd/step", U, 1, "time", "steps", HSPEC_ARCHIVE_INCREASING,
     "steps of SGD done at each row"},
    {"/sgd/alignment", D, 4, "seed,time,head,feature", "1", HSPEC_ARCHIVE_FINITE,
     "m_hf = k_h . k*_f / D, how far head h has learned feature f"},
    {"/sgd/residual", D, 4, "seed,time,head,other_head", "1", HSPEC_ARCHIVE_FINITE,
     "r_hh' = k_h . k_h' / D - sum_f m_hf m_h'f, what the heads hold outside the signal"},
    {"/sgd/loss", D, 2, "seed,time", "1", HSPEC_ARCHIVE_NOT_NEGATIVE_OR_NAN,
     "population location loss E |v|^2 at the recorded alignment, residual, bias and scale"},
    {"/sgd/bias", D, 3, "seed,time,head", "1", HSPEC_ARCHIVE_FINITE,
     "b_h; with the bayes activation shifted to mean 0 over the heads; softmax does not use it"},
    {"/sgd/scale", D, 2, "seed,time", "1", HSPEC_ARCHIVE_FINITE,
     "s of softmax1; the other activations do not use it"},
    {"/sgd/state/values", D, 2, "seed,value", "1", HSPEC_ARCHIVE_FINITE,
     "state of the engine at the last row, from which the run can go on"},
    {"/theory/time", D, 1, "time", "steps / D", HSPEC_ARCHIVE_INCREASING,
     "time of each row; row 0 is the start"},
    {"/theory/alignment", D, 3, "time,head,feature", "1", HSPEC_ARCHIVE_FINITE,
     "m_hf, how far head h has learned feature f, as D grows"},
    {"/theory/residual", D, 3, "time,head,other_head", "1", HSPEC_ARCHIVE_FINITE,
     "r_hh', what the heads hold outside the signal, as D grows"},
    {"/theory/loss", D, 1, "time", "1", HSPEC_ARCHIVE_NOT_NEGATIVE,
     "population location loss E |v|^2 of the row"},
    {"/theory/loss_error", D, 1, "time", "1", HSPEC_ARCHIVE_NOT_NEGATIVE,
     "standard error of the loss, by the nodes"},
    {"/theory/bias", D, 2, "time,head", "1", HSPEC_ARCHIVE_FINITE,
     "b_h; with the bayes activation shifted to mean 0 over the heads; softmax does not use it"},
    {"/theory/scale", D, 1, "time", "1", HSPEC_ARCHIVE_FINITE,
     "s of softmax1; the other activations do not use it"},
};

const hspec_archive_note hspec_archive_notes[] = {
    {"/", "headspec_version", HSPEC_ARCHIVE_TEXT, "version of headspec that wrote the file"},
    {"/", "format", HSPEC_ARCHIVE_INTEGER, "number of this layout; a program refuses a greater one than it knows"},
    {"/", "created", HSPEC_ARCHIVE_TEXT, "date and time of writing, ISO 8601, UTC"},
    {"/", "command", HSPEC_ARCHIVE_TEXT, "the command line, quoted for a shell"},
    {"/", "config", HSPEC_ARCHIVE_TEXT, "the experiment in YAML, after --set"},
    {"/", "build", HSPEC_ARCHIVE_TEXT, "compiler and kind of build"},
    {"/", "dispatch", HSPEC_ARCHIVE_TEXT, "instruction set of the run: baseline, avx2 or avx512"},
    {"/sgd", "complete", HSPEC_ARCHIVE_INTEGER, "1 when the run went to its end and every loss is there, else 0"},
    {"/sgd", "planned_rows", HSPEC_ARCHIVE_INTEGER, "rows of the whole run; an incomplete one may hold fewer"},
    {"/sgd/state", "step", HSPEC_ARCHIVE_INTEGER, "steps done in this state"},
    {"/theory", "headspec_version", HSPEC_ARCHIVE_TEXT, "version of headspec that computed the theory"},
    {"/theory", "created", HSPEC_ARCHIVE_TEXT, "date and time of writing, ISO 8601, UTC"},
    {"/theory", "command", HSPEC_ARCHIVE_TEXT, "the command line, quoted for a shell"},
    {"/theory", "config", HSPEC_ARCHIVE_TEXT, "the experiment of the theory in YAML, after --set"},
    {"/theory", "build", HSPEC_ARCHIVE_TEXT, "compiler and kind of build"},
    {"/theory", "dispatch", HSPEC_ARCHIVE_TEXT, "instruction set: baseline, avx2 or avx512"},
    {"/theory", "bayes_risk", HSPEC_ARCHIVE_NUMBER, "Bayes risk of the task, if it was computed"},
    {"/theory", "bayes_risk_error", HSPEC_ARCHIVE_NUMBER, "its standard error"},
    {"/theory", "optimum_loss", HSPEC_ARCHIVE_NUMBER, "least population loss of the activation, if it was computed"},
};
/* clang-format on */

#undef D
#undef U

const size_t hspec_archive_rows_count = sizeof hspec_archive_rows / sizeof *hspec_archive_rows;
const size_t hspec_archive_notes_count = sizeof hspec_archive_notes / sizeof *hspec_archive_notes;

const hspec_archive_row *hspec_archive_table_row(const char *path)
{
    for (size_t i = 0; i < hspec_archive_rows_count; i++) {
        if (strcmp(hspec_archive_rows[i].path, path) == 0) {
            return &hspec_archive_rows[i];
        }
    }
    return NULL;
}

const hspec_archive_note *hspec_archive_table_note(const char *group, const char *name)
{
    for (size_t i = 0; i < hspec_archive_notes_count; i++) {
        if (strcmp(hspec_archive_notes[i].group, group) == 0 && strcmp(hspec_archive_notes[i].name, name) == 0) {
            return &hspec_archive_notes[i];
        }
    }
    return NULL;
}

const char *hspec_archive_table_type(hspec_archive_type type)
{
    return type == HSPEC_ARCHIVE_DOUBLE ? "float64" : "uint64";
}

const char *hspec_archive_table_range(hspec_archive_range range)
{
    switch (range) {
    case HSPEC_ARCHIVE_FINITE:
        return "finite";
    case HSPEC_ARCHIVE_NOT_NEGATIVE:
        return ">= 0";
    case HSPEC_ARCHIVE_NOT_NEGATIVE_OR_NAN:
        return ">= 0, or NaN";
    case HSPEC_ARCHIVE_INCREASING:
        return ">= 0, increasing";
    }
    return "finite";
}

static const char *kind_name(hspec_archive_kind kind)
{
    switch (kind) {
    case HSPEC_ARCHIVE_TEXT:
        return "text";
    case HSPEC_ARCHIVE_NUMBER:
        return "float64";
    case HSPEC_ARCHIVE_INTEGER:
        return "uint64";
    }
    return "text";
}

void hspec_archive_table_markdown(hspec_text *text)
{
    hspec_text_add(text, "| dataset | type | dimensions | unit | values | what it is |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < hspec_archive_rows_count; i++) {
        const hspec_archive_row *row = &hspec_archive_rows[i];
        hspec_text_add(text, "| `%s` | %s | %s | %s | %s | %s |\n", row->path, hspec_archive_table_type(row->type),
                       row->dimensions, row->unit, hspec_archive_table_range(row->range), row->sentence);
    }
    hspec_text_add(text, "\n| attribute of | name | type | what it is |\n|---|---|---|---|\n");
    for (size_t i = 0; i < hspec_archive_notes_count; i++) {
        const hspec_archive_note *note = &hspec_archive_notes[i];
        hspec_text_add(text, "| `%s` | `%s` | %s | %s |\n", note->group, note->name, kind_name(note->kind),
                       note->sentence);
    }
}
