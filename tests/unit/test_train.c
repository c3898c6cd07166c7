/* SPDX-License-Identifier: MIT
 * The training loop: the same bits for any number of seeds and threads, the record grid, stopping, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headspec.h"

#include <math.h>
#include <string.h>

enum { H = 3, F = 2 };

typedef struct setup {
    hspec_signal *signal;
    hspec_task_params task;
    hspec_layer_params layer;
    hspec_training_params params;
} setup;

static void setup_start(setup *s)
{
    static const double theta[3][F] = {{2.0, 0.0}, {0.0, 1.5}, {-1.0, 1.0}};
    const hspec_signal_params signal = {.kind = HSPEC_SIGNAL_DISCRETE, .features = F, .points = 3, .theta = theta[0]};
    hspec_error err;
    if (hspec_signal_create(&signal, &s->signal, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    s->task = (hspec_task_params){.tokens = 4, .dimension = 40, .signal = s->signal};
    s->layer = hspec_layer_default(H);
    s->layer.activation = HSPEC_SOFTMAX1;
    s->params = hspec_training_default();
    s->params.time = 2.0;
    s->params.records = 7;
    s->params.learning_rate = 4.0;
    s->params.batch = 2;
}

static hspec_training *train(const setup *s, int threads)
{
    hspec_error err;
    hspec_training *training = NULL;
    if (hspec_training_create(&s->task, &s->layer, &s->params, threads, &training, &err) != HSPEC_OK ||
        hspec_training_run(training, NULL, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    return training;
}

/* The first seeds of two runs hold the same bits. */
static void assert_same(const hspec_trajectory *a, const hspec_trajectory *b, size_t seeds)
{
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->alignment, b->alignment, seeds * a->rows * H * F * sizeof(double));
    assert_memory_equal(a->residual, b->residual, seeds * a->rows * H * H * sizeof(double));
    assert_memory_equal(a->bias, b->bias, seeds * a->rows * H * sizeof(double));
    assert_memory_equal(a->scale, b->scale, seeds * a->rows * sizeof(double));
}

static void test_seeds_and_threads(void **state)
{
    (void)state;
    const size_t seeds[] = {1, 3, 8, 9, 20};
    setup s;
    setup_start(&s);
    for (int engine = 0; engine < 3; engine++) { /* reduced; explicit with double and with single noise */
        s.params.noise = engine == 2 ? HSPEC_NOISE_SINGLE : HSPEC_NOISE_DOUBLE;
        for (int token = 0; token < 2; token++) {
            for (int a = 0; a < 3; a++) {
                s.params.engine = engine ? HSPEC_ENGINE_EXPLICIT : HSPEC_ENGINE_REDUCED;
                s.params.loss = token ? HSPEC_LOSS_TOKEN : HSPEC_LOSS_LOCATION;
                s.layer.activation = (hspec_activation)a;
                s.params.seeds = 20;
                hspec_training *whole = train(&s, 1);
                hspec_trajectory all;
                hspec_training_trajectory(whole, &all);
                for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
                    s.params.seeds = seeds[i];
                    hspec_training *part = train(&s, (int)i + 1);
                    hspec_trajectory some;
                    hspec_training_trajectory(part, &some);
                    assert_same(&some, &all, seeds[i]);
                    hspec_training_free(part);
                }
                /* Seeds differ from each other, and from those of another seed. */
                const size_t row = all.rows * H * F;
                assert_memory_not_equal(all.alignment, all.alignment + row, row * sizeof(double));
                s.params.seeds = 1;
                s.params.seed = 2;
                hspec_training *other = train(&s, 1);
                hspec_trajectory one;
                hspec_training_trajectory(other, &one);
                for (size_t k = 0; k < 20; k++) {
                    assert_memory_not_equal(one.alignment, all.alignment + k * row, row * sizeof(double));
                }
                s.params.seed = 1;
                hspec_training_free(other);
                hspec_training_free(whole);
            }
        }
    }
    hspec_signal_free(s.signal);
}

static void test_record_grid(void **state)
{
    (void)state;
    setup s;
    setup_start(&s);
    s.params.time = 1.99; /* 79.6 steps are rounded to 80 */
    hspec_training *training = train(&s, 0);
    hspec_trajectory t;
    hspec_training_trajectory(training, &t);
    const uint64_t linear[8] = {0, 11, 23, 34, 46, 57, 69, 80};
    assert_int_equal(t.rows, 8);
    assert_int_equal(t.done, 8);
    for (size_t row = 0; row < 8; row++) {
        assert_int_equal(t.step[row], linear[row]);
        assert_true(t.time[row] == (double)linear[row] / 40.0);
    }
    hspec_training_free(training);
    s.params.spacing = HSPEC_SPACING_LOG;
    training = train(&s, 0);
    hspec_training_trajectory(training, &t);
    assert_int_equal(t.step[0], 0);
    assert_int_equal(t.step[t.rows - 1], 80);
    for (size_t row = 1; row < t.rows; row++) {
        assert_true(t.step[row] > t.step[row - 1]);
    }
    assert_true(t.step[2] - t.step[1] < t.step[7] - t.step[6]);
    hspec_training_free(training);
    hspec_signal_free(s.signal);
}

typedef struct stopper {
    int calls, stop_at;
    double last_done, total;
} stopper;

static int stop_at(void *user, const hspec_event *event)
{
    stopper *s = user;
    if (event->kind != HSPEC_EVENT_PROGRESS) {
        return 0;
    }
    assert_true(event->done >= s->last_done && event->done <= event->total);
    s->last_done = event->done;
    s->total = event->total;
    return ++s->calls == s->stop_at;
}

/* A run that was stopped and called again ends with the bits of the unbroken one. */
static void test_stop_and_go_on(void **state)
{
    (void)state;
    setup s;
    setup_start(&s);
    hspec_training *unbroken = train(&s, 0);
    hspec_training *broken = NULL;
    hspec_error err;
    stopper stop = {0, 3, 0.0, 0.0};
    const hspec_monitor monitor = {stop_at, &stop};
    assert_int_equal(hspec_training_create(&s.task, &s.layer, &s.params, 2, &broken, &err), HSPEC_OK);
    assert_int_equal(hspec_training_run(broken, &monitor, &err), HSPEC_ESTOPPED);
    hspec_trajectory a;
    hspec_trajectory b;
    hspec_training_trajectory(broken, &a);
    assert_true(a.done >= 2 && a.done < a.rows);
    assert_int_equal(hspec_training_run(broken, &monitor, &err), HSPEC_OK);
    assert_true(stop.last_done == stop.total);
    hspec_training_trajectory(broken, &a);
    hspec_training_trajectory(unbroken, &b);
    assert_int_equal(a.done, a.rows);
    assert_same(&a, &b, s.params.seeds);
    hspec_training_free(broken);
    hspec_training_free(unbroken);
    hspec_signal_free(s.signal);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------ */

static void refused(const setup *s, const char *word)
{
    hspec_error err;
    hspec_training *training = (hspec_training *)&err; /* any address: it must stay */
    memset(&err, 0, sizeof err);
    assert_int_equal(hspec_training_create(&s->task, &s->layer, &s->params, 1, &training, &err), HSPEC_EARG);
    assert_ptr_equal(training, &err);
    if (strstr(err.message, word) == NULL) {
        fail_msg("'%s' does not name '%s'", err.message, word);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    setup s;
    setup_start(&s);
    const double alignment[H * F] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    const double bad_alignment[H * F] = {0.1, 0.2, NAN, 0.4, 0.5, 0.6};
    const double indefinite[H * H] = {1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    const double lopsided[H * H] = {1.0, 0.5, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 1.0};
    setup t = s;
    t.task.dimension = F + H - 1;
    refused(&t, "dimension");
    t = s;
    t.task.tokens = 1;
    refused(&t, "tokens");
    t = s;
    t.layer.heads = 0;
    refused(&t, "heads");
    t = s;
    t.params.learning_rate = -1.0;
    refused(&t, "learning");
    t = s;
    t.params.batch = 0;
    refused(&t, "batch");
    t = s;
    t.params.time = NAN;
    refused(&t, "time");
    t = s;
    t.params.seeds = 0;
    refused(&t, "seeds");
    t = s;
    t.params.records = 81; /* there are only 80 steps */
    refused(&t, "records");
    t = s;
    t.params.init.scale = -0.1;
    refused(&t, "scale");
    t = s;
    t.params.init.kind = HSPEC_INIT_ALIGNED;
    t.params.init.alignment = bad_alignment;
    refused(&t, "alignment");
    t.params.init.alignment = alignment;
    t.params.init.residual = indefinite;
    refused(&t, "residual");
    t.params.init.residual = lopsided;
    refused(&t, "residual");
    hspec_signal_free(s.signal);
}

/* Spikes of one's own: any orthogonal set of length sqrt(D) is taken, anything else is refused. */
static void test_spikes(void **state)
{
    (void)state;
    enum { D = 40 };
    const double alignment[H * F] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    double spikes[F * D] = {0.0};
    for (size_t i = 0; i < D; i++) {
        spikes[i] = 1.0;
        spikes[D + i] = i % 2 ? 1.0 : -1.0;
    }
    setup s;
    setup_start(&s);
    s.params.engine = HSPEC_ENGINE_EXPLICIT;
    s.params.init.kind = HSPEC_INIT_ALIGNED;
    s.params.init.alignment = alignment;
    s.params.init.residual_diagonal = 0.3;
    s.task.spikes = spikes;
    hspec_training *training = train(&s, 0);
    hspec_trajectory t;
    hspec_training_trajectory(training, &t);
    for (size_t i = 0; i < H * F; i++) {
        assert_true(fabs(t.alignment[i] - alignment[i]) < 1e-12);
    }
    for (size_t i = 0; i < H * H; i++) {
        assert_true(fabs(t.residual[i] - (i % (H + 1) == 0 ? 0.3 : 0.0)) < 1e-12);
    }
    hspec_training_free(training);
    spikes[0] = 1.01;
    refused(&s, "spike");
    spikes[0] = 1.0;
    for (size_t i = 0; i < D; i++) {
        spikes[D + i] = i % 4 ? 1.0 : -1.0;
    }
    refused(&s, "spike");
    hspec_signal_free(s.signal);
}

/* All updates of a step use the values before it: what one step adds to m, b and s is proportional to the learning rate,
 * however many sequences the batch has (the explicit engine makes at most 8 at a time). */
static void test_one_step_is_linear(void **state)
{
    (void)state;
    const size_t batch[] = {1, 7, 8, 9, 20};
    setup s;
    setup_start(&s);
    s.params.time = 1.0 / (double)s.task.dimension;
    s.params.records = 1;
    s.params.seeds = 1;
    for (size_t form = 0; form < 4 * sizeof batch / sizeof *batch; form++) {
        s.params.batch = batch[form / 4];
        s.params.engine = form % 2 ? HSPEC_ENGINE_EXPLICIT : HSPEC_ENGINE_REDUCED;
        s.params.loss = form / 2 % 2 ? HSPEC_LOSS_TOKEN : HSPEC_LOSS_LOCATION;
        double step[2][H * F + H + 1];
        for (int large = 0; large < 2; large++) {
            s.params.learning_rate = large ? 50 : 1;
            hspec_training *training = train(&s, 1);
            hspec_trajectory t;
            hspec_training_trajectory(training, &t);
            double *x = step[large];
            for (size_t i = 0; i < (size_t)H * F; i++) {
                *x++ = (t.alignment[H * F + i] - t.alignment[i]) / s.params.learning_rate;
            }
            for (size_t h = 0; h < H; h++) {
                *x++ = (t.bias[H + h] - t.bias[h]) / s.params.learning_rate;
            }
            *x = (t.scale[1] - t.scale[0]) / s.params.learning_rate;
            hspec_training_free(training);
        }
        for (size_t i = 0; i < (size_t)H * F + H + 1; i++) {
            assert_true(step[0][i] != 0 && fabs(step[1][i] - step[0][i]) < 1e-13);
        }
    }
    hspec_signal_free(s.signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds_and_threads),
        cmocka_unit_test(test_record_grid),
        cmocka_unit_test(test_stop_and_go_on),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_spikes),
        cmocka_unit_test(test_one_step_is_linear),
    };
    return cmocka_run_group_tests_name("train", tests, NULL, NULL);
}
