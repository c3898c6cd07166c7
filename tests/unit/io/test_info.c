/* SPDX-License-Identifier: MIT
 * What `headspec info` says of an archive, to people, to programs and as CSV. */
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

#include "cli/csv.h"
#include "cli/info.h"
#include "headspec.h"
#include "io/text.h"
#include "unit/io/archive_sample.h"

#define FILE_NAME "test_info.h5"

static sample run;

static char *content(FILE *file)
{
    assert_int_equal(fflush(file), 0);
    rewind(file);
    hspec_text text = {0};
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) {
        hspec_text_append(&text, part, n);
    }
    assert_int_equal(fclose(file), 0);
    return hspec_text_take(&text);
}

static char *csv(const char *name)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    hspec_error err = {0};
    hspec_status status = hspec_csv_print(FILE_NAME, name, file, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, HSPEC_OK);
    return content(file);
}

/* The n-th line, from 0, without its end. */
static const char *line(const char *text, size_t n)
{
    static char buffer[1024];
    while (n-- > 0) {
        text = strchr(text, '\n');
        assert_non_null(text);
        text++;
    }
    size_t length = strcspn(text, "\n");
    assert_true(length < sizeof buffer);
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    return buffer;
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++) {
        n += *text == '\n';
    }
    return n;
}

/* Exactly n numbers with commas. */
static void read_numbers(const char *text, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *end = NULL;
        x[i] = strtod(text, &end);
        assert_ptr_not_equal(end, text);
        assert_int_equal(*end, i + 1 < n ? ',' : '\0');
        text = end + 1;
    }
}

static void test_csv_alignment(void **state)
{
    (void)state;
    char *text = csv("/sgd/alignment");
    assert_string_equal(line(text, 0),
                        "seed,time,alignment_head0_feature0,alignment_head0_feature1,alignment_head1_feature0,"
                        "alignment_head1_feature1");
    assert_int_equal(count_lines(text), 1 + SAMPLE_S * SAMPLE_T);
    for (size_t s = 0; s < SAMPLE_S; s++) {
        for (size_t t = 0; t < SAMPLE_T; t++) {
            double x[6];
            read_numbers(line(text, 1 + s * SAMPLE_T + t), x, 6);
            assert_true(x[0] == (double)(s + 1));
            assert_true(x[1] == run.time[t]);
            assert_memory_equal(x + 2, run.alignment[s][t], 4 * sizeof *x);
        }
    }
    char *same = csv("sgd/alignment");
    assert_string_equal(text, same);
    free(same);
    free(text);
}

static void test_csv_others(void **state)
{
    (void)state;
    char *text = csv("/sgd/loss");
    assert_string_equal(line(text, 0), "seed,time,loss");
    assert_int_equal(count_lines(text), 1 + SAMPLE_S * SAMPLE_T);
    assert_string_equal(line(text, 1), "1,0,0.58333333333333326");
    assert_string_equal(line(text, 2), "1,1.1000000000000001,0.5");
    free(text);
    text = csv("/sgd/residual");
    assert_string_equal(line(text, 0), "seed,time,residual_head0_other_head0,residual_head0_other_head1,"
                                       "residual_head1_other_head0,residual_head1_other_head1");
    free(text);
    text = csv("/sgd/time");
    assert_string_equal(text, "row,time\n0,0\n1,1.1000000000000001\n2,2.1000000000000001\n3,3.1000000000000001\n"
                              "4,4.0999999999999996\n");
    free(text);
    text = csv("/sgd/step");
    assert_string_equal(text, "time,step\n0,0\n1.1000000000000001,1000\n2.1000000000000001,2000\n"
                              "3.1000000000000001,3000\n4.0999999999999996,4000\n");
    free(text);
    text = csv("/sgd/state/values");
    assert_int_equal(count_lines(text), 1 + SAMPLE_S);
    assert_int_equal(strncmp(text, "seed,values_value0,values_value1,", 33), 0);
    free(text);
}

static void test_csv_refused(void **state)
{
    (void)state;
    hspec_error err = {0};
    assert_int_equal(hspec_csv_print(FILE_NAME, "/sgd/aligment", stdout, &err), HSPEC_EARG);
    assert_string_equal(err.message, FILE_NAME ": --csv: found '/sgd/aligment', allowed: /sgd/alignment, /sgd/bias, "
                                               "/sgd/loss, /sgd/residual, /sgd/scale, /sgd/state/values, /sgd/step, "
                                               "/sgd/time");
    assert_int_equal(hspec_csv_print("none.h5", "/sgd/alignment", stdout, &err), HSPEC_EIO);
    assert_string_equal(err.message, "none.h5: could not be opened: No such file or directory");
}

static char *text_of(hspec_status expected)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    hspec_info info;
    hspec_error err = {0};
    assert_int_equal(hspec_info_read(FILE_NAME, &info, &err), expected);
    if (expected == HSPEC_OK) {
        hspec_info_print(&info, file);
    }
    hspec_info_release(&info);
    return content(file);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        (void)fprintf(stderr, "%s", text);
        fail_msg("\"%s\" is not in the text above", part);
    }
}

static void test_text(void **state)
{
    (void)state;
    char *text = text_of(HSPEC_OK);
    assert_has(text, FILE_NAME "\nversion  headspec " HSPEC_VERSION ", ");
    assert_has(text, "\ncreated  " SAMPLE_CREATED "\ncommand  " SAMPLE_COMMAND "\n\nExperiment\n");
    assert_has(text, "\n  task.tokens              5\n");
    assert_has(text, "\n  layer.activation         softmax  (default)\n");
    assert_has(text, "\n  set but not used: layer.bias\n");
    assert_has(text, "\n  /sgd/alignment     float64  3 x 5 x 2 x 2  (seed,time,head,feature)  unit 1\n"
                     "      m_hf = k_h . k*_f / D, how far head h has learned feature f\n");
    assert_has(text, "\nTraining: 5 of 5 rows (complete), up to t = 4.1, 4000 steps\n"
                     "  seed  loss    alignment of each head with (feature 0, 1, ...)\n");
    char row[200];
    (void)snprintf(row, sizeof row, "\n     3  %.4f  (%.4f, %.4f)  (%.4f, %.4f)\n", run.loss[2][4],
                   run.alignment[2][4][0][0], run.alignment[2][4][0][1], run.alignment[2][4][1][0],
                   run.alignment[2][4][1][1]);
    assert_has(text, row);
    assert_null(strstr(text, "more seeds"));
    assert_null(strstr(text, "foreign"));
    free(text);
}

static void test_json(void **state)
{
    (void)state;
    hspec_info info;
    assert_int_equal(hspec_info_read(FILE_NAME, &info, NULL), HSPEC_OK);
    cJSON *object = cJSON_CreateObject();
    assert_int_equal(hspec_info_json(&info, object, NULL), HSPEC_OK);
    hspec_info_release(&info);
    char *printed = cJSON_Print(object);
    cJSON_Delete(object);
    object = cJSON_Parse(printed);
    assert_non_null(object);
    cJSON_free(printed);
    assert_string_equal(cJSON_GetObjectItem(object, "file")->valuestring, FILE_NAME);
    assert_string_equal(cJSON_GetObjectItem(object, "headspec_version")->valuestring, HSPEC_VERSION);
    assert_string_equal(cJSON_GetObjectItem(object, "created")->valuestring, SAMPLE_CREATED);
    assert_string_equal(cJSON_GetObjectItem(object, "command")->valuestring, SAMPLE_COMMAND);
    assert_string_equal(cJSON_GetObjectItem(object, "config")->valuestring, sample_config);
    assert_int_equal(cJSON_GetObjectItem(object, "format")->valueint, HSPEC_ARCHIVE_FORMAT);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(object, "unused")), 1);
    assert_null(cJSON_GetObjectItem(object, "foreign"));
    const cJSON *datasets = cJSON_GetObjectItem(object, "datasets");
    assert_int_equal(cJSON_GetArraySize(datasets), 8);
    const cJSON *alignment = cJSON_GetArrayItem(datasets, 0);
    assert_string_equal(cJSON_GetObjectItem(alignment, "path")->valuestring, "/sgd/alignment");
    assert_string_equal(cJSON_GetObjectItem(alignment, "type")->valuestring, "float64");
    assert_int_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(alignment, "shape"), 1)->valueint, SAMPLE_T);
    assert_string_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(alignment, "dimensions"), 3)->valuestring, "feature");
    const cJSON *sgd = cJSON_GetObjectItem(object, "sgd");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(sgd, "complete")));
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(sgd, "state")));
    assert_int_equal(cJSON_GetObjectItem(sgd, "final_step")->valueint, 4000);
    assert_true(fabs(cJSON_GetArrayItem(cJSON_GetObjectItem(sgd, "final_loss"), 2)->valuedouble - run.loss[2][4]) <
                1e-15);
    const cJSON *m = cJSON_GetArrayItem(cJSON_GetObjectItem(sgd, "final_alignment"), 2);
    /* cJSON drops a digit when the rest is within 1 ulp */
    assert_true(fabs(cJSON_GetArrayItem(cJSON_GetArrayItem(m, 1), 0)->valuedouble - run.alignment[2][4][1][0]) < 1e-15);
    cJSON_Delete(object);
}

/* The theory beside a run, and without one. */
static void test_theory(void **state)
{
    (void)state;
    hspec_archive *archive = sample_archive_theory(&run);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, NULL), HSPEC_OK);
    hspec_archive_free(archive);
    char *text = text_of(HSPEC_OK);
    assert_has(text, "\nTraining: 5 of 5 rows (complete)");
    assert_has(text, "\nTheory: 5 rows, up to t = 4.1\n  headspec theory a.yaml\n  theory.limit             sgd\n"
                     "  theory.start.seed        1\n");
    assert_has(text, "\n  Bayes risk 0.1250 +- 1.0e-05\n  optimum    0.2500\n"
                     "  alignment of each head with (feature 0, 1, ...)  (");
    free(text);
    hspec_info info;
    assert_int_equal(hspec_info_read(FILE_NAME, &info, NULL), HSPEC_OK);
    cJSON *object = cJSON_CreateObject();
    assert_int_equal(hspec_info_json(&info, object, NULL), HSPEC_OK);
    hspec_info_release(&info);
    char *printed = cJSON_Print(object);
    cJSON_Delete(object);
    object = cJSON_Parse(printed);
    cJSON_free(printed);
    const cJSON *theory = cJSON_GetObjectItem(object, "theory");
    assert_string_equal(cJSON_GetObjectItem(theory, "config")->valuestring, sample_config);
    assert_string_equal(cJSON_GetObjectItem(theory, "created")->valuestring, "later");
    assert_int_equal(cJSON_GetObjectItem(theory, "rows")->valueint, SAMPLE_T);
    assert_true(cJSON_GetObjectItem(theory, "final_time")->valuedouble == run.time[4]);
    assert_true(fabs(cJSON_GetObjectItem(theory, "final_loss")->valuedouble - run.loss[0][4]) < 1e-15);
    assert_true(fabs(cJSON_GetObjectItem(theory, "final_loss_error")->valuedouble - run.loss[0][4]) < 1e-15);
    assert_true(cJSON_GetObjectItem(theory, "bayes_risk")->valuedouble == 0.125);
    assert_true(cJSON_GetObjectItem(theory, "optimum_loss")->valuedouble == 0.25);
    const cJSON *m = cJSON_GetObjectItem(theory, "final_alignment");
    assert_int_equal(cJSON_GetArraySize(m), SAMPLE_H);
    assert_true(fabs(cJSON_GetArrayItem(cJSON_GetArrayItem(m, 1), 0)->valuedouble - run.alignment[0][4][1][0]) < 1e-15);
    cJSON_Delete(object);

    /* alone; nothing but the trajectory was computed */
    run.theory.bayes_risk = run.theory.bayes_risk_error = run.theory.optimum_loss = NAN;
    assert_int_equal(hspec_archive_create(&archive, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_origin(archive, "", "", sample_config, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_theory_put(archive, &run.theory, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, NULL), HSPEC_OK);
    hspec_archive_free(archive);
    text = text_of(HSPEC_OK);
    assert_null(strstr(text, "Training:"));
    assert_null(strstr(text, "Bayes risk"));
    assert_null(strstr(text, "optimum"));
    assert_has(text, "\nTheory: 5 rows");
    free(text);
    assert_int_equal(hspec_info_read(FILE_NAME, &info, NULL), HSPEC_OK);
    object = cJSON_CreateObject();
    assert_int_equal(hspec_info_json(&info, object, NULL), HSPEC_OK);
    hspec_info_release(&info);
    assert_null(cJSON_GetObjectItem(object, "sgd"));
    assert_null(cJSON_GetObjectItem(cJSON_GetObjectItem(object, "theory"), "bayes_risk"));
    cJSON_Delete(object);
}

/* A run that was stopped, without a state, with an experiment of a later version and more seeds than are shown. */
static void test_unusual(void **state)
{
    (void)state;
    enum { MANY = 13 };
    static const uint64_t step[2] = {0, 7};
    static const double time[2] = {0, 0.5};
    static double numbers[MANY * 2 * 30 * 30];
    const hspec_trajectory t = {.seeds = MANY,
                                .rows = 2,
                                .done = 1,
                                .heads = 30,
                                .features = 1,
                                .step = step,
                                .time = time,
                                .alignment = numbers,
                                .residual = numbers,
                                .bias = numbers,
                                .scale = numbers};
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_create(&archive, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_origin(archive, "", "", "tasks: 1\n", NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_sgd_put(archive, &t, numbers, NULL, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, NULL), HSPEC_OK);
    hspec_archive_free(archive);
    char *text = text_of(HSPEC_OK);
    assert_has(text, "\n  this version of headspec cannot read it: " FILE_NAME);
    assert_has(text,
               "\nTraining: 1 of 2 rows (stopped before its end), up to t = 0, 0 steps\n  seed  loss    alignment of "
               "each head\n     1  0.0000  0.0000  0.0000");
    assert_has(text, "  0.0000  ...\n    12  0.0000  ");
    assert_has(text, "  and 1 more seeds: --csv /sgd/alignment, --csv /sgd/loss\n");
    free(text);
    hspec_info info;
    assert_int_equal(hspec_info_read(FILE_NAME, &info, NULL), HSPEC_OK);
    cJSON *object = cJSON_CreateObject();
    assert_int_equal(hspec_info_json(&info, object, NULL), HSPEC_OK);
    hspec_info_release(&info);
    assert_non_null(cJSON_GetObjectItem(object, "config_refused"));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(cJSON_GetObjectItem(object, "sgd"), "state")));
    cJSON_Delete(object);
}

static void test_no_run(void **state)
{
    (void)state;
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_create(&archive, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_origin(archive, SAMPLE_CREATED, SAMPLE_COMMAND, sample_config, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, NULL), HSPEC_OK);
    char *text = text_of(HSPEC_OK);
    assert_null(strstr(text, "Training:"));
    free(text);
    hspec_error err = {0};
    assert_int_equal(hspec_csv_print(FILE_NAME, "x", stdout, &err), HSPEC_EARG);
    assert_string_equal(err.message, FILE_NAME ": --csv: found 'x', allowed: nothing, there are no datasets");
    /* half a run is none */
    assert_int_equal(hspec_archive_set_integer(archive, "/sgd", "complete", 1, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, NULL), HSPEC_OK);
    hspec_archive_free(archive);
    free(text_of(HSPEC_EIO));
}

static int setup(void **state)
{
    (void)state;
    sample_fill(&run, SAMPLE_T);
    sample_write(FILE_NAME, SAMPLE_T);
    return 0;
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
        cmocka_unit_test_setup_teardown(test_csv_alignment, setup, teardown),
        cmocka_unit_test_setup_teardown(test_csv_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_csv_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_json, setup, teardown),
        cmocka_unit_test_setup_teardown(test_theory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unusual, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_run, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
