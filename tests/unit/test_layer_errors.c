/* SPDX-License-Identifier: MIT
 * Defaults of a layer, and what it refuses. */
#include "unit/problem.h"

/* ---- defaults and errors ------------------------------------------------------------------------------------------ */

static void test_defaults(void **state)
{
    (void)state;
    const hspec_layer_params params = hspec_layer_default(7);
    assert_int_equal(params.heads, 7);
    assert_int_equal(params.activation, HSPEC_SOFTMAX);
    assert_true(params.bias_init == 0.0 && params.scale_init == 1.0);
    assert_true(params.bias_train && params.scale_train && !params.bias_per_head);
}

static void test_bias_null_is_bias_init(void **state)
{
    (void)state;
    static problem p;
    uint64_t s = 9;
    problem_draw(&p, 3, 5, 1.0, &s);
    hspec_layer_params params = hspec_layer_default(3);
    params.activation = HSPEC_SOFTMAX1;
    params.bias_init = 0.75;
    hspec_layer *layer = NULL;
    assert_int_equal(hspec_layer_create(&params, 5, &layer, NULL), HSPEC_OK);
    const double bias[3] = {0.75, 0.75, 0.75};
    double a[15];
    double b[15];
    double loss[2];
    double d[15];
    assert_int_equal(hspec_layer_attention(layer, p.chi, NULL, 1.0, a, NULL), HSPEC_OK);
    assert_int_equal(hspec_layer_attention(layer, p.chi, bias, 1.0, b, NULL), HSPEC_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(hspec_layer_gradient(layer, p.chi, NULL, 1.0, 0, NULL, &loss[0], d, NULL, NULL, NULL), HSPEC_OK);
    assert_int_equal(hspec_layer_gradient(layer, p.chi, bias, 1.0, 0, NULL, &loss[1], d, NULL, NULL, NULL), HSPEC_OK);
    assert_true(loss[0] == loss[1]);
    hspec_layer_free(layer);
}

static void test_create_errors(void **state)
{
    (void)state;
    hspec_error err;
    hspec_layer *const mark = (hspec_layer *)&err; /* any address: it must stay */
    for (int i = 0; i < 7; i++) {
        hspec_layer_params params = hspec_layer_default(i == 0 ? 0 : 2);
        hspec_layer *layer = mark;
        hspec_layer **out = i == 6 ? NULL : &layer;
        params.activation = i == 1 ? (hspec_activation)77 : HSPEC_SOFTMAX1;
        params.bias_init = i == 2 ? NAN : 0.0;
        params.scale_init = i == 3 ? INFINITY : 1.0;
        err.message[0] = '\0';
        const hspec_status status = hspec_layer_create(i == 5 ? NULL : &params, i == 4 ? 1 : 4, out, &err);
        assert_int_equal(status, HSPEC_EARG);
        assert_int_equal(err.status, HSPEC_EARG);
        assert_true(strlen(err.message) > 10);
        assert_ptr_equal(layer, mark);
    }
    hspec_layer_free(NULL);
}

enum { BAD_H = 6, BAD_L = 9 };

typedef struct outputs {
    double a[BAD_H * BAD_L], loss, d[BAD_H * BAD_L], db[BAD_H], ds;
} outputs;

static void assert_untouched(const outputs *out)
{
    const double *x = (const double *)out;
    for (size_t i = 0; i < sizeof *out / sizeof *x; i++) {
        assert_true(x[i] == -7.5);
    }
}

static void test_nonfinite_scores_are_named(void **state)
{
    (void)state;
    static problem p;
    uint64_t s = 10;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < COUNT(activations); i++) {
        hspec_layer *layer = layer_make(activations[i], BAD_H, BAD_L);
        for (size_t k = 0; k < COUNT(bad); k++) {
            outputs out;
            hspec_error err;
            for (size_t j = 0; j < sizeof out / sizeof(double); j++) {
                ((double *)&out)[j] = -7.5;
            }
            problem_draw(&p, BAD_H, BAD_L, 1.0, &s);
            p.chi[4 * BAD_L + 7] = bad[k];
            for (int token = 0; token < 2; token++) {
                memset(&err, 0, sizeof err);
                assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, 1.0, out.a, &err), HSPEC_ENONFINITE);
                assert_non_null(strchr(err.message, '4'));
                assert_non_null(strchr(err.message, '7'));
                memset(&err, 0, sizeof err);
                assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1.0, 2, token ? p.gram : NULL, &out.loss,
                                                      out.d, out.db, &out.ds, &err),
                                 HSPEC_ENONFINITE);
                assert_int_equal(err.status, HSPEC_ENONFINITE);
                assert_non_null(strchr(err.message, '4'));
                assert_non_null(strchr(err.message, '7'));
                assert_untouched(&out);
            }
        }
        hspec_layer_free(layer);
    }
}

static void test_other_arguments(void **state)
{
    (void)state;
    static problem p;
    uint64_t s = 11;
    problem_draw(&p, BAD_H, BAD_L, 1.0, &s);
    hspec_layer *layer = layer_make(HSPEC_SOFTMAX1, BAD_H, BAD_L);
    outputs o;
    hspec_error err;
    for (size_t j = 0; j < sizeof o / sizeof(double); j++) {
        ((double *)&o)[j] = -7.5;
    }
    const size_t HL = BAD_L; /* one past the last target */
    assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1, HL, NULL, &o.loss, o.d, o.db, &o.ds, &err),
                     HSPEC_EARG);
    assert_non_null(strchr(err.message, '9'));
    assert_int_equal(hspec_layer_gradient(NULL, p.chi, p.bias, 1, 0, NULL, &o.loss, o.d, o.db, &o.ds, NULL),
                     HSPEC_EARG);
    assert_int_equal(hspec_layer_gradient(layer, NULL, p.bias, 1, 0, NULL, &o.loss, o.d, o.db, &o.ds, NULL),
                     HSPEC_EARG);
    assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1, 0, NULL, NULL, o.d, o.db, &o.ds, NULL), HSPEC_EARG);
    assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1, 0, NULL, &o.loss, NULL, o.db, &o.ds, NULL),
                     HSPEC_EARG);
    assert_int_equal(hspec_layer_attention(NULL, p.chi, p.bias, 1, o.a, NULL), HSPEC_EARG);
    assert_int_equal(hspec_layer_attention(layer, NULL, p.bias, 1, o.a, NULL), HSPEC_EARG);
    assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, 1, NULL, NULL), HSPEC_EARG);
    assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, NAN, o.a, NULL), HSPEC_ENONFINITE);
    p.bias[3] = NAN;
    assert_int_equal(hspec_layer_attention(layer, p.chi, p.bias, 1, o.a, &err), HSPEC_ENONFINITE);
    assert_non_null(strchr(err.message, '3'));
    p.bias[3] = 0.0;
    p.gram[5] = NAN;
    assert_int_equal(hspec_layer_gradient(layer, p.chi, p.bias, 1, 0, p.gram, &o.loss, o.d, o.db, &o.ds, NULL),
                     HSPEC_ENONFINITE);
    assert_untouched(&o);
    hspec_layer_free(layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),        cmocka_unit_test(test_bias_null_is_bias_init),
        cmocka_unit_test(test_create_errors),   cmocka_unit_test(test_nonfinite_scores_are_named),
        cmocka_unit_test(test_other_arguments),
    };
    return cmocka_run_group_tests_name("layer errors", tests, NULL, NULL);
}
