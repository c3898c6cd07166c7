/* SPDX-License-Identifier: MIT
 * A growing text: write as often as you like, look at `failed` once. */
#ifndef HSPEC_IO_TEXT_H
#define HSPEC_IO_TEXT_H

#include <stddef.h>

/** Starts as `hspec_text text = {0};`. `data` is NULL or ends with '\0' behind `length` bytes.
 *  Once memory could not be had, `failed` is 1 and everything that follows is dropped. */
typedef struct hspec_text {
    char *data;
    size_t length, capacity;
    int failed;
} hspec_text;

/** Adds as printf would. */
void hspec_text_add(hspec_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Adds n bytes as they are. */
void hspec_text_append(hspec_text *text, const char *bytes, size_t n);

/** Hands the string over ("" if nothing was added); the caller frees it. NULL if memory could not be had.
 *  The text is empty afterwards and can be used again. */
char *hspec_text_take(hspec_text *text);

/** Frees what it holds; the text is empty afterwards. */
void hspec_text_free(hspec_text *text);

#endif
