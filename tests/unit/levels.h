/* SPDX-License-Identifier: MIT
 * Tests that go through every instruction-set level that was built and that this machine can run. */
#ifndef HSPEC_TESTS_LEVELS_H
#define HSPEC_TESTS_LEVELS_H

#include "core/cpu.h"

#include <stdio.h>

static const char *const level_names[] = {"baseline", "avx2", "avx512"};

/** How many levels there are to try, counted from baseline. Says once which ones are left out. */
static inline int levels_here(void)
{
    static int said;
    int built = 1;
#if defined(HSPEC_HAVE_AVX2)
    built = 2;
#endif
#if defined(HSPEC_HAVE_AVX512)
    built = 3;
#endif
    const int here = (int)hspec_cpu_level() + 1;
    for (int level = here; level < built && !said; level++) {
        printf("  not tested: level %s, which this processor lacks\n", level_names[level]);
    }
    said = 1;
    return here;
}

#endif
