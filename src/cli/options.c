/* SPDX-License-Identifier: MIT
 * The parser of command lines. */
#include "cli/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/status.h"
#include "io/config_nearest.h"
#include "io/config_scalar.h"
#include "io/config_tree.h"
#include "io/text.h"

/* What the user wrote, cut and made safe for a terminal. */
static hspec_config_words shown(const char *text)
{
    return hspec_config_tree_printable(text, strlen(text));
}

struct hspec_option_given {
    const hspec_option *option;
    const char *value; /* NULL for a flag */
};

/* ---- what commands ask ------------------------------------------------------------------------------------------- */

static const struct hspec_option_given *find_given(const hspec_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->given_count; i++) {
        if (strcmp(arguments->given[i].option->name, name) == 0) {
            return &arguments->given[i];
        }
    }
    return NULL;
}

int hspec_options_given(const hspec_arguments *arguments, const char *name)
{
    return find_given(arguments, name) != NULL;
}

const char *hspec_options_text(const hspec_arguments *arguments, const char *name, const char *fallback)
{
    const struct hspec_option_given *given = find_given(arguments, name);
    return given ? given->value : fallback;
}

hspec_status hspec_options_list(const hspec_arguments *arguments, const char *name, const char ***values, size_t *count,
                                hspec_error *err)
{
    const char **list = malloc((arguments->given_count + 1) * sizeof *list);
    if (!list) {
        return hspec_error_memory(err, (arguments->given_count + 1) * sizeof *list);
    }
    size_t n = 0;
    for (size_t i = 0; i < arguments->given_count; i++) {
        if (strcmp(arguments->given[i].option->name, name) == 0) {
            list[n++] = arguments->given[i].value;
        }
    }
    *values = list;
    *count = n;
    return HSPEC_OK;
}

hspec_status hspec_options_number(const hspec_arguments *arguments, const char *name, double low, double high,
                                  double *value, hspec_error *err)
{
    const char *text = hspec_options_text(arguments, name, NULL);
    if (!text) {
        return HSPEC_OK;
    }
    double number = 0;
    if (hspec_config_scalar_real(text, &number) != HSPEC_SCALAR_OK || number < low || number > high) {
        return hspec_error_set(err, HSPEC_EARG, "%s: --%s: found '%s', allowed: a number from %.15g to %.15g",
                               arguments->command, name, shown(text).text, low, high);
    }
    *value = number;
    return HSPEC_OK;
}

hspec_status hspec_options_integer(const hspec_arguments *arguments, const char *name, uint64_t low, uint64_t high,
                                   uint64_t *value, hspec_error *err)
{
    const char *text = hspec_options_text(arguments, name, NULL);
    if (!text) {
        return HSPEC_OK;
    }
    uint64_t number = 0;
    if (hspec_config_scalar_integer(text, &number) != HSPEC_SCALAR_OK || number < low || number > high) {
        return hspec_error_set(err, HSPEC_EARG,
                               "%s: --%s: found '%s', allowed: a whole number from %" PRIu64 " to %" PRIu64,
                               arguments->command, name, shown(text).text, low, high);
    }
    *value = number;
    return HSPEC_OK;
}

hspec_status hspec_options_threads(const hspec_arguments *arguments, int *threads, hspec_error *err)
{
    uint64_t number = 0;
    HSPEC_TRY(hspec_options_integer(arguments, "threads", 1, 1024, &number, err));
    *threads = (int)number;
    return HSPEC_OK;
}

/* ---- suggestions ------------------------------------------------------------------------------------------------- */

const char *hspec_options_nearest(const char *found, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX, length = strlen(found);
    for (size_t i = 0; i < count; i++) {
        if (length >= 2 && strncmp(found, names[i], length) == 0) {
            return names[i]; /* the beginning of a name */
        }
        size_t distance = hspec_config_nearest_distance(found, names[i]);
        if (distance < least && hspec_config_nearest_close(found, distance)) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

/* ---- the parser -------------------------------------------------------------------------------------------------- */

typedef struct parser {
    const hspec_cli_command *command;
    hspec_arguments *arguments;
    const char **positional;
    struct hspec_option_given *given;
    hspec_error *err;
} parser;

/* Every command understands these two. */
static const hspec_option common_options[] = {HSPEC_OPTION_HELP, HSPEC_OPTION_VERSION, HSPEC_OPTION_END};

/* The option of this long name (letter 0) or this letter (name NULL), or NULL. */
static const hspec_option *find_option(const hspec_cli_command *command, const char *name, size_t length, char letter)
{
    const hspec_option *tables[] = {command->options, common_options};
    for (size_t t = 0; t < 2; t++) {
        for (const hspec_option *option = tables[t]; option->name; option++) {
            if (name ? strlen(option->name) == length && strncmp(option->name, name, length) == 0
                     : option->letter == letter) {
                return option;
            }
        }
    }
    return NULL;
}

static hspec_status unknown_option(const parser *p, const char *token, size_t length)
{
    const char *names[64];
    size_t count = 0;
    const hspec_option *tables[] = {p->command->options, common_options};
    for (size_t t = 0; t < 2; t++) {
        for (const hspec_option *option = tables[t]; option->name && count < 64; option++) {
            names[count++] = option->name;
        }
    }
    const char *nearest = NULL;
    if (length > 2 && token[1] == '-') {
        char found[64];
        (void)snprintf(found, sizeof found, "%.*s", (int)(length - 2), token + 2);
        nearest = hspec_options_nearest(found, names, count);
    }
    return hspec_error_set(p->err, HSPEC_EARG, "%s: unknown option '%s'%s%s%s; see 'headspec %s --help'",
                           p->command->name, hspec_config_tree_printable(token, length).text,
                           nearest ? "; did you mean '--" : "", nearest ? nearest : "", nearest ? "'?" : "",
                           p->command->name);
}

/* Is `value` one of "a|b|c"? Any other argument name allows everything. */
static int is_choice(const char *argument, const char *value)
{
    if (!strchr(argument, '|')) {
        return 1;
    }
    size_t length = strlen(value);
    for (const char *choice = argument; choice; choice = strchr(choice, '|') ? strchr(choice, '|') + 1 : NULL) {
        if (strcspn(choice, "|") == length && strncmp(choice, value, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Keeps one option with its value (NULL for a flag). */
static hspec_status keep_option(parser *p, const hspec_option *option, const char *value)
{
    const char *name = p->command->name;
    if (!option->repeatable && find_given(p->arguments, option->name)) {
        return hspec_error_set(p->err, HSPEC_EARG, "%s: --%s is given twice; once is allowed", name, option->name);
    }
    if (value && *value == '\0') {
        return hspec_error_set(p->err, HSPEC_EARG, "%s: --%s: found nothing, allowed: %s", name, option->name,
                               option->argument);
    }
    if (value && !is_choice(option->argument, value)) {
        return hspec_error_set(p->err, HSPEC_EARG, "%s: --%s: found '%s', allowed: %s", name, option->name,
                               shown(value).text, option->argument);
    }
    p->given[p->arguments->given_count++] = (struct hspec_option_given){option, value};
    return HSPEC_OK;
}

/* One token that begins with a dash; *i moves on when the value is the next token. */
static hspec_status parse_option(parser *p, int argc, char **argv, int *i)
{
    const char *token = argv[*i];
    const char *value = NULL;
    const hspec_option *option;
    size_t length = strlen(token);
    if (token[1] == '-') {
        const char *equals = strchr(token, '=');
        length = equals ? (size_t)(equals - token) : length;
        value = equals ? equals + 1 : NULL;
        option = find_option(p->command, token + 2, length - 2, 0);
    } else {
        value = token[2] == '=' ? token + 3 : token[2] ? token + 2 : NULL; /* -oX and -o=X */
        option = find_option(p->command, NULL, 0, token[1]);
    }
    if (!option) {
        return unknown_option(p, token, length);
    }
    if (!option->argument) {
        if (value) {
            return hspec_error_set(p->err, HSPEC_EARG, "%s: --%s takes no value, found '%s'", p->command->name,
                                   option->name, shown(token).text);
        }
        return keep_option(p, option, NULL);
    }
    if (!value) {
        /* a negative number may follow, another long option may not: "-o --json" forgot the name */
        if (*i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0) {
            return hspec_error_set(p->err, HSPEC_EARG, "%s: --%s needs a value: %s", p->command->name, option->name,
                                   option->argument);
        }
        value = argv[++*i];
    }
    return keep_option(p, option, value);
}

static hspec_status check_positional(const parser *p, size_t count)
{
    const hspec_cli_command *command = p->command;
    size_t named = 0;
    while (command->arguments[named]) {
        named++;
    }
    size_t most = command->arguments_max ? command->arguments_max : named;
    if (count < named) {
        return hspec_error_set(p->err, HSPEC_EARG, "%s: %s is missing; usage: headspec %s %s", command->name,
                               command->arguments[count], command->name, command->usage);
    }
    if (count > most) {
        return hspec_error_set(p->err, HSPEC_EARG, "%s: '%s' is one argument too many; usage: headspec %s %s",
                               command->name, shown(p->positional[most]).text, command->name, command->usage);
    }
    for (size_t i = 0; i < count && i < named; i++) {
        if (p->positional[i][0] == '\0') {
            return hspec_error_set(p->err, HSPEC_EARG, "%s: %s: found an empty name", command->name,
                                   command->arguments[i]);
        }
        if (!is_choice(command->arguments[i], p->positional[i])) {
            return hspec_error_set(p->err, HSPEC_EARG, "%s: found '%s', allowed: %s", command->name,
                                   shown(p->positional[i]).text, command->arguments[i]);
        }
    }
    return HSPEC_OK;
}

/* The command line as a shell would take it; the program is called headspec wherever it lies. */
static char *join_command_line(int argc, char **argv)
{
    hspec_text line = {0};
    hspec_text_add(&line, "headspec");
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
        hspec_text_append(&line, " ", 1);
        if (*word && word[strspn(word, plain)] == '\0') {
            hspec_text_append(&line, word, strlen(word));
            continue;
        }
        hspec_text_append(&line, "'", 1);
        for (; *word; word++) {
            hspec_text_append(&line, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
        }
        hspec_text_append(&line, "'", 1);
    }
    return hspec_text_take(&line);
}

hspec_status hspec_options_parse(const hspec_cli_command *command, int argc, char **argv, hspec_arguments *arguments,
                                 int *help, int *version, hspec_error *err)
{
    size_t most = (size_t)argc;
    parser p = {.command = command,
                .arguments = arguments,
                .positional = malloc(most * sizeof *p.positional),
                .given = malloc(most * sizeof *p.given),
                .err = err};
    *arguments = (hspec_arguments){.command = command->name,
                                   .command_line = join_command_line(argc, argv),
                                   .positional = p.positional,
                                   .given = p.given};
    if (!p.positional || !p.given || !arguments->command_line) {
        return hspec_error_memory(err, most * sizeof *p.given);
    }
    int only_positional = 0;
    size_t count = 0;
    for (int i = 2; i < argc; i++) {
        if (only_positional || argv[i][0] != '-' || argv[i][1] == '\0') {
            p.positional[count++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            only_positional = 1;
        } else {
            HSPEC_TRY(parse_option(&p, argc, argv, &i));
            *help = hspec_options_given(arguments, "help");
            *version = hspec_options_given(arguments, "version");
            if (*help || *version) {
                return HSPEC_OK;
            }
        }
    }
    arguments->positional_count = count;
    return check_positional(&p, count);
}

void hspec_options_free(hspec_arguments *arguments)
{
    free((void *)arguments->positional);
    free((void *)arguments->given);
    free((void *)arguments->command_line);
    *arguments = (hspec_arguments){0};
}
