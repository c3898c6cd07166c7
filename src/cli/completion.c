/* SPDX-License-Identifier: MIT
 * headspec completion: shell code made from the option tables. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* What can stand for an argument name. */
typedef enum completion_kind { KIND_NOTHING, KIND_FILE, KIND_CHOICE } completion_kind;

static completion_kind kind_of(const char *argument)
{
    if (strchr(argument, '|')) {
        return KIND_CHOICE;
    }
    return strchr(argument, '.') || strstr(argument, "FILE") ? KIND_FILE : KIND_NOTHING;
}

/* "a|b|c" as "a b c" */
static void print_choices(const char *argument)
{
    for (const char *c = argument; *c; c++) {
        (void)putchar(*c == '|' ? ' ' : *c);
    }
}

static const hspec_option common_options[] = {HSPEC_OPTION_HELP, HSPEC_OPTION_VERSION, HSPEC_OPTION_END};

/* ---- bash -------------------------------------------------------------------------------------------------------- */

/* Cases of "command:previous word" for options with a value. */
static void bash_values(const hspec_cli_command *command)
{
    for (const hspec_option *option = command->options; option->name; option++) {
        if (!option->argument) {
            continue;
        }
        (void)printf("    %s:--%s", command->name, option->name);
        if (option->letter) {
            (void)printf(" | %s:-%c", command->name, option->letter);
        }
        (void)fputs(") ", stdout);
        switch (kind_of(option->argument)) {
        case KIND_CHOICE:
            (void)fputs("choices='", stdout);
            print_choices(option->argument);
            (void)fputs("' ;;\n", stdout);
            break;
        case KIND_FILE:
            (void)fputs("mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n", stdout);
            break;
        default:
            (void)fputs("return ;;\n", stdout);
        }
    }
}

static void bash_names(const hspec_cli_command *command)
{
    (void)printf("    %s) choices='", command->name);
    const hspec_option *tables[] = {command->options, common_options};
    for (size_t t = 0; t < 2; t++) {
        for (const hspec_option *option = tables[t]; option->name; option++) {
            (void)printf("--%s ", option->name);
        }
    }
    for (const char *const *argument = command->arguments; *argument; argument++) {
        if (kind_of(*argument) == KIND_CHOICE) {
            print_choices(*argument);
        }
    }
    (void)fputs("' ;;\n", stdout);
}

static void print_bash(void)
{
    (void)fputs("# bash completion of headspec; to use it now: source <(headspec completion bash)\n"
                "_headspec()\n"
                "{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    local command=${COMP_WORDS[1]} choices=\n"
                "    COMPREPLY=()\n"
                "    if ((COMP_CWORD == 1)); then\n"
                "        mapfile -t COMPREPLY < <(compgen -W '",
                stdout);
    for (const hspec_cli_command *const *c = hspec_cli_commands; *c; c++) {
        (void)printf("%s ", (*c)->name);
    }
    (void)fputs("--help --version' -- \"$word\")\n"
                "        return\n"
                "    fi\n"
                "    case $command:$previous in\n",
                stdout);
    for (const hspec_cli_command *const *c = hspec_cli_commands; *c; c++) {
        bash_values(*c);
    }
    (void)fputs("    *)\n"
                "        case $command in\n",
                stdout);
    for (const hspec_cli_command *const *c = hspec_cli_commands; *c; c++) {
        (void)fputs("    ", stdout);
        bash_names(*c);
    }
    (void)fputs("        esac\n"
                "        if [[ $word != -* && $command != completion ]]; then\n"
                "            mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                "            return\n"
                "        fi\n"
                "        ;;\n"
                "    esac\n"
                "    mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$word\")\n"
                "}\n"
                "complete -o filenames -F _headspec headspec\n",
                stdout);
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

/* Text inside single quotes and brackets of an _arguments specification. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') {
            (void)fputs("'\\''", stdout);
        } else {
            if (strchr("[]:\\", *text)) {
                (void)putchar('\\');
            }
            (void)putchar(*text);
        }
    }
}

/* ":name:action" */
static void zsh_argument(const char *argument)
{
    (void)putchar(':');
    zsh_text(argument);
    switch (kind_of(argument)) {
    case KIND_CHOICE:
        (void)fputs(":(", stdout);
        print_choices(argument);
        (void)putchar(')');
        break;
    case KIND_FILE:
        (void)fputs(":_files", stdout);
        break;
    default:
        (void)fputs(": ", stdout);
    }
}

static void zsh_option(const hspec_option *option)
{
    (void)fputs(" \\\n            ", stdout);
    const char *equals = option->argument ? "=" : "";
    if (option->letter) {
        (void)printf("'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name, option->letter,
                     option->argument ? "+" : "", option->name, equals);
    } else {
        (void)printf("'%s--%s%s[", option->repeatable ? "*" : "", option->name, equals);
    }
    zsh_text(option->sentence);
    (void)putchar(']');
    if (option->argument) {
        zsh_argument(option->argument);
    }
    (void)putchar('\'');
}

static void zsh_command(const hspec_cli_command *command)
{
    (void)printf("    %s)\n        _arguments -s", command->name);
    const hspec_option *tables[] = {command->options, common_options};
    for (size_t t = 0; t < 2; t++) {
        for (const hspec_option *option = tables[t]; option->name; option++) {
            zsh_option(option);
        }
    }
    size_t position = 1;
    for (const char *const *argument = command->arguments; *argument; argument++, position++) {
        if (command->arguments_max && !argument[1]) {
            (void)fputs(" \\\n            '*", stdout);
        } else {
            (void)printf(" \\\n            '%zu", position);
        }
        zsh_argument(*argument);
        (void)putchar('\'');
    }
    (void)fputs("\n        ;;\n", stdout);
}

static void print_zsh(void)
{
    (void)fputs("#compdef headspec\n"
                "# zsh completion of headspec; to use it now: source <(headspec completion zsh)\n"
                "_headspec()\n"
                "{\n"
                "    local -a commands=(\n",
                stdout);
    for (const hspec_cli_command *const *c = hspec_cli_commands; *c; c++) {
        (void)printf("        '%s:", (*c)->name);
        zsh_text((*c)->summary);
        (void)fputs("'\n", stdout);
    }
    (void)fputs("    )\n"
                "    if (( CURRENT == 2 )); then\n"
                "        _describe command commands\n"
                "        return\n"
                "    fi\n"
                "    shift words\n"
                "    (( CURRENT-- ))\n"
                "    case $words[1] in\n",
                stdout);
    for (const hspec_cli_command *const *c = hspec_cli_commands; *c; c++) {
        zsh_command(*c);
    }
    (void)fputs("    esac\n"
                "}\n"
                "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
                "    _headspec \"$@\"\n"
                "else\n"
                "    compdef _headspec headspec\n"
                "fi\n",
                stdout);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static hspec_status run_completion(const hspec_arguments *arguments, hspec_error *err)
{
    (void)err;
    if (strcmp(arguments->positional[0], "bash") == 0) {
        print_bash();
    } else {
        print_zsh();
    }
    return HSPEC_OK;
}

static const hspec_option completion_options[] = {HSPEC_OPTION_END};
static const char *const completion_arguments[] = {"bash|zsh", NULL};

const hspec_cli_command hspec_cmd_completion = {
    .name = "completion",
    .group = "Shell",
    .summary = "print completion code for bash or zsh",
    .usage = "bash|zsh",
    .description = "Prints code that completes the commands and options of headspec in a shell.\n"
                   "To use it in this shell:   source <(headspec completion bash)\n"
                   "To use it in every shell:  headspec completion bash > "
                   "~/.local/share/bash-completion/completions/headspec",
    .options = completion_options,
    .arguments = completion_arguments,
    .run = run_completion,
};
