/* SPDX-License-Identifier: MIT
 * What the table of keys tells a reader. */
#include "io/reference.h"

#include <string.h>

#include "core/status.h"
#include "io/config_allowed.h"
#include "io/config_table.h"

#define HELP_WIDTH 100
#define TEMPLATE_WIDTH 110

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* Columns that the last line of a text has. */
static size_t column_of(const hspec_text *text)
{
    size_t n = 0;
    while (n < text->length && text->data[text->length - 1 - n] != '\n') {
        n++;
    }
    return n;
}

static void pad(hspec_text *text, size_t column)
{
    size_t now = column_of(text);
    hspec_text_add(text, "%*s", now < column ? (int)(column - now) : 0, "");
}

/* Where a wrapped text stands: from `column` to `width`, further lines behind `lead` (such as "# "). */
typedef struct wrap {
    size_t column, width;
    const char *lead;
} wrap;

static void add_word(hspec_text *text, const wrap *place, const char *word, size_t n)
{
    int first = text->length == 0 || text->data[text->length - 1] == ' ' || text->data[text->length - 1] == '\n';
    if (!first && column_of(text) + 1 + n > place->width) {
        hspec_text_append(text, "\n", 1);
        pad(text, place->column);
        hspec_text_add(text, "%s", place->lead);
        first = 1;
    }
    hspec_text_append(text, " ", first ? 0 : 1);
    hspec_text_append(text, word, n);
}

/* Adds words, then `tail` unbroken, then a line break. */
static void add_wrapped(hspec_text *text, const wrap *place, const char *words, const hspec_text *tail)
{
    pad(text, place->column);
    hspec_text_add(text, "%s", place->lead);
    while (*words && !text->failed) {
        size_t n = strcspn(words, " ");
        add_word(text, place, words, n);
        words += n + strspn(words + n, " ");
    }
    if (tail->length > 0) {
        add_word(text, place, tail->data, tail->length);
    }
    hspec_text_append(text, "\n", 1);
}

/* Adds who reads a row, if not everyone does: "softmax1 or bayes", "gaussian", "in place of seed". */
static void add_readers(const hspec_config_row *row, hspec_text *text)
{
    if (row->kinds) {
        const hspec_config_row *section = hspec_config_table_parent(row);
        const hspec_config_names *kinds = hspec_config_table_kinds(section);
        if (section->type != HSPEC_CONFIG_CHOICE) {
            hspec_config_allowed_names(kinds, row->kinds, text);
        } else if (!(row->kinds & 1U)) {
            hspec_text_add(text, "in place of %s", kinds->items[0].name);
        }
    }
    if (row->activations) {
        hspec_config_allowed_names(&hspec_config_table_activations, row->activations, text);
    }
    if (row->engines) {
        hspec_config_allowed_names(&hspec_config_table_engines, row->engines, text);
    }
}

/* Adds the default as it would be written, "required", or what leaving the key out means. */
static void add_default(const hspec_config_row *row, hspec_text *text)
{
    hspec_text_add(text, "%s", row->fallback ? row->fallback : row->absent ? row->absent : "required");
}

/* Adds "readers: sentence, in unit (allowed)" and a line break. */
static void add_meaning(const hspec_config_row *row, int readers, const wrap *place, hspec_text *text)
{
    hspec_text words = {0};
    hspec_text allowed = {0};
    hspec_text tail = {0};
    if (readers) {
        add_readers(row, &words);
    }
    hspec_text_add(&words, "%s%s%s%s", words.length > 0 ? ": " : "", row->sentence, row->unit ? ", in " : "",
                   row->unit ? row->unit : "");
    hspec_config_allowed_short(row, &allowed);
    if (allowed.length > 0) {
        hspec_text_add(&tail, "(%s)", allowed.data);
    }
    text->failed |= words.failed || allowed.failed || tail.failed;
    if (!text->failed) {
        add_wrapped(text, place, words.data, &tail);
    }
    hspec_text_free(&words);
    hspec_text_free(&allowed);
    hspec_text_free(&tail);
}

/* ---- --help ------------------------------------------------------------------------------------------------------ */

void hspec_reference_help(hspec_text *text)
{
    const wrap place = {.column = 39, .width = HELP_WIDTH, .lead = ""};
    for (size_t i = 1; i < hspec_config_table_count; i++) {
        const hspec_config_row *row = &hspec_config_table_rows[i];
        hspec_text_add(text, "  %s", row->path);
        if (!hspec_config_table_is_section(row)) {
            pad(text, 28);
            hspec_text_add(text, " ");
            add_default(row, text);
            hspec_text_add(text, " ");
        }
        add_meaning(row, 1, &place, text);
    }
}

/* ---- The starting experiment ------------------------------------------------------------------------------------- */

typedef struct template_choice {
    hspec_signal_kind kind;
    hspec_experiment experiment; /* only its activation and its engine matter: they decide what is read */
} template_choice;

#define COMMENT_COLUMN 34

/* The value of a row in the starting experiment. */
static const char *template_value(const hspec_config_row *row, const template_choice *choice)
{
    if (strcmp(row->path, "task.signal.kind") == 0) {
        return hspec_config_table_signals.items[choice->kind].name;
    }
    if (strcmp(row->path, "layer.activation") == 0) {
        return hspec_config_table_activations.items[choice->experiment.layer.activation].name;
    }
    return row->fallback ? row->fallback : row->example;
}

/* Is a row of its section's chosen kind? The signal has the asked one, other sections their first. */
static int of_kind(const hspec_config_row *section, const hspec_config_row *row, const template_choice *choice)
{
    unsigned kind = strcmp(section->path, "task.signal") == 0 ? (unsigned)choice->kind : 0U;
    return row->kinds == 0 || (row->kinds & (1U << kind)) != 0;
}

static void add_template_line(hspec_text *text, size_t indent, const char *mark, const hspec_config_row *row,
                              const char *value, int readers)
{
    const wrap place = {.column = 34, .width = TEMPLATE_WIDTH, .lead = "# "};
    hspec_text_add(text, "%*s%s%s:%s%s ", (int)indent, "", mark, hspec_config_table_key(row), *value ? " " : "", value);
    add_meaning(row, readers, &place, text);
}

/* The rows below a section; those that are not read are commented out, and so is everything below them. */
static void add_template_section(hspec_text *text, const hspec_config_row *section, size_t indent, const char *mark,
                                 const template_choice *choice)
{
    const hspec_config_row *row = NULL;
    while ((row = hspec_config_table_next(section, row)) != NULL) {
        int read = of_kind(section, row, choice) && hspec_config_table_read_by(row, &choice->experiment);
        const char *row_mark = *mark || (read && !row->absent) ? mark : "# ";
        int is_section = hspec_config_table_is_section(row);
        if (indent == 0) {
            hspec_text_add(text, "\n");
        }
        add_template_line(text, indent, row_mark, row, is_section ? "" : template_value(row, choice), !read && !*mark);
        if (is_section) {
            /* Behind a mark the rows go in by the mark's own blanks. */
            add_template_section(text, row, *row_mark ? indent : indent + 2, *row_mark ? "#   " : "", choice);
        }
    }
}

static void add_template(hspec_text *text, hspec_signal_kind kind, hspec_activation activation)
{
    const template_choice choice = {
        .kind = kind,
        .experiment = {.layer = {.activation = activation}, .training = {.engine = HSPEC_ENGINE_REDUCED}}};
    hspec_text_add(text, "# An experiment of headspec. A key that is left out has the default that stands here; only\n"
                         "# task.tokens, task.signal and layer.heads must be given. Lines behind a # are not in use.\n"
                         "#\n"
                         "#   headspec check FILE.yaml                 is it valid, what will it cost\n"
                         "#   headspec train FILE.yaml -o OUT.h5       simulate it\n"
                         "#   headspec plot OUT.h5 -o OUT.svg          look at it\n");
    add_template_section(text, &hspec_config_table_rows[0], 0, "", &choice);
}

hspec_status hspec_reference_template(hspec_signal_kind kind, hspec_activation activation, char **text,
                                      hspec_error *err)
{
    if (!text || (size_t)kind >= hspec_config_table_signals.count ||
        (size_t)activation >= hspec_config_table_activations.count) {
        return hspec_error_set(err, HSPEC_EARG,
                               "template: found signal %d and activation %d, allowed: those of the tables", (int)kind,
                               (int)activation);
    }
    hspec_text out = {0};
    add_template(&out, kind, activation);
    char *taken = hspec_text_take(&out);
    if (!taken) {
        return hspec_error_set(err, HSPEC_ENOMEM, "memory: the starting experiment could not be written");
    }
    *text = taken;
    return HSPEC_OK;
}

/* ---- The reference page ------------------------------------------------------------------------------------------ */

static const char *const page_head =
    "# The experiment file\n"
    "\n"
    "<!-- Written by `test_reference --write` from src/io/config_table.c: change the table, not this page. -->\n"
    "\n"
    "An experiment is one YAML file. `headspec new` prints one to start from, `headspec check` tells whether a file\n"
    "is valid and what it will cost. Every command reads the same file; keys that a command does not need may be "
    "there.\n"
    "Only `task.tokens`, `task.signal` and `layer.heads` must be given. Every other key has a default.\n"
    "\n"
    "Letters: L tokens, D dimension, F features, K points, H heads, S seeds, B batch.\n"
    "\n"
    "## How a file is read\n"
    "\n"
    "- A file holds one document in UTF-8, at most 1 MiB. Anchors, aliases, tags, directives and tabs are refused.\n"
    "- A key may stand once. An unknown key is an error, which names the allowed keys.\n"
    "- A number is a whole token: `5`, `-0.5`, `1e6`, `.5`. `1e6` is also a whole number. `10abc`, `010`, `0x10`,\n"
    "  `1_000`, `.inf`, `nan` and quoted numbers are errors.\n"
    "- A switch is `true` or `false`.\n"
    "- An error names the file, the line and the key, what was found and what is allowed:\n"
    "  `two_phases.yaml:4: task.tokens: found 1, allowed: a whole number from 2 to 65536`.\n"
    "- `layer.bias` and `layer.scale` may stand with every activation, so that the activation can be changed alone.\n"
    "  `headspec check` and `headspec info` list what is not read.\n"
    "\n"
    "## Changes from the command line\n"
    "\n"
    "`--set PATH=VALUE` changes one value before the file is checked. It can be given many times and is applied in "
    "order.\n"
    "The path is that of the tables below; the value is YAML. A mapping or a list replaces the whole value. Items of "
    "a\n"
    "list have their index, counted from 0, as a name. The archive stores the experiment as it is after all changes.\n"
    "\n"
    "```sh\n"
    "headspec train two_phases.yaml --set task.signal.strength=9 --set layer.activation=softmax1\n"
    "headspec train two_phases.yaml --set 'task.signal={kind: gaussian, mean: [1.5, 0], variance: [0, 9]}'\n"
    "headspec train two_phases_aligned.yaml --set training.init.alignment.0.0=0.2\n"
    "```\n";

/* Adds a cell of a table, in which a bar must be escaped, and empties it. */
static void add_cell(hspec_text *page, hspec_text *cell)
{
    for (size_t i = 0; i < cell->length; i++) {
        hspec_text_append(page, "\\", cell->data[i] == '|' ? 1 : 0);
        hspec_text_append(page, cell->data + i, 1);
    }
    hspec_text_add(page, " |");
    page->failed |= cell->failed;
    hspec_text_free(cell);
}

static void add_table_row(hspec_text *page, const hspec_config_row *row)
{
    hspec_text cell = {0};
    int is_section = hspec_config_table_is_section(row);
    hspec_text_add(page, "| `%s` | ", row->path);
    if (is_section) {
        hspec_text_add(&cell, "mapping");
    } else {
        hspec_config_allowed_text(row, &cell);
    }
    add_cell(page, &cell);
    hspec_text_add(page, " ");
    if (!is_section && row->fallback) {
        hspec_text_add(&cell, "`%s`", row->fallback);
    } else if (!is_section || hspec_config_table_required(row)) {
        add_default(row, &cell);
    }
    add_cell(page, &cell);
    hspec_text_add(page, " ");
    add_readers(row, &cell);
    add_cell(page, &cell);
    hspec_text_add(page, " ");
    hspec_text_add(&cell, "%s%s%s", row->sentence, row->unit ? ", in " : "", row->unit ? row->unit : "");
    add_cell(page, &cell);
    hspec_text_add(page, "\n");
}

static void add_table(hspec_text *page, const hspec_config_row *top)
{
    size_t n = strlen(top->path);
    hspec_text_add(page, "\n## `%s`\n\n%c%s.\n\n", top->path, top->sentence[0] - 'a' + 'A', top->sentence + 1);
    hspec_text_add(page, "| key | allowed | default | read by | meaning |\n|---|---|---|---|---|\n");
    const hspec_config_row *end = hspec_config_table_rows + hspec_config_table_count;
    for (const hspec_config_row *row = top + 1; row < end && !page->failed; row++) {
        if (strncmp(row->path, top->path, n) == 0 && row->path[n] == '.') {
            add_table_row(page, row);
        }
    }
    for (const hspec_config_row *row = top + 1; row < end; row++) {
        if (strncmp(row->path, top->path, n) != 0 || row->path[n] != '.' || !row->names) {
            continue;
        }
        hspec_text_add(page, "\n`%s`:\n\n", row->path);
        for (size_t i = 0; i < row->names->count; i++) {
            hspec_text_add(page, "- `%s`: %s\n", row->names->items[i].name, row->names->items[i].sentence);
        }
    }
}

void hspec_reference_markdown(hspec_text *text)
{
    hspec_text_add(text, "%s", page_head);
    const hspec_config_row *top = NULL;
    while ((top = hspec_config_table_next(&hspec_config_table_rows[0], top)) != NULL) {
        add_table(text, top);
    }
    hspec_text_add(text, "\n## All keys at their defaults\n\nThis is what `headspec new` prints.\n\n```yaml\n");
    add_template(text, HSPEC_SIGNAL_FLIPPED, HSPEC_SOFTMAX);
    hspec_text_add(text, "```\n");
}
