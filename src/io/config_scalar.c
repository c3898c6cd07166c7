/* SPDX-License-Identifier: MIT
 * Numbers as whole tokens. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l: a decimal comma of the caller's locale must not change what a file means */
#endif
#include "io/config_scalar.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* The parts of a token; the digits before and behind the point are ranges of it. */
typedef struct scalar_parts {
    int negative;
    const char *whole, *fraction;
    size_t whole_count, fraction_count;
    long exponent; /* clamped: no token within the size limit of a file can tell the difference */
} scalar_parts;

static size_t count_digits(const char *text)
{
    size_t n = 0;
    while (text[n] >= '0' && text[n] <= '9') {
        n++;
    }
    return n;
}

static int scalar_split(const char *token, scalar_parts *parts)
{
    const char *p = token;
    *parts = (scalar_parts){.negative = *p == '-'};
    if (*p == '-' || *p == '+') {
        p++;
    }
    parts->whole = p;
    parts->whole_count = count_digits(p);
    p += parts->whole_count;
    if (*p == '.') {
        p++;
        parts->fraction = p;
        parts->fraction_count = count_digits(p);
        p += parts->fraction_count;
    }
    if (parts->whole_count + parts->fraction_count == 0 || (parts->whole_count > 1 && parts->whole[0] == '0')) {
        return 0;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        int negative = *p == '-';
        if (*p == '-' || *p == '+') {
            p++;
        }
        size_t n = count_digits(p);
        if (n == 0) {
            return 0;
        }
        for (size_t i = 0; i < n; i++) {
            parts->exponent = parts->exponent * 10 + (p[i] - '0');
            if (parts->exponent > 100000000) {
                parts->exponent = 100000000;
            }
        }
        parts->exponent = negative ? -parts->exponent : parts->exponent;
        p += n;
    }
    return *p == '\0';
}

static char digit_at(const scalar_parts *parts, size_t i)
{
    return i < parts->whole_count ? parts->whole[i] : parts->fraction[i - parts->whole_count];
}

hspec_config_scalar hspec_config_scalar_integer(const char *token, uint64_t *value)
{
    scalar_parts parts;
    if (!scalar_split(token, &parts)) {
        return HSPEC_SCALAR_NOT_NUMBER;
    }
    /* The number is digits[first..last) times 10^power, without zeros at either end. */
    size_t first = 0;
    size_t last = parts.whole_count + parts.fraction_count;
    long power = parts.exponent - (long)parts.fraction_count;
    while (first < last && digit_at(&parts, first) == '0') {
        first++;
    }
    while (last > first && digit_at(&parts, last - 1) == '0') {
        last--;
        power++;
    }
    if (first == last) {
        *value = 0;
        return HSPEC_SCALAR_OK;
    }
    if (power < 0) {
        return HSPEC_SCALAR_NOT_WHOLE;
    }
    if (parts.negative) {
        return HSPEC_SCALAR_NEGATIVE;
    }
    uint64_t sum = 0;
    for (size_t i = first; i < last || power > 0; i++) {
        uint64_t digit = 0;
        if (i < last) {
            digit = (uint64_t)(digit_at(&parts, i) - '0');
        } else {
            power--;
        }
        if (sum > (UINT64_MAX - digit) / 10) {
            return HSPEC_SCALAR_TOO_LARGE;
        }
        sum = sum * 10 + digit;
    }
    *value = sum;
    return HSPEC_SCALAR_OK;
}

hspec_config_scalar hspec_config_scalar_real(const char *token, double *value)
{
    scalar_parts parts;
    if (!scalar_split(token, &parts)) {
        return HSPEC_SCALAR_NOT_NUMBER;
    }
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return HSPEC_SCALAR_NOT_NUMBER; /* the "C" locale is built in: this does not happen */
    }
    double x = strtod_l(token, NULL, plain);
    freelocale(plain);
    if (!isfinite(x)) {
        return HSPEC_SCALAR_TOO_LARGE;
    }
    *value = x;
    return HSPEC_SCALAR_OK;
}
