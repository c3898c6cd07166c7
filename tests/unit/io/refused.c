/* SPDX-License-Identifier: MIT
 * Experiments that must be refused, each with its message. */
#include "refused.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "headspec.h"

void refused_check(const refused *cases, size_t count)
{
    int failures = 0;
    for (size_t i = 0; i < count; i++) {
        const refused *c = &cases[i];
        size_t n_sets = 0;
        while (n_sets < 3 && c->sets[n_sets]) {
            n_sets++;
        }
        hspec_experiment *experiment = NULL;
        hspec_error err = {.message = ""};
        hspec_status status =
            hspec_experiment_parse(c->yaml, strlen(c->yaml), "bad.yaml", c->sets, n_sets, &experiment, &err);
        size_t n = strlen(c->message);
        int open = n > 3 && strcmp(c->message + n - 3, "...") == 0;
        int same = open ? strncmp(err.message, c->message, n - 3) == 0 : strcmp(err.message, c->message) == 0;
        if (status != HSPEC_ECONFIG || err.status != HSPEC_ECONFIG || experiment || !same) {
            print_error("case %zu:\n%s\nstatus   %d\nfound    %s\nexpected %s\n", i, c->yaml, (int)status, err.message,
                        c->message);
            failures++;
            hspec_experiment_free(experiment);
        }
        /* Without an error object the status is the same. */
        if (hspec_experiment_parse(c->yaml, strlen(c->yaml), "bad.yaml", c->sets, n_sets, &experiment, NULL) !=
            HSPEC_ECONFIG) {
            print_error("case %zu: another status without an error object\n", i);
            failures++;
        }
    }
    assert_int_equal(failures, 0);
}
