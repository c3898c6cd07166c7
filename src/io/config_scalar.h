/* SPDX-License-Identifier: MIT
 * Numbers as whole tokens: what a number is in an experiment file.
 *
 *     [+-] digits [. digits] [e [+-] digits]      also .5 and 5.; no leading zeros, no 0x10, 1_000, inf or nan */
#ifndef HSPEC_IO_CONFIG_SCALAR_H
#define HSPEC_IO_CONFIG_SCALAR_H

#include <stdint.h>

typedef enum hspec_config_scalar {
    HSPEC_SCALAR_OK,
    HSPEC_SCALAR_NOT_NUMBER, /* the token is not a number at all */
    HSPEC_SCALAR_NOT_WHOLE,  /* a number, but its exact value is not whole */
    HSPEC_SCALAR_NEGATIVE,   /* a whole number below zero */
    HSPEC_SCALAR_TOO_LARGE   /* above 2^64 - 1, or above the largest double */
} hspec_config_scalar;

/** The exact value of a whole number >= 0 (1e6 and 1.5e3 are whole). `value` is written only on OK. */
hspec_config_scalar hspec_config_scalar_integer(const char *token, uint64_t *value);

/** The nearest double, whatever the locale. `value` is written only on OK; it is finite. */
hspec_config_scalar hspec_config_scalar_real(const char *token, double *value);

#endif
