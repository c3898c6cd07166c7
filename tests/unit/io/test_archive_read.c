/* SPDX-License-Identifier: MIT
 * Files that are no archives, or damaged ones: each is named, none is believed. */
#include <hdf5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "headspec.h"
#include "io/archive.h"
#include "unit/io/archive_sample.h"

#define FILE_NAME "test_archive_read.h5"

static void write_bytes(const void *bytes, size_t size)
{
    FILE *file = fopen(FILE_NAME, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* `part` must stand in the message, which begins with the name of the file. */
static void assert_unreadable(const char *path, const char *part)
{
    hspec_error err = {0};
    hspec_archive *archive = NULL;
    assert_int_equal(hspec_archive_read(path, NULL, &archive, &err), HSPEC_EIO);
    assert_int_equal(err.status, HSPEC_EIO);
    assert_null(archive);
    char whole[2300];
    (void)snprintf(whole, sizeof whole, "%s: %s", path, part);
    if (strncmp(err.message, whole, strlen(whole)) != 0) {
        fail_msg("found \"%s\", expected \"%s\"", err.message, whole);
    }
    assert_int_equal(hspec_archive_read(path, NULL, &archive, NULL), HSPEC_EIO);
}

static void test_other_files(void **state)
{
    (void)state;
    assert_unreadable("no/such/file.h5", "could not be opened: No such file or directory");
    assert_unreadable(".", "found a folder, allowed an archive of headspec");
    assert_unreadable("/dev/null", "found a device or pipe, allowed an archive of headspec");
    write_bytes("", 0);
    assert_unreadable(FILE_NAME, "the file is empty");
    write_bytes("task:\n  tokens: 5\n", 18);
    assert_unreadable(FILE_NAME, "found a file that starts with \"task:\", allowed an archive of headspec (HDF5)");
    write_bytes("\x7f\x45LF", 4);
    assert_unreadable(FILE_NAME, "found a file that is not HDF5, allowed an archive of headspec (HDF5)");
    write_bytes("\x89HDF\r\n", 6);
    assert_unreadable(FILE_NAME, "found a file that is not HDF5, allowed an archive of headspec (HDF5)");
    write_bytes("\x89HDF\r\n\x1a\n", 8);
    assert_unreadable(FILE_NAME, "the file is cut off: found 8 bytes, it was written with at least 48");
}

static void *sample_image(size_t *size)
{
    sample run;
    sample_fill(&run, SAMPLE_T);
    hspec_archive *archive = sample_archive(&run);
    void *bytes = NULL;
    assert_int_equal(hspec_archive_image(archive, &bytes, size, NULL), HSPEC_OK);
    hspec_archive_free(archive);
    return bytes;
}

static void test_cut_off(void **state)
{
    (void)state;
    size_t size;
    void *bytes = sample_image(&size);
    for (size_t n = size - 1; n > 8; n -= n < 200 ? 1 : 97) {
        char message[200];
        if (n >= 48) {
            (void)snprintf(message, sizeof message, "the file is cut off: found %zu bytes, it was written with %zu", n,
                           size);
        } else {
            (void)snprintf(message, sizeof message, "the file is cut off: found %zu bytes, it was written with", n);
        }
        write_bytes(bytes, n);
        assert_unreadable(FILE_NAME, message);
    }
    free(bytes);
}

/* ---- Well-formed HDF5 that is no archive, or not quite ---- */

static hid_t open_sample(void)
{
    sample_write(FILE_NAME, SAMPLE_T);
    hid_t file = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

static void close_file(hid_t file)
{
    assert_true(H5Fclose(file) >= 0);
}

/* Puts a dataset in place of the one that is there; data NULL: none is written. */
static void replace(hid_t file, const char *path, hid_t type, int rank, const hsize_t *dims, const void *data)
{
    if (H5Lexists(file, path, H5P_DEFAULT) > 0) {
        assert_true(H5Ldelete(file, path, H5P_DEFAULT) >= 0);
    }
    hid_t space = rank > 0 ? H5Screate_simple(rank, dims, NULL) : H5Screate(H5S_SCALAR);
    hid_t id = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(id >= 0);
    if (data) {
        assert_true(H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    }
    (void)H5Dclose(id);
    (void)H5Sclose(space);
}

static void set_text(hid_t file, const char *path, const char *name, const char *text)
{
    hid_t object = H5Oopen(file, path, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    assert_true(object >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0);
    if (H5Aexists(object, name) > 0) {
        assert_true(H5Adelete(object, name) >= 0);
    }
    hid_t id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(id, type, text) >= 0);
    (void)H5Aclose(id);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    (void)H5Oclose(object);
}

static void set_number(hid_t file, const char *path, const char *name, hid_t type, const void *value)
{
    hid_t object = H5Oopen(file, path, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    assert_true(object >= 0);
    if (H5Aexists(object, name) > 0) {
        assert_true(H5Adelete(object, name) >= 0);
    }
    hid_t id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(id, type, value) >= 0);
    (void)H5Aclose(id);
    (void)H5Sclose(space);
    (void)H5Oclose(object);
}

static void test_not_ours(void **state)
{
    (void)state;
    hid_t file = H5Fcreate(FILE_NAME, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    replace(file, "tokens", H5T_NATIVE_FLOAT, 1, (hsize_t[]){3}, NULL);
    close_file(file);
    assert_unreadable(FILE_NAME, "/: found no attribute \"headspec_version\", allowed an archive of headspec");
    const uint64_t format = HSPEC_ARCHIVE_FORMAT + 1;
    file = open_sample();
    set_number(file, "/", "format", H5T_NATIVE_UINT64, &format);
    close_file(file);
    assert_unreadable(FILE_NAME, "/: found format 2, allowed 1 to 1; the file was written by headspec " HSPEC_VERSION
                                 ", this is " HSPEC_VERSION);
    const int negative = -1;
    file = open_sample();
    set_number(file, "/", "format", H5T_NATIVE_INT, &negative);
    close_file(file);
    assert_unreadable(FILE_NAME, "/: found a wrong type of attribute \"format\", allowed: ");
    file = open_sample();
    assert_true(H5Adelete(file, "config") >= 0);
    close_file(file);
    assert_unreadable(FILE_NAME, "/: found no attribute \"config\", allowed: the experiment in YAML, after --set");
}

static void test_types(void **state)
{
    (void)state;
    static const hsize_t dims[4] = {SAMPLE_S, SAMPLE_T, SAMPLE_H, SAMPLE_F};
    hid_t file = open_sample();
    replace(file, "/sgd/loss", H5T_IEEE_F32LE, 2, dims, NULL);
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/loss: found float32 numbers, allowed float64");
    file = open_sample();
    replace(file, "/sgd/loss", H5T_STD_I16LE, 2, dims, NULL);
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/loss: found int16 numbers, allowed float64");
    file = open_sample();
    replace(file, "/sgd/loss", H5T_STD_U64LE, 2, dims, NULL);
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/loss: found uint64 numbers, allowed float64");
    file = open_sample();
    replace(file, "/sgd/step", H5T_C_S1, 1, dims + 1, NULL);
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/step: found text numbers, allowed uint64");
}

static void test_shapes(void **state)
{
    (void)state;
    static const hsize_t dims[4] = {SAMPLE_S, SAMPLE_T, SAMPLE_H, SAMPLE_F};
    static const double zeros[100] = {0};
    hid_t file = open_sample();
    replace(file, "/sgd/alignment", H5T_NATIVE_DOUBLE, 3, dims, zeros);
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/alignment: found 3 dimensions, allowed 4 (seed,time,head,feature)");
    file = open_sample();
    replace(file, "/sgd/time", H5T_NATIVE_DOUBLE, 0, NULL, zeros);
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/time: found 0 dimensions, allowed 1 (time)");
    file = open_sample();
    replace(file, "/sgd/loss", H5T_NATIVE_DOUBLE, 2, (hsize_t[]){SAMPLE_S, SAMPLE_T + 1}, zeros);
    set_text(file, "/sgd/loss", "dimensions", "seed,time");
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/loss: found 6 along \"time\", allowed 5, as in /sgd/alignment");
    file = open_sample();
    replace(file, "/sgd/loss", H5T_NATIVE_DOUBLE, 2, (hsize_t[]){SAMPLE_T, SAMPLE_S}, zeros);
    set_text(file, "/sgd/loss", "dimensions", "time,seed");
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/loss: found the dimensions \"time,seed\", allowed \"seed,time\"");
    file = open_sample();
    replace(file, "/sgd/loss", H5T_NATIVE_DOUBLE, 2, dims, zeros);
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/loss: found the dimensions \"\", allowed \"seed,time\"");
    file = open_sample();
    replace(file, "/sgd/loss", H5T_NATIVE_DOUBLE, 2, (hsize_t[]){SAMPLE_S, 0}, NULL);
    close_file(file);
    assert_unreadable(FILE_NAME,
                      "/sgd/loss: found the shape 3 x 0, allowed lengths of at least 1 that fit into memory");
}

/* Nothing is allocated for a file that claims what it cannot hold. */
static void test_absurd_sizes(void **state)
{
    (void)state;
    hid_t file = open_sample();
    replace(file, "/sgd/loss", H5T_NATIVE_DOUBLE, 2, (hsize_t[]){1 << 20, 1 << 20}, NULL);
    set_text(file, "/sgd/loss", "dimensions", "seed,time");
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/loss: found the shape 1048576 x 1048576, allowed is what fits into the ");
    file = open_sample();
    replace(file, "/sgd/loss", H5T_NATIVE_DOUBLE, 2, (hsize_t[]){(hsize_t)1 << 30, (hsize_t)1 << 30}, NULL);
    close_file(file);
    assert_unreadable(FILE_NAME,
                      "/sgd/loss: found the shape 1073741824 x 1073741824, allowed lengths of at least 1 that fit");
}

static void test_numbers(void **state)
{
    (void)state;
    double loss[SAMPLE_S][SAMPLE_T] = {{0}};
    loss[2][1] = -1;
    hid_t file = open_sample();
    hid_t id = H5Dopen2(file, "/sgd/loss", H5P_DEFAULT);
    assert_true(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, loss) >= 0);
    (void)H5Dclose(id);
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/loss[2,1]: found -1, allowed numbers that are >= 0");
}

static void add_compressed(hid_t file)
{
    double numbers[1000] = {0};
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, (hsize_t[]){1000}, NULL);
    assert_true(H5Pset_chunk(list, 1, (hsize_t[]){500}) >= 0 && H5Pset_deflate(list, 9) >= 0);
    hid_t id = H5Dcreate2(file, "/small", H5T_IEEE_F64BE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    numbers[999] = 7;
    assert_true(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    (void)H5Dclose(id);
    (void)H5Sclose(space);
    (void)H5Pclose(list);
}

/* Somebody's own datasets and attributes: what an archive can hold is kept, the rest is told, and never lost unseen. */
static void test_additions(void **state)
{
    (void)state;
    hid_t file = open_sample();
    const float third = 1.0F / 3;
    set_text(file, "/", "note", "of another program");
    set_number(file, "/sgd", "third", H5T_NATIVE_FLOAT, &third);
    add_compressed(file);
    close_file(file);
    hspec_archive *archive = NULL;
    hspec_error err = {0};
    assert_int_equal(hspec_archive_read(FILE_NAME, NULL, &archive, &err), HSPEC_OK);
    assert_null(archive->foreign);
    assert_string_equal(hspec_archive_text(archive, "/", "note"), "of another program");
    assert_true(hspec_archive_attribute_find(archive, "/sgd", "third")->number == (double)third);
    assert_true(((const double *)hspec_archive_find(archive, "/small")->data)[999] == 7);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, &err), HSPEC_OK);
    hspec_archive_free(archive);
    assert_int_equal(hspec_archive_read(FILE_NAME, NULL, &archive, &err), HSPEC_OK);
    assert_true(((const double *)hspec_archive_find(archive, "/small")->data)[999] == 7);
    hspec_archive_free(archive);
}

static void assert_foreign(const char *foreign)
{
    hspec_archive *archive = NULL;
    hspec_error err = {0};
    assert_int_equal(hspec_archive_read(FILE_NAME, NULL, &archive, &err), HSPEC_OK);
    assert_non_null(archive->foreign);
    assert_string_equal(archive->foreign, foreign);
    assert_int_equal(hspec_archive_write(archive, FILE_NAME, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "would be lost"));
    hspec_archive_free(archive);
}

static void test_foreign(void **state)
{
    (void)state;
    const float ones[2] = {1, 1};
    hid_t file = open_sample();
    replace(file, "/mine", H5T_NATIVE_FLOAT, 1, (hsize_t[]){2}, ones);
    close_file(file);
    assert_foreign("/mine");
    file = open_sample();
    set_text(file, "/sgd/loss", "colour", "blue");
    close_file(file);
    assert_foreign("/sgd/loss: attribute of another program");
    file = open_sample();
    assert_true(H5Lcreate_soft("/sgd/loss", file, "/sgd/link", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    close_file(file);
    assert_foreign("/sgd/link");
    file = open_sample();
    assert_true(H5Lcreate_external("/etc/passwd", "/", file, "/outside", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    close_file(file);
    assert_foreign("/outside");
}

/* Groups that contain themselves end. */
static void test_loops(void **state)
{
    (void)state;
    hid_t file = open_sample();
    assert_true(H5Lcreate_hard(file, "/sgd", file, "/sgd/again", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    close_file(file);
    assert_unreadable(FILE_NAME, "/sgd/again/again/again/again/again/again/again/again: found groups deeper than 8");
}

static void test_virtual(void **state)
{
    (void)state;
    hid_t file = open_sample();
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, (hsize_t[]){2}, NULL);
    assert_true(H5Pset_external(list, "/etc/passwd", 0, 16) >= 0);
    hid_t id = H5Dcreate2(file, "/outside", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(id >= 0);
    (void)H5Dclose(id);
    (void)H5Sclose(space);
    (void)H5Pclose(list);
    close_file(file);
    assert_unreadable(FILE_NAME, "/outside: found numbers that stand in another file, allowed in this one");
}

/* Texts stand in heaps ("GCOL", version, size of 8 bytes), the one part of a file that HDF5 1.10 believes unchecked. */
static size_t heap_length(const unsigned char *bytes, size_t left)
{
    return left >= 16 && memcmp(bytes, "GCOL", 4) == 0 ? (size_t)bytes[8] + ((size_t)bytes[9] << 8) : 0;
}

/* Every third byte of the file wrong, one at a time: what is read is an archive or an error, and the program lives. */
static int body_flips(void)
{
    size_t size;
    unsigned char *bytes = sample_image(&size);
    int found = 0, tried = 0;
    size_t heap_end = 0;
    for (size_t i = 0; i < size; i++) {
        size_t length = heap_length(bytes + i, size - i);
        heap_end = length > 0 ? i + length : heap_end;
        if (i < heap_end || (i >= 48 && i % 3 != 0)) {
            continue;
        }
        bytes[i] ^= 0x41;
        write_bytes(bytes, size);
        bytes[i] ^= 0x41;
        hspec_archive *archive = NULL;
        hspec_error err = {0};
        hspec_status status = hspec_archive_read(FILE_NAME, NULL, &archive, &err);
        if (status == HSPEC_EIO && strncmp(err.message, FILE_NAME ": ", strlen(FILE_NAME) + 2) == 0) {
            found++;
        } else if (status != HSPEC_OK) {
            (void)fprintf(stderr, "byte %zu: status %d, %s\n", i, (int)status, err.message);
            return 1;
        }
        tried++;
        hspec_archive_free(archive);
    }
    free(bytes);
    /* the structures of the file have checksums; a flip in the numbers is a plausible other number */
    (void)printf("%d of %d flips were found\n", found, tried);
    return tried > 1000 && found > tried / 2 ? 0 : 2;
}

static void test_flips(void **state)
{
    (void)state;
    if (getenv("HSPEC_VALGRIND")) {
        skip(); /* HDF5 itself loses memory when its structures are damaged */
    }
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int code = body_flips();
        (void)fflush(NULL);
        _exit(code);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int setup(void **state)
{
    (void)state;
    return H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0;
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
        cmocka_unit_test(test_other_files), cmocka_unit_test(test_cut_off),   cmocka_unit_test(test_not_ours),
        cmocka_unit_test(test_types),       cmocka_unit_test(test_shapes),    cmocka_unit_test(test_absurd_sizes),
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_additions), cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_loops),       cmocka_unit_test(test_virtual),   cmocka_unit_test(test_flips),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
