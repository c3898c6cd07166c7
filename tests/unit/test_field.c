/* SPDX-License-Identifier: MIT
 * The field of the theory: its gradients against central differences of its loss at the same nodes, its symmetries, and
 * expectations against Gauss-Hermite quadrature. Nothing here is random: seeds are fixed and limits are numerical. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/dense.h"
#include "theory/field.h"

#include <math.h>
#include <string.h>

enum { H = 3, F = 2, L = 4, SIZE_MOST = 1 + H * F + 2 * H * H + H + 1 };

static const double points[4][2] = {{1.5, 0.0}, {-1.5, 0.0}, {0.5, 1.0}, {0.5, -1.0}};
static const double weights[4] = {0.25, 0.25, 0.3, 0.2};
static const double mean[2] = {0.8, 0.0};
static const double variance[2] = {0.5, 2.0};

static hspec_signal *signal(int gaussian)
{
    const hspec_signal_params discrete = {
        .kind = HSPEC_SIGNAL_DISCRETE, .features = 2, .points = 4, .theta = points[0], .weights = weights};
    const hspec_signal_params normal = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = 2, .mean = mean, .variance = variance};
    hspec_signal *made = NULL;
    assert_int_equal(hspec_signal_create(gaussian ? &normal : &discrete, &made, NULL), HSPEC_OK);
    return made;
}

/* noise 2: split nodes */
static void make(hspec_field *field, int gaussian, hspec_activation activation, int noise, size_t sets, int threads)
{
    hspec_signal *s = signal(gaussian);
    hspec_layer_params layer = hspec_layer_default(H);
    layer.activation = activation;
    const hspec_nodes_params params = {
        .nodes = 3000, .randomizations = sets, .seed = 5, .noise = noise > 0, .closed = 1, .split = noise > 1};
    assert_int_equal(hspec_field_create(s, &layer, L, &params, 2, threads, field, NULL), HSPEC_OK);
    hspec_signal_free(s);
}

/* All that a field depends on, in one array, in the order of its results: m, R, -, b, s. */
typedef struct variables {
    double m[H * F], R[H * H], b[H], s;
} variables;

static const variables here = {
    {0.9, -0.3, 0.2, 0.8, -0.5, 0.4}, {0.5, 0.1, -0.2, 0.1, 0.3, 0.05, -0.2, 0.05, 0.4}, {0.3, -0.2, 0.1}, 1.3};

static void evaluate(hspec_field *field, const variables *v, hspec_field_what what, double *out)
{
    const hspec_field_state state = {v->m, v->R, v->b, v->s};
    hspec_field_evaluate(field, 1, &state, what, out, NULL);
}

/* dE of one variable by central differences of the loss: the truncation error is about 1e-10 here, the rounding 1e-11. */
static double slope(hspec_field *field, size_t offset)
{
    const double step = 1e-5;
    double up[SIZE_MOST];
    double down[SIZE_MOST];
    variables v = here;
    double *x = (double *)&v + offset;
    *x += step;
    evaluate(field, &v, HSPEC_FIELD_LOSS, up);
    *x -= 2 * step;
    evaluate(field, &v, HSPEC_FIELD_LOSS, down);
    return (up[0] - down[0]) / (2 * step);
}

static void test_gradients(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        for (int activation = 0; activation < 3; activation++) {
            hspec_field field;
            make(&field, form % 2, (hspec_activation)activation, 1 + form / 2, 1, 1);
            const hspec_field_places *p = &field.places;
            double out[SIZE_MOST];
            evaluate(&field, &here, HSPEC_FIELD_ALL, out);
            size_t x = 0;
            for (size_t i = 0; i < (size_t)H * F; i++, x++) {
                assert_true(fabs(out[p->alignment + i] - slope(&field, x)) < 1e-8);
            }
            for (size_t i = 0; i < (size_t)H * H; i++, x++) {
                assert_true(fabs(out[p->root + i] - slope(&field, x)) < 1e-8);
            }
            for (size_t i = 0; i < H; i++, x++) {
                assert_true(fabs(out[p->bias + i] - slope(&field, x)) < 1e-8);
            }
            assert_true(fabs(out[p->scale] - slope(&field, x)) < 1e-8);
            if (activation != HSPEC_SOFTMAX) {
                assert_true(fabs(out[p->bias]) > 1e-4); /* the comparison was not of zeros */
            }
            /* E sum_l d_hl d_h'l is a Gram matrix. */
            double root[H * H];
            double scratch[2 * H * H];
            assert_true(hspec_dense_symmetric_root(H, out + p->update, root, scratch) > -1e-15);
            assert_true(out[p->update] > 1e-5);
            hspec_field_free(&field);
        }
    }
}

/* Equal heads whose residuals are exchangeable: equal fields to 1e-14. */
static void test_equal_heads(void **state)
{
    (void)state;
    double r[H * H];
    double scratch[2 * H * H];
    variables v = {{0.7, 0.2, 0.7, 0.2, 0.7, 0.2}, {0}, {0.1, 0.1, 0.1}, 1.2};
    for (size_t i = 0; i < (size_t)H * H; i++) {
        r[i] = i % (H + 1) == 0 ? 0.3 : 0.1;
    }
    (void)hspec_dense_symmetric_root(H, r, v.R, scratch);
    for (int form = 0; form < 6; form++) {
        hspec_field field;
        make(&field, 0, (hspec_activation)(form % 3), 1 + form / 3, 1, 1);
        double out[SIZE_MOST];
        evaluate(&field, &v, HSPEC_FIELD_ALL, out);
        const double *dm = out + field.places.alignment;
        const double *db = out + field.places.bias;
        const double *dd = out + field.places.update;
        for (size_t h = 1; h < H; h++) {
            for (size_t f = 0; f < F; f++) {
                assert_true(fabs(dm[h * F + f] - dm[f]) < 1e-14);
            }
            assert_true(fabs(db[h] - db[0]) < 1e-14);
            assert_true(fabs(dd[h * (H + 1)] - dd[0]) < 1e-14);
        }
        assert_true(fabs(dm[0]) > 1e-3);
        hspec_field_free(&field);
    }
}

/* A symmetric feature that no head has found gets no field: feature 1 of both signals, and 0 of the points is none. */
static void test_symmetric_feature(void **state)
{
    (void)state;
    static const double even[3][2] = {{1.5, 0.0}, {0.5, 1.0}, {0.5, -1.0}};
    static const double even_weights[3] = {0.4, 0.3, 0.3};
    const hspec_signal_params params = {
        .kind = HSPEC_SIGNAL_DISCRETE, .features = 2, .points = 3, .theta = even[0], .weights = even_weights};
    variables v = here;
    v.m[1] = v.m[3] = v.m[5] = 0;
    for (int kind = 0; kind < 2; kind++) {
        hspec_field field;
        if (kind) {
            make(&field, 1, HSPEC_SOFTMAX, 2, 1, 1);
        } else {
            hspec_signal *s = NULL;
            const hspec_layer_params layer = hspec_layer_default(H);
            const hspec_nodes_params nodes = {.nodes = 3000, .randomizations = 1, .seed = 5, .noise = 1, .closed = 1};
            assert_int_equal(hspec_signal_create(&params, &s, NULL), HSPEC_OK);
            assert_int_equal(hspec_field_create(s, &layer, L, &nodes, 1, 1, &field, NULL), HSPEC_OK);
            hspec_signal_free(s);
        }
        double out[SIZE_MOST];
        evaluate(&field, &v, HSPEC_FIELD_GRADIENT, out);
        for (size_t h = 0; h < H; h++) {
            assert_true(fabs(out[field.places.alignment + h * F + 1]) < 1e-15);
            assert_true(fabs(out[field.places.alignment + h * F]) > 1e-4);
        }
        hspec_field_free(&field);
    }
}

/* u and -u: no field on a root that is 0, and the same results for any number of threads. */
static void test_zero_root_and_threads(void **state)
{
    (void)state;
    hspec_field one;
    hspec_field two;
    make(&one, 0, HSPEC_SOFTMAX1, 2, 4, 1);
    make(&two, 0, HSPEC_SOFTMAX1, 2, 4, 2);
    double a[SIZE_MOST];
    double b[SIZE_MOST];
    evaluate(&one, &here, HSPEC_FIELD_ALL, a);
    evaluate(&two, &here, HSPEC_FIELD_ALL, b);
    assert_memory_equal(a, b, sizeof a);
    variables v = here;
    memset(v.R, 0, sizeof v.R);
    evaluate(&one, &v, HSPEC_FIELD_ALL, a);
    for (size_t i = 0; i < (size_t)H * H; i++) {
        assert_true(fabs(a[one.places.root + i]) < 1e-16);
    }
    hspec_field_free(&one);
    hspec_field_free(&two);
}

/* H = 1, L = 2, flipped, softmax: only x = chi_0 - chi_1 matters, x ~ N(m theta, 2 (m^2 + r)). Then
 * E = E 2 q^2, q = 1/(1 + exp x), and d_0 = -d_1 = -4 q^2 (1 - q); dE/dm by Stein's lemma is what differences give. */
static double quadrature(double m, double r)
{
    /* Integrated by the trapezoidal rule, which converges like Gauss-Hermite for this: 1e-14 at a step of 0.1. */
    double sum = 0;
    const double nu = 3.0;
    const double p = 0.7;
    for (int sign = 0; sign < 2; sign++) {
        for (int i = -240; i <= 240; i++) {
            const double z = 0.05 * i;
            const double x = m * (sign ? -sqrt(nu) : sqrt(nu)) + sqrt(2 * (m * m + r)) * z;
            const double q = 1 / (1 + exp(x));
            sum += (sign ? 1 - p : p) * 0.05 * exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846) * 2 * q * q;
        }
    }
    return sum;
}

static void against_quadrature(int split)
{
    const hspec_signal_params params = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = 3.0, .probability = 0.7};
    const hspec_layer_params layer = hspec_layer_default(1);
    const hspec_nodes_params nodes = {
        .nodes = 200000, .randomizations = 8, .seed = 3, .noise = 1, .closed = 1, .split = split};
    hspec_signal *s = NULL;
    hspec_field field;
    assert_int_equal(hspec_signal_create(&params, &s, NULL), HSPEC_OK);
    assert_int_equal(hspec_field_create(s, &layer, 2, &nodes, 1, 0, &field, NULL), HSPEC_OK);
    const double cases[3][2] = {{0.4, 0.1}, {1.2, 0.0}, {2.0, 0.6}};
    for (size_t i = 0; i < 3; i++) {
        const double m = cases[i][0];
        const double r = cases[i][1];
        const double root = sqrt(r);
        const double bias = 0;
        double value[7];
        double error[7];
        const hspec_field_state at = {&m, &root, &bias, 1};
        hspec_field_evaluate(&field, 1, &at, HSPEC_FIELD_ALL, value, error);
        const double exact[2] = {quadrature(m, r), (quadrature(m + 1e-4, r) - quadrature(m - 1e-4, r)) / 2e-4};
        for (size_t k = 0; k < 2; k++) { /* 6 standard errors with 7 degrees of freedom: 5e-4 a comparison */
            assert_true(fabs(value[k] - exact[k]) < 6 * error[k] + 1e-7);
            assert_true(error[k] < 1e-3);
        }
    }
    hspec_field_free(&field);
    hspec_signal_free(s);
}

static void test_quadrature(void **state)
{
    (void)state;
    against_quadrature(0);
    against_quadrature(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),         cmocka_unit_test(test_equal_heads),
        cmocka_unit_test(test_symmetric_feature), cmocka_unit_test(test_zero_root_and_threads),
        cmocka_unit_test(test_quadrature),
    };
    return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
