/* SPDX-License-Identifier: MIT
 * Each allocation of the archive fails once: it is told, nothing is lost, and the file on disk stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "headspec.h"
#include "io/archive_sgd.h"
#include "io/atomic.h"
#include "unit/io/archive_sample.h"
#include "unit/io/failing_memory.h"

#if FAILING_MEMORY

#define FILE_NAME "test_archive_memory.h5"

static sample run;

static hspec_status build(hspec_error *err)
{
    hspec_archive *archive = NULL;
    hspec_status status = hspec_archive_create(&archive, err);
    status = status ? status : hspec_archive_set_origin(archive, SAMPLE_CREATED, SAMPLE_COMMAND, sample_config, err);
    status = status ? status : hspec_archive_sgd_put(archive, &run.trajectory, &run.loss[0][0], &run.state, err);
    status = status ? status : hspec_archive_theory_put(archive, &run.theory, err);
    status = status ? status : hspec_archive_theory_put(archive, &run.theory, err); /* replaced */
    status = status ? status : hspec_archive_set_text(archive, "/", "config", "replaced", err);
    hspec_archive_free(archive);
    return status;
}

static hspec_status place(hspec_error *err)
{
    return hspec_atomic_write("./" FILE_NAME ".link", "new", 3, err);
}

/* Runs it with one more allocation that succeeds each time, until none fails. */
static void fail_each(hspec_status (*body)(hspec_error *), long least)
{
    long n = 0;
    for (;; n++) {
        hspec_error err = {0};
        long before = memory_live;
        memory_failed = 0;
        memory_countdown = n;
        hspec_status status = body(&err);
        memory_countdown = -1;
        assert_int_equal(memory_live, before);
        if (!memory_failed) {
            assert_int_equal(status, HSPEC_OK);
            break;
        }
        assert_int_equal(status, HSPEC_ENOMEM);
        assert_int_equal(err.status, HSPEC_ENOMEM);
        assert_non_null(strstr(err.message, "memory: "));
    }
    assert_true(n >= least);
}

static void test_build(void **state)
{
    (void)state;
    sample_fill(&run, SAMPLE_T - 1);
    run.theory.trajectory.rows = SAMPLE_T - 1;
    fail_each(build, 160);
}

static void test_place(void **state)
{
    (void)state;
    (void)unlink(FILE_NAME ".link");
    assert_int_equal(symlink(FILE_NAME ".txt", FILE_NAME ".link"), 0);
    fail_each(place, 4);
    assert_int_equal(unlink(FILE_NAME ".link"), 0);
    assert_int_equal(unlink(FILE_NAME ".txt"), 0);
}

/* The memory for the whole file: HDF5 is told, and so are we. (HDF5 1.10 itself does not survive the loss of small
 * pieces.) */
static void test_image(void **state)
{
    (void)state;
    sample_fill(&run, SAMPLE_T);
    hspec_archive *archive = sample_archive(&run);
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(hspec_archive_image(archive, &bytes, &size, NULL), HSPEC_OK);
    free(bytes);
    bytes = NULL;
    hspec_error err = {0};
    memory_least = 1 << 20;
    memory_countdown = 0;
    hspec_status status = hspec_archive_image(archive, &bytes, &size, &err);
    memory_countdown = -1;
    memory_least = 0;
    assert_int_equal(status, HSPEC_ENOMEM);
    assert_string_equal(err.message, "memory: 1048576 bytes could not be had");
    assert_null(bytes);
    assert_int_equal(hspec_archive_image(archive, &bytes, &size, NULL), HSPEC_OK);
    free(bytes);
    hspec_archive_free(archive);
}

/* The numbers of a dataset. */
static void test_read(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    double *time = malloc(MANY * sizeof *time);
    assert_non_null(time);
    for (size_t i = 0; i < MANY; i++) {
        time[i] = (double)i;
    }
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_create(&archive, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_origin(archive, SAMPLE_CREATED, SAMPLE_COMMAND, sample_config, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_lend(archive, "/sgd/time", (size_t[]){MANY}, time, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, NULL), HSPEC_OK);
    hspec_archive_free(archive);
    archive = NULL;
    free(time);
    hspec_error err = {0};
    memory_least = 1 << 20;
    memory_countdown = 0;
    hspec_status status = hspec_archive_read(FILE_NAME, NULL, &archive, &err);
    memory_countdown = -1;
    memory_least = 0;
    assert_int_equal(status, HSPEC_ENOMEM);
    assert_string_equal(err.message, FILE_NAME ": /sgd/time: no memory for 200000 numbers");
    assert_null(archive);
    assert_int_equal(hspec_archive_read(FILE_NAME, NULL, &archive, NULL), HSPEC_OK);
    hspec_archive_free(archive);
    assert_int_equal(unlink(FILE_NAME), 0);
}

int main(void)
{
    if (getenv("HSPEC_VALGRIND")) {
        return 0; /* there malloc is valgrind's */
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_image),
        cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0; /* somebody else watches the memory of this build */
}

#endif
