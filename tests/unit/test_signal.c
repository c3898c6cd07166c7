/* SPDX-License-Identifier: MIT
 * Signals: what is refused, moments, symmetries, and sampling, number by number and in frequency.
 * Level of the frequencies: 1e-4 for everything together (family.h). */
#include "unit/family.h"

#include "core/random.h"
#include "model/signal.h"
#include "unit/levels.h"

#include "core/memory.h"

#include <string.h>

static hspec_signal *make(const hspec_signal_params *params)
{
    hspec_signal *signal = NULL;
    hspec_error err;
    if (hspec_signal_create(params, &signal, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    return signal;
}

static hspec_signal_params flipped(double strength, double probability)
{
    return (hspec_signal_params){.kind = HSPEC_SIGNAL_FLIPPED, .strength = strength, .probability = probability};
}

static hspec_signal_params gaussian(size_t F, const double *mean, const double *variance)
{
    return (hspec_signal_params){.kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
}

static hspec_signal_params discrete(size_t F, size_t K, const double *theta, const double *weights)
{
    return (hspec_signal_params){
        .kind = HSPEC_SIGNAL_DISCRETE, .features = F, .points = K, .theta = theta, .weights = weights};
}

/* ---- validation ------------------------------------------------------------------------------------------------------ */

/* The message must name the path, what was found and what is allowed; nothing is handed out. */
static void refused(hspec_signal_params params, const char *path, const char *found, const char *allowed)
{
    hspec_signal *signal = (hspec_signal *)&params; /* any address: it must stay */
    hspec_error err;
    memset(&err, 0, sizeof err);
    assert_int_equal(hspec_signal_create(&params, &signal, &err), HSPEC_EARG);
    assert_int_equal(err.status, HSPEC_EARG);
    assert_ptr_equal(signal, &params);
    if (strncmp(err.message, path, strlen(path)) != 0 || !strstr(err.message, found) || !strstr(err.message, allowed)) {
        fail_msg("'%s' does not say '%s', '%s' and '%s'", err.message, path, found, allowed);
    }
    assert_int_equal(hspec_signal_create(&params, &signal, NULL), HSPEC_EARG);
}

static void test_refused(void **state)
{
    (void)state;
    refused(flipped(0, 0.5), "task.signal.strength: ", "found 0,", "allowed above 0 up to 1e6");
    refused(flipped(-4, 0.5), "task.signal.strength: ", "found -4,", "allowed above 0");
    refused(flipped(NAN, 0.5), "task.signal.strength: ", "found nan", "allowed above 0");
    refused(flipped(INFINITY, 0.5), "task.signal.strength: ", "found inf", "allowed above 0");
    refused(flipped(2e6, 0.5), "task.signal.strength: ", "found 2e+06", "up to 1e6");
    refused(flipped(4, -0.1), "task.signal.probability: ", "found -0.1", "allowed 0 to 1");
    refused(flipped(4, 1.5), "task.signal.probability: ", "found 1.5", "allowed 0 to 1");
    refused(flipped(4, NAN), "task.signal.probability: ", "found nan", "allowed 0 to 1");

    double mean[2] = {1, 0}, variance[2] = {1, 2};
    refused(gaussian(0, mean, variance), "task.signal: ", "found 0 features", "allowed 1 to 1024");
    refused(gaussian(1025, mean, variance), "task.signal: ", "found 1025 features", "allowed 1 to 1024");
    refused(gaussian(2, NULL, variance), "task.signal: ", "gaussian", "needs mean and variance");
    refused(gaussian(2, mean, NULL), "task.signal: ", "gaussian", "needs mean and variance");
    mean[1] = NAN;
    refused(gaussian(2, mean, variance), "task.signal.mean.1: ", "found nan", "allowed -1000 to 1000");
    mean[1] = -1001;
    refused(gaussian(2, mean, variance), "task.signal.mean.1: ", "found -1001", "allowed -1000 to 1000");
    mean[1] = 0;
    variance[0] = -1;
    refused(gaussian(2, mean, variance), "task.signal.variance.0: ", "found -1", "allowed 0 to 1e6");
    variance[0] = INFINITY;
    refused(gaussian(2, mean, variance), "task.signal.variance.0: ", "found inf", "allowed 0 to 1e6");

    double theta[4] = {3, 0, 0, 3}, weights[2] = {0.5, 0.5};
    refused(discrete(2, 0, theta, weights), "task.signal.points: ", "found 0 points", "allowed 1 to 10000");
    refused(discrete(2, 10001, theta, weights), "task.signal.points: ", "found 10001 points", "allowed 1 to 10000");
    refused(discrete(0, 2, theta, weights), "task.signal: ", "found 0 features", "allowed 1 to 1024");
    refused(discrete(2, 2, NULL, weights), "task.signal: ", "discrete", "needs points");
    theta[3] = INFINITY;
    refused(discrete(2, 2, theta, weights), "task.signal.points.1.1: ", "found inf", "allowed -1000 to 1000");
    theta[3] = 3;
    weights[1] = 0;
    refused(discrete(2, 2, theta, weights), "task.signal.weights.1: ", "found 0", "allowed above 0 up to 1");
    weights[1] = NAN;
    refused(discrete(2, 2, theta, weights), "task.signal.weights.1: ", "found nan", "allowed above 0 up to 1");
    weights[1] = 0.500002;
    refused(discrete(2, 2, theta, weights), "task.signal.weights: ", "1.000002", "allowed 1 within 1e-6");

    hspec_signal_params unknown = flipped(4, 0.5);
    unknown.kind = (hspec_signal_kind)7;
    refused(unknown, "task.signal.kind: ", "found 7", "allowed flipped, gaussian, discrete");
    hspec_signal *signal = NULL;
    const hspec_signal_params good = flipped(4, 0.5);
    assert_int_equal(hspec_signal_create(NULL, &signal, NULL), HSPEC_EARG);
    assert_int_equal(hspec_signal_create(&good, NULL, NULL), HSPEC_EARG);
    hspec_signal_free(NULL);
}

/* ---- moments and symmetries ------------------------------------------------------------------------------------------ */

static void test_moments(void **state)
{
    (void)state;
    double mu[3], C[9];
    const hspec_signal_params one = flipped(4, 0.7);
    hspec_signal *signal = make(&one);
    assert_int_equal(hspec_signal_features(signal), 1);
    hspec_signal_moments(signal, mu, C);
    assert_true(fabs(mu[0] - 0.8) < 1e-15 && fabs(C[0] - 4) < 1e-15);
    hspec_signal_free(signal);

    const double mean[3] = {1.5, 0, -2}, variance[3] = {0, 9, 3};
    const hspec_signal_params two = gaussian(3, mean, variance);
    signal = make(&two);
    assert_int_equal(hspec_signal_features(signal), 3);
    hspec_signal_moments(signal, mu, C);
    for (size_t f = 0; f < 3; f++) {
        assert_true(mu[f] == mean[f]);
        for (size_t g = 0; g < 3; g++) {
            assert_true(fabs(C[f * 3 + g] - (mean[f] * mean[g] + (f == g ? variance[f] : 0))) < 1e-14);
        }
    }
    hspec_signal_free(signal);

    const double theta[6] = {3, 0, 0, 2, -1, -1}, weights[3] = {0.5, 0.3, 0.2};
    const hspec_signal_params three = discrete(2, 3, theta, weights);
    signal = make(&three);
    hspec_signal_moments(signal, mu, C);
    assert_true(fabs(mu[0] - 1.3) < 1e-15 && fabs(mu[1] - 0.4) < 1e-15);
    assert_true(fabs(C[0] - 4.7) < 1e-14 && fabs(C[1] - 0.2) < 1e-14 && C[1] == C[2] && fabs(C[3] - 1.4) < 1e-14);
    hspec_signal_free(signal);

    /* Weights within 1e-6 of one are normalized exactly; without weights all are equal. */
    const double nearly[3] = {0.3333335, 0.3333335, 0.3333335};
    const hspec_signal_params four = discrete(2, 3, theta, nearly), five = discrete(2, 3, theta, NULL);
    double mu4[2], C4[4];
    signal = make(&four);
    hspec_signal_moments(signal, mu4, C4);
    hspec_signal_free(signal);
    signal = make(&five);
    hspec_signal_moments(signal, mu, C);
    hspec_signal_free(signal);
    assert_true(fabs(mu[0] - 2.0 / 3) < 1e-15 && fabs(mu4[0] - mu[0]) < 1e-15 && fabs(C4[0] - C[0]) < 1e-14);
}

static void assert_symmetries(const hspec_signal_params *params, const int *wanted)
{
    int found[3] = {-1, -1, -1};
    hspec_signal *signal = make(params);
    hspec_signal_symmetries(signal, found);
    for (size_t f = 0; f < hspec_signal_features(signal); f++) {
        assert_int_equal(found[f], wanted[f]);
    }
    hspec_signal_free(signal);
}

static void test_symmetries(void **state)
{
    (void)state;
    const double probability[] = {0, 0.3, 0.5, 0.7, 1};
    for (size_t i = 0; i < 5; i++) {
        const hspec_signal_params params = flipped(4, probability[i]);
        const int wanted = probability[i] == 0.5;
        assert_symmetries(&params, &wanted);
    }
    const double mean[3] = {1.5, 0, -1e-9}, variance[3] = {0, 9, 3};
    const hspec_signal_params normal = gaussian(3, mean, variance);
    assert_symmetries(&normal, (const int[]){0, 1, 0});

    const double cross[8] = {1, 0, -1, 0, 0, 2, 0, -2}, even[4] = {0.25, 0.25, 0.25, 0.25},
                 odd[4] = {0.3, 0.2, 0.25, 0.25};
    const hspec_signal_params both = discrete(2, 4, cross, even), second = discrete(2, 4, cross, odd);
    assert_symmetries(&both, (const int[]){1, 1});
    assert_symmetries(&second, (const int[]){0, 1});
    /* Symmetric under flipping both features together is not enough. */
    const double diagonal[4] = {1, 1, -1, -1};
    const hspec_signal_params joint = discrete(2, 2, diagonal, NULL);
    assert_symmetries(&joint, (const int[]){0, 0});
    /* A point that is listed twice counts with both weights; a feature that is always 0 can be flipped. */
    const double twice[6] = {1, 0, 1, 0, -1, 0}, weights[3] = {0.25, 0.25, 0.5};
    const hspec_signal_params repeated = discrete(2, 3, twice, weights);
    assert_symmetries(&repeated, (const int[]){1, 1});
}

/* ---- sampling -------------------------------------------------------------------------------------------------------- */

enum { K_MAX = 10000 };

/* Draws for all lanes at one level. */
static void draw(int level, const hspec_signal *signal, const uint64_t *words, const double *normals, double *theta)
{
    const hspec_signal_ops *ops = HSPEC_PICK(hspec_signal_ops_table, (hspec_level)level);
    for (size_t lane = 0; lane < HSPEC_W; lane += ops->width) {
        ops->draw(signal, words + lane, normals + lane, theta + lane);
    }
}

/* The point of a word: the first whose cumulative weight exceeds u. */
static size_t point_of(uint64_t word, size_t K, const long double *cumulative)
{
    const long double u = ((long double)(word >> 12) + 0.5L) * 0x1p-52L;
    size_t k = 0;
    for (size_t jump = 8192; jump > 0;
         jump /= 2) { /* as far as cumulative weights up to the one before are not above u */
        k += k + jump < K && u >= cumulative[k + jump - 1] ? jump : 0;
    }
    return k;
}

/* Points (0.1 k, 0.7 - 0.09 k): the coordinates tell which one was drawn. */
static void check_points(size_t K, const double *weights, uint64_t seed)
{
    static double theta[2 * K_MAX], drawn[2 * HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    static double normals[2 * HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    static uint64_t words[HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    static long double cumulative[K_MAX];
    static size_t counts[K_MAX];
    memset(counts, 0, sizeof counts);
    long double sum = 0;
    for (size_t k = 0; k < K; k++) {
        theta[2 * k] = 0.1 * (double)k;
        theta[2 * k + 1] = 0.7 - 0.09 * (double)k;
        sum += weights ? weights[k] : 1.0L / (long double)K;
        cumulative[k] = sum;
    }
    for (size_t k = 0; k < K; k++) {
        cumulative[k] /= sum;
    }
    const hspec_signal_params params = discrete(2, K, theta, weights);
    hspec_signal *signal = make(&params);
    const hspec_stream stream = hspec_random_stream(seed, 1, HSPEC_PURPOSE_EXPLICIT);
    const size_t draws = family_size(20000 + 4 * K);
    for (size_t i = 0; i < draws; i++) {
        for (size_t lane = 0; lane < HSPEC_W; lane++) {
            uint64_t w[2];
            hspec_random_words(stream, i, lane, w);
            words[lane] = i == 0 && lane % 2 ? UINT64_MAX : i == 0 ? 0 : w[0];
        }
        for (int level = 0; level < levels_here(); level++) {
            draw(level, signal, words, normals, drawn);
            for (size_t lane = 0; lane < HSPEC_W; lane++) {
                const size_t k = (size_t)lround(10 * drawn[lane]);
                const size_t wanted = point_of(words[lane], K, cumulative);
                assert_true(k < K && drawn[lane] == theta[2 * k] && drawn[HSPEC_W + lane] == theta[2 * k + 1]);
                if (k != wanted) { /* allowed on the very edge of a step, where sums round */
                    const long double u = ((long double)(words[lane] >> 12) + 0.5L) * 0x1p-52L;
                    const size_t lower = k < wanted ? k : wanted;
                    assert_true((k + 1 == wanted || wanted + 1 == k) && fabsl(u - cumulative[lower]) < 1e-12L);
                }
                counts[k] += level == 0 && i > 0;
            }
        }
    }
    double statistic = 0;
    for (size_t k = 0; k < K; k++) {
        const double wanted = (double)((draws - 1) * HSPEC_W) * (double)((weights ? weights[k] : 1.0L / K) / sum);
        statistic += ((double)counts[k] - wanted) * ((double)counts[k] - wanted) / wanted;
    }
    if (K > 1) {
        family_check(family_chi2(statistic, (double)K - 1), "frequencies of %zu points", K);
    }
    hspec_signal_free(signal);
}

static void test_points(void **state)
{
    (void)state;
    static double weights[K_MAX];
    const size_t sizes[] = {1, 2, 3, 15, 16, 17, 18, 31, 32, 33, 100, K_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t K = sizes[i];
        check_points(K, NULL, 10 + i);
        double sum = 0;
        for (size_t k = 0; k < K; k++) {
            weights[k] = 1.0 + (double)(k * 7 % 5);
            sum += weights[k];
        }
        for (size_t k = 0; k < K; k++) {
            weights[k] /= sum;
        }
        check_points(K, weights, 30 + i);
    }
}

static void test_flipped(void **state)
{
    (void)state;
    static double drawn[HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    static double normals[HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    static uint64_t words[HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    const double probability[] = {0, 0.001, 0.3, 0.5, 0.7, 1};
    for (size_t i = 0; i < sizeof probability / sizeof *probability; i++) {
        const double p = probability[i];
        const hspec_signal_params params = flipped(2.5, p);
        hspec_signal *signal = make(&params);
        assert_int_equal(hspec_signal_normals(signal), 0);
        const hspec_stream stream = hspec_random_stream(50 + i, 1, HSPEC_PURPOSE_EXPLICIT);
        const size_t draws = family_size(40000);
        for (int level = 0; level < levels_here(); level++) {
            size_t up = 0;
            for (size_t j = 0; j < draws; j++) {
                for (size_t lane = 0; lane < HSPEC_W; lane++) {
                    uint64_t w[2];
                    hspec_random_words(stream, j, lane, w);
                    words[lane] = j == 0 && lane % 2 ? UINT64_MAX : j == 0 ? 0 : w[0];
                }
                draw(level, signal, words, normals, drawn);
                for (size_t lane = 0; lane < HSPEC_W; lane++) {
                    assert_true(fabs(drawn[lane]) == sqrt(2.5));
                    up += j > 0 && drawn[lane] > 0;
                }
            }
            const double n = (double)((draws - 1) * HSPEC_W);
            if (p == 0 || p == 1) {
                assert_true((double)up == p * n);
            } else {
                family_check(family_z(((double)up - p * n) / sqrt(p * (1 - p) * n)), "%s, flipped with p = %g",
                             level_names[level], p);
            }
        }
        hspec_signal_free(signal);
    }
}

/* theta = mean + deviation x, feature by feature, with the normals it is given. */
static void test_gaussian(void **state)
{
    (void)state;
    enum { F = 5 };
    static double drawn[F * HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    static double normals[F * HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    static uint64_t words[HSPEC_W] __attribute__((aligned(HSPEC_ALIGN)));
    const double mean[F] = {1.5, 0, 0, -2, 1}, variance[F] = {0, 9, 3, 1e-4, 2};
    const hspec_signal_params params = gaussian(F, mean, variance);
    hspec_signal *signal = make(&params);
    assert_int_equal(hspec_signal_normals(signal), F);
    const hspec_stream stream = hspec_random_stream(60, 1, HSPEC_PURPOSE_EXPLICIT);
    for (uint64_t i = 0; i < 500; i++) {
        static double x[HSPEC_NORMALS_GRAIN] __attribute__((aligned(HSPEC_ALIGN)));
        hspec_random_bulk()->normals(stream, i, 0, x, (size_t)F * HSPEC_W);
        memcpy(normals, x, sizeof normals);
        for (int level = 0; level < levels_here(); level++) {
            draw(level, signal, words, normals, drawn);
            for (size_t f = 0; f < F; f++) {
                for (size_t lane = 0; lane < HSPEC_W; lane++) {
                    const double wanted = mean[f] + sqrt(variance[f]) * normals[f * HSPEC_W + lane];
                    assert_true(fabs(drawn[f * HSPEC_W + lane] - wanted) <= 4e-15 * (1 + fabs(wanted)));
                }
            }
        }
    }
    hspec_signal_free(signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_moments), cmocka_unit_test(test_symmetries),
        cmocka_unit_test(test_points),  cmocka_unit_test(test_flipped), cmocka_unit_test(test_gaussian),
    };
    return cmocka_run_group_tests_name("signal", tests, NULL, family_report);
}
