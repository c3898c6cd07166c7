/* SPDX-License-Identifier: MIT
 * Parameters of a run: every one that is refused is named by its path, with what was found and what is allowed. */
#include "unit/training_case.h"

/* Nothing is handed out; estimates refuse the same. */
static void refused(const training_case *c, const char *path, const char *found, const char *allowed)
{
    hspec_training *training = (hspec_training *)(void *)&training; /* any address: it must stay */
    hspec_error err;
    memset(&err, 0, sizeof err);
    assert_int_equal(hspec_training_create(&c->task, &c->layer, &c->params, 1, &training, &err), HSPEC_EARG);
    assert_int_equal(err.status, HSPEC_EARG);
    assert_ptr_equal(training, &training);
    if (strncmp(err.message, path, strlen(path)) != 0 || !strstr(err.message, found) || !strstr(err.message, allowed)) {
        fail_msg("'%s' does not say '%s', '%s' and '%s'", err.message, path, found, allowed);
    }
    double bytes = -7.5, steps = -7.5;
    hspec_error other;
    assert_int_equal(hspec_training_estimate(&c->task, &c->layer, &c->params, &bytes, &steps, &other), HSPEC_EARG);
    assert_string_equal(other.message, err.message);
    assert_true(bytes == -7.5 && steps == -7.5);
    assert_int_equal(hspec_training_create(&c->task, &c->layer, &c->params, 1, &training, NULL), HSPEC_EARG);
}

/* c with one field changed. */
#define REFUSED(field, value, path, found, allowed)                                                                    \
    do {                                                                                                               \
        training_case changed = c;                                                                                     \
        changed.field = value;                                                                                         \
        refused(&changed, path, found, allowed);                                                                       \
    } while (0)

static void test_task(void **state)
{
    (void)state;
    training_case c = case_make(40, 4, 3, 2);
    REFUSED(task.signal, NULL, "task.signal: ", "NULL", "must not be");
    REFUSED(task.tokens, 0, "task.tokens: ", "found 0", "allowed 2 to 65536");
    REFUSED(task.tokens, 1, "task.tokens: ", "found 1", "allowed 2 to 65536");
    REFUSED(task.tokens, 65537, "task.tokens: ", "found 65537", "allowed 2 to 65536");
    REFUSED(task.dimension, 0, "task.dimension: ", "found 0", "F + H = 5 to 1e12");
    REFUSED(task.dimension, 4, "task.dimension: ", "found 4", "F + H = 5 to 1e12");
    REFUSED(task.dimension, (size_t)1000000000001, "task.dimension: ", "found 1000000000001", "F + H = 5 to 1e12");
    case_free(&c);
}

static void test_layer(void **state)
{
    (void)state;
    training_case c = case_make(40, 4, 3, 2);
    REFUSED(layer.heads, 0, "layer.heads: ", "found 0", "allowed 1 to 4096");
    REFUSED(layer.heads, 4097, "layer.heads: ", "found 4097", "allowed 1 to 4096");
    REFUSED(layer.heads, SIZE_MAX, "layer.heads: ", "found 18446744073709551615", "allowed 1 to 4096");
    REFUSED(layer.activation, (hspec_activation)9, "layer.activation: ", "found 9", "allowed softmax, softmax1, bayes");
    REFUSED(layer.bias_init, NAN, "layer.bias.init: ", "found nan", "allowed -1e4 to 1e4");
    REFUSED(layer.bias_init, 10001, "layer.bias.init: ", "found 10001", "allowed -1e4 to 1e4");
    REFUSED(layer.scale_init, -INFINITY, "layer.scale.init: ", "found -inf", "allowed -1e4 to 1e4");
    REFUSED(layer.scale_init, -10001, "layer.scale.init: ", "found -10001", "allowed -1e4 to 1e4");
    case_free(&c);
}

static void test_training(void **state)
{
    (void)state;
    training_case c = case_make(40, 4, 3, 2);
    REFUSED(params.learning_rate, 0, "training.learning_rate: ", "found 0", "allowed above 0");
    REFUSED(params.learning_rate, -1, "training.learning_rate: ", "found -1", "allowed above 0");
    REFUSED(params.learning_rate, NAN, "training.learning_rate: ", "found nan", "allowed above 0");
    REFUSED(params.learning_rate, INFINITY, "training.learning_rate: ", "found inf", "allowed above 0");
    REFUSED(params.batch, 0, "training.batch: ", "found 0", "allowed 1 to 1000000");
    REFUSED(params.batch, 1000001, "training.batch: ", "found 1000001", "allowed 1 to 1000000");
    REFUSED(params.time, 0, "training.time: ", "found 0", "allowed 1 to 2^53 steps");
    REFUSED(params.time, -3, "training.time: ", "found -3", "allowed 1 to 2^53 steps");
    REFUSED(params.time, NAN, "training.time: ", "found nan", "allowed 1 to 2^53 steps");
    REFUSED(params.time, INFINITY, "training.time: ", "found inf", "allowed 1 to 2^53 steps");
    REFUSED(params.time, 0.01, "training.time: ", "found 0.01, which is 0 steps at D = 40", "allowed 1 to 2^53 steps");
    REFUSED(params.time, 0x1p53, "training.time: ", "found 9.0072e+15", "allowed 1 to 2^53 steps");
    REFUSED(params.seeds, 0, "training.seeds: ", "found 0", "allowed 1 to 1000000");
    REFUSED(params.seeds, 1000001, "training.seeds: ", "found 1000001", "allowed 1 to 1000000");
    REFUSED(params.records, 0, "training.records: ", "found 0", "number of steps (40)");
    REFUSED(params.records, 41, "training.records: ", "found 41", "number of steps (40)");
    c.params.time = 1e6;
    REFUSED(params.records, 10000001, "training.records: ", "found 10000001", "at most 1e7");
    c.params.time = 1;
    REFUSED(params.engine, (hspec_engine)5, "training.engine: ", "found 5", "allowed explicit, reduced");
    REFUSED(params.loss, (hspec_loss)5, "training.loss: ", "found 5", "allowed location, token");
    REFUSED(params.noise, (hspec_noise)5, "training.noise: ", "found 5", "allowed double, single");
    REFUSED(params.spacing, (hspec_spacing)5, "training.record_spacing: ", "found 5", "allowed linear, log");
    case_free(&c);
}

static void test_init(void **state)
{
    (void)state;
    training_case c = case_make(40, 4, 3, 2);
    REFUSED(params.init.scale, -0.1, "training.init.scale: ", "found -0.1", "allowed 0 to 1000");
    REFUSED(params.init.scale, NAN, "training.init.scale: ", "found nan", "allowed 0 to 1000");
    REFUSED(params.init.scale, 1001, "training.init.scale: ", "found 1001", "allowed 0 to 1000");
    REFUSED(params.init.kind, (hspec_init_kind)4, "training.init: ", "unknown kind", "allowed random, or aligned");
    c.params.init.kind = HSPEC_INIT_ALIGNED;
    refused(&c, "training.init: ", "no alignment", "aligned with an alignment");
    double m[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    c.params.init.alignment = m;
    m[3] = NAN;
    refused(&c, "training.init.alignment.1.1: ", "found nan", "allowed -1000 to 1000");
    m[3] = 1e9;
    refused(&c, "training.init.alignment.1.1: ", "found 1e+09", "allowed -1000 to 1000");
    m[3] = 0.4;
    REFUSED(params.init.residual_diagonal, -0.5, "training.init.residual: ", "found -0.5", "allowed 0 to 1e6");
    REFUSED(params.init.residual_diagonal, NAN, "training.init.residual: ", "found nan", "allowed 0 to 1e6");
    double r[9] = {1, 0.5, 0, 0.5, 1, 0, 0, 0, 1};
    c.params.init.residual = r;
    r[7] = NAN;
    refused(&c, "training.init.residual.2.1: ", "found nan", "allowed -1e6 to 1e6");
    r[7] = 0.1;
    refused(&c, "training.init.residual.1.2: ", "found 0, but 0.1", "a symmetric matrix");
    r[7] = 0;
    r[4] = 0.2; /* |0.5| > sqrt(1 * 0.2) */
    refused(&c, "training.init.residual: ", "not positive semidefinite", "row 1");
    r[4] = -1;
    refused(&c, "training.init.residual: ", "not positive semidefinite", "row 1");
    case_free(&c);
}

static void set_spikes(double *spikes, size_t D)
{
    for (size_t d = 0; d < D; d++) {
        spikes[d] = d % 2 ? 1 : -1;
        spikes[D + d] = d % 4 < 2 ? 1 : -1;
    }
}

/* Spikes are looked at by the engine that reads them. */
static void test_spikes(void **state)
{
    (void)state;
    enum { D = 40 };
    training_case c = case_make(D, 4, 3, 2);
    double spikes[2 * D];
    hspec_error err;
    hspec_training *training = NULL;
    c.params.engine = HSPEC_ENGINE_EXPLICIT;
    c.task.spikes = spikes;
    set_spikes(spikes, D);
    hspec_trajectory t;
    hspec_training_free(case_create(&c, &t));
    const struct {
        size_t at;
        double value;
        const char *product, *found;
    } cases[] = {{3, 1.001, "k*_0 . k*_0 / D is 1.000050025", "allowed 1 within"},
                 {D + 3, 0, "k*_1 . k*_0 / D is 0.025", "allowed 0 within"},
                 {D + 5, NAN, "k*_1 . k*_0 / D is nan", "allowed 0 within"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        set_spikes(spikes, D);
        spikes[cases[k].at] = cases[k].value;
        assert_int_equal(hspec_training_create(&c.task, &c.layer, &c.params, 1, &training, &err), HSPEC_EARG);
        assert_null(training);
        if (strncmp(err.message, "spikes: ", 8) != 0 || !strstr(err.message, cases[k].product) ||
            !strstr(err.message, cases[k].found)) {
            fail_msg("'%s' does not say '%s'", err.message, cases[k].product);
        }
    }
    c.params.engine = HSPEC_ENGINE_REDUCED;
    hspec_training_free(case_create(&c, &t));
    case_free(&c);
}

static void test_null(void **state)
{
    (void)state;
    training_case c = case_make(40, 4, 3, 2);
    hspec_training *training = NULL;
    double bytes, steps;
    assert_int_equal(hspec_training_create(NULL, &c.layer, &c.params, 1, &training, NULL), HSPEC_EARG);
    assert_int_equal(hspec_training_create(&c.task, NULL, &c.params, 1, &training, NULL), HSPEC_EARG);
    assert_int_equal(hspec_training_create(&c.task, &c.layer, NULL, 1, &training, NULL), HSPEC_EARG);
    assert_int_equal(hspec_training_create(&c.task, &c.layer, &c.params, 1, NULL, NULL), HSPEC_EARG);
    assert_int_equal(hspec_training_create(&c.task, &c.layer, &c.params, -1, &training, NULL), HSPEC_EARG);
    assert_int_equal(hspec_training_run(NULL, NULL, NULL), HSPEC_EARG);
    assert_int_equal(hspec_training_checkpoint(NULL, NULL, NULL), HSPEC_EARG);
    assert_int_equal(hspec_training_estimate(NULL, &c.layer, &c.params, &bytes, &steps, NULL), HSPEC_EARG);
    assert_int_equal(hspec_training_estimate(&c.task, &c.layer, &c.params, NULL, &steps, NULL), HSPEC_EARG);
    hspec_training_free(NULL);
    case_free(&c);
}

/* The ends of what is allowed are allowed. */
static void test_allowed(void **state)
{
    (void)state;
    training_case c = case_make(5, 2, 3, 2); /* D = F + H, L = 2 */
    hspec_trajectory t;
    case_steps(&c, 1);
    c.params.records = 1;
    c.params.seeds = 1;
    c.layer.bias_init = -1e4;
    c.layer.scale_init = 1e4;
    c.params.init.scale = 0;
    hspec_training_free(case_run(&c, &t));
    c.task.dimension = (size_t)1000000000000;
    c.params.time = 0x1p53 / 1e12;
    hspec_training_free(case_create(&c, &t));
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_task),    cmocka_unit_test(test_layer),  cmocka_unit_test(test_training),
        cmocka_unit_test(test_init),    cmocka_unit_test(test_spikes), cmocka_unit_test(test_null),
        cmocka_unit_test(test_allowed),
    };
    return cmocka_run_group_tests_name("setup", tests, NULL, NULL);
}
