/* SPDX-License-Identifier: MIT
 * Any bytes as an experiment file: libFuzzer's entry. Behind a line "%%%" each further line is one --set.
 *
 *     clang -std=c17 -D_DEFAULT_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc -Itests \
 *         tests/fuzz/fuzz_experiment.c tests/unit/io/same.c src/io/config_*.c src/io/experiment.c src/io/text.c \
 *         src/core/status.c -lyaml -lm -o fuzz_experiment
 *     ./fuzz_experiment -max_total_time=300 -dict=tests/fuzz/experiment.dict NEW_CORPUS tests/fuzz/corpus/experiment
 *
 * tests/unit/io/test_fuzz_corpus.c runs the corpus without libFuzzer. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headspec.h"
#include "unit/io/same.h"

#define MOST_SETS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer and the unit test both take this as a failure. */
static void demand(int truth, const char *what)
{
    if (!truth) {
        (void)fprintf(stderr, "fuzz_experiment: %s\n", what);
        abort();
    }
}

static void check_refusal(hspec_status status, const hspec_experiment *experiment, const hspec_error *err)
{
    demand(status == HSPEC_ECONFIG && err->status == status, "the status of a refusal is ECONFIG");
    demand(!experiment, "a refusal hands nothing out");
    demand(strlen(err->message) > 0 && strlen(err->message) < sizeof err->message, "a refusal has a message");
    demand(strstr(err->message, "found") && strstr(err->message, "allowed"), "it says what was found and is allowed");
    for (const char *c = err->message; *c; c++) {
        demand((unsigned char)*c >= 0x20 && *c != 0x7f, "a message is safe for a terminal");
    }
}

static void check_good(const hspec_experiment *e)
{
    demand(e->task.tokens >= 2 && e->layer.heads >= 1 && e->signal.features >= 1, "sizes");
    demand(e->task.dimension >= e->signal.features + e->layer.heads, "D >= F + H");
    demand(e->training.time * (double)e->task.dimension < 9.1e15, "steps");
    hspec_experiment *again = NULL;
    hspec_error err = {.message = ""};
    hspec_status status = hspec_experiment_parse(e->yaml, strlen(e->yaml), "again", NULL, 0, &again, &err);
    demand(status == HSPEC_OK, "the text that is kept is good");
    demand(!same_difference(e, again), "it gives the same experiment");
    demand(strcmp(again->yaml, e->yaml) == 0, "it stays as it is");
    hspec_experiment_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *sets[MOST_SETS];
    size_t n_sets = 0;
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    size_t length = size;
    char *mark = strstr(text, "\n%%%\n"); /* a NUL before it hides it: then the parser sees the NUL */
    if (mark) {
        length = (size_t)(mark + 1 - text);
        char *line = mark + 5;
        while (*line && n_sets < MOST_SETS) {
            sets[n_sets++] = line;
            line += strcspn(line, "\n");
            if (*line) {
                *line++ = '\0';
            }
        }
    }
    hspec_experiment *experiment = NULL;
    hspec_error err = {.message = ""};
    hspec_status status = hspec_experiment_parse(text, length, "file.yaml", sets, n_sets, &experiment, &err);
    if (status != HSPEC_OK) {
        check_refusal(status, experiment, &err);
    } else {
        check_good(experiment);
    }
    hspec_experiment_free(experiment);
    free(text);
    return 0;
}
