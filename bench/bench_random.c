/* SPDX-License-Identifier: MIT
 * Normal numbers: Threefry-2x64-13 at every level of this processor, Philox-4x32 written the same way, and what a C
 * programmer has without either: Random123's scalar code and the C library. */
#include "contender.h"
#include "core/cpu.h"
#include "core/random.h"
#include "philox_lanes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<Random123/threefry.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <Random123/threefry.h>
#pragma GCC diagnostic pop
#define HAVE_RANDOM123
#endif
#endif

/* A buffer in the first-level cache, filled PIECE times a piece. */
static const size_t PIECE = 16;
enum { NUMBERS = 2048 };

typedef void fill_double(hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n);
typedef void fill_single(hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n);
typedef void fill_lanes(const uint64_t *keys, uint64_t c0, uint64_t c1, double *x, size_t n);

/* One of the three is set. */
typedef struct generator {
    fill_double *normals;
    fill_single *single;
    fill_lanes *lanes;
} generator;

typedef struct buffer {
    generator generator;
    uint64_t step;
    uint64_t keys[2 * HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    double x[NUMBERS + HSPEC_NORMALS_GRAIN] __attribute__((aligned(HSPEC_ALIGN)));
} buffer;

static void *create(const void *sizes)
{
    const size_t size = (sizeof(buffer) + HSPEC_ALIGN - 1) / HSPEC_ALIGN * HSPEC_ALIGN;
    buffer *made = aligned_alloc(HSPEC_ALIGN, size);
    if (!made) {
        bench_fail("no memory");
    }
    memset(made, 0, size);
    made->generator = *(const generator *)sizes;
    for (uint64_t i = 0; i < (uint64_t)2 * HSPEC_W; i++) {
        made->keys[i] = i;
    }
    return made;
}

static double run(void *state, size_t pieces)
{
    buffer *b = state;
    const hspec_stream stream = {{1, 2}};
    for (size_t i = 0; i < pieces * PIECE; i++) {
        b->step++;
        if (b->generator.normals) {
            b->generator.normals(stream, b->step, 0, b->x, NUMBERS);
        } else if (b->generator.single) {
            b->generator.single(stream, b->step, 0, (float *)b->x, NUMBERS);
        } else {
            b->generator.lanes(b->keys, b->step, 0, b->x, NUMBERS / HSPEC_W);
        }
    }
    return (double)(pieces * PIECE * NUMBERS);
}

#ifdef HAVE_RANDOM123
static void random123(hspec_stream stream, uint64_t c0, uint64_t c1, double *x, size_t n)
{
    const threefry2x64_key_t key = {{stream.key[0], stream.key[1]}};
    for (size_t i = 0; i < n; i += 2) {
        const threefry2x64_ctr_t counter = {{c0, c1 + i / 2}};
        const threefry2x64_ctr_t word = threefry2x64_R(13, counter, key);
        const double r = sqrt(-2 * log(((double)(word.v[0] >> 12) + 0.5) * 0x1p-52));
        const double phi = 2 * M_PI * ((double)(word.v[1] >> 12) * 0x1p-52);
        x[i] = r * cos(phi);
        x[i + 1] = r * sin(phi);
    }
}

static void random123_single(hspec_stream stream, uint64_t c0, uint64_t c1, float *x, size_t n)
{
    const threefry2x64_key_t key = {{stream.key[0], stream.key[1]}};
    for (size_t i = 0; i < n; i += 4) {
        const threefry2x64_ctr_t counter = {{c0, c1 + i / 4}};
        const threefry2x64_ctr_t word = threefry2x64_R(13, counter, key);
        for (size_t j = 0; j < 2; j++) {
            const float r = sqrtf(-2 * logf(((float)(word.v[j] >> 40) + 0.5f) * 0x1p-24f));
            const float phi = (float)(2 * M_PI) * ((float)(word.v[j] & 0xffffff) * 0x1p-24f);
            x[i + 2 * j] = r * cosf(phi);
            x[i + 2 * j + 1] = r * sinf(phi);
        }
    }
}
#endif

/* The published answer for counter 0, key 0. */
static void check_philox(const bench_philox *philox)
{
    const uint32_t zero[4] = {0, 0, 0, 0}, answer[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    uint32_t words[4];
    philox->words10(zero, zero, words);
    if (memcmp(words, answer, sizeof words) != 0) {
        bench_fail("Philox-4x32-10 does not give the published words");
    }
}

enum { MOST = 64 };
static bench_contender contenders[MOST];
static generator generators[MOST];
static char names[MOST][32];
static size_t count;

static void add(const char *group, const char *who, const char *level, generator g)
{
    if (count == MOST) {
        bench_fail("too many contenders");
    }
    (void)snprintf(names[count], sizeof names[count], "%s%s%s", who, *level ? "-" : "", level);
    generators[count] = g;
    contenders[count] = (bench_contender){.group = group,
                                          .who = names[count],
                                          .unit = "ns/number",
                                          .sizes = &generators[count],
                                          .create = create,
                                          .run = run,
                                          .free = free};
    if (!g.normals && !g.single && !g.lanes) {
        contenders[count].missing = "Random123/threefry.h was not found (Debian: librandom123-dev)";
    }
    count++;
}

int main(int argc, char **argv)
{
    static const char *const level_names[] = {"baseline", "avx2", "avx512"};
    const int top = (int)hspec_cpu_level();
    const bench_philox *philox = HSPEC_PICK(bench_philox_table, top);
    check_philox(philox);

    for (int level = top; level >= 0; level--) {
        add("normals-double", "headspec", level_names[level],
            (generator){.normals = HSPEC_PICK(hspec_random_ops_table, level)->normals});
    }
    add("normals-double", "philox7", level_names[top], (generator){.normals = philox->normals7});
    add("normals-double", "philox10", level_names[top], (generator){.normals = philox->normals10});
    for (int level = top; level >= 0; level--) {
        add("normals-single", "headspec", level_names[level],
            (generator){.single = HSPEC_PICK(hspec_random_ops_table, level)->normals_single});
    }
    add("normals-single", "philox7", level_names[top], (generator){.single = philox->single7});
    add("normals-single", "philox10", level_names[top], (generator){.single = philox->single10});
    for (int level = top; level >= 0; level--) {
        add("normals-lanes", "headspec", level_names[level],
            (generator){.lanes = HSPEC_PICK(hspec_random_ops_table, level)->lane_normals});
    }
#ifdef HAVE_RANDOM123
    add("normals-double", "random123-libm", "", (generator){.normals = random123});
    add("normals-single", "random123-libm", "", (generator){.single = random123_single});
#else
    add("normals-double", "random123-libm", "", (generator){0});
    add("normals-single", "random123-libm", "", (generator){0});
#endif
    return bench_main(argc, argv, count, contenders);
}
