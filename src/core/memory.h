/* SPDX-License-Identifier: MIT
 * Aligned memory, and arenas: all arrays of an object in one allocation, laid out by a function that is called twice,
 * first to measure, then to hand out. */
#ifndef HSPEC_CORE_MEMORY_H
#define HSPEC_CORE_MEMORY_H

#include "core/status.h"

#include <stddef.h>

/** Zeroed memory for n items of `size` bytes, aligned to HSPEC_ALIGN. NULL when it cannot be had or n * size overflows.
 *  Release with hspec_memory_free. */
void *hspec_memory_alloc(size_t n, size_t size);
void hspec_memory_free(void *memory);

/** An arena that measures while base is NULL. `used` saturates at SIZE_MAX. */
typedef struct hspec_arena {
    char *base;
    size_t used;
} hspec_arena;

/** Room for n items of `size` bytes, aligned; NULL while measuring. */
void *hspec_arena_take(hspec_arena *arena, size_t n, size_t size);
/** Room for n doubles. */
double *hspec_arena_doubles(hspec_arena *arena, size_t n);
/** Ends the measuring: allocates what was asked for and starts again from an empty arena. */
hspec_status hspec_arena_commit(hspec_arena *arena, hspec_error *err);
void hspec_arena_free(hspec_arena *arena);

/** a * b and a + b that saturate at SIZE_MAX: sizes from users never wrap. */
size_t hspec_memory_mul(size_t a, size_t b);
size_t hspec_memory_add(size_t a, size_t b);

#endif
