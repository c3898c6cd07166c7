/* SPDX-License-Identifier: MIT
 * Trajectories of the theory in archives. */
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
#include "io/archive_theory.h"
#include "unit/io/archive_sample.h"

#define FILE_NAME "test_archive_theory.h5"

static sample run;

static hspec_archive *write_and_read(hspec_archive *archive)
{
    hspec_error err = {0};
    hspec_archive *back = NULL;
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, &err), HSPEC_OK);
    hspec_archive_free(archive);
    assert_int_equal(hspec_archive_read(FILE_NAME, NULL, &back, &err), HSPEC_OK);
    assert_string_equal(err.message, "");
    return back;
}

static void assert_is_sample(const hspec_archive *archive)
{
    hspec_archive_theory found;
    hspec_error err = {0};
    assert_true(hspec_archive_theory_present(archive));
    assert_int_equal(hspec_archive_theory_get(archive, &found, &err), HSPEC_OK);
    const hspec_theory_trajectory *t = &found.trajectory;
    assert_int_equal(t->rows, SAMPLE_T);
    assert_int_equal(t->done, SAMPLE_T);
    assert_int_equal(t->heads, SAMPLE_H);
    assert_int_equal(t->features, SAMPLE_F);
    assert_null(t->step);
    assert_memory_equal(t->time, run.time, sizeof run.time);
    assert_memory_equal(t->alignment, run.alignment[0], sizeof run.alignment[0]);
    assert_memory_equal(t->residual, run.residual[0], sizeof run.residual[0]);
    assert_memory_equal(t->loss, run.loss[0], sizeof run.loss[0]);
    assert_memory_equal(t->loss_error, run.loss[0], sizeof run.loss[0]);
    assert_memory_equal(t->bias, run.bias[0], sizeof run.bias[0]);
    assert_memory_equal(t->scale, run.scale[0], sizeof run.scale[0]);
    assert_string_equal(found.created, "later");
    assert_string_equal(found.command, "headspec theory a.yaml");
    assert_string_equal(found.config, sample_config);
    assert_string_equal(hspec_archive_text(archive, "/theory", "headspec_version"), HSPEC_VERSION);
    assert_string_equal(hspec_archive_text(archive, "/theory", "dispatch"), hspec_cpu_name());
    assert_null(hspec_archive_attribute_find(archive, "/theory", "format"));
    assert_true(found.bayes_risk == 0.125 && found.bayes_risk_error == 1e-5 && found.optimum_loss == 0.25);
}

static void test_written_and_read(void **state)
{
    (void)state;
    sample_fill(&run, SAMPLE_T);
    hspec_archive *archive = write_and_read(sample_archive_theory(&run));
    assert_is_sample(archive);
    assert_true(hspec_archive_sgd_present(archive));
    hspec_archive_free(archive);
}

/* Another theory takes the place of the first; the run, its state and what others have added stay. */
static void test_replaced(void **state)
{
    (void)state;
    sample_fill(&run, SAMPLE_T);
    static double fewer[3 * 3 * 3];
    static const double time[3] = {0, 1, 2};
    hspec_archive_theory other = {.created = "first", .command = "first", .config = "first"};
    other.bayes_risk = other.bayes_risk_error = other.optimum_loss = 0.75;
    other.trajectory = (hspec_theory_trajectory){.rows = 3, .done = 3, .heads = 3, .features = 1, .time = time};
    other.trajectory.alignment = other.trajectory.residual = other.trajectory.bias = fewer;
    other.trajectory.loss = other.trajectory.loss_error = other.trajectory.scale = fewer;

    hspec_archive *plain = write_and_read(sample_archive(&run));
    hspec_archive *archive = sample_archive(&run);
    assert_int_equal(hspec_archive_theory_put(archive, &other, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_text(archive, "/theory", "mine", "kept", NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_text(archive, "/theory/below", "config", "kept, too", NULL), HSPEC_OK);
    archive = write_and_read(archive);
    run.theory.optimum_loss = NAN; /* the one that was there goes */
    assert_int_equal(hspec_archive_theory_put(archive, &run.theory, NULL), HSPEC_OK);
    archive = write_and_read(archive);
    assert_null(hspec_archive_attribute_find(archive, "/theory", "optimum_loss"));
    assert_int_equal(hspec_archive_set_number(archive, "/theory", "optimum_loss", 0.25, NULL), HSPEC_OK);
    assert_is_sample(archive);
    assert_string_equal(hspec_archive_text(archive, "/theory", "mine"), "kept");
    assert_string_equal(hspec_archive_text(archive, "/theory/below", "config"), "kept, too");

    /* without it, all is as if it had never been there */
    hspec_archive_clear(archive, "/theory");
    hspec_archive_clear(archive, "/nothing");
    assert_false(hspec_archive_theory_present(archive));
    assert_string_equal(hspec_archive_text(archive, "/theory", "mine"), "kept");
    assert_int_equal(archive->dataset_count, plain->dataset_count);
    for (size_t i = 0; i < plain->dataset_count; i++) {
        const hspec_archive_dataset *found = hspec_archive_find(archive, plain->datasets[i].path);
        assert_non_null(found);
        assert_int_equal(found->count, plain->datasets[i].count);
        assert_memory_equal(found->data, plain->datasets[i].data, found->count * 8);
    }
    hspec_archive_free(archive);
    /* what stands in a group below is not of the group */
    hspec_archive_clear(plain, "/sgd");
    assert_null(hspec_archive_find(plain, "/sgd/time"));
    assert_non_null(hspec_archive_find(plain, "/sgd/state/values"));
    hspec_archive_free(plain);
}

static void test_put_refused(void **state)
{
    (void)state;
    hspec_error err = {0};
    sample_fill(&run, SAMPLE_T - 1);
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_create(&archive, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_theory_put(archive, &run.theory, &err), HSPEC_EARG);
    assert_string_equal(err.message, "archive: found 4 of 5 rows of the theory, allowed all of them");
    assert_false(hspec_archive_theory_present(archive));
    hspec_archive_free(archive);
}

/* Contradictions inside a file that is well formed. */
static void assert_get_refused(hspec_archive *archive, const char *message)
{
    hspec_error err = {0};
    hspec_archive_theory theory = {.bayes_risk = 99};
    assert_int_equal(hspec_archive_theory_get(archive, &theory, &err), HSPEC_EIO);
    assert_string_equal(err.message, message);
    assert_true(theory.bayes_risk == 99);
    hspec_archive_free(archive);
}

static void test_get_refused(void **state)
{
    (void)state;
    void *data;
    sample_fill(&run, SAMPLE_T);
    hspec_archive *archive = sample_archive_theory(&run);
    assert_int_equal(hspec_archive_set_integer(archive, "/theory", "config", 1, NULL), HSPEC_OK);
    assert_get_refused(archive,
                       "/theory: found no text \"config\", allowed: the experiment of the theory in YAML, after "
                       "--set");
    archive = sample_archive_theory(&run);
    assert_int_equal(hspec_archive_set_text(archive, "/theory", "bayes_risk", "0.1", NULL), HSPEC_OK);
    assert_get_refused(archive,
                       "/theory: found the attribute \"bayes_risk\" of a wrong type, allowed a finite float64");
    archive = sample_archive_theory(&run);
    assert_int_equal(hspec_archive_set_number(archive, "/theory", "optimum_loss", INFINITY, NULL), HSPEC_OK);
    assert_get_refused(archive, "/theory: found the attribute \"optimum_loss\" not finite, allowed a finite float64");
    archive = sample_archive_theory(&run);
    assert_int_equal(hspec_archive_make(archive, "/theory/residual", (size_t[]){5, 2, 4}, &data, NULL), HSPEC_OK);
    assert_get_refused(archive, "/theory/residual: found 4 along \"other_head\", allowed 2, as along \"head\"");
    archive = sample_archive(&run);
    assert_int_equal(hspec_archive_set_group_origin(archive, "/theory", "created", "command", sample_config, NULL),
                     HSPEC_OK);
    assert_get_refused(archive, "/theory/time: the dataset is missing (time; time of each row; row 0 is the start)");
}

/* Lengths and numbers are checked when an archive is written, as everywhere. */
static void test_checked(void **state)
{
    (void)state;
    hspec_error err = {0};
    sample_fill(&run, SAMPLE_T);
    run.theory.trajectory.loss_error = &run.alignment[0][0][0][0]; /* negative */
    hspec_archive *archive = sample_archive_theory(&run);
    run.alignment[0][1][0][0] = -1;
    assert_int_equal(hspec_archive_check(archive, &err), HSPEC_ENONFINITE);
    assert_string_equal(err.message, "/theory/loss_error[4]: found -1, allowed numbers that are >= 0");
    hspec_archive_free(archive);
    sample_fill(&run, SAMPLE_T);
    archive = sample_archive_theory(&run);
    void *data;
    assert_int_equal(hspec_archive_make(archive, "/theory/loss", (size_t[]){4}, &data, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_check(archive, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "along \"time\""));
    hspec_archive_free(archive);
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
        cmocka_unit_test(test_written_and_read), cmocka_unit_test(test_replaced), cmocka_unit_test(test_put_refused),
        cmocka_unit_test(test_get_refused),      cmocka_unit_test(test_checked),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
