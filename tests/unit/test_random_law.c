/* SPDX-License-Identifier: MIT
 * Random streams in law: words, normals and chi-squared. Level: 1e-4 for everything together (family.h). */
#include "unit/family.h"

#include "core/memory.h"
#include "core/random.h"

#include <string.h>

static double *numbers(size_t n)
{
    double *x = hspec_memory_alloc(n, sizeof *x);
    assert_non_null(x);
    return x;
}

/* ---- words ----------------------------------------------------------------------------------------------------------- */

/* Every bit is 0 as often as 1, and a bit of the input flipped flips every bit of the output half of the time. */
static void test_bits(void **state)
{
    (void)state;
    const uint64_t n = family_size(1 << 16);
    const hspec_stream stream = hspec_random_stream(1, 1, HSPEC_PURPOSE_REDUCED);
    size_t ones[128] = {0};
    for (uint64_t i = 0; i < n; i++) {
        uint64_t w[2];
        hspec_random_words(stream, 5, i, w);
        for (size_t b = 0; b < 128; b++) {
            ones[b] += w[b / 64] >> (b % 64) & 1;
        }
    }
    double statistic = 0;
    for (size_t b = 0; b < 128; b++) {
        statistic += pow(2 * (double)ones[b] - (double)n, 2) / (double)n;
    }
    family_check(family_chi2(statistic, 128), "bits: frequencies");

    const size_t rounds = 64;
    for (size_t flip = 0; flip < 256; flip++) { /* key 0, key 1, counter 0, counter 1 */
        size_t changed = 0;
        for (uint64_t i = 0; i < rounds; i++) {
            uint64_t in[4] = {1000 + flip, 77 * i, i, 3}, a[2], b[2];
            hspec_random_words((hspec_stream){{in[0], in[1]}}, in[2], in[3], a);
            in[flip / 64] ^= UINT64_C(1) << (flip % 64);
            hspec_random_words((hspec_stream){{in[0], in[1]}}, in[2], in[3], b);
            changed += (size_t)(__builtin_popcountll(a[0] ^ b[0]) + __builtin_popcountll(a[1] ^ b[1]));
        }
        const double trials = 128.0 * (double)rounds;
        family_check(family_z((2 * (double)changed - trials) / sqrt(trials)), "bits: input bit %zu flipped", flip);
    }
}

/* ---- normals --------------------------------------------------------------------------------------------------------- */

static void check_moments(const double *x, size_t n, const char *what)
{
    static const double moment[13] = {1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395};
    for (int k = 1; k <= 6; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            double power = 1;
            for (int j = 0; j < k; j++) {
                power *= x[i];
            }
            sum += power - moment[k];
        }
        const double variance = moment[2 * k] - moment[k] * moment[k];
        family_check(family_z(sum / sqrt(variance * (double)n)), "%s: moment %d", what, k);
    }
}

static void check_tails(const double *x, size_t n, const char *what)
{
    for (int k = 2; k <= 5; k++) {
        size_t above = 0, below = 0;
        for (size_t i = 0; i < n; i++) {
            above += x[i] > k;
            below += x[i] < -k;
        }
        const double mean = (double)n * 0.5 * erfc(k / sqrt(2.0));
        family_check(family_poisson(above, mean), "%s: tail above %d", what, k);
        family_check(family_poisson(below, mean), "%s: tail below %d", what, -k);
    }
}

/* Two samples that should have nothing to do with each other: values, squares, and a sign-blind mixture. */
static void check_independent(const double *x, const double *y, size_t n, const char *what)
{
    double *a = numbers(n), *b = numbers(n);
    family_check(stats_correlation(x, y, n).p, "%s: x, y", what);
    for (size_t i = 0; i < n; i++) {
        a[i] = x[i] * x[i];
        b[i] = y[i] * y[i];
    }
    family_check(stats_correlation(a, b, n).p, "%s: x^2, y^2", what);
    family_check(stats_correlation(x, b, n).p, "%s: x, y^2", what);
    family_check(stats_correlation(a, y, n).p, "%s: x^2, y", what);
    for (size_t i = 0; i < n; i++) {
        a[i] = (x[i] + y[i]) / sqrt(2.0);
    }
    family_check(family_normal(a, n), "%s: law of (x + y) / sqrt 2", what);
    hspec_memory_free(a);
    hspec_memory_free(b);
}

/* The angle of (x, y) is uniform and does not know the radius, whose square is 2 times an exponential. */
static void check_pairs(const double *x, const double *y, size_t n, const char *what)
{
    static size_t angles[256], table[256];
    memset(angles, 0, sizeof angles);
    memset(table, 0, sizeof table);
    const double pi = 3.14159265358979323846;
    for (size_t i = 0; i < n; i++) {
        const double angle = (atan2(y[i], x[i]) + pi) / (2 * pi), radius = exp(-0.5 * (x[i] * x[i] + y[i] * y[i]));
        angles[(size_t)(angle * 256) % 256]++;
        const size_t column = radius < 1 ? (size_t)(radius * 16) : 15;
        table[(size_t)(angle * 16) % 16 * 16 + column]++;
    }
    family_check(family_even(angles, 256), "%s: angle", what);
    family_check(family_even(table, 256), "%s: angle and radius", what);
}

/* Numbers of one run that are `distance` apart. Pairs do not overlap, so that they are independent of each other. */
static void check_distance(const double *x, size_t n, size_t distance, const char *what)
{
    char label[80];
    snprintf(label, sizeof label, "%s: distance %zu", what, distance);
    double *a = numbers(n / 2), *b = numbers(n / 2);
    size_t pairs = 0;
    for (size_t i = 0; i + distance < n; i += i % distance == distance - 1 ? distance + 1 : 1) {
        a[pairs] = x[i];
        b[pairs++] = x[i + distance];
    }
    check_independent(a, b, pairs, label);
    check_pairs(a, b, pairs, label);
    hspec_memory_free(a);
    hspec_memory_free(b);
}

/* Everything about one long run of numbers. */
static void check_normals(const double *x, size_t n, const char *what)
{
    family_check(family_normal(x, n), "%s: law", what);
    check_moments(x, n, what);
    check_tails(x, n, what);
    /* Neighbouring counters; the two numbers of one counter, 8 apart in double and 16 in single precision; blocks. */
    const size_t distances[] = {1, 2, 4, 7, 8, 15, 16, 32, 1024};
    for (size_t k = 0; k < sizeof distances / sizeof *distances; k++) {
        check_distance(x, n, distances[k], what);
    }
}

static void test_normals(void **state)
{
    (void)state;
    const size_t n = family_size((size_t)1 << 19);
    double *x = numbers(n);
    hspec_random_bulk()->normals(hspec_random_stream(2, 1, HSPEC_PURPOSE_EXPLICIT), 9, 0, x, n);
    check_normals(x, n, "normals");
    hspec_memory_free(x);
}

static void test_normals_single(void **state)
{
    (void)state;
    const size_t n = family_size((size_t)1 << 19);
    float *single = hspec_memory_alloc(n, sizeof *single);
    double *x = numbers(n);
    assert_non_null(single);
    hspec_random_bulk()->normals_single(hspec_random_stream(3, 1, HSPEC_PURPOSE_EXPLICIT), 9, 0, single, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)single[i];
        assert_true(fabs(x[i]) < 6.661); /* 32 bits a uniform reach no farther */
    }
    check_normals(x, n, "single normals");
    hspec_memory_free(single);
    hspec_memory_free(x);
}

/* Streams that differ in one thing only: the step, the seed, the substream, the purpose; and one that starts later. */
static void test_streams(void **state)
{
    (void)state;
    static const char *const names[] = {"steps", "seeds", "substreams", "purposes", "seed and substream", "places"};
    const size_t n = family_size((size_t)1 << 17);
    double *x = numbers(n), *y = numbers(n);
    const hspec_random_ops *bulk = hspec_random_bulk();
    for (uint64_t seed = 0; seed < 3; seed++) {
        bulk->normals(hspec_random_stream(seed, 1, HSPEC_PURPOSE_EXPLICIT), 0, 0, x, n);
        const hspec_stream others[] = {hspec_random_stream(seed, 1, HSPEC_PURPOSE_EXPLICIT),
                                       hspec_random_stream(seed + 1, 1, HSPEC_PURPOSE_EXPLICIT),
                                       hspec_random_stream(seed, 2, HSPEC_PURPOSE_EXPLICIT),
                                       hspec_random_stream(seed, 1, HSPEC_PURPOSE_REDUCED),
                                       hspec_random_stream(seed + 1, 0, HSPEC_PURPOSE_EXPLICIT),
                                       hspec_random_stream(seed, 1, HSPEC_PURPOSE_EXPLICIT)};
        for (size_t k = 0; k < 6; k++) {
            bulk->normals(others[k], k == 0 ? 1 : 0, k == 5 ? n / 2 : 0, y, n);
            char label[60];
            snprintf(label, sizeof label, "seed %d: neighbouring %s", (int)seed, names[k]);
            check_independent(x, y, n, label);
            check_pairs(x, y, n, label);
        }
    }
    hspec_memory_free(x);
    hspec_memory_free(y);
}

/* Lanes, as the reduced engine fills them: one stream each, short rows, step after step. */
static void test_lanes(void **state)
{
    (void)state;
    enum { ROW = 27 };
    const size_t steps = family_size(8192), n = steps * ROW;
    uint64_t *keys = hspec_memory_alloc(2 * HSPEC_W, sizeof *keys);
    double *row = numbers((ROW + 4) * HSPEC_W), *x = numbers(HSPEC_W * n);
    assert_non_null(keys);
    for (size_t w = 0; w < HSPEC_W; w++) {
        const hspec_stream stream = hspec_random_stream(4, w + 1, HSPEC_PURPOSE_REDUCED);
        keys[w] = stream.key[0];
        keys[HSPEC_W + w] = stream.key[1];
    }
    for (size_t t = 0; t < steps; t++) {
        hspec_random_bulk()->lane_normals(keys, t, 0, row, ROW);
        for (size_t i = 0; i < (size_t)ROW * HSPEC_W; i++) {
            x[i % HSPEC_W * n + t * ROW + i / HSPEC_W] = row[i];
        }
    }
    char label[60];
    for (size_t w = 0; w < HSPEC_W; w++) {
        snprintf(label, sizeof label, "lane %zu", w);
        family_check(family_normal(x + w * n, n), "%s: law", label);
        check_moments(x + w * n, n, label);
        check_distance(x + w * n, n, 1, label);   /* the same counter, or the next one */
        check_distance(x + w * n, n, 2, label);   /* neighbouring counters */
        check_distance(x + w * n, n, ROW, label); /* neighbouring steps */
        for (size_t v = 0; v < w; v++) {
            snprintf(label, sizeof label, "lanes %zu and %zu", v, w);
            check_independent(x + v * n, x + w * n, n, label);
        }
    }
    hspec_memory_free(keys);
    hspec_memory_free(row);
    hspec_memory_free(x);
}

/* ---- chi-squared ----------------------------------------------------------------------------------------------------- */

/* The cdf for many degrees of freedom against the exact one, where both can be had. */
static void test_chi2_cdf(void **state)
{
    (void)state;
    const double few = 4e4, k = few;
    for (int i = -40; i <= 40; i++) {
        const double x = k + 0.1 * i * sqrt(2 * k);
        const double approximate = 0.5 * erfc(-(cbrt(x / k) - (1 - 2 / (9 * k))) / sqrt(2 * 2 / (9 * k)));
        assert_true(fabs(approximate - stats_chi2_cdf(x, &few)) < 2e-6);
    }
}

static void test_chi2(void **state)
{
    (void)state;
    const double degrees[] = {1, 2, 3, 4, 5, 10, 1000, 1e6, 1e12};
    const size_t n = family_size((size_t)1 << 16);
    double *x = numbers(n), *y = numbers(n);
    for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++) {
        const hspec_stream stream = hspec_random_stream(5 + k, 1, HSPEC_PURPOSE_START);
        for (size_t i = 0; i < n; i++) {
            x[i] = hspec_random_chi2(stream, 1, (uint64_t)i << 20, degrees[k]);
            y[i] = hspec_random_chi2(stream, 2, (uint64_t)i << 20, degrees[k]);
        }
        family_check_chi2(x, n, degrees[k], "chi-squared");
        family_check(stats_correlation(x, y, n).p, "chi-squared, %g degrees: neighbouring first counters", degrees[k]);
        family_check(stats_correlation(x, x + 1, n - 1).p, "chi-squared, %g degrees: neighbouring places", degrees[k]);
    }
    hspec_memory_free(x);
    hspec_memory_free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),    cmocka_unit_test(test_normals), cmocka_unit_test(test_normals_single),
        cmocka_unit_test(test_streams), cmocka_unit_test(test_lanes),   cmocka_unit_test(test_chi2_cdf),
        cmocka_unit_test(test_chi2),
    };
    return cmocka_run_group_tests_name("random, in law", tests, NULL, family_report);
}
