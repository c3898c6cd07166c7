/* SPDX-License-Identifier: MIT
 * What --help prints, made from the tables. */
#ifndef HSPEC_CLI_HELP_H
#define HSPEC_CLI_HELP_H

#include "cli/cli.h"

/** `headspec --help` on standard output. */
void hspec_help_program(void);
/** `headspec COMMAND --help` on standard output. @return OK, ENOMEM. */
hspec_status hspec_help_command(const hspec_cli_command *command, hspec_error *err);

#endif
