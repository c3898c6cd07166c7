/* SPDX-License-Identifier: MIT
 * Every allocation fails once: the reader must say so, hand nothing out and lose nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "headspec.h"
#include "io/reference.h"

/* The test takes the place of malloc, also for libyaml (hence the visibility), where that is possible: with glibc and
 * without a sanitizer. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(SANITIZED)
#define INJECT 1
#else
#define INJECT 0
#endif

#if INJECT
/* NOLINTBEGIN(bugprone-reserved-identifier): these are glibc's own names for what it replaces. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nmemb, size_t size);
extern void *__libc_realloc(void *ptr, size_t size);
extern void __libc_free(void *ptr);

static volatile long countdown = -1; /* allocations that still succeed; below 0: all */
static volatile long failed, live;

static int fails(void)
{
    if (countdown < 0) {
        return 0;
    }
    if (countdown > 0) {
        countdown--;
        return 0;
    }
    failed++;
    return 1;
}

/* The names of the arguments are those of stdlib.h. */
HSPEC_API void *malloc(size_t size)
{
    void *memory = fails() ? NULL : __libc_malloc(size);
    live += memory != NULL;
    return memory;
}

HSPEC_API void *calloc(size_t nmemb, size_t size)
{
    void *memory = fails() ? NULL : __libc_calloc(nmemb, size);
    live += memory != NULL;
    return memory;
}

HSPEC_API void *realloc(void *ptr, size_t size)
{
    void *memory = fails() ? NULL : __libc_realloc(ptr, size);
    live += memory != NULL && ptr == NULL;
    return memory;
}

HSPEC_API void free(void *ptr)
{
    live -= ptr != NULL;
    __libc_free(ptr);
}
/* NOLINTEND(bugprone-reserved-identifier) */

static const char *const text = "task:\n"
                                "  tokens: 5\n"
                                "  signal: {kind: discrete, points: [[3, 0], [0, 3]], weights: [0.5, 0.5]}\n"
                                "layer:\n"
                                "  heads: 3\n"
                                "  bias: {init: 1}\n"
                                "training:\n"
                                "  init:\n"
                                "    kind: aligned\n"
                                "    alignment: [[1, 2], [3, 4], [5, 6]]\n"
                                "    residual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n";
static const char *const sets[] = {"training.time=20", "theory.start.seed=2", "task.signal.weights=[0.25, 0.75]"};

static hspec_status read_good(const char *origin)
{
    hspec_experiment *experiment = NULL;
    hspec_error err;
    hspec_status status = hspec_experiment_parse(text, strlen(text), origin, sets, 3, &experiment, &err);
    if (status != HSPEC_OK && (experiment || err.status != status)) {
        return HSPEC_EARG;
    }
    hspec_experiment_free(experiment);
    return status;
}

/* An error on the way is told, or memory is: nothing else. */
static hspec_status read_bad(const char *origin)
{
    static const char *const bad[] = {"task.tokns=1"};
    hspec_experiment *experiment = NULL;
    hspec_error err;
    hspec_status status = hspec_experiment_parse(text, strlen(text), origin, bad, 1, &experiment, &err);
    return status == HSPEC_ECONFIG && !experiment ? HSPEC_OK : status;
}

static hspec_status write_template(const char *origin)
{
    (void)origin;
    char *template = NULL;
    hspec_error err;
    hspec_status status = hspec_reference_template(HSPEC_SIGNAL_GAUSSIAN, HSPEC_BAYES, &template, &err);
    free(template);
    return status;
}

static hspec_status write_page(const char *origin)
{
    (void)origin;
    hspec_text page = {0};
    hspec_reference_markdown(&page);
    hspec_reference_help(&page);
    hspec_status status = page.failed ? HSPEC_ENOMEM : HSPEC_OK;
    hspec_text_free(&page);
    return status;
}

static void fail_each(hspec_status (*run)(const char *), long least)
{
    for (long n = 0;; n++) {
        long before = live;
        failed = 0;
        countdown = n;
        hspec_status status = run("x.yaml");
        countdown = -1;
        assert_int_equal(live, before);
        if (failed == 0) {
            assert_int_equal(status, HSPEC_OK);
            if (n < least) {
                fail_msg("only %ld allocations were seen, not %ld", n, least);
            }
            return;
        }
        assert_int_equal(status, HSPEC_ENOMEM);
    }
}
#endif

static void survives_failures(void **state)
{
    (void)state;
#if INJECT
    if (getenv("HSPEC_VALGRIND")) {
        skip(); /* valgrind puts its own malloc in the place of ours */
    }
    fail_each(read_good, 200);
    fail_each(read_bad, 100);
    fail_each(write_template, 50);
    fail_each(write_page, 100);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(survives_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
