/* SPDX-License-Identifier: MIT
 * What a row of the table allows, in words. */
#include "io/config_allowed.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void hspec_config_allowed_names(const hspec_config_names *names, unsigned mask, hspec_text *text)
{
    size_t last = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < names->count; i++) {
        if (mask == 0 || (mask & (1U << i))) {
            last = i;
            chosen++;
        }
    }
    for (size_t i = 0, n = 0; i < names->count; i++) {
        if (mask == 0 || (mask & (1U << i))) {
            const char *before = n == 0 ? "" : i == last ? " or " : ", ";
            hspec_text_add(text, "%s%s", chosen > 1 ? before : "", names->items[i].name);
            n++;
        }
    }
}

/* 1000000, 1e12, 0.1: short, and the same in every locale. */
static void add_number(double x, hspec_text *text)
{
    if (x >= 0x1p64) { /* of a seed */
        hspec_text_add(text, "%llu", (unsigned long long)UINT64_MAX);
        return;
    }
    if (x != floor(x)) {
        char digits[32];
        (void)snprintf(digits, sizeof digits, "%g", x);
        char *comma = strchr(digits, ',');
        if (comma) {
            *comma = '.';
        }
        hspec_text_add(text, "%s", digits);
        return;
    }
    int power = 0;
    int long_number = fabs(x) >= 1e7;
    while (long_number && fmod(x, 10) == 0) {
        x /= 10;
        power++;
    }
    hspec_text_add(text, "%.0f", x);
    if (power > 0) {
        hspec_text_add(text, "e%d", power);
    }
}

static void add_range(const hspec_config_row *row, hspec_text *text)
{
    hspec_text_add(text, row->low_open ? " above " : isinf(row->high) ? " of at least " : " from ");
    add_number(row->low, text);
    if (isinf(row->high)) {
        return;
    }
    hspec_text_add(text, row->high_open ? " and below " : row->low_open ? " and at most " : " to ");
    add_number(row->high, text);
}

void hspec_config_allowed_keys(const hspec_config_row *section, const unsigned *kind, hspec_text *text)
{
    const char *before = "";
    const hspec_config_row *child = NULL;
    while ((child = hspec_config_table_next(section, child)) != NULL) {
        if (!kind || child->kinds == 0 || (child->kinds & (1U << *kind))) {
            hspec_text_add(text, "%s%s", before, hspec_config_table_key(child));
            before = ", ";
        }
    }
}

void hspec_config_allowed_text(const hspec_config_row *row, hspec_text *text)
{
    const char *rows = hspec_config_table_length(row->rows);
    const char *columns = hspec_config_table_length(row->columns);
    hspec_config_row item = *row;
    switch (row->type) {
    case HSPEC_CONFIG_SECTION:
    case HSPEC_CONFIG_KINDS:
    case HSPEC_CONFIG_CHOICE:
        hspec_text_add(text, "a mapping with the keys ");
        hspec_config_allowed_keys(row, NULL, text);
        break;
    case HSPEC_CONFIG_SIZE:
    case HSPEC_CONFIG_SEED:
        hspec_text_add(text, "a whole number");
        add_range(row, text);
        break;
    case HSPEC_CONFIG_REAL:
        hspec_text_add(text, "a number");
        add_range(row, text);
        break;
    case HSPEC_CONFIG_SWITCH:
        hspec_text_add(text, "true or false");
        break;
    case HSPEC_CONFIG_NAME:
        hspec_config_allowed_names(row->names, 0, text);
        break;
    case HSPEC_CONFIG_VECTOR:
        hspec_text_add(text, "a list of %s numbers", columns);
        add_range(row, text);
        break;
    case HSPEC_CONFIG_MATRIX:
        hspec_text_add(text, "a list of %s rows of %s numbers", rows, columns);
        add_range(row, text);
        break;
    case HSPEC_CONFIG_DIAGONAL:
        hspec_text_add(text, "a number");
        add_range(row, text);
        hspec_text_add(text, ", or a list of %s rows of %s numbers", rows, columns);
        hspec_config_table_item_range(row, &item.low, &item.high);
        add_range(&item, text);
        break;
    }
}

static void add_short_range(const hspec_config_row *row, hspec_text *text)
{
    if (isinf(row->high) || row->low_open) {
        hspec_text_add(text, row->low_open ? "> " : ">= ");
        add_number(row->low, text);
        if (!isinf(row->high)) {
            hspec_text_add(text, row->high_open ? ", < " : ", <= ");
            add_number(row->high, text);
        }
        return;
    }
    add_number(row->low, text);
    hspec_text_add(text, row->high_open ? " ..< " : " .. ");
    add_number(row->high, text);
}

void hspec_config_allowed_short(const hspec_config_row *row, hspec_text *text)
{
    const char *rows = hspec_config_table_length(row->rows);
    const char *columns = hspec_config_table_length(row->columns);
    hspec_config_row item = *row;
    switch (row->type) {
    case HSPEC_CONFIG_SECTION:
    case HSPEC_CONFIG_KINDS:
    case HSPEC_CONFIG_CHOICE:
        break;
    case HSPEC_CONFIG_SIZE:
    case HSPEC_CONFIG_SEED:
    case HSPEC_CONFIG_REAL:
        add_short_range(row, text);
        break;
    case HSPEC_CONFIG_SWITCH:
        hspec_text_add(text, "true | false");
        break;
    case HSPEC_CONFIG_NAME:
        for (size_t i = 0; i < row->names->count; i++) {
            hspec_text_add(text, "%s%s", i > 0 ? " | " : "", row->names->items[i].name);
        }
        break;
    case HSPEC_CONFIG_VECTOR:
        hspec_text_add(text, "%s numbers ", columns);
        add_short_range(row, text);
        break;
    case HSPEC_CONFIG_MATRIX:
        hspec_text_add(text, "%s x %s numbers ", rows, columns);
        add_short_range(row, text);
        break;
    case HSPEC_CONFIG_DIAGONAL:
        add_short_range(row, text);
        hspec_text_add(text, ", or %s x %s numbers ", rows, columns);
        hspec_config_table_item_range(row, &item.low, &item.high);
        add_short_range(&item, text);
        break;
    }
}
