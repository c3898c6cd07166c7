/* SPDX-License-Identifier: MIT */
#include "core/cpu.h"

#include "headspec.h"

hspec_level hspec_cpu_level(void)
{
#if defined(HSPEC_HAVE_AVX512) || defined(HSPEC_HAVE_AVX2)
    /* __builtin_cpu_supports also asks the operating system whether it saves the wide registers. */
    __builtin_cpu_init();
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#if defined(HSPEC_HAVE_AVX512)
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd")) {
        return HSPEC_LEVEL_2_AVX512;
    }
#endif
    if (avx2) {
        return HSPEC_LEVEL_1_AVX2;
    }
#endif
    return HSPEC_LEVEL_0_BASELINE;
}

const char *hspec_cpu_name(void)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    return names[hspec_cpu_level()];
}
