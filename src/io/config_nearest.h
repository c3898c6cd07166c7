/* SPDX-License-Identifier: MIT
 * The nearest of the allowed names, for messages that say "did you mean". */
#ifndef HSPEC_IO_CONFIG_NEAREST_H
#define HSPEC_IO_CONFIG_NEAREST_H

#include <stddef.h>

/** Edits (a letter more, less, other, or two swapped) between two names; SIZE_MAX if a name is longer than 40. */
size_t hspec_config_nearest_distance(const char *a, const char *b);

/** Is `distance` small enough for names of this length to be worth a suggestion? At most a third of the letters. */
int hspec_config_nearest_close(const char *found, size_t distance);

#endif
