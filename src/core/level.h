/* SPDX-License-Identifier: MIT
 * Instruction-set levels: the same source compiled several times, one chosen at run time (src/core/cpu.c). */
#ifndef HSPEC_CORE_LEVEL_H
#define HSPEC_CORE_LEVEL_H

/** Lanes of a block. */
#define HSPEC_W 8
/** Alignment of every array that lanes touch: one block, one cache line. */
#define HSPEC_ALIGN 64

/** The levels in rising order; those not built for this architecture are absent from the tables below. */
typedef enum hspec_level { HSPEC_LEVEL_0_BASELINE, HSPEC_LEVEL_1_AVX2, HSPEC_LEVEL_2_AVX512 } hspec_level;

/** Doubles in a native vector. */
#define HSPEC_WIDTH_BASELINE 2
#define HSPEC_WIDTH_AVX2 4
#define HSPEC_WIDTH_AVX512 8

#define HSPEC_PASTE_(a, b) a##_##b
#define HSPEC_PASTE(a, b) HSPEC_PASTE_(a, b)

/** The name of a function or table of a *_lanes.c file at the level that is being compiled. */
#if defined(HSPEC_LEVEL_AVX512)
#define HSPEC_LEVELED(name) HSPEC_PASTE(name, avx512)
#elif defined(HSPEC_LEVEL_AVX2)
#define HSPEC_LEVELED(name) HSPEC_PASTE(name, avx2)
#elif defined(HSPEC_LEVEL_BASELINE)
#define HSPEC_LEVELED(name) HSPEC_PASTE(name, baseline)
#endif

/** Declares the variants of a table of function pointers that a *_lanes.c file defines. */
#define HSPEC_DECLARE_LEVELS(type, name) extern const type name##_baseline, name##_avx2, name##_avx512

/** Address of the variant for a level, for use outside *_lanes.c files. */
#if defined(HSPEC_HAVE_AVX512)
#define HSPEC_PICK_AVX512(name, level, other) ((level) >= HSPEC_LEVEL_2_AVX512 ? &name##_avx512 : (other))
#else
#define HSPEC_PICK_AVX512(name, level, other) (other)
#endif
#if defined(HSPEC_HAVE_AVX2)
#define HSPEC_PICK_AVX2(name, level, other) ((level) >= HSPEC_LEVEL_1_AVX2 ? &name##_avx2 : (other))
#else
#define HSPEC_PICK_AVX2(name, level, other) (other)
#endif
#define HSPEC_PICK(name, level)                                                                                        \
    ((void)(level), HSPEC_PICK_AVX512(name, level, HSPEC_PICK_AVX2(name, level, &name##_baseline)))

#endif
