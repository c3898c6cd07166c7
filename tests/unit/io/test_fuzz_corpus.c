/* SPDX-License-Identifier: MIT
 * The corpus of tests/fuzz, run without libFuzzer: what was found once must not come back. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fuzz/fuzz_experiment.c"

#define CORPUS HEADSPEC_SOURCE_DIR "/tests/fuzz/corpus/experiment"

static void run_file(const char *path)
{
    uint8_t bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(LLVMFuzzerTestOneInput(bytes, n), 0); /* aborts on failure */
    for (size_t k = 0; k < n; k += 1 + n / 64) {           /* and cut anywhere */
        assert_int_equal(LLVMFuzzerTestOneInput(bytes, k), 0);
    }
}

static void survives_corpus(void **state)
{
    (void)state;
    DIR *folder = opendir(CORPUS);
    assert_non_null(folder);
    int files = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            char path[1024];
            (void)snprintf(path, sizeof path, "%s/%s", CORPUS, entry->d_name);
            run_file(path);
            files++;
        }
    }
    assert_int_equal(closedir(folder), 0);
    assert_true(files >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(survives_corpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
