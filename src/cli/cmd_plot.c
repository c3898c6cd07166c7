/* SPDX-License-Identifier: MIT
 * headspec plot: a figure from an archive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/status.h"
#include "io/atomic.h"
#include "io/figure_archive.h"
#include "io/figure_render.h"
#include "io/figure_svg.h"
#include "io/text.h"

extern char **environ;

/* One run of the command. */
typedef struct plot {
    const hspec_arguments *arguments;
    hspec_figure_options options;
    char *font;         /* owned */
    char *path;         /* of the figure, owned */
    const char *script; /* NULL: not kept */
    hspec_figure_format format;
    hspec_figure_archive from;
    hspec_figure *figure;
    char *gnuplot; /* owned; NULL: not found */
} plot;

/* ---- options ------------------------------------------------------------------------------------------------------ */

/* What the library finds wrong with the options is told as ours. */
static hspec_status blame(hspec_status status, const char *where, hspec_error *err)
{
    return status == HSPEC_EARG ? hspec_error_prefix(err, status, "%s", where) : status;
}

/* A plain positive number from `text` up to `end`. */
static int read_number(const char *text, const char *end, double *value)
{
    size_t length = (size_t)(end - text);
    char digits[32];
    char *rest = NULL;
    if (length == 0 || length >= sizeof digits || strspn(text, "0123456789.") < length) {
        return 0;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    *value = strtod(digits, &rest);
    return *rest == '\0';
}

static hspec_status read_size(plot *run, hspec_error *err)
{
    const char *text = hspec_options_text(run->arguments, "size", NULL);
    if (!text) {
        return HSPEC_OK;
    }
    const char *x = text + strcspn(text, "x");
    double width = 0.0, height = 0.0;
    if (!read_number(text, x, &width) || (*x && !read_number(x + 1, text + strlen(text), &height)) ||
        (*x && height == 0.0)) {
        return hspec_error_set(err, HSPEC_EARG,
                               "plot: --size: found '%.100s', allowed is WIDTHxHEIGHT or WIDTH in cm, as 16x10 or 8.6",
                               text);
    }
    run->options.width = width;
    run->options.height = height;
    return HSPEC_OK;
}

static hspec_status read_font(plot *run, hspec_error *err)
{
    const char *text = hspec_options_text(run->arguments, "font", NULL);
    if (!text) {
        return HSPEC_OK;
    }
    const char *comma = strrchr(text, ',');
    const char *end = comma ? comma : text + strlen(text);
    hspec_text name = {0};
    hspec_text_append(&name, text, (size_t)(end - text));
    run->font = hspec_text_take(&name);
    if (!run->font) {
        return hspec_error_memory(err, strlen(text));
    }
    if (comma && !read_number(comma + 1, text + strlen(text), &run->options.font_size)) {
        return hspec_error_set(
            err, HSPEC_EARG,
            "plot: --font: found '%.100s', allowed is NAME, NAME,SIZE or ,SIZE with the size in points, "
            "as Helvetica,8",
            text);
    }
    if (*run->font) {
        run->options.font = run->font;
    }
    return HSPEC_OK;
}

static hspec_status read_options(plot *run, hspec_error *err)
{
    run->options = hspec_figure_default();
    const char *panels = hspec_options_text(run->arguments, "panels", NULL);
    const char *xscale = hspec_options_text(run->arguments, "xscale", "auto");
    const char *match = hspec_options_text(run->arguments, "match", "auto");
    if (panels) {
        HSPEC_TRY(blame(hspec_figure_parse_panels(panels, &run->options, err), "plot", err));
    }
    run->options.xscale = strcmp(xscale, "log") == 0      ? HSPEC_FIGURE_LOG
                          : strcmp(xscale, "linear") == 0 ? HSPEC_FIGURE_LINEAR
                                                          : HSPEC_FIGURE_AXIS_AUTO;
    run->options.match = strcmp(match, "all") == 0    ? HSPEC_FIGURE_MATCH_ALL
                         : strcmp(match, "none") == 0 ? HSPEC_FIGURE_MATCH_NONE
                                                      : HSPEC_FIGURE_MATCH_AUTO;
    run->options.title = hspec_options_text(run->arguments, "title", NULL);
    if (hspec_options_given(run->arguments, "no-title")) {
        if (run->options.title) {
            return hspec_error_set(err, HSPEC_EARG, "plot: found --title and --no-title, allowed is one of them");
        }
        run->options.title = "";
    }
    HSPEC_TRY(read_size(run, err));
    return read_font(run, err);
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

static int same_file(const char *a, const char *b)
{
    struct stat one, other;
    return strcmp(a, b) == 0 ||
           (stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

/* "two_phases.svg" in the current folder, unless -o says where. */
static hspec_status choose_path(plot *run, hspec_error *err)
{
    const char *given = hspec_options_text(run->arguments, "output", NULL);
    const char *archive = run->arguments->positional[0];
    hspec_text path = {0};
    if (given) {
        hspec_text_add(&path, "%s", given);
    } else {
        const char *slash = strrchr(archive, '/');
        const char *name = slash ? slash + 1 : archive;
        const char *dot = strrchr(name, '.');
        hspec_text_append(&path, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
        hspec_text_add(&path, ".svg");
    }
    run->path = hspec_text_take(&path);
    return run->path ? HSPEC_OK : hspec_error_memory(err, strlen(archive) + 5);
}

/* A figure can be made again, so that it is replaced without asking; a script may have been worked on. */
static hspec_status check_files(plot *run, hspec_error *err)
{
    const char *archive = run->arguments->positional[0];
    struct stat file;
    HSPEC_TRY(choose_path(run, err));
    HSPEC_TRY(blame(hspec_figure_gnuplot_format(run->path, &run->format, err), "plot: --output", err));
    if (same_file(run->path, archive)) {
        return hspec_error_set(err, HSPEC_EARG, "plot: --output: '%.1000s' is the archive that is read", run->path);
    }
    HSPEC_TRY(hspec_atomic_probe(run->path, err));
    run->script = hspec_options_text(run->arguments, "keep-script", NULL);
    if (!run->script) {
        return HSPEC_OK;
    }
    if (same_file(run->script, archive) || same_file(run->script, run->path)) {
        return hspec_error_set(err, HSPEC_EARG, "plot: --keep-script: '%.1000s' is the %s", run->script,
                               same_file(run->script, archive) ? "archive that is read" : "figure");
    }
    if (stat(run->script, &file) == 0 && S_ISREG(file.st_mode) && !hspec_options_given(run->arguments, "force")) {
        return hspec_error_set(err, HSPEC_EARG,
                               "plot: --keep-script: '%.1000s' exists; give --force to replace it, or another name",
                               run->script);
    }
    return hspec_atomic_probe(run->script, err);
}

/* gnuplot on PATH. An empty part of PATH stands for the current folder. */
static hspec_status find_gnuplot(plot *run, hspec_error *err)
{
    const char *part = getenv("PATH");
    while (part) {
        size_t length = strcspn(part, ":");
        hspec_text candidate = {0};
        struct stat file;
        hspec_text_append(&candidate, length > 0 ? part : ".", length > 0 ? length : 1);
        hspec_text_add(&candidate, "/gnuplot");
        char *path = hspec_text_take(&candidate);
        if (!path) {
            return hspec_error_memory(err, length);
        }
        if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0) {
            run->gnuplot = path;
            return HSPEC_OK;
        }
        free(path);
        part = part[length] ? part + length + 1 : NULL;
    }
    return HSPEC_OK;
}

/* ---- the run ------------------------------------------------------------------------------------------------------ */

static int warn(void *user, const hspec_event *event)
{
    const plot *run = user;
    if (event->kind == HSPEC_EVENT_WARNING) {
        hspec_cli_warn(run->arguments, "%s", event->message);
    }
    return 0;
}

static hspec_status report(const plot *run, hspec_error *err)
{
    if (!hspec_options_given(run->arguments, "json")) {
        hspec_cli_note(run->arguments, "%s", run->path);
        return HSPEC_OK;
    }
    cJSON *object = NULL;
    HSPEC_TRY(hspec_json_object(&object, err));
    hspec_status status = hspec_json_text(object, "figure", run->path, err);
    if (status == HSPEC_OK && run->script) {
        status = hspec_json_text(object, "script", run->script, err);
    }
    status =
        status ? status : hspec_json_integer(object, "seeds", run->from.source.alone ? 0 : run->figure->seeds, err);
    status = status ? status
                    : hspec_json_flag(object, "theory", run->figure->theory_points > 0 || run->from.source.alone, err);
    status = status ? status : hspec_json_integer(object, "panels", run->figure->panel_count, err);
    status = status ? status : hspec_json_print(object, err);
    cJSON_Delete(object);
    return status;
}

/* The name in an SVG depends on all that is drawn, but not on where the file lies. */
static hspec_status make_name(const plot *run, char **name, hspec_error *err)
{
    char *nameless = NULL;
    HSPEC_TRY(hspec_figure_gnuplot_script(run->figure, run->format, NULL, "", &nameless, err));
    hspec_status status = hspec_figure_svg_name(run->path, nameless, name, err);
    free(nameless);
    return status;
}

static hspec_status keep_script(const plot *run, const char *name, hspec_error *err)
{
    char *script = NULL;
    HSPEC_TRY(hspec_figure_gnuplot_script(run->figure, run->format, run->path, name, &script, err));
    hspec_status status = hspec_atomic_write(run->script, script, strlen(script), err);
    free(script);
    return status;
}

static hspec_status draw(plot *run, const char *name, hspec_error *err)
{
    const hspec_gnuplot gnuplot = {.program = run->gnuplot, .environment = environ};
    const hspec_monitor monitor = {warn, run};
    char *script = NULL, *bytes = NULL;
    size_t size = 0;
    if (run->script) {
        HSPEC_TRY(keep_script(run, name, err));
    }
    HSPEC_TRY(hspec_figure_gnuplot_script(run->figure, run->format, NULL, name, &script, err));
    hspec_status status = hspec_figure_render(&gnuplot, script, run->format, name, &monitor, &bytes, &size, err);
    free(script);
    if (status == HSPEC_OK) {
        status = hspec_atomic_write(run->path, bytes, size, err);
    } else if (run->script || !run->gnuplot) {
        char why[sizeof err->message];
        (void)snprintf(why, sizeof why, "%s", err->message);
        status = hspec_error_set(err, status, "%.1500s; %s%.400s", why,
                                 run->script ? "the script is in "
                                             : "--keep-script FILE.gp writes a script to run elsewhere",
                                 run->script ? run->script : "");
    }
    free(bytes);
    return status;
}

static hspec_status plot_all(plot *run, hspec_error *err)
{
    char *name = NULL;
    HSPEC_TRY(read_options(run, err));
    HSPEC_TRY(check_files(run, err));
    HSPEC_TRY(find_gnuplot(run, err));
    HSPEC_TRY(hspec_figure_archive_read(run->arguments->positional[0], &run->from, err));
    if (!run->from.complete) {
        hspec_cli_warn(run->arguments, "%s: the run was stopped before its end: %zu of %zu rows are there",
                       run->arguments->positional[0], run->from.source.trajectory.done, run->from.planned_rows);
    }
    HSPEC_TRY(blame(hspec_figure_create(&run->from.source, &run->options, &run->figure, err), "plot", err));
    HSPEC_TRY(blame(make_name(run, &name, err), "plot", err));
    hspec_status status = draw(run, name, err);
    free(name);
    return status == HSPEC_OK ? report(run, err) : status;
}

static hspec_status run_plot(const hspec_arguments *arguments, hspec_error *err)
{
    plot run = {.arguments = arguments};
    hspec_status status = plot_all(&run, err);
    hspec_figure_free(run.figure);
    hspec_figure_archive_release(&run.from);
    free(run.font);
    free(run.path);
    free(run.gnuplot);
    return status;
}

/* ---- the command -------------------------------------------------------------------------------------------------- */

static const hspec_option plot_options[] = {
    HSPEC_OPTION_OUTPUT("FIG.svg",
                        "the figure; .svg, .pdf or .png (default: the archive's name + .svg, in this folder)"),
    {"panels", 0, "LIST", 0, "of alignment, loss, residual, bias, scale; with commas (default alignment,loss)"},
    {"xscale", 0, "linear|log", 0, "axis of N / D (default: as the records are spaced)"},
    {"size", 0, "WIDTHxHEIGHT", 0, "in cm; without a height it is chosen by the panels (default 16)"},
    {"font", 0, "NAME,SIZE", 0, "size in points (default sans-serif,9)"},
    {"title", 0, "TEXT", 0, "above the panels (default: the parameters)"},
    {"no-title", 0, NULL, 0, "nothing above the panels but the legend"},
    {"match", 0, "auto|all|none", 0, "which heads may change places from seed to seed (default auto)"},
    {"keep-script", 0, "FILE.gp", 0, "write the gnuplot script too, data and all"},
    {"force", 0, NULL, 0, "replace the script if it exists; a figure is always replaced"},
    HSPEC_OPTION_JSON,
    HSPEC_OPTION_QUIET,
    HSPEC_OPTION_END,
};
static const char *const plot_arguments[] = {"ARCHIVE.h5", NULL};

const hspec_cli_command hspec_cmd_plot = {
    .name = "plot",
    .group = "Look",
    .summary = "a figure from an archive: SVG, PDF or PNG",
    .usage = "ARCHIVE.h5 [-o FIG.svg]",
    .description =
        "Draws the alignment of each head with each feature, and the population loss, against the number of\n"
        "samples N / D: bold lines are means over seeds, bands one standard deviation, thin lines single seeds.\n"
        "gnuplot draws (Debian: gnuplot-nox); it is looked for on PATH.\n"
        "\n"
        "An archive with a theory in it (`headspec theory`) shows the theory as lines, the simulation as points,\n"
        "and the Bayes risk as a horizontal line. The points are means over seeds with bands or, when the theory\n"
        "starts from the random start of one seed, that seed alone: noise then decides when heads part, and\n"
        "theory and simulation are to be compared up to a shift in time.\n"
        "\n"
        "The loss does not change when heads change places, or when a feature of symmetric amplitude changes\n"
        "sign. So heads, and signs, of different seeds are matched by their trajectories before any mean is\n"
        "taken; what a head becomes counts most. Heads that the start tells apart keep their numbers. Matched\n"
        "heads are ordered by their last alignment with the feature on which they differ most. Matching also\n"
        "fits noise: where heads do not differ, their means part by about the width of the band over the square\n"
        "root of the number of seeds.\n"
        "\n"
        "The script of --keep-script is complete: change it and run gnuplot on it. It writes to the path of -o.",
    .options = plot_options,
    .arguments = plot_arguments,
    .run = run_plot,
};
