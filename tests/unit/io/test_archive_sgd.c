/* SPDX-License-Identifier: MIT
 * Training runs in archives. */
#include <math.h>
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
#include "unit/io/archive_sample.h"

#define FILE_NAME "test_archive_sgd.h5"

static hspec_archive *read_back(hspec_archive_sgd *sgd)
{
    hspec_error err = {0};
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_read(FILE_NAME, NULL, &archive, &err), HSPEC_OK);
    assert_true(hspec_archive_sgd_present(archive));
    hspec_status status = hspec_archive_sgd_get(archive, sgd, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, HSPEC_OK);
    return archive;
}

static void test_complete(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, SAMPLE_T);
    sample_write(FILE_NAME, SAMPLE_T);
    hspec_archive_sgd sgd;
    hspec_archive *archive = read_back(&sgd);
    const hspec_trajectory *t = &sgd.trajectory;
    assert_int_equal(sgd.complete, 1);
    assert_int_equal(sgd.planned_rows, SAMPLE_T);
    assert_int_equal(t->seeds, SAMPLE_S);
    assert_int_equal(t->rows, SAMPLE_T);
    assert_int_equal(t->done, SAMPLE_T);
    assert_int_equal(t->heads, SAMPLE_H);
    assert_int_equal(t->features, SAMPLE_F);
    assert_memory_equal(t->step, run.step, sizeof run.step);
    assert_memory_equal(t->time, run.time, sizeof run.time);
    assert_memory_equal(t->alignment, run.alignment, sizeof run.alignment);
    assert_memory_equal(t->residual, run.residual, sizeof run.residual);
    assert_memory_equal(t->bias, run.bias, sizeof run.bias);
    assert_memory_equal(t->scale, run.scale, sizeof run.scale);
    assert_memory_equal(sgd.loss, run.loss, sizeof run.loss);
    assert_int_equal(sgd.state.step, 4000);
    assert_int_equal(sgd.state.seeds, SAMPLE_S);
    assert_int_equal(sgd.state.size, SAMPLE_N);
    assert_memory_equal(sgd.state.values, run.values, sizeof run.values);
    hspec_archive_free(archive);
}

/* The rows that are not done are NaN in the sample: they would be refused if they got into the file. */
static void test_partial(void **state)
{
    (void)state;
    for (size_t done = 1; done < SAMPLE_T; done++) {
        sample run;
        sample_fill(&run, done);
        sample_write(FILE_NAME, done);
        hspec_archive_sgd sgd;
        hspec_archive *archive = read_back(&sgd);
        const hspec_trajectory *t = &sgd.trajectory;
        assert_int_equal(sgd.complete, 0);
        assert_int_equal(sgd.planned_rows, SAMPLE_T);
        assert_int_equal(t->rows, done);
        assert_int_equal(t->done, done);
        assert_memory_equal(t->step, run.step, done * sizeof *run.step);
        assert_int_equal(sgd.state.step, run.step[done - 1]);
        for (size_t s = 0; s < SAMPLE_S; s++) {
            size_t row = s * done;
            assert_memory_equal(t->alignment + row * SAMPLE_H * SAMPLE_F, run.alignment[s],
                                done * sizeof *run.alignment[s]);
            assert_memory_equal(t->residual + row * SAMPLE_H * SAMPLE_H, run.residual[s],
                                done * sizeof *run.residual[s]);
            assert_memory_equal(t->bias + row * SAMPLE_H, run.bias[s], done * sizeof *run.bias[s]);
            assert_memory_equal(t->scale + row, run.scale[s], done * sizeof *run.scale[s]);
            assert_memory_equal(sgd.loss + row, run.loss[s], done * sizeof *run.loss[s]);
        }
        hspec_archive_free(archive);
    }
}

static hspec_archive *empty_archive(void)
{
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_create(&archive, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_origin(archive, SAMPLE_CREATED, SAMPLE_COMMAND, sample_config, NULL), HSPEC_OK);
    return archive;
}

/* The run was killed before the loss of a row was computed: every row is there, and the run is incomplete. */
static void test_without_a_loss(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, SAMPLE_T);
    run.loss[1][SAMPLE_T - 1] = NAN;
    hspec_archive *archive = empty_archive();
    assert_int_equal(hspec_archive_sgd_put(archive, &run.trajectory, &run.loss[0][0], &run.state, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, NULL), HSPEC_OK);
    hspec_archive_free(archive);
    hspec_archive_sgd sgd;
    archive = read_back(&sgd);
    assert_int_equal(sgd.complete, 0);
    assert_int_equal(sgd.planned_rows, SAMPLE_T);
    assert_int_equal(sgd.trajectory.rows, SAMPLE_T);
    assert_memory_equal(sgd.loss, run.loss, sizeof run.loss);
    assert_memory_equal(sgd.state.values, run.values, sizeof run.values);
    assert_int_equal(hspec_archive_set_integer(archive, "/sgd", "complete", 1, NULL), HSPEC_OK);
    hspec_error err;
    assert_int_equal(hspec_archive_sgd_get(archive, &sgd, &err), HSPEC_EIO);
    assert_string_equal(err.message, "/sgd: found complete = 1 with a loss that is NaN, allowed 0");
    hspec_archive_free(archive);
}

static void test_without_state(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, 3);
    hspec_archive *archive = empty_archive();
    assert_false(hspec_archive_sgd_present(archive));
    assert_int_equal(hspec_archive_sgd_put(archive, &run.trajectory, &run.loss[0][0], NULL, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, NULL), HSPEC_OK);
    hspec_archive_free(archive);
    hspec_archive_sgd sgd;
    archive = read_back(&sgd);
    assert_int_equal(sgd.trajectory.rows, 3);
    assert_int_equal(sgd.state.seeds, 0);
    assert_null(sgd.state.values);
    hspec_archive_free(archive);
}

static void assert_put_refused(const sample *run, const char *message)
{
    hspec_error err = {0};
    hspec_archive *archive = empty_archive();
    assert_int_equal(hspec_archive_sgd_put(archive, &run->trajectory, &run->loss[0][0], &run->state, &err), HSPEC_EARG);
    assert_string_equal(err.message, message);
    hspec_archive_free(archive);
}

static void test_put_refused(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, SAMPLE_T);
    run.trajectory.done = 0;
    assert_put_refused(&run, "archive: found 0 recorded rows, allowed 1 to 5");
    sample_fill(&run, SAMPLE_T);
    run.trajectory.done = SAMPLE_T + 1;
    assert_put_refused(&run, "archive: found 6 recorded rows, allowed 1 to 5");
    sample_fill(&run, SAMPLE_T);
    run.state.step = 17;
    assert_put_refused(
        &run, "archive: found a state of 3 seeds at step 17, allowed 3 seeds at step 4000, as in the last row");
    sample_fill(&run, SAMPLE_T);
    run.state.seeds = 2;
    assert_put_refused(
        &run, "archive: found a state of 2 seeds at step 4000, allowed 3 seeds at step 4000, as in the last row");

    sample_fill(&run, SAMPLE_T);
    hspec_error err = {0};
    hspec_archive *archive = sample_archive(&run);
    assert_int_equal(hspec_archive_sgd_put(archive, &run.trajectory, &run.loss[0][0], &run.state, &err), HSPEC_EARG);
    assert_string_equal(err.message, "archive: found a run in /sgd, allowed an archive without one");
    hspec_archive_free(archive);
}

/* Contradictions inside a file that is well formed. */
static void assert_get_refused(hspec_archive *archive, const char *message)
{
    hspec_error err = {0};
    hspec_archive_sgd sgd = {.planned_rows = 99};
    assert_int_equal(hspec_archive_sgd_get(archive, &sgd, &err), HSPEC_EIO);
    assert_string_equal(err.message, message);
    assert_int_equal(sgd.planned_rows, 99);
    hspec_archive_free(archive);
}

static void test_get_refused(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, SAMPLE_T);
    void *data;
    hspec_archive *archive = empty_archive();
    assert_get_refused(archive,
                       "/sgd: found no attribute \"complete\", allowed a uint64: 1 when the run went to its end and "
                       "every loss is there, else 0");
    archive = sample_archive(&run);
    assert_int_equal(hspec_archive_set_text(archive, "/sgd", "planned_rows", "5", NULL), HSPEC_OK);
    assert_get_refused(archive,
                       "/sgd: found a wrong type of attribute \"planned_rows\", allowed a uint64: rows of the whole "
                       "run; an incomplete one may hold fewer");
    archive = sample_archive(&run);
    assert_int_equal(hspec_archive_set_integer(archive, "/sgd", "planned_rows", 4, NULL), HSPEC_OK);
    assert_get_refused(archive,
                       "/sgd: found complete = 1 with 5 of 4 planned rows, allowed 1 with all of them, else 0");
    archive = sample_archive(&run);
    assert_int_equal(hspec_archive_set_integer(archive, "/sgd", "planned_rows", 6, NULL), HSPEC_OK);
    assert_get_refused(archive,
                       "/sgd: found complete = 1 with 5 of 6 planned rows, allowed 1 with all of them, else 0");
    archive = sample_archive(&run);
    assert_int_equal(hspec_archive_set_integer(archive, "/sgd", "complete", 2, NULL), HSPEC_OK);
    assert_get_refused(archive,
                       "/sgd: found complete = 2 with 5 of 5 planned rows, allowed 1 with all of them, else 0");
    archive = sample_archive(&run);
    assert_int_equal(hspec_archive_set_integer(archive, "/sgd/state", "step", 3999, NULL), HSPEC_OK);
    assert_get_refused(archive, "/sgd/state: found step 3999, allowed 4000, as in the last row of /sgd/step");
    archive = sample_archive(&run);
    assert_int_equal(hspec_archive_make(archive, "/sgd/state/values", (size_t[]){2, 7}, &data, NULL), HSPEC_OK);
    assert_get_refused(archive, "/sgd/state/values: found 2 seeds, allowed 3, as in /sgd/alignment");
    archive = sample_archive(&run);
    assert_int_equal(hspec_archive_make(archive, "/sgd/residual", (size_t[]){3, 5, 2, 4}, &data, NULL), HSPEC_OK);
    assert_get_refused(archive, "/sgd/residual: found 4 along \"other_head\", allowed 2, as along \"head\"");

    archive = empty_archive();
    assert_int_equal(hspec_archive_set_integer(archive, "/sgd", "complete", 1, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_integer(archive, "/sgd", "planned_rows", 5, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_lend(archive, "/sgd/time", (size_t[]){5}, run.time, NULL), HSPEC_OK);
    assert_get_refused(archive, "/sgd/step: the dataset is missing (time; steps of SGD done at each row)");
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(FILE_NAME);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),      cmocka_unit_test(test_partial),     cmocka_unit_test(test_without_a_loss),
        cmocka_unit_test(test_without_state), cmocka_unit_test(test_put_refused), cmocka_unit_test(test_get_refused),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
