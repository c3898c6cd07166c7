/* SPDX-License-Identifier: MIT
 * Memory that can be told to fail. Include it in one file of a test: it takes the place of malloc, also for libraries
 * (hence the visibility), where that is possible: with glibc and without a sanitizer. */
#ifndef UNIT_IO_FAILING_MEMORY_H
#define UNIT_IO_FAILING_MEMORY_H

#include <stddef.h>

#include "headspec.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAILING_MEMORY_SANITIZED
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&                           \
    !defined(FAILING_MEMORY_SANITIZED)
#define FAILING_MEMORY 1
#else
#define FAILING_MEMORY 0
#endif

#if FAILING_MEMORY
/* NOLINTBEGIN(bugprone-reserved-identifier): these are glibc's own names for what it replaces. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nmemb, size_t size);
extern void *__libc_realloc(void *ptr, size_t size);
extern void __libc_free(void *ptr);

static volatile long memory_countdown = -1; /* allocations that still succeed, then one fails; below 0: all succeed */
static volatile long memory_failed, memory_live;
static volatile size_t memory_least; /* smaller allocations succeed and do not count */

static int memory_fails(size_t size)
{
    if (memory_countdown < 0 || size < memory_least || memory_countdown-- > 0) {
        return 0;
    }
    memory_failed++;
    return 1;
}

HSPEC_API void *malloc(size_t size)
{
    void *memory = memory_fails(size) ? NULL : __libc_malloc(size);
    memory_live += memory != NULL;
    return memory;
}

HSPEC_API void *calloc(size_t nmemb, size_t size)
{
    void *memory = memory_fails(nmemb * size) ? NULL : __libc_calloc(nmemb, size);
    memory_live += memory != NULL;
    return memory;
}

HSPEC_API void *realloc(void *ptr, size_t size)
{
    void *memory = memory_fails(size) ? NULL : __libc_realloc(ptr, size);
    memory_live += memory != NULL && ptr == NULL;
    return memory;
}

HSPEC_API void free(void *ptr)
{
    memory_live -= ptr != NULL;
    __libc_free(ptr);
}
/* NOLINTEND(bugprone-reserved-identifier) */
#endif

#endif
