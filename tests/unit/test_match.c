/* SPDX-License-Identifier: MIT
 * Matching of heads over seeds: planted permutations and signs are recovered; nothing depends on the order of seeds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study/match.h"

static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double normal(void)
{
    double u = 1.0 - uniform();
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * uniform());
}

static void shuffle(size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (size_t i = n; i-- > 1;) {
        size_t j = (size_t)(uniform() * (double)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

/* Made-up trajectories in which the answer is known: role j of head planted[s][j], with the signs flipped[s][f]. */
typedef struct {
    size_t S, T, H, F;
    double *alignment, *time;
    size_t *planted;
    int *flipped;
    hspec_trajectory tr;
} sample;

/* Role j ends at target[j][f]. All roles start together and part at an escape time that varies from seed to seed by a
 * factor of up to `jitter`. */
static sample make(size_t S, size_t T, size_t H, size_t F, const double *target, const int *flip, double jitter,
                   double noise)
{
    sample a = {.S = S, .T = T, .H = H, .F = F};
    a.alignment = malloc(S * T * H * F * sizeof(double));
    a.time = malloc(T * sizeof(double));
    a.planted = malloc(S * H * sizeof(size_t));
    a.flipped = malloc(S * F * sizeof(int));
    assert_true(a.alignment && a.time && a.planted && a.flipped);
    for (size_t s = 0; s < S; s++) {
        shuffle(H, a.planted + s * H);
        for (size_t f = 0; f < F; f++) {
            a.flipped[s * F + f] = flip && flip[f] && uniform() < 0.5 ? -1 : 1;
        }
        double escape = 30.0 * pow(jitter, 2.0 * uniform() - 1.0);
        for (size_t t = 0; t < T; t++) {
            a.time[t] = 100.0 * (double)t / (double)(T - 1);
            double grown = 1.0 / (1.0 + exp(-(a.time[t] - escape) / 3.0));
            for (size_t j = 0; j < H; j++) {
                for (size_t f = 0; f < F; f++) {
                    a.alignment[((s * T + t) * H + a.planted[s * H + j]) * F + f] =
                        a.flipped[s * F + f] * grown * target[j * F + f] + noise * normal();
                }
            }
        }
    }
    a.tr = (hspec_trajectory){.seeds = S, .rows = T, .heads = H, .features = F, .done = T};
    a.tr.time = a.time;
    a.tr.alignment = a.alignment;
    return a;
}

static void release(sample *a)
{
    free(a->alignment);
    free(a->time);
    free(a->planted);
    free(a->flipped);
}

/* The targets are written in canonical order (roles descending, sums not negative), so that the planted roles and signs
 * must come back exactly. */
static void check_recovered(sample *a, const size_t *group, const int *flip)
{
    size_t *head = malloc(a->S * a->H * sizeof(size_t));
    int *sign = malloc(a->S * a->F * sizeof(int));
    double spread[2] = {-1.0, -1.0};
    hspec_error err = {0};
    assert_true(head && sign);
    assert_int_equal(hspec_match_heads(&a->tr, group, flip, head, sign, spread, &err), HSPEC_OK);
    assert_memory_equal(head, a->planted, a->S * a->H * sizeof(size_t));
    assert_memory_equal(sign, a->flipped, a->S * a->F * sizeof(int));
    assert_true(spread[1] < spread[0] && spread[1] > 0.0);
    free(head);
    free(sign);
}

static void test_permutations(void **unused)
{
    (void)unused;
    const double target[] = {1.6, 1.2, -0.3, -1.5};
    for (state = 1; state <= 20; state++) {
        sample a = make(12, 101, 4, 1, target, NULL, 2.5, 0.05);
        check_recovered(&a, NULL, NULL);
        release(&a);
    }
}

static void test_permutations_and_signs(void **unused)
{
    (void)unused;
    /* Feature 0 has a mean and may not flip; 1 and 2 may. Heads differ most along feature 1. */
    const double target[] = {1.0, 3.0, 0.1, 1.1, 0.2, 2.0, 1.0, 0.1, -0.6, 0.9, -2.5, 0.0};
    const int flip[] = {0, 1, 1};
    for (state = 1; state <= 20; state++) {
        sample a = make(9, 151, 4, 3, target, flip, 2.0, 0.1);
        check_recovered(&a, NULL, flip);
        release(&a);
    }
}

/* Twelve features that may flip: more than are searched exhaustively. */
static void test_many_signs(void **unused)
{
    (void)unused;
    enum { H = 14, F = 12 };
    double target[H * F] = {0};
    int flip[F];
    for (size_t f = 0; f < F; f++) {
        target[(f + 1) * F + f] = 2.0;
        flip[f] = 1;
    }
    /* A strict order along feature 0, the strongest. */
    for (size_t j = 0; j < H; j++) {
        target[j * F] = 0.5 * (double)(H - j) + (j == 0 ? 2.0 : 0.0);
    }
    for (state = 1; state <= 5; state++) {
        sample a = make(6, 61, H, F, target, flip, 1.5, 0.02);
        check_recovered(&a, NULL, flip);
        release(&a);
    }
}

/* More rows and more seeds than the distance and the medoid look at. */
static void test_large(void **unused)
{
    (void)unused;
    const double target[] = {1.5, 0.4, -1.0};
    state = 7;
    sample a = make(200, 700, 3, 1, target, NULL, 2.0, 0.05);
    check_recovered(&a, NULL, NULL);
    release(&a);
}

/* Squared distance of seed s, with the given heads and signs, to the mean [T][H][F], with the weights t dt. */
static double distance2(const sample *a, size_t s, const size_t *head, const int *sign, const double *mean)
{
    double sum = 0.0;
    for (size_t t = 0; t < a->T; t++) {
        double before = a->time[t > 0 ? t - 1 : t], after = a->time[t + 1 < a->T ? t + 1 : t];
        for (size_t i = 0; i < a->H * a->F; i++) {
            double m = a->alignment[((s * a->T + t) * a->H + head[i / a->F]) * a->F + i % a->F];
            double difference = sign[i % a->F] * m - mean[t * a->H * a->F + i];
            sum += a->time[t] * (after - before) * difference * difference;
        }
    }
    return sum;
}

/* Tries all heads from place j on, with the given signs. */
static double least_distance2(const sample *a, size_t s, size_t *head, size_t j, const int *sign, const double *mean)
{
    if (j == a->H) {
        return distance2(a, s, head, sign, mean);
    }
    double least = INFINITY;
    for (size_t k = j; k < a->H; k++) {
        size_t first = head[j], other = head[k];
        head[j] = other;
        head[k] = first;
        least = fmin(least, least_distance2(a, s, head, j + 1, sign, mean));
        head[j] = first;
        head[k] = other;
    }
    return least;
}

/* No seed comes nearer to the mean with other heads or other signs. Two features that may flip. */
static void check_settled(const sample *a, const size_t *head, const int *sign)
{
    size_t block = a->H * a->F;
    double *mean = calloc(a->T * block, sizeof(double));
    assert_non_null(mean);
    for (size_t i = 0; i < a->S * a->T * block; i++) {
        size_t s = i / (a->T * block), t = i / block % a->T, j = i % block / a->F, f = i % a->F;
        double m = a->alignment[((s * a->T + t) * a->H + head[s * a->H + j]) * a->F + f];
        mean[i % (a->T * block)] += sign[s * a->F + f] * m / (double)a->S;
    }
    for (size_t s = 0; s < a->S; s++) {
        double found = distance2(a, s, head + s * a->H, sign + s * a->F, mean);
        size_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        for (int code = 0; code < 4; code++) {
            const int other[] = {code & 1 ? -1 : 1, code & 2 ? -1 : 1};
            assert_true(found <= least_distance2(a, s, order, 0, other, mean) * (1.0 + 1e-9));
        }
    }
    free(mean);
}

/* The matched means, row by row, are the same whatever the order of the seeds, and no seed wants to change. */
static void test_order_of_seeds(void **unused)
{
    (void)unused;
    enum { S = 11, T = 41, H = 5, F = 2 };
    /* Two pairs of roles that end alike, and plain noise on top: nothing is planted clearly. */
    const double target[H * F] = {1.0, 0.5, 1.0, 0.4, 0.0, 0.2, -0.9, 0.1, -1.0, 0.0};
    const int flip[F] = {1, 1};
    for (uint64_t trial = 1; trial <= 20; trial++) {
        state = trial;
        sample a = make(S, T, H, F, target, flip, 2.5, 0.4);
        size_t order[S], head[2][S * H];
        int sign[2][S * F];
        shuffle(S, order);
        double *shuffled = malloc(S * T * H * F * sizeof(double));
        assert_non_null(shuffled);
        for (size_t s = 0; s < S; s++) {
            memcpy(shuffled + s * T * H * F, a.alignment + order[s] * T * H * F, T * H * F * sizeof(double));
        }
        hspec_trajectory other = a.tr;
        other.alignment = shuffled;
        hspec_error err = {0};
        assert_int_equal(hspec_match_heads(&a.tr, NULL, flip, head[0], sign[0], NULL, &err), HSPEC_OK);
        assert_int_equal(hspec_match_heads(&other, NULL, flip, head[1], sign[1], NULL, &err), HSPEC_OK);
        check_settled(&a, head[0], sign[0]);
        for (size_t s = 0; s < S; s++) {
            assert_memory_equal(head[1] + s * H, head[0] + order[s] * H, H * sizeof(size_t));
            assert_memory_equal(sign[1] + s * F, sign[0] + order[s] * F, F * sizeof(int));
        }
        free(shuffled);
        release(&a);
    }
}

/* Heads that the start tells apart keep their places, whatever they look like later. */
static void test_groups(void **unused)
{
    (void)unused;
    const double m[] = {0.1, 0.0, 0.1, 0.0, 0.1};
    size_t group[5];
    hspec_match_groups(5, 1, m, NULL, group);
    const size_t expected[] = {0, 1, 0, 1, 0};
    assert_memory_equal(group, expected, sizeof expected);

    double r[25] = {0};
    for (size_t h = 0; h < 5; h++) {
        r[h * 5 + h] = 1.0;
    }
    hspec_match_groups(5, 1, m, r, group);
    assert_memory_equal(group, expected, sizeof expected);
    r[0 * 5 + 1] = r[1 * 5 + 0] = 0.5; /* head 0 now differs from heads 2 and 4, head 1 from head 3 */
    hspec_match_groups(5, 1, m, r, group);
    const size_t apart[] = {0, 1, 2, 3, 2};
    assert_memory_equal(group, apart, sizeof apart);

    const double target[] = {0.5, -1.0, 1.5};
    for (state = 1; state <= 10; state++) {
        sample a = make(8, 51, 3, 1, target, NULL, 1.5, 0.02);
        size_t pair[] = {0, 1, 0}, head[8 * 3];
        int sign[8];
        hspec_error err = {0};
        assert_int_equal(hspec_match_heads(&a.tr, pair, NULL, head, sign, NULL, &err), HSPEC_OK);
        for (size_t s = 0; s < 8; s++) {
            const double *m_end = a.alignment + (s * 51 + 50) * 3;
            assert_int_equal(head[s * 3 + 1], 1);
            assert_true(m_end[head[s * 3]] > m_end[head[s * 3 + 2]]);
            assert_int_equal(sign[s], 1);
        }
        const size_t nobody[] = {0, 1, 2};
        assert_int_equal(hspec_match_heads(&a.tr, nobody, NULL, head, sign, NULL, &err), HSPEC_OK);
        for (size_t i = 0; i < 24; i++) {
            assert_int_equal(head[i], i % 3);
        }
        release(&a);
    }
}

/* What a head becomes decides; of heads that end alike, the history decides. */
static void test_late_rows_decide(void **unused)
{
    (void)unused;
    /* In seed 1 the heads are exchanged for most of the time (t < 60) and agree with seed 0 afterwards. */
    double time[101], alignment[2 * 101 * 2];
    for (size_t t = 0; t <= 100; t++) {
        time[t] = (double)t;
        double side = t < 60 ? -1.0 : 1.0;
        alignment[t * 2] = 1.0;
        alignment[t * 2 + 1] = -1.0;
        alignment[(101 + t) * 2] = side;
        alignment[(101 + t) * 2 + 1] = -side;
    }
    hspec_trajectory tr = {.seeds = 2, .rows = 101, .heads = 2, .features = 1, .done = 101};
    tr.time = time;
    tr.alignment = alignment;
    size_t head[4];
    int sign[2];
    hspec_error err = {0};
    assert_int_equal(hspec_match_heads(&tr, NULL, NULL, head, sign, NULL, &err), HSPEC_OK);
    const size_t straight[] = {0, 1, 0, 1};
    assert_memory_equal(head, straight, sizeof straight);
    /* Seen up to t = 70 only, the exchange wins. */
    tr.done = 71;
    assert_int_equal(hspec_match_heads(&tr, NULL, NULL, head, sign, NULL, &err), HSPEC_OK);
    assert_int_not_equal(head[0], head[2]);

    /* Both end at 1, but one of them came from below. */
    for (size_t t = 0; t <= 100; t++) {
        alignment[t * 2] = 1.0;
        alignment[t * 2 + 1] = t < 60 ? -1.0 : 0.99;
        alignment[(101 + t) * 2] = t < 50 ? -1.0 : 1.0;
        alignment[(101 + t) * 2 + 1] = 1.0;
    }
    tr.done = 101;
    assert_int_equal(hspec_match_heads(&tr, NULL, NULL, head, sign, NULL, &err), HSPEC_OK);
    const size_t crossed[] = {0, 1, 1, 0};
    assert_memory_equal(head, crossed, sizeof crossed);
}

static void test_edges(void **unused)
{
    (void)unused;
    const double time[] = {0.0, 0.0};
    double alignment[] = {1.0, 2.0, 2.0, 1.0, 0.5, -0.5, 0.5, -0.5};
    hspec_trajectory tr = {.seeds = 2, .rows = 2, .heads = 2, .features = 1, .done = 2};
    tr.time = time;
    tr.alignment = alignment;
    size_t head[4] = {9, 9, 9, 9};
    int sign[2] = {9, 9};
    hspec_error err = {0};

    alignment[6] = NAN;
    assert_int_equal(hspec_match_heads(&tr, NULL, NULL, head, sign, NULL, &err), HSPEC_ENONFINITE);
    assert_string_equal(err.message, "alignment[1, 1, 0, 0] is nan");
    tr.done = 0;
    assert_int_equal(hspec_match_heads(&tr, NULL, NULL, head, sign, NULL, &err), HSPEC_EARG);
    tr.done = 3;
    assert_int_equal(hspec_match_heads(&tr, NULL, NULL, head, sign, NULL, &err), HSPEC_EARG);
    const size_t bad[] = {0, 2};
    tr.done = 1;
    assert_int_equal(hspec_match_heads(&tr, bad, NULL, head, sign, NULL, &err), HSPEC_EARG);
    assert_non_null(strstr(err.message, "group of head 1 is 2"));
    assert_int_equal(head[0], 9);
    assert_int_equal(sign[0], 9);

    /* One row at t = 0: it is all there is, and it counts. */
    assert_int_equal(hspec_match_heads(&tr, NULL, NULL, head, sign, NULL, &err), HSPEC_OK);
    const size_t expected[] = {1, 0, 0, 1};
    assert_memory_equal(head, expected, sizeof expected);

    /* One seed: only the order and the sign of the sum are set. */
    const int flip[] = {1};
    double single[] = {0.2, -3.0};
    tr = (hspec_trajectory){.seeds = 1, .rows = 1, .heads = 2, .features = 1, .done = 1};
    tr.time = time;
    tr.alignment = single;
    assert_int_equal(hspec_match_heads(&tr, NULL, flip, head, sign, NULL, &err), HSPEC_OK);
    assert_int_equal(sign[0], -1);
    assert_int_equal(head[0], 1);
    assert_int_equal(head[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutations),     cmocka_unit_test(test_permutations_and_signs),
        cmocka_unit_test(test_many_signs),       cmocka_unit_test(test_large),
        cmocka_unit_test(test_order_of_seeds),   cmocka_unit_test(test_groups),
        cmocka_unit_test(test_late_rows_decide), cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
