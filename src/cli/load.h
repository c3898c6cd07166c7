/* SPDX-License-Identifier: MIT
 * The experiment that a command line names, with its --set. */
#ifndef HSPEC_CLI_LOAD_H
#define HSPEC_CLI_LOAD_H

#include "cli/options.h"

/** Reads the experiment of the first argument, applies --set, and makes its signal, which experiment->task borrows.
 *  Free both. @return OK, EARG, ECONFIG, EIO, ENOMEM. */
hspec_status hspec_load_experiment(const hspec_arguments *arguments, hspec_experiment **experiment,
                                   hspec_signal **signal, hspec_error *err);

#endif
