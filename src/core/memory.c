/* SPDX-License-Identifier: MIT */
#include "core/memory.h"

#include "core/level.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t hspec_memory_mul(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

size_t hspec_memory_add(size_t a, size_t b)
{
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

/** The next multiple of the alignment, or SIZE_MAX. */
static size_t rounded(size_t bytes)
{
    return bytes > SIZE_MAX - HSPEC_ALIGN ? SIZE_MAX : (bytes + HSPEC_ALIGN - 1) / HSPEC_ALIGN * HSPEC_ALIGN;
}

void *hspec_memory_alloc(size_t n, size_t size)
{
    size_t bytes = rounded(hspec_memory_mul(n, size));
    if (bytes > PTRDIFF_MAX) {
        return NULL;
    }
    if (bytes == 0) {
        bytes = HSPEC_ALIGN;
    }
    void *memory = aligned_alloc(HSPEC_ALIGN, bytes);
    if (memory) {
        memset(memory, 0, bytes);
    }
    return memory;
}

void hspec_memory_free(void *memory)
{
    free(memory);
}

void *hspec_arena_take(hspec_arena *arena, size_t n, size_t size)
{
    void *place = arena->base ? arena->base + arena->used : NULL;
    arena->used = hspec_memory_add(arena->used, rounded(hspec_memory_mul(n, size)));
    return place;
}

double *hspec_arena_doubles(hspec_arena *arena, size_t n)
{
    return hspec_arena_take(arena, n, sizeof(double));
}

hspec_status hspec_arena_commit(hspec_arena *arena, hspec_error *err)
{
    char *base = hspec_memory_alloc(arena->used, 1);
    if (!base) {
        return hspec_error_memory(err, arena->used);
    }
    arena->base = base;
    arena->used = 0;
    return HSPEC_OK;
}

void hspec_arena_free(hspec_arena *arena)
{
    hspec_memory_free(arena->base);
    arena->base = NULL;
    arena->used = 0;
}
