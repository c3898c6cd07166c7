/* SPDX-License-Identifier: MIT
 * A growing text. */
#include "io/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and the final zero. */
static int text_reserve(hspec_text *text, size_t n)
{
    if (text->failed) {
        return 0;
    }
    if (n > SIZE_MAX / 4 - text->length) {
        text->failed = 1;
        return 0;
    }
    size_t needed = text->length + n + 1;
    if (needed <= text->capacity) {
        return 1;
    }
    size_t capacity = text->capacity ? text->capacity : 128;
    while (capacity < needed) {
        capacity *= 2;
    }
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = 1;
        return 0;
    }
    text->data = data;
    text->capacity = capacity;
    return 1;
}

void hspec_text_append(hspec_text *text, const char *bytes, size_t n)
{
    if (!text_reserve(text, n)) {
        return;
    }
    if (n > 0) {
        memcpy(text->data + text->length, bytes, n);
    }
    text->length += n;
    text->data[text->length] = '\0';
}

void hspec_text_add(hspec_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) {
        text->failed = 1;
        return;
    }
    if (!text_reserve(text, (size_t)length)) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

char *hspec_text_take(hspec_text *text)
{
    hspec_text_append(text, "", 0);
    if (text->failed) {
        hspec_text_free(text);
        return NULL;
    }
    char *data = text->data;
    *text = (hspec_text){0};
    return data;
}

void hspec_text_free(hspec_text *text)
{
    free(text->data);
    *text = (hspec_text){0};
}
