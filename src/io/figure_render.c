/* SPDX-License-Identifier: MIT
 * Running gnuplot. Its input, output and complaints are nameless temporary files, so that nothing can wait for anything
 * else and no file is left behind. */
#include "io/figure_render.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/status.h"
#include "io/figure_svg.h"
#include "io/text.h"

typedef struct {
    FILE *input, *output, *complaints;
} streams;

static void streams_close(streams *s)
{
    FILE *files[] = {s->input, s->output, s->complaints};
    for (size_t i = 0; i < 3; i++) {
        if (files[i]) {
            (void)fclose(files[i]);
        }
    }
}

static hspec_status streams_open(streams *s, const char *script, hspec_error *err)
{
    s->input = tmpfile();
    s->output = tmpfile();
    s->complaints = tmpfile();
    if (!s->input || !s->output || !s->complaints) {
        return hspec_error_set(err, HSPEC_EIO, "gnuplot: no temporary file: %s", strerror(errno));
    }
    size_t length = strlen(script);
    if (fwrite(script, 1, length, s->input) != length || fflush(s->input) != 0 || fseek(s->input, 0, SEEK_SET) != 0) {
        return hspec_error_set(err, HSPEC_EIO, "gnuplot: the script could not be written to a temporary file: %s",
                               strerror(errno));
    }
    return HSPEC_OK;
}

/* All that the child wrote, with a zero behind it. */
static hspec_status read_back(FILE *file, char **bytes, size_t *size, hspec_error *err)
{
    char buffer[1 << 14];
    hspec_text text = {0};
    if (fseek(file, 0, SEEK_SET) != 0) {
        return hspec_error_set(err, HSPEC_EIO, "gnuplot: its output could not be read: %s", strerror(errno));
    }
    for (size_t n = 0; (n = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        hspec_text_append(&text, buffer, n);
    }
    if (ferror(file)) {
        hspec_text_free(&text);
        return hspec_error_set(err, HSPEC_EIO, "gnuplot: its output could not be read: %s", strerror(errno));
    }
    *size = text.length;
    *bytes = hspec_text_take(&text);
    return *bytes ? HSPEC_OK : hspec_error_memory(err, *size);
}

static hspec_status run(const hspec_gnuplot *gnuplot, const streams *s, int *result, hspec_error *err)
{
    /* By its name the script is read as a file, ten times as fast as line by line from standard input. */
    char name[] = "gnuplot", no_settings[] = "-d", script[] = "/dev/stdin";
    char *const argv[] = {name, no_settings, script, NULL};
    char *const nothing[] = {NULL};
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) {
        return hspec_error_set(err, HSPEC_ENOMEM, "gnuplot: %s", strerror(code));
    }
    const int fds[] = {fileno(s->input), fileno(s->output), fileno(s->complaints)};
    for (int i = 0; i < 3 && code == 0; i++) {
        code = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
    }
    for (int i = 0; i < 3 && code == 0; i++) {
        code = fds[i] > 2 ? posix_spawn_file_actions_addclose(&actions, fds[i]) : 0;
    }
    pid_t child = 0;
    if (code == 0) {
        code = posix_spawn(&child, gnuplot->program, &actions, NULL, argv,
                           gnuplot->environment ? gnuplot->environment : nothing);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    if (code != 0) {
        return hspec_error_set(err, HSPEC_EEXTERNAL, "%s: cannot be started: %s", gnuplot->program, strerror(code));
    }
    while (waitpid(child, result, 0) < 0) {
        if (errno != EINTR) {
            return hspec_error_set(err, HSPEC_EEXTERNAL, "%s: %s", gnuplot->program, strerror(errno));
        }
    }
    return HSPEC_OK;
}

/* The complaints without the echo of the script: at most the last 1500 bytes, without blank lines at both ends. */
static const char *essence(char *complaints)
{
    size_t length = strlen(complaints);
    while (length > 0 && strchr(" \n\r\t", complaints[length - 1])) {
        complaints[--length] = '\0';
    }
    const char *start = complaints + strspn(complaints, " \n\r\t");
    size_t left = strlen(start);
    if (left > 1500) {
        start += left - 1500;
        while (((unsigned char)*start & 0xc0) == 0x80) {
            start++;
        }
    }
    return start;
}

static hspec_status judge(const hspec_gnuplot *gnuplot, int result, hspec_figure_format format, size_t size,
                          const char *words, const hspec_monitor *monitor, hspec_error *err)
{
    if (strstr(words, "unknown or ambiguous terminal")) {
        return hspec_error_set(
            err, HSPEC_EEXTERNAL,
            "%s: it has no %s terminal; that of the Debian package gnuplot-nox has it, and .svg needs none",
            gnuplot->program, format == HSPEC_FIGURE_PDF ? "pdfcairo" : "pngcairo");
    }
    if (WIFSIGNALED(result)) {
        return hspec_error_set(err, HSPEC_EEXTERNAL, "%s: ended by signal %d%s%s", gnuplot->program, WTERMSIG(result),
                               *words ? ": " : "", words);
    }
    /* Where the child is a full copy of the parent (as under valgrind), only it sees that the program is not there. */
    if (WEXITSTATUS(result) == 127 && access(gnuplot->program, X_OK) != 0) {
        return hspec_error_set(err, HSPEC_EEXTERNAL, "%s: cannot be started: %s", gnuplot->program, strerror(errno));
    }
    if (WEXITSTATUS(result) != 0) {
        return hspec_error_set(err, HSPEC_EEXTERNAL, "%s: failed with status %d%s%s", gnuplot->program,
                               WEXITSTATUS(result), *words ? ": " : "", words);
    }
    if (size == 0) {
        return hspec_error_set(err, HSPEC_EEXTERNAL, "%s: wrote no figure%s%s", gnuplot->program, *words ? ": " : "",
                               words);
    }
    if (*words) {
        hspec_monitor_warn(monitor, "gnuplot: %s", words);
    }
    return HSPEC_OK;
}

hspec_status hspec_figure_render(const hspec_gnuplot *gnuplot, const char *script, hspec_figure_format format,
                                 const char *name, const hspec_monitor *monitor, char **bytes, size_t *size,
                                 hspec_error *err)
{
    if (!gnuplot->program) {
        return hspec_error_set(err, HSPEC_EEXTERNAL,
                               "gnuplot was not found; figures need it at run time (Debian: package gnuplot-nox)");
    }
    streams s = {0};
    char *found = NULL, *complaints = NULL;
    size_t found_size = 0, complaints_size = 0;
    int result = 0;
    hspec_status status = streams_open(&s, script, err);
    if (status == HSPEC_OK) {
        status = run(gnuplot, &s, &result, err);
    }
    if (status == HSPEC_OK) {
        status = read_back(s.complaints, &complaints, &complaints_size, err);
    }
    if (status == HSPEC_OK) {
        status = read_back(s.output, &found, &found_size, err);
    }
    streams_close(&s);
    if (status == HSPEC_OK) {
        status = judge(gnuplot, result, format, found_size, complaints ? essence(complaints) : "", monitor, err);
    }
    if (status == HSPEC_OK && format == HSPEC_FIGURE_SVG) {
        status = hspec_figure_svg_finish(found, found_size, name, bytes, size, err);
    } else if (status == HSPEC_OK) {
        *bytes = found;
        *size = found_size;
        found = NULL;
    }
    free(found);
    free(complaints);
    return status;
}
