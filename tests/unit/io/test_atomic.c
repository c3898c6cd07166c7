/* SPDX-License-Identifier: MIT
 * Files are the old one or the new one, whole. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "headspec.h"
#include "io/atomic.h"

static char folder[] = "test_atomic.XXXXXX";
static char name_buffer[4096];

static const char *at(const char *name)
{
    (void)snprintf(name_buffer, sizeof name_buffer, "%s/%s", folder, name);
    return name_buffer;
}

static void put(const char *path, const char *text)
{
    hspec_error err = {0};
    hspec_status status = hspec_atomic_write(path, text, strlen(text), &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, HSPEC_OK);
}

static void assert_content(const char *path, const char *text)
{
    char found[256] = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(found, 1, sizeof found - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(n, strlen(text));
    assert_string_equal(found, text);
}

/* How many temporary files are left in a folder. */
static int leftovers(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        count += strncmp(entry->d_name, ".headspec-", 10) == 0;
    }
    closedir(dir);
    return count;
}

static void assert_refused(const char *path, const char *part)
{
    hspec_error err = {0};
    assert_int_equal(hspec_atomic_write(path, "new", 3, &err), HSPEC_EIO);
    assert_int_equal(err.status, HSPEC_EIO);
    if (!strstr(err.message, part) || !strstr(err.message, path)) {
        fail_msg("\"%s\" does not name \"%s\" and \"%s\"", err.message, path, part);
    }
    assert_int_equal(hspec_atomic_write(path, "new", 3, NULL), HSPEC_EIO);
    hspec_error again = {0};
    assert_int_equal(hspec_atomic_probe(path, &again), HSPEC_EIO);
    assert_string_equal(err.message, again.message);
}

static void test_new_and_old(void **state)
{
    (void)state;
    put(at("a"), "first");
    assert_content(at("a"), "first");
    put(at("a"), "the second is longer");
    assert_content(at("a"), "the second is longer");
    put(at("a"), "");
    assert_content(at("a"), "");
    assert_int_equal(leftovers(folder), 0);
}

static void test_current_folder(void **state)
{
    (void)state;
    put("test_atomic.here", "here");
    assert_content("test_atomic.here", "here");
    assert_int_equal(unlink("test_atomic.here"), 0);
    assert_int_equal(leftovers("."), 0);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void test_permissions(void **state)
{
    (void)state;
    mode_t old = umask(027);
    put(at("mode"), "x");
    assert_int_equal(mode_of(at("mode")), 0640);
    assert_int_equal(chmod(at("mode"), 0604), 0);
    put(at("mode"), "y");
    assert_int_equal(mode_of(at("mode")), 0604);
    umask(old);
}

static void test_links(void **state)
{
    (void)state;
    assert_int_equal(mkdir(at("far"), 0777), 0);
    assert_int_equal(symlink("far/target", at("near")), 0);
    assert_int_equal(symlink("near", at("nearer")), 0);
    put(at("nearer"), "made through a link to nothing");
    assert_content(at("far/target"), "made through a link to nothing");
    put(at("nearer"), "replaced");
    assert_content(at("far/target"), "replaced");
    struct stat info;
    assert_int_equal(lstat(at("nearer"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(at("near"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(at("far/target"), &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(leftovers(at("far")), 0);

    assert_int_equal(symlink("loop", at("loop")), 0);
    assert_refused(at("loop"), "could not be written");
    assert_int_equal(symlink("none/target", at("lost")), 0);
    assert_refused(at("lost"), "no file could be made in its folder");
}

/* A link to a long path needs more than the first buffer. */
static void test_long_link(void **state)
{
    (void)state;
    char target[600];
    size_t n = 0;
    while (n < 500) {
        n += (size_t)snprintf(target + n, sizeof target - n, "./");
    }
    (void)snprintf(target + n, sizeof target - n, "end");
    assert_int_equal(symlink(target, at("long")), 0);
    put(at("long"), "far away");
    assert_content(at("end"), "far away");
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused(at("none/a"), "No such file or directory");
    assert_refused(at(""), "found no file name");
    assert_refused(folder, "Is a directory");
    put(at("plain"), "x");
    assert_refused(at("plain/a"), "Not a directory");
    hspec_error err = {0};
    assert_int_equal(hspec_atomic_write("", "x", 1, &err), HSPEC_EIO);
    assert_string_equal(err.message, "\"\": found no file name, allowed the path of a file");
}

static void test_probe_leaves_nothing(void **state)
{
    (void)state;
    put(at("probed"), "kept");
    assert_int_equal(hspec_atomic_probe(at("probed"), NULL), HSPEC_OK);
    assert_content(at("probed"), "kept");
    assert_int_equal(hspec_atomic_probe(at("unborn"), NULL), HSPEC_OK);
    assert_int_equal(access(at("unborn"), F_OK), -1);
    assert_int_equal(leftovers(folder), 0);
}

static void test_device_and_pipe(void **state)
{
    (void)state;
    put("/dev/null", "gone");
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    if (access("/dev/full", W_OK) == 0) {
        hspec_error err = {0};
        assert_int_equal(hspec_atomic_write("/dev/full", "x", 1, &err), HSPEC_EIO);
        assert_string_equal(err.message, "/dev/full: only 0 of 1 bytes could be written: No space left on device");
    }

    assert_int_equal(mkfifo(at("pipe"), 0666), 0);
    assert_int_equal(hspec_atomic_probe(at("pipe"), NULL), HSPEC_OK);
    int reader = open(at("pipe"), O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    put(at("pipe"), "through");
    char found[8] = {0};
    assert_int_equal(read(reader, found, sizeof found), 7);
    assert_string_equal(found, "through");
    close(reader);
}

/* Runs `body` in a child, so that limits and the user can be changed. */
static int in_child(int (*body)(void))
{
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(body());
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* The disk fills up in the middle of the file. */
static int body_full(void)
{
    struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 10;
    }
    static char big[10000];
    hspec_error err = {0};
    if (hspec_atomic_write(at("full"), big, sizeof big, &err) != HSPEC_EIO) {
        return 11;
    }
    return strstr(err.message, "full: only 4096 of 10000 bytes could be written: File too large") ? 0 : 12;
}

static void test_full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    put(at("full"), "the old one");
    assert_int_equal(in_child(body_full), 0);
    assert_content(at("full"), "the old one");
    assert_int_equal(leftovers(folder), 0);
}

/* Root may write anywhere, so the read-only tests are run by user nobody, who may not be able to come here on foot. */
static int become_nobody(void)
{
    return chdir(folder) == 0 && (geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
}

static int body_closed_folder(void)
{
    hspec_error err = {0};
    if (!become_nobody()) {
        return 10;
    }
    if (hspec_atomic_write("shut/a", "new", 3, &err) != HSPEC_EIO) {
        return 11;
    }
    return strstr(err.message, "no file could be made in its folder: Permission denied") ? 0 : 12;
}

static int body_protected_file(void)
{
    hspec_error err = {0};
    if (!become_nobody()) {
        return 10;
    }
    if (hspec_atomic_write("open/a", "new", 3, &err) != HSPEC_EIO) {
        return 11;
    }
    return strstr(err.message, "the file may not be replaced: Permission denied") ? 0 : 12;
}

static void test_read_only(void **state)
{
    (void)state;
    assert_int_equal(mkdir(at("shut"), 0777), 0);
    put(at("shut/a"), "the old one");
    assert_int_equal(chmod(at("shut/a"), 0666), 0);
    assert_int_equal(chmod(at("shut"), 0555), 0);
    assert_int_equal(in_child(body_closed_folder), 0);
    assert_content(at("shut/a"), "the old one");
    assert_int_equal(chmod(at("shut"), 0777), 0);

    assert_int_equal(mkdir(at("open"), 0777), 0);
    assert_int_equal(chmod(at("open"), 0777), 0);
    put(at("open/a"), "the old one");
    assert_int_equal(chmod(at("open/a"), 0444), 0);
    assert_int_equal(in_child(body_protected_file), 0);
    assert_content(at("open/a"), "the old one");
    assert_int_equal(leftovers(at("open")), 0);
}

/* Killed again and again while it replaces a file: whole before and after. */
static void test_kill(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20, KILLS = 40 };
    char *bytes = malloc(SIZE);
    assert_non_null(bytes);
    memset(bytes, 'a', SIZE);
    assert_int_equal(hspec_atomic_write(at("kill"), bytes, SIZE, NULL), HSPEC_OK);
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            for (char letter = 'a';; letter = letter == 'z' ? 'a' : (char)(letter + 1)) {
                memset(bytes, letter, SIZE);
                if (hspec_atomic_write(at("kill"), bytes, SIZE, NULL) != HSPEC_OK) {
                    _exit(1);
                }
            }
        }
        usleep((useconds_t)(500 + 317 * i));
        assert_int_equal(kill(child, SIGKILL), 0);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));

        FILE *file = fopen(at("kill"), "rb");
        assert_non_null(file);
        assert_int_equal(fread(bytes, 1, SIZE, file), SIZE);
        assert_int_equal(fgetc(file), EOF);
        assert_int_equal(fclose(file), 0);
        for (size_t k = 1; k < SIZE; k++) {
            if (bytes[k] != bytes[0]) {
                fail_msg("byte %zu is '%c', byte 0 is '%c'", k, bytes[k], bytes[0]);
            }
        }
    }
    free(bytes);
}

static void empty_folder(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char inner[4096];
            (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            if (unlink(inner) != 0) {
                empty_folder(inner);
                (void)rmdir(inner);
            }
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static int setup(void **state)
{
    (void)state;
    umask(022);
    if (!mkdtemp(folder)) {
        return -1;
    }
    return chmod(folder, 0755);
}

static int teardown(void **state)
{
    (void)state;
    empty_folder(folder);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_and_old),
        cmocka_unit_test(test_current_folder),
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_long_link),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_probe_leaves_nothing),
        cmocka_unit_test(test_device_and_pipe),
        cmocka_unit_test(test_full_disk_keeps_the_old_file),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_kill),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
