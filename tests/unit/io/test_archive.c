/* SPDX-License-Identifier: MIT
 * Archives in memory, to bytes, and back. */
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
#include "io/archive.h"
#include "unit/io/archive_sample.h"

#define FILE_NAME "test_archive.h5"

static void assert_same(const hspec_archive *a, const hspec_archive *b)
{
    assert_int_equal(a->group_count, b->group_count);
    for (size_t i = 0; i < a->group_count; i++) {
        const hspec_archive_group *group = &a->groups[i], *other = hspec_archive_group_find(b, group->path);
        assert_non_null(other);
        assert_int_equal(group->count, other->count);
        for (size_t k = 0; k < group->count; k++) {
            const hspec_archive_attribute *x = &group->attributes[k],
                                          *y = hspec_archive_attribute_find(b, group->path, x->name);
            assert_non_null(y);
            assert_int_equal(x->kind, y->kind);
            assert_true(x->number == y->number);
            assert_true(x->integer == y->integer);
            if (x->text) {
                assert_string_equal(x->text, y->text);
            }
        }
    }
    assert_int_equal(a->dataset_count, b->dataset_count);
    for (size_t i = 0; i < a->dataset_count; i++) {
        const hspec_archive_dataset *x = &a->datasets[i], *y = hspec_archive_find(b, x->path);
        assert_non_null(y);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->rank, y->rank);
        assert_memory_equal(x->dims, y->dims, x->rank * sizeof *x->dims);
        assert_int_equal(x->count, y->count);
        assert_string_equal(x->dimensions, y->dimensions);
        assert_string_equal(x->unit, y->unit);
        assert_string_equal(x->sentence, y->sentence);
        assert_memory_equal(x->data, y->data, x->count * 8);
    }
}

static void test_written_and_read(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, SAMPLE_T);
    hspec_archive *archive = sample_archive(&run), *back = NULL;
    assert_int_equal(hspec_archive_set_number(archive, "/sgd", "third", 1.0 / 3, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_integer(archive, "/", "many", UINT64_MAX, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_text(archive, "/empty/group", "nothing", "", NULL), HSPEC_OK);
    hspec_error err = {0};
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, &err), HSPEC_OK);
    hspec_status status = hspec_archive_read(FILE_NAME, NULL, &back, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, HSPEC_OK);
    assert_same(archive, back);
    assert_null(back->foreign);
    hspec_archive_free(archive);
    hspec_archive_free(back);
    hspec_archive_free(NULL);
}

/* Nothing in the bytes depends on the clock, on memory that happened to be there, or on what was written before. */
static void test_equal_bytes(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, SAMPLE_T);
    hspec_archive *archive = sample_archive(&run);
    void *bytes[2];
    size_t size[2];
    assert_int_equal(hspec_archive_image(archive, &bytes[0], &size[0], NULL), HSPEC_OK);
    hspec_archive_free(archive);
    sleep(1);
    void *dirt = malloc(1 << 20);
    assert_non_null(dirt);
    memset(dirt, 0x5a, 1 << 20);
    free(dirt);
    sample other;
    sample_fill(&other, SAMPLE_T);
    archive = sample_archive(&other);
    assert_int_equal(hspec_archive_image(archive, &bytes[1], &size[1], NULL), HSPEC_OK);
    hspec_archive_free(archive);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);

    /* what is read and written again is the same too */
    hspec_archive *back = NULL;
    sample_write(FILE_NAME, SAMPLE_T);
    assert_int_equal(hspec_archive_read(FILE_NAME, NULL, &back, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_write(back, FILE_NAME ".again", NULL), HSPEC_OK);
    hspec_archive *again = NULL;
    assert_int_equal(hspec_archive_read(FILE_NAME ".again", NULL, &again, NULL), HSPEC_OK);
    assert_same(back, again);
    hspec_archive_free(back);
    hspec_archive_free(again);
    assert_int_equal(unlink(FILE_NAME ".again"), 0);
}

/* The table knows all that is written, and all that the table knows is written. */
static void test_table_is_whole(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, SAMPLE_T);
    hspec_archive *archive = sample_archive_theory(&run);
    for (size_t i = 0; i < archive->group_count; i++) {
        for (size_t k = 0; k < archive->groups[i].count; k++) {
            const hspec_archive_attribute *attribute = &archive->groups[i].attributes[k];
            const hspec_archive_note *note = hspec_archive_table_note(archive->groups[i].path, attribute->name);
            assert_non_null(note);
            assert_int_equal(note->kind, attribute->kind);
        }
    }
    for (size_t i = 0; i < hspec_archive_notes_count; i++) {
        const hspec_archive_note *note = &hspec_archive_notes[i];
        assert_non_null(hspec_archive_attribute_find(archive, note->group, note->name));
        assert_true(strlen(note->sentence) > 10);
    }
    for (size_t i = 0; i < archive->dataset_count; i++) {
        assert_non_null(hspec_archive_table_row(archive->datasets[i].path));
    }
    for (size_t i = 0; i < hspec_archive_rows_count; i++) {
        const hspec_archive_row *row = &hspec_archive_rows[i];
        const hspec_archive_dataset *dataset = hspec_archive_find(archive, row->path);
        assert_non_null(dataset);
        size_t commas = 0;
        for (const char *c = row->dimensions; *c; c++) {
            commas += *c == ',';
        }
        assert_int_equal(commas + 1, row->rank);
        assert_int_equal(dataset->rank, row->rank);
        assert_true(strlen(row->sentence) > 10 && row->unit[0]);
    }
    hspec_archive_free(archive);
}

static void test_origin(void **state)
{
    (void)state;
    sample_write(FILE_NAME, SAMPLE_T);
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_read(FILE_NAME, NULL, &archive, NULL), HSPEC_OK);
    assert_string_equal(hspec_archive_text(archive, "/", "headspec_version"), HSPEC_VERSION);
    assert_string_equal(hspec_archive_text(archive, "/", "created"), SAMPLE_CREATED);
    assert_string_equal(hspec_archive_text(archive, "/", "command"), SAMPLE_COMMAND);
    assert_string_equal(hspec_archive_text(archive, "/", "config"), sample_config);
    assert_string_equal(hspec_archive_text(archive, "/", "dispatch"), hspec_cpu_name());
    assert_non_null(hspec_archive_text(archive, "/", "build"));
    assert_null(hspec_archive_text(archive, "/", "format"));
    assert_null(hspec_archive_text(archive, "/", "nothing"));
    assert_null(hspec_archive_text(archive, "/none", "config"));
    hspec_archive_free(archive);
}

static void test_only(void **state)
{
    (void)state;
    sample_write(FILE_NAME, SAMPLE_T);
    hspec_archive *archive = NULL;
    static const char *const only[] = {"/sgd/time", "/sgd/loss", NULL};
    assert_int_equal(hspec_archive_read(FILE_NAME, only, &archive, NULL), HSPEC_OK);
    assert_non_null(hspec_archive_find(archive, "/sgd/time")->data);
    assert_non_null(hspec_archive_find(archive, "/sgd/loss")->data);
    assert_null(hspec_archive_find(archive, "/sgd/alignment")->data);
    assert_int_equal(hspec_archive_find(archive, "/sgd/alignment")->count, SAMPLE_S * SAMPLE_T * SAMPLE_H * SAMPLE_F);
    hspec_error err = {0};
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "its numbers were not read, and would be lost"));
    hspec_archive_free(archive);
}

static void test_replaced(void **state)
{
    (void)state;
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_create(&archive, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_text(archive, "/sgd", "complete", "perhaps", NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_set_integer(archive, "/sgd", "complete", 7, NULL), HSPEC_OK);
    assert_int_equal(archive->groups[1].count, 1);
    assert_null(hspec_archive_text(archive, "/sgd", "complete"));
    assert_int_equal(hspec_archive_attribute_find(archive, "/sgd", "complete")->integer, 7);
    void *data = NULL;
    assert_int_equal(hspec_archive_make(archive, "/sgd/time", (size_t[]){4}, &data, NULL), HSPEC_OK);
    assert_true(((double *)data)[3] == 0);
    const double time[2] = {0, 1};
    assert_int_equal(hspec_archive_lend(archive, "/sgd/time", (size_t[]){2}, time, NULL), HSPEC_OK);
    assert_int_equal(archive->dataset_count, 1);
    assert_ptr_equal(hspec_archive_find(archive, "/sgd/time")->data, time);
    assert_int_equal(hspec_archive_length(hspec_archive_find(archive, "/sgd/time"), "time"), 2);
    assert_int_equal(hspec_archive_length(hspec_archive_find(archive, "/sgd/time"), "tim"), 0);
    hspec_archive_free(archive);
}

static void test_refused(void **state)
{
    (void)state;
    hspec_archive *archive = NULL;
    hspec_error err = {0};
    void *data = NULL;
    assert_int_equal(hspec_archive_create(&archive, NULL), HSPEC_OK);
    assert_int_equal(hspec_archive_make(archive, "/sgd/tim", (size_t[]){4}, &data, &err), HSPEC_EARG);
    assert_string_equal(err.message, "archive: found the dataset \"/sgd/tim\", allowed the rows of archive_table.c");
    assert_int_equal(hspec_archive_make(archive, "/sgd/loss", (size_t[]){4, 0}, &data, &err), HSPEC_EARG);
    assert_string_equal(err.message,
                        "/sgd/loss: found the shape 4 x 0, allowed lengths of at least 1 that fit into memory");
    assert_int_equal(hspec_archive_make(archive, "/sgd/loss", (size_t[]){SIZE_MAX / 4, 8}, &data, &err), HSPEC_EARG);
    assert_null(data);
    assert_null(hspec_archive_find(archive, "/sgd/loss"));
    hspec_archive_free(archive);
}

static void assert_check(sample *run, hspec_status expected, const char *message)
{
    hspec_error err = {0};
    hspec_archive *archive = sample_archive(run);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME ".never", &err), expected);
    char whole[512];
    (void)snprintf(whole, sizeof whole, FILE_NAME ".never: %s", message);
    assert_string_equal(err.message, whole);
    assert_int_equal(access(FILE_NAME ".never", F_OK), -1);
    hspec_archive_free(archive);
}

static void test_numbers_are_checked_before_writing(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, SAMPLE_T);
    run.alignment[2][4][1][0] = NAN;
    assert_check(&run, HSPEC_ENONFINITE, "/sgd/alignment[2,4,1,0]: found nan, allowed numbers that are finite");
    sample_fill(&run, SAMPLE_T);
    run.loss[1][3] = -0.5;
    assert_check(&run, HSPEC_ENONFINITE, "/sgd/loss[1,3]: found -0.5, allowed numbers that are >= 0, or NaN");
    sample_fill(&run, SAMPLE_T);
    run.time[2] = run.time[1];
    assert_check(&run, HSPEC_ENONFINITE,
                 "/sgd/time[2]: found 1.1000000000000001, allowed numbers that are >= 0, increasing");
    sample_fill(&run, SAMPLE_T);
    run.step[2] = 5;
    assert_check(&run, HSPEC_ENONFINITE, "/sgd/step[2]: found 5, allowed numbers that are >= 0, increasing");
    sample_fill(&run, SAMPLE_T);
    run.values[0][10] = -INFINITY;
    assert_check(&run, HSPEC_ENONFINITE, "/sgd/state/values[0,10]: found -inf, allowed numbers that are finite");
}

static void test_lengths_agree(void **state)
{
    (void)state;
    sample run;
    sample_fill(&run, SAMPLE_T);
    hspec_archive *archive = sample_archive(&run);
    hspec_error err = {0};
    void *data = NULL;
    assert_int_equal(hspec_archive_make(archive, "/sgd/loss", (size_t[]){SAMPLE_S, SAMPLE_T + 1}, &data, NULL),
                     HSPEC_OK);
    assert_int_equal(hspec_archive_check(archive, &err), HSPEC_EARG);
    assert_string_equal(err.message, "/sgd/loss: found 6 along \"time\", allowed 5, as in /sgd/time");
    hspec_archive_free(archive);
}

/* The old file stays when the new one cannot be written. */
static void test_failure_keeps_the_old_file(void **state)
{
    (void)state;
    sample run;
    sample_write(FILE_NAME, SAMPLE_T);
    sample_fill(&run, SAMPLE_T);
    run.scale[0][0] = NAN;
    hspec_archive *archive = sample_archive(&run);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, NULL), HSPEC_ENONFINITE);
    run.scale[0][0] = 1;
    hspec_error err = {0};
    assert_int_equal(hspec_archive_write(archive, "no/such/folder.h5", &err), HSPEC_EIO);
    assert_string_equal(err.message,
                        "no/such/folder.h5: no file could be made in its folder: No such file or directory");
    hspec_archive_free(archive);
    hspec_archive *back = NULL;
    assert_int_equal(hspec_archive_read(FILE_NAME, NULL, &back, NULL), HSPEC_OK);
    hspec_archive_free(back);
}

/* ---- docs/archive.md ---- */

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    hspec_text text = {0};
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) {
        hspec_text_append(&text, part, n);
    }
    assert_int_equal(fclose(file), 0);
    return hspec_text_take(&text);
}

/* HEADSPEC_WRITE_DOCS=1 build/tests/test_archive writes the generated part anew. */
static void test_docs_are_fresh(void **state)
{
    (void)state;
    const char *path = HEADSPEC_SOURCE_DIR "/docs/archive.md";
    const char *begin = "<!-- generated from src/io/archive_table.c: begin -->\n";
    const char *end = "<!-- generated: end -->\n";
    char *page = read_whole(path);
    assert_non_null(page);
    char *from = strstr(page, begin), *to = strstr(page, end);
    assert_true(from && to && from < to);
    from += strlen(begin);
    hspec_text text = {0};
    hspec_archive_table_markdown(&text);
    char *table = hspec_text_take(&text);
    assert_non_null(table);
    if (getenv("HEADSPEC_WRITE_DOCS")) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_true(fprintf(file, "%.*s%s%s", (int)(from - page), page, table, to) > 0);
        assert_int_equal(fclose(file), 0);
    } else {
        *to = '\0';
        assert_string_equal(from, table);
    }
    free(table);
    free(page);
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
        cmocka_unit_test(test_written_and_read),
        cmocka_unit_test(test_equal_bytes),
        cmocka_unit_test(test_table_is_whole),
        cmocka_unit_test(test_origin),
        cmocka_unit_test(test_only),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_numbers_are_checked_before_writing),
        cmocka_unit_test(test_lengths_agree),
        cmocka_unit_test(test_failure_keeps_the_old_file),
        cmocka_unit_test(test_docs_are_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
