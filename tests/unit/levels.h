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
#if defined(HSPEC_HAVE_AVX512)
    const int built = 3;
#elif defined(HSPEC_HAVE_AVX2)
    const int built = 2;
#else
    const int built = 1;
#endif
    const int here = (int)hspec_cpu_level() + 1;
    for (int level = here; level < built && !said; level++) {
        printf("  not tested: level %s, which this processor lacks\n", level_names[level]);
    }
    said = 1;
    return here;
}

/** Does long double have more digits than double here? Not on every machine, and not under valgrind, which computes it in
 *  double. */
static inline int levels_long_double(void)
{
    volatile long double one = 1, small = 0x1p-60L;
    return one + small != one;
}

#endif
