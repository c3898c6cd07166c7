/* SPDX-License-Identifier: MIT
 * Starts: an aligned one realizes the given m and r in both engines, with any spikes; what random ones have in common. */
#include "unit/training_case.h"

#include "core/dense.h"

static double uniform(uint64_t *s)
{
    *s += 0x9E3779B97F4A7C15U;
    uint64_t z = *s;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

enum { H_MAX = 8, F_MAX = 4, D_MAX = 300 };

/* F orthogonal rows of length sqrt(D): unit vectors, blocks of coordinates, or a random frame by Gram and Schmidt. */
static void make_spikes(int kind, size_t F, size_t D, double *spikes, uint64_t *s)
{
    memset(spikes, 0, F * D * sizeof *spikes);
    for (size_t f = 0; f < F; f++) {
        double *k = spikes + f * D;
        for (size_t d = 0; d < D; d++) {
            k[d] = kind == 0 ? d == f : kind == 1 ? d % F == f : uniform(s) - 0.5;
        }
        for (int pass = 0; pass < 3; pass++) {
            for (size_t g = 0; g < f; g++) {
                double along = 0;
                for (size_t d = 0; d < D; d++) {
                    along += k[d] * spikes[g * D + d] / (double)D;
                }
                for (size_t d = 0; d < D; d++) {
                    k[d] -= along * spikes[g * D + d];
                }
            }
        }
        double square = 0;
        for (size_t d = 0; d < D; d++) {
            square += k[d] * k[d];
        }
        for (size_t d = 0; d < D; d++) {
            k[d] *= sqrt((double)D / square);
        }
    }
}

/* r0 = G G^T with G [H][rank]; rank 0 is r0 = 0. The second head equals the first when `twins`. */
static void make_residual(size_t H, size_t rank, int twins, double *r0, uint64_t *s)
{
    double G[H_MAX * H_MAX];
    for (size_t h = 0; h < H; h++) {
        for (size_t k = 0; k < rank; k++) {
            G[h * rank + k] = twins && h == 1 ? G[k] : 2 * uniform(s) - 1;
        }
    }
    hspec_dense_gram(H, rank, G, r0);
}

static void assert_start(const training_case *c, const double *m0, const double *r0, const char *what)
{
    const size_t H = c->layer.heads, F = hspec_signal_features(c->signal);
    hspec_trajectory t;
    hspec_training *training = case_create(c, &t);
    assert_int_equal(t.done, 1);
    for (size_t k = 0; k < t.seeds; k++) {
        for (size_t i = 0; i < H * F; i++) {
            if (!(fabs(case_m(&t, k, 0)[i] - m0[i]) <= 1e-12)) {
                fail_msg("%s: m[%zu] is %.17g, not %.17g", what, i, case_m(&t, k, 0)[i], m0[i]);
            }
        }
        for (size_t i = 0; i < H * H; i++) {
            if (!(fabs(case_r(&t, k, 0)[i] - r0[i]) <= 1e-12)) {
                fail_msg("%s: r[%zu] is %.17g, not %.17g", what, i, case_r(&t, k, 0)[i], r0[i]);
            }
        }
    }
    hspec_training_free(training);
}

static void test_aligned(void **state)
{
    (void)state;
    static double spikes[F_MAX * D_MAX];
    double m0[H_MAX * F_MAX] = {0}, r0[H_MAX * H_MAX] = {0};
    const struct {
        size_t D, H, F;
    } sizes[] = {{2, 1, 1}, {7, 4, 3}, {8, 4, 3}, {60, 3, 1}, {60, 8, 4}, {64, 2, 2}, {300, 5, 4}};
    uint64_t s = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t D = sizes[i].D, H = sizes[i].H, F = sizes[i].F;
        training_case c = case_make(D, 3, H, F);
        c.params.init.kind = HSPEC_INIT_ALIGNED;
        c.params.init.alignment = m0;
        c.params.init.residual = r0;
        for (size_t round = 0; round < 12; round++) {
            for (size_t j = 0; j < H * F; j++) {
                m0[j] = 4 * uniform(&s) - 2;
            }
            make_residual(H, round % (H + 1), round % 4 == 3, r0, &s);
            c.task.spikes = NULL;
            c.params.engine = HSPEC_ENGINE_REDUCED;
            assert_start(&c, m0, r0, "reduced");
            c.params.engine = HSPEC_ENGINE_EXPLICIT;
            c.params.noise = round % 2 ? HSPEC_NOISE_SINGLE : HSPEC_NOISE_DOUBLE; /* keys are double in any case */
            assert_start(&c, m0, r0, "explicit");
            for (int kind = 0; kind < 3; kind++) {
                make_spikes(kind, F, D, spikes, &s);
                c.task.spikes = spikes;
                assert_start(&c, m0, r0, "explicit with spikes");
            }
        }
        case_free(&c);
    }
}

/* A number times the unit matrix, which is 0 unless it is said. */
static void test_residual_diagonal(void **state)
{
    (void)state;
    const double m0[H_MAX * F_MAX] = {0.1, 0.0, -0.1};
    training_case c = case_make(50, 4, 3, 1);
    c.params.init.kind = HSPEC_INIT_ALIGNED;
    c.params.init.alignment = m0;
    for (int i = 0; i < 3; i++) {
        double r0[H_MAX * H_MAX] = {0};
        r0[0] = r0[4] = r0[8] = c.params.init.residual_diagonal = 0.35 * i;
        c.params.engine = HSPEC_ENGINE_REDUCED;
        assert_start(&c, m0, r0, "reduced");
        c.params.engine = HSPEC_ENGINE_EXPLICIT;
        assert_start(&c, m0, r0, "explicit");
    }
    case_free(&c);
}

/* Without residual and with two heads alike: the residual of the explicit engine is zero to rounding squared. */
static void test_no_residual(void **state)
{
    (void)state;
    const double m0[6] = {0.5, -0.2, 0.5, -0.2, 1.5, 3.0};
    training_case c = case_make(200, 4, 3, 2);
    c.params.engine = HSPEC_ENGINE_EXPLICIT;
    c.params.init.kind = HSPEC_INIT_ALIGNED;
    c.params.init.alignment = m0;
    hspec_trajectory t;
    hspec_training *training = case_create(&c, &t);
    for (size_t i = 0; i < 9; i++) {
        assert_true(fabs(case_r(&t, 0, 0)[i]) < 1e-29);
    }
    hspec_training_free(training);
    case_free(&c);
}

/* Arrays of the start and of the spikes belong to the caller, who may change or lose them. */
static void test_copied(void **state)
{
    (void)state;
    double m0[3] = {0.3, 0.2, -0.1}, r0[9] = {1, 0.5, 0, 0.5, 1, 0, 0, 0, 1}, spikes[30];
    for (int engine = 0; engine < 2; engine++) {
        hspec_trajectory t[2];
        hspec_training *training[2];
        training_case c = case_make(30, 3, 3, 1);
        c.params.engine = engine ? HSPEC_ENGINE_EXPLICIT : HSPEC_ENGINE_REDUCED;
        c.params.init = (hspec_init_params){.kind = HSPEC_INIT_ALIGNED, .alignment = m0, .residual = r0};
        c.task.spikes = spikes;
        for (int run = 0; run < 2; run++) {
            uint64_t s = 5;
            make_spikes(2, 1, 30, spikes, &s);
            training[run] = case_create(&c, &t[run]);
            if (run == 1) {
                const double m_kept[3] = {m0[0], m0[1], m0[2]}, r_kept = r0[0];
                m0[0] = m0[1] = m0[2] = r0[0] = spikes[0] = NAN;
                hspec_error err;
                assert_int_equal(hspec_training_run(training[1], NULL, &err), HSPEC_OK);
                memcpy(m0, m_kept, sizeof m0);
                r0[0] = r_kept;
            } else {
                hspec_error err;
                assert_int_equal(hspec_training_run(training[0], NULL, &err), HSPEC_OK);
            }
        }
        assert_memory_equal(t[0].alignment, t[1].alignment, 3 * t[0].rows * t[0].seeds * sizeof(double));
        hspec_training_free(training[0]);
        hspec_training_free(training[1]);
        case_free(&c);
    }
}

/* Random starts scale with `scale`, differ from seed to seed, and do not depend on what will be done with them. */
static void test_random(void **state)
{
    (void)state;
    for (int engine = 0; engine < 2; engine++) {
        training_case c = case_make(40, 3, 3, 2);
        c.params.engine = engine ? HSPEC_ENGINE_EXPLICIT : HSPEC_ENGINE_REDUCED;
        hspec_trajectory t, u;
        hspec_training *one = case_create(&c, &t);
        c.params.init.scale = 0.2;
        c.params.learning_rate = 3;
        c.params.batch = 5;
        c.params.loss = HSPEC_LOSS_TOKEN;
        c.params.noise = HSPEC_NOISE_SINGLE;
        c.layer.activation = HSPEC_BAYES;
        hspec_training *two = case_create(&c, &u);
        for (size_t k = 0; k < 3; k++) {
            for (size_t i = 0; i < 6; i++) {
                assert_true(fabs(case_m(&u, k, 0)[i] - 2 * case_m(&t, k, 0)[i]) < 1e-15);
                assert_true(case_m(&t, k, 0)[i] != case_m(&t, (k + 1) % 3, 0)[i]);
            }
            for (size_t i = 0; i < 9; i++) {
                assert_true(fabs(case_r(&u, k, 0)[i] - 4 * case_r(&t, k, 0)[i]) < 1e-15);
            }
        }
        hspec_training_free(one);
        hspec_training_free(two);
        c.params.init.scale = 0;
        one = case_run(&c, &t);
        for (size_t i = 0; i < 9; i++) {
            assert_true(case_r(&t, 0, 0)[i] == 0 && (i >= 6 || case_m(&t, 0, 0)[i] == 0));
        }
        case_assert_sound(&t);
        hspec_training_free(one);
        case_free(&c);
    }
}

/* b and s start as the layer says where the activation reads them, and at 0 and 1 elsewhere. */
static void test_bias_and_scale(void **state)
{
    (void)state;
    for (int engine = 0; engine < 2; engine++) {
        for (int a = 0; a < 3; a++) {
            training_case c = case_make(40, 3, 3, 2);
            c.params.engine = engine ? HSPEC_ENGINE_EXPLICIT : HSPEC_ENGINE_REDUCED;
            c.layer.activation = (hspec_activation)a;
            c.layer.bias_init = 0.7;
            c.layer.scale_init = 1.3;
            hspec_trajectory t;
            hspec_training *training = case_create(&c, &t);
            for (size_t h = 0; h < 3; h++) {
                assert_true(case_b(&t, 2, 0)[h] == (a == HSPEC_SOFTMAX1 ? 0.7 : 0));
            }
            assert_true(case_s(&t, 2, 0) == (a == HSPEC_SOFTMAX1 ? 1.3 : 1));
            hspec_training_free(training);
            case_free(&c);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aligned),     cmocka_unit_test(test_residual_diagonal),
        cmocka_unit_test(test_no_residual), cmocka_unit_test(test_copied),
        cmocka_unit_test(test_random),      cmocka_unit_test(test_bias_and_scale),
    };
    return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
