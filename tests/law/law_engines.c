/* SPDX-License-Identifier: MIT
 * The reduced engine against the explicit one, and both against the naive one: the same law, configuration by
 * configuration. HSPEC_LAW_FULL=1 takes more seeds, longer times and more sizes. Seeds are fixed.
 * Level: a run in which every law agrees fails with probability at most 1e-3 (trial.h says how). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"
#include "law/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int full(void)
{
    const char *value = getenv("HSPEC_LAW_FULL");
    return value != NULL && strcmp(value, "1") == 0;
}

/* ---- signals and starts -------------------------------------------------------------------------------------------- */

/* Every signal has a mean, so that alignments move from the first step on. */
enum { FLIPPED, GAUSS1, GAUSS2, POINTS2 };

static hspec_signal_params signal_of(int which)
{
    static const double mean[2] = {1.0, -0.5};
    static const double variance[2] = {0.5, 2.0};
    static const double points[3][2] = {{2.0, 0.0}, {0.0, 1.5}, {-1.0, 1.0}};
    static const double weights[3] = {0.5, 0.3, 0.2};
    hspec_signal_params p = {0};
    if (which == FLIPPED) {
        p.kind = HSPEC_SIGNAL_FLIPPED;
        p.strength = 4.0;
        p.probability = 0.7;
    } else if (which == POINTS2) {
        p.kind = HSPEC_SIGNAL_DISCRETE;
        p.features = 2;
        p.points = 3;
        p.theta = points[0];
        p.weights = weights;
    } else {
        p.kind = HSPEC_SIGNAL_GAUSSIAN;
        p.features = which == GAUSS1 ? 1 : 2;
        p.mean = mean;
        p.variance = variance;
    }
    return p;
}

enum { RANDOM, SPREAD, COINCIDING, ZERO };

enum { H_MAX = 6 };

/* SPREAD: heads apart, residuals of full rank with large correlations. COINCIDING: heads 0 and 1 equal in everything,
 * r of rank 1. ZERO: heads apart, no residual. */
static void start_of(int which, size_t H, size_t F, hspec_init_params *init)
{
    static double m[4][2][H_MAX * 2]; /* outlives the call: the library copies it when a trial is created */
    static double r[4][2][H_MAX][H_MAX * H_MAX];
    double *alignment = m[which][F - 1];
    double *residual = r[which][F - 1][H - 1];
    for (size_t h = 0; h < H; h++) {
        const size_t twin = which == COINCIDING && h == 1 ? 0 : h;
        for (size_t f = 0; f < F; f++) {
            alignment[h * F + f] = 0.6 - 0.45 * (double)twin + (f == 1 ? 0.4 * (double)(twin % 2) - 0.1 : 0.0);
        }
        for (size_t j = 0; j < H; j++) {
            const double near = h > j ? (double)(h - j) : (double)(j - h);
            residual[h * H + j] = which == SPREAD ? (h == j ? 0.8 + 0.1 * (double)h : 0.4 / (1.0 + near)) : 0.0;
            if (which == COINCIDING) {
                residual[h * H + j] = 0.5 * (h < 2 ? 1.0 : 0.3) * (j < 2 ? 1.0 : 0.3);
            }
        }
    }
    init->kind = which == RANDOM ? HSPEC_INIT_RANDOM : HSPEC_INIT_ALIGNED;
    init->scale = 0.8;
    init->alignment = alignment;
    init->residual = residual;
    init->residual_diagonal = 0.0;
}

/* ---- configurations -------------------------------------------------------------------------------------------------- */

typedef struct setup {
    size_t D, L, H, B;
    int signal;
    hspec_activation activation;
    hspec_loss loss;
    int per_head; /* softmax1: one bias per head */
    int start;
    double eta;
    size_t steps, records;
} setup;

#define LOCATION HSPEC_LOSS_LOCATION
#define TOKEN HSPEC_LOSS_TOKEN
#define SOFTMAX HSPEC_SOFTMAX
#define SOFTMAX1 HSPEC_SOFTMAX1
#define BAYES HSPEC_BAYES

static naive_case case_of(const setup *s, hspec_noise noise)
{
    naive_case c = {.signal = signal_of(s->signal), .layer = hspec_layer_default(s->H)};
    c.task.tokens = s->L;
    c.task.dimension = s->D;
    c.layer.activation = s->activation;
    c.layer.bias_per_head = s->per_head;
    c.layer.bias_init = s->activation == SOFTMAX1 ? 0.3 : 0.0;
    c.layer.scale_init = s->activation == SOFTMAX1 ? 0.8 : 1.0;
    c.training = hspec_training_default();
    c.training.loss = s->loss;
    c.training.learning_rate = s->eta;
    c.training.batch = s->B;
    c.training.time = (double)s->steps / (double)s->D;
    c.training.records = s->records;
    c.training.noise = noise;
    start_of(s->start, s->H, naive_features(&c.signal), &c.training.init);
    return c;
}

static int describe(const setup *s, const char *pair, char *name, size_t size)
{
    static const char *const activations[] = {"softmax", "softmax1", "bayes"};
    return snprintf(name, size, "D%zu L%zu H%zu F%zu B%zu %s %s %s", s->D, s->L, s->H,
                    s->signal == FLIPPED || s->signal == GAUSS1 ? (size_t)1 : (size_t)2, s->B,
                    activations[s->activation], s->loss == TOKEN ? "token" : "location", pair);
}

/* What is trained must have moved, and nothing else; otherwise the comparison would compare constants. */
static void assert_moved(const setup *s, const trial *t)
{
    for (size_t column = 0; column < t->columns; column++) {
        const int is_bias = column >= trial_b(t, 0) && column < trial_s(t);
        const int is_scale = column == trial_s(t);
        const int trained = is_scale  ? s->activation == SOFTMAX1
                            : is_bias ? s->activation == SOFTMAX1 || (s->activation == BAYES && s->H > 1)
                                      : 1;
        const double *last = trial_column(t, t->rows - 1, column);
        size_t same = 0;
        for (size_t k = 1; k < t->seeds; k++) {
            same += last[k] == last[0];
        }
        assert_true(trained ? same < t->seeds / 2 : same == t->seeds - 1);
    }
}

/* Row 0 of an aligned start has no law: it is the given state. */
static void assert_start(const naive_case *c, const trial *t)
{
    if (c->training.init.kind == HSPEC_INIT_RANDOM) {
        return;
    }
    for (size_t k = 0; k < t->seeds; k++) {
        for (size_t h = 0; h < t->H; h++) {
            for (size_t f = 0; f < t->F; f++) {
                const double given = c->training.init.alignment[h * t->F + f];
                assert_true(__builtin_fabs(trial_column(t, 0, trial_m(t, h, f))[k] - given) <= 1e-12);
            }
            for (size_t j = 0; j <= h; j++) {
                const double given = c->training.init.residual[h * t->H + j];
                assert_true(__builtin_fabs(trial_column(t, 0, trial_r(t, h, j))[k] - given) <= 1e-12);
            }
        }
    }
}

/* Reduced against explicit and, where naive > 0 seeds are asked for, explicit and reduced against naive.
 * Returns 1 if all agree. */
static int compare(const setup *s, size_t seeds, size_t naive, uint64_t seed)
{
    /* Every other configuration takes the noise of the explicit engine in single precision: the same law. */
    const naive_case c = case_of(s, seed % 2 ? HSPEC_NOISE_SINGLE : HSPEC_NOISE_DOUBLE);
    const size_t first = c.training.init.kind == HSPEC_INIT_RANDOM ? 0 : 1;
    char name[120];
    trial reduced = trial_run(&c, TRIAL_REDUCED, seeds, 1000 + seed);
    trial explicit_ = trial_run(&c, TRIAL_EXPLICIT, seeds, 5000 + seed);
    assert_moved(s, &reduced);
    assert_moved(s, &explicit_);
    assert_start(&c, &reduced);
    assert_start(&c, &explicit_);
    describe(s, "red/exp", name, sizeof name);
    int agree = trial_agree(name, &reduced, &explicit_, first);
    if (naive > 0) {
        trial plain = trial_run(&c, TRIAL_NAIVE, naive, 9000 + seed);
        describe(s, "exp/naive", name, sizeof name);
        agree = trial_agree(name, &explicit_, &plain, first) && agree;
        describe(s, "red/naive", name, sizeof name);
        agree = trial_agree(name, &reduced, &plain, first) && agree;
        trial_free(&plain);
    }
    trial_free(&reduced);
    trial_free(&explicit_);
    return agree;
}

/* All configurations are compared before the test fails, so that a failure shows how far it reaches. */
static void compare_all(const setup *table, size_t n, size_t seeds, size_t naive, uint64_t seed)
{
    size_t disagree = 0;
    for (size_t i = 0; i < n; i++) {
        disagree += !compare(&table[i], seeds, naive, seed + i);
    }
    assert_int_equal(disagree, 0);
}

/* Trajectories at D = 60: every activation, loss and batch, one feature and two. */
static void trajectories(const setup *table, size_t n, uint64_t seed)
{
    compare_all(table, n, full() ? 8000 : 1000, full() ? 2000 : 0, seed);
}

static void test_softmax(void **state)
{
    (void)state;
    const setup table[] = {
        {60, 5, 3, 1, FLIPPED, SOFTMAX, LOCATION, 0, RANDOM, 5.0, 360, 3},
        {60, 4, 3, 4, GAUSS2, SOFTMAX, LOCATION, 0, SPREAD, 8.0, 240, 3},
        {60, 4, 2, 1, POINTS2, SOFTMAX, TOKEN, 0, RANDOM, 5.0, 360, 3},
        {60, 5, 3, 4, FLIPPED, SOFTMAX, TOKEN, 0, ZERO, 8.0, 240, 3},
    };
    trajectories(table, sizeof table / sizeof table[0], 10);
}

static void test_softmax1(void **state)
{
    (void)state;
    const setup table[] = {
        {60, 4, 3, 1, POINTS2, SOFTMAX1, LOCATION, 0, SPREAD, 5.0, 360, 3},
        {60, 5, 3, 4, FLIPPED, SOFTMAX1, LOCATION, 1, RANDOM, 8.0, 240, 3},
        {60, 5, 3, 1, GAUSS1, SOFTMAX1, TOKEN, 1, SPREAD, 5.0, 360, 3},
        {60, 4, 2, 4, GAUSS2, SOFTMAX1, TOKEN, 0, RANDOM, 8.0, 240, 3},
    };
    trajectories(table, sizeof table / sizeof table[0], 20);
}

static void test_bayes(void **state)
{
    (void)state;
    const setup table[] = {
        {60, 5, 3, 1, GAUSS1, BAYES, LOCATION, 1, RANDOM, 4.0, 360, 3},
        {60, 4, 3, 4, POINTS2, BAYES, LOCATION, 1, SPREAD, 6.0, 240, 3},
        {60, 4, 2, 1, GAUSS2, BAYES, TOKEN, 1, SPREAD, 4.0, 360, 3},
        {60, 5, 3, 4, FLIPPED, BAYES, TOKEN, 1, RANDOM, 6.0, 240, 3},
    };
    trajectories(table, sizeof table / sizeof table[0], 30);
}

/* A few large steps in few dimensions, many seeds: here a degree of freedom more or less, or a factor in one term, shows.
 * n = D - F - H directions outside the heads. The naive engine takes part. */
static void test_edges(void **state)
{
    (void)state;
    const setup table[] = {
        {4, 3, 3, 1, FLIPPED, SOFTMAX, LOCATION, 0, SPREAD, 3.0, 3, 3},       /* n = 0 */
        {5, 3, 3, 2, GAUSS2, SOFTMAX1, TOKEN, 0, SPREAD, 3.0, 3, 3},          /* n = 0 */
        {5, 3, 3, 1, GAUSS1, BAYES, TOKEN, 1, RANDOM, 3.0, 3, 3},             /* n = 1 < H */
        {6, 3, 3, 2, FLIPPED, SOFTMAX1, LOCATION, 1, SPREAD, 4.0, 3, 3},      /* n = 2 < H < B L */
        {9, 4, 3, 1, FLIPPED, SOFTMAX, TOKEN, 0, SPREAD, 5.0, 3, 3},          /* n - H = 2 < L */
        {12, 5, 3, 4, GAUSS1, SOFTMAX, LOCATION, 0, ZERO, 8.0, 3, 3},         /* n = 8 < B L = 20 */
        {12, 5, 3, 4, POINTS2, BAYES, TOKEN, 1, SPREAD, 6.0, 3, 3},           /* n = 7 < B L = 20 */
        {20, 2, 6, 1, FLIPPED, SOFTMAX, LOCATION, 0, ZERO, 12.0, 4, 2},       /* B L = 2 < H */
        {20, 2, 6, 1, GAUSS2, SOFTMAX1, TOKEN, 1, COINCIDING, 12.0, 4, 2},    /* B L = 2 < H */
        {7, 2, 4, 1, FLIPPED, BAYES, LOCATION, 1, RANDOM, 4.0, 3, 3},         /* n = 2 = B L < H */
        {12, 3, 1, 2, GAUSS2, SOFTMAX1, LOCATION, 0, SPREAD, 3.0, 4, 2},      /* one head */
        {24, 3, 3, 3, POINTS2, SOFTMAX, LOCATION, 0, COINCIDING, 10.0, 4, 2}, /* two heads coincide, r of rank 1 */
        {24, 7, 4, 12, POINTS2, SOFTMAX1, TOKEN, 0, SPREAD, 20.0, 3, 3}, /* many sequences, more tokens than a tile */
        {18, 6, 5, 10, GAUSS2, SOFTMAX, LOCATION, 0, RANDOM, 20.0, 3, 3},
        {40, 4, 3, 2, FLIPPED, SOFTMAX, TOKEN, 0, ZERO, 16.0, 2, 2},   /* r from nothing: all of it is new */
        {10, 4, 4, 1, FLIPPED, SOFTMAX, LOCATION, 0, ZERO, 8.0, 2, 2}, /* the same with n = 5 */
    };
    const size_t seeds = full() ? 100000 : 12000;
    compare_all(table, sizeof table / sizeof table[0], seeds, seeds, 40);
}

static void test_large_dimension(void **state)
{
    (void)state;
    const setup table[] = {
        {1000, 5, 3, 1, FLIPPED, SOFTMAX, LOCATION, 0, ZERO, 8.0, 1500, 3},
        {1000, 4, 3, 1, POINTS2, SOFTMAX1, TOKEN, 1, RANDOM, 8.0, 1500, 3},
        {1000, 5, 3, 4, GAUSS2, BAYES, TOKEN, 1, SPREAD, 8.0, 3000, 4},
    };
    compare_all(table, full() ? 3 : 2, full() ? 1000 : 208, full() ? 220 : 0, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges), cmocka_unit_test(test_softmax),         cmocka_unit_test(test_softmax1),
        cmocka_unit_test(test_bayes), cmocka_unit_test(test_large_dimension),
    };
    return cmocka_run_group_tests_name("engines", tests, NULL, NULL);
}
