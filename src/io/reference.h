/* SPDX-License-Identifier: MIT
 * What the table of keys tells a reader: the reference page, the help, and an experiment to start from. */
#ifndef HSPEC_IO_REFERENCE_H
#define HSPEC_IO_REFERENCE_H

#include "headspec.h"
#include "io/text.h"

/** Adds docs/experiment.md. Memory: look at text->failed. */
void hspec_reference_markdown(hspec_text *text);

/** Adds the list of all keys for `--help`, lines of at most 100 columns. Memory: look at text->failed. */
void hspec_reference_help(hspec_text *text);

/** A commented experiment that holds every key at its default; required keys have example values.
 *  @param text out; the caller frees it. @return OK, EARG, ENOMEM. */
HSPEC_MUST_USE hspec_status hspec_reference_template(hspec_signal_kind kind, hspec_activation activation, char **text,
                                                     hspec_error *err);

#endif
