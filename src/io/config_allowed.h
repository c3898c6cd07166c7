/* SPDX-License-Identifier: MIT
 * What a row of the table allows, in words: for messages, `--help` and the reference page. */
#ifndef HSPEC_IO_CONFIG_ALLOWED_H
#define HSPEC_IO_CONFIG_ALLOWED_H

#include "io/config_table.h"
#include "io/text.h"

/** Adds what a row allows: "a whole number from 2 to 65536". */
void hspec_config_allowed_text(const hspec_config_row *row, hspec_text *text);
/** Adds the same in few signs: "2 .. 65536", "> 0", "true | false", "K x F". Nothing for a section or any number. */
void hspec_config_allowed_short(const hspec_config_row *row, hspec_text *text);
/** Adds the names whose bit is set in `mask` (0: all): "softmax1 or bayes". */
void hspec_config_allowed_names(const hspec_config_names *names, unsigned mask, hspec_text *text);
/** Adds the keys of a section (kind NULL: all; else those of this kind): "kind, mean, variance". */
void hspec_config_allowed_keys(const hspec_config_row *section, const unsigned *kind, hspec_text *text);

#endif
