/* SPDX-License-Identifier: MIT
 * What --help prints. */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "core/status.h"

enum { HELP_COLUMNS = 100 };

/* Prints `text` from column `at` on, broken between words; lines after the first are indented to `at`. */
static void print_wrapped(const char *text, size_t at)
{
    size_t column = at;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > at && column + 1 + word > HELP_COLUMNS) {
            (void)printf("\n%*s", (int)at, "");
            column = at;
        } else if (column > at) {
            (void)putchar(' ');
            column++;
        }
        (void)printf("%.*s", (int)word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    (void)putchar('\n');
}

/* "-o, --output OUT.h5" */
static size_t option_heading(const hspec_option *option, char *text, size_t size)
{
    char letter[8] = "    ";
    if (option->letter) {
        (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    int length = snprintf(text, size, "  %s--%s%s%s", letter, option->name, option->argument ? " " : "",
                          option->argument ? option->argument : "");
    return length < 0 ? 0 : (size_t)length;
}

static void print_options(const hspec_option *const *tables, size_t n)
{
    char heading[128];
    size_t widest = 0;
    for (size_t t = 0; t < n; t++) {
        for (const hspec_option *option = tables[t]; option->name; option++) {
            size_t width = option_heading(option, heading, sizeof heading);
            widest = width > widest ? width : widest;
        }
    }
    for (size_t t = 0; t < n; t++) {
        for (const hspec_option *option = tables[t]; option->name; option++) {
            char sentence[512];
            (void)option_heading(option, heading, sizeof heading);
            (void)snprintf(sentence, sizeof sentence, "%s%s", option->sentence,
                           option->repeatable ? "; may be repeated" : "");
            (void)printf("%-*s  ", (int)widest, heading);
            print_wrapped(sentence, widest + 2);
        }
    }
}

hspec_status hspec_help_command(const hspec_cli_command *command, hspec_error *err)
{
    static const hspec_option common[] = {HSPEC_OPTION_HELP, HSPEC_OPTION_VERSION, HSPEC_OPTION_END};
    (void)printf("Usage: headspec %s%s%s\n\n%s\n\nOptions:\n", command->name, *command->usage ? " " : "",
                 command->usage, command->description);
    const hspec_option *tables[] = {command->options, common};
    print_options(tables, 2);
    if (command->more) {
        hspec_text text = {0};
        command->more(&text);
        if (text.failed) {
            hspec_text_free(&text);
            return hspec_error_set(err, HSPEC_ENOMEM, "memory: the help could not be made");
        }
        (void)printf("\n%s", text.data ? text.data : "");
        hspec_text_free(&text);
    }
    return HSPEC_OK;
}

void hspec_help_program(void)
{
    (void)printf("headspec %s: how the heads of a softmax attention layer specialize\n\n"
                 "Usage: headspec COMMAND [ARGUMENTS] [OPTIONS]\n",
                 hspec_status_version());
    const char *group = "";
    for (const hspec_cli_command *const *c = hspec_cli_commands; *c; c++) {
        if (strcmp((*c)->group, group) != 0) {
            group = (*c)->group;
            (void)printf("\n%s\n", group);
        }
        (void)printf("  %-12s", (*c)->name);
        print_wrapped((*c)->summary, 14);
    }
    (void)fputs("\n'headspec COMMAND --help' explains one command. To begin:\n\n"
                "  headspec new -o first.yaml\n"
                "  headspec train first.yaml\n"
                "  headspec plot first.h5 -o first.svg\n\n"
                "Exit status: 0 done; 1 it failed; 2 the command line or the experiment is wrong;\n"
                "130 stopped by SIGINT (Ctrl-C); 143 stopped by SIGTERM.\n",
                stdout);
}
