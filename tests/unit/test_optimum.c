/* SPDX-License-Identifier: MIT
 * Searches for optima: the gradient that they follow, what counts as the same minimum, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "theory/descent.h"
#include "theory/guess.h"
#include "theory/minima.h"
#include "theory/witness.h"

#include <math.h>
#include <string.h>

enum { H = 3, F = 2, L = 4, MOST = H * F + H * H + H + 1 };

static hspec_signal *discrete(void)
{
    static const double theta[3][F] = {{2.0, 0.5}, {-1.0, 0.0}, {0.0, 1.5}};
    static const double weights[3] = {0.5, 0.2, 0.3};
    const hspec_signal_params params = {
        .kind = HSPEC_SIGNAL_DISCRETE, .features = F, .points = 3, .theta = theta[0], .weights = weights};
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_signal_create(&params, &signal, NULL), HSPEC_OK);
    return signal;
}

/* The exact gradient against central differences of the value, in every variable of every form. */
static void test_gradient(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    static const struct {
        hspec_activation activation;
        int per_head, noise;
        size_t n;
    } forms[] = {{HSPEC_SOFTMAX, 0, 0, H * F},
                 {HSPEC_SOFTMAX, 0, 1, H * F + H * H},
                 {HSPEC_SOFTMAX1, 0, 1, H * F + H * H + 2},
                 {HSPEC_SOFTMAX1, 1, 0, H * F + H + 1},
                 {HSPEC_BAYES, 0, 0, H * F + H},
                 {HSPEC_BAYES, 0, 1, H * F + H * H + H}};
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        hspec_layer_params layer = hspec_layer_default(H);
        layer.activation = forms[form].activation;
        layer.bias_per_head = forms[form].per_head;
        const hspec_nodes_params nodes = {.nodes = 2000, .randomizations = 1, .seed = 1, .noise = forms[form].noise};
        hspec_objective objective;
        assert_int_equal(hspec_objective_create(signal, &layer, L, &nodes, 1, &objective, NULL), HSPEC_OK);
        assert_int_equal(objective.n, forms[form].n);
        double x[MOST] = {0};
        double gradient[MOST] = {0};
        for (size_t i = 0; i < objective.n; i++) {
            x[i] = sin(1.7 * (double)i + 0.4) + 0.2;
        }
        const double value = hspec_objective_value(&objective, x, gradient);
        assert_true(value == hspec_objective_value(&objective, x, NULL));
        for (size_t i = 0; i < objective.n; i++) {
            const double step = 1e-5;
            const double at = x[i];
            x[i] = at + step;
            double slope = hspec_objective_value(&objective, x, NULL);
            x[i] = at - step;
            slope = (slope - hspec_objective_value(&objective, x, NULL)) / (2 * step);
            x[i] = at;
            assert_true(fabs(slope - gradient[i]) < 1e-8);
            assert_true(fabs(gradient[i]) > 1e-7); /* no comparison of zeros */
        }
        hspec_objective_free(&objective);
    }
    hspec_signal_free(signal);
}

/* Starts: every way to share 2 heads out among 2 points comes up, different starts differ, equal ones are equal. */
static void test_starts(void **state)
{
    (void)state;
    const hspec_signal_params params = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = 9, .probability = 0.5};
    hspec_signal *signal = NULL;
    assert_int_equal(hspec_signal_create(&params, &signal, NULL), HSPEC_OK);
    hspec_layer_params layer = hspec_layer_default(2);
    layer.activation = HSPEC_BAYES;
    const hspec_nodes_params nodes = {.nodes = 64, .randomizations = 1, .seed = 1};
    hspec_objective objective;
    assert_int_equal(hspec_objective_create(signal, &layer, L, &nodes, 1, &objective, NULL), HSPEC_OK);
    int seen[3] = {0};
    for (size_t k = 0; k < 6; k += 2) {
        double x[4];
        double again[4];
        hspec_guess_make(signal, HSPEC_BAYES, &objective, 1, k, x);
        hspec_guess_make(signal, HSPEC_BAYES, &objective, 1, k, again);
        assert_memory_equal(x, again, sizeof x);
        hspec_guess_make(signal, HSPEC_BAYES, &objective, 2, k, again);
        assert_true(x[0] != again[0]);
        for (size_t h = 0; h < 2; h++) {
            assert_true(fabs(fabs(x[h]) - 3) < 0.1);
            assert_true(fabs(x[2 + h] - (log(0.5) - 4.5)) < 1e-12);
        }
        seen[(x[0] > 0) + (x[1] > 0)]++;
    }
    assert_true(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
    hspec_objective_free(&objective);
    hspec_signal_free(signal);
}

/* m of three heads along one symmetric feature and one that is not. */
static hspec_minimum minimum(double *m, int *silent, double loss)
{
    static double r[H * H];
    static double b[H];
    static int at_bound[H * F + 2 * H + 1];
    return (hspec_minimum){.loss = loss, .count = 1, .m = m, .r = r, .b = b, .silent = silent, .at_bound = at_bound};
}

static size_t count_shared(const hspec_minimum *first, const hspec_minimum *second, int shared)
{
    static const int symmetric[F] = {1, 0};
    hspec_minima minima;
    assert_int_equal(hspec_minima_create(H, F, symmetric, shared, 2, &minima, NULL), HSPEC_OK);
    hspec_minima_add(&minima, first);
    hspec_minima_add(&minima, second);
    hspec_minima_sort(&minima);
    const size_t count = minima.count;
    assert_true(minima.list[0].loss == fmin(first->loss, second->loss));
    assert_int_equal(minima.list[0].count, count == 1 ? 2 : 1);
    hspec_minima_free(&minima);
    return count;
}

static size_t count_distinct(const hspec_minimum *first, const hspec_minimum *second)
{
    return count_shared(first, second, 0);
}

static void test_distinct(void **state)
{
    (void)state;
    double a[H * F] = {2, 1, -2, 1, 0.5, -3};
    int none[H] = {0};
    int last[H] = {0, 0, 1};
    double permuted[H * F] = {0.5, -3, 2, 1, -2, 1};
    double mirrored[H * F] = {-2, 1, 2, 1, -0.5, -3};
    double wrong_mirror[H * F] = {2, -1, -2, -1, 0.5, 3};
    double silent_moved[H * F] = {2, 1, -2, 1, 7, 7};
    double doubled[H * F] = {2, 1, 2, 1, 0.5, -3};
    const double near = 0.3 + 5e-5;
    const hspec_minimum one = minimum(a, none, 0.3);
    const hspec_minimum one_silent = minimum(a, last, 0.3);
    hspec_minimum other = minimum(permuted, none, near);
    assert_int_equal(count_distinct(&one, &other), 1);
    assert_int_equal(count_distinct(&other, &one), 1);
    other = minimum(mirrored, none, near);
    assert_int_equal(count_distinct(&one, &other), 1);
    other = minimum(wrong_mirror, none, near); /* feature 1 is not symmetric */
    assert_int_equal(count_distinct(&one, &other), 2);
    other = minimum(silent_moved, last, near);
    assert_int_equal(count_distinct(&one_silent, &other), 1);
    other = minimum(silent_moved, none, near);
    assert_int_equal(count_distinct(&one, &other), 2);
    other = minimum(doubled, none, near); /* one head of a matches two of these */
    assert_int_equal(count_distinct(&one, &other), 2);
    /* where heads may share a place, one that does is as good as one without influence, and no other is */
    double together[H * F] = {2, 1, -2, 1, -2, 1};
    other = minimum(together, none, near);
    assert_int_equal(count_shared(&one_silent, &other, 1), 1);
    assert_int_equal(count_shared(&other, &one_silent, 1), 1);
    assert_int_equal(count_distinct(&one_silent, &other), 2);
    assert_int_equal(count_shared(&one, &other, 1), 2);
    assert_int_equal(count_shared(&other, &one, 1), 2);
    other = minimum(permuted, none, 0.301);
    assert_int_equal(count_distinct(&one, &other), 2);
    other = minimum(silent_moved, none, 0.3 + 5e-7); /* along a valley */
    assert_int_equal(count_distinct(&one, &other), 1);
}

/* The rate of a residual, and losses that belong together, against losses at a small one. */
static void test_witness(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    hspec_layer_params layer = hspec_layer_default(H);
    layer.activation = HSPEC_SOFTMAX1;
    hspec_witness witness;
    assert_int_equal(hspec_witness_create(signal, &layer, L, 20000, 20000, 3, 1, &witness, NULL), HSPEC_OK);
    const double x[H * F + 2] = {1.5, 0.2, -0.7, 0.4, 0.1, 0.9, 0.6, 1.8};
    double direction[H];
    double error;
    const double rate = hspec_witness_residual(&witness, x, &error, direction);
    double size = 0;
    for (size_t h = 0; h < H; h++) {
        size += direction[h] * direction[h];
    }
    assert_true(fabs(size - 1) < 1e-12);
    assert_true(error > 0 && error < 0.02);
    double y[H * F + H * H + 2] = {0};
    double without[HSPEC_WITNESS_SETS];
    double with[HSPEC_WITNESS_SETS];
    const double other[H] = {0.6, -0.64, 0.48}; /* no rate is below the least */
    memcpy(y, x, H * F * sizeof *x);
    memcpy(y + H * F + H * H, x + H * F, 2 * sizeof *x);
    for (int turn = 0; turn < 2; turn++) {
        /* dE/dr along v v^T, from R = e + step v v^T and e - step v v^T */
        const double *v = turn ? other : direction;
        const double e = 0.01;
        const double step = 1e-4;
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < H * H; i++) {
                y[H * F + i] = (i % (H + 1) == 0 ? e : 0) + (side ? -step : step) * v[i / H] * v[i % H];
            }
            hspec_witness_losses(&witness, 1, y, side ? without : with);
        }
        for (size_t q = 0; q < HSPEC_WITNESS_SETS; q++) {
            with[q] = (with[q] - without[q]) / (4 * e * step);
        }
        double spread;
        const double found = hspec_witness_mean(with, &spread);
        if (turn == 0) {
            assert_true(fabs(found - rate) < 1e-6 && fabs(spread - error) < 1e-6);
        } else {
            assert_true(found > rate + 1e-3);
        }
    }
    /* without a residual, by either kind of nodes */
    double e[2];
    hspec_witness_losses(&witness, 0, x, with);
    memset(y + H * F, 0, H * H * sizeof *y);
    hspec_witness_losses(&witness, 1, y, without);
    const double apart = hspec_witness_mean(with, &e[0]) - hspec_witness_mean(without, &e[1]);
    assert_true(apart != 0 && fabs(apart) < 5 * hypot(e[0], e[1]));
    hspec_witness_free(&witness);
    hspec_signal_free(signal);
}

#ifdef HSPEC_HAVE_NLOPT
/* Down from a start to where nothing slopes, within bounds that are in the way. */
static void test_descent(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    const hspec_nodes_params nodes = {.nodes = 2000, .randomizations = 1, .seed = 1};
    for (int activation = HSPEC_SOFTMAX; activation <= HSPEC_BAYES; activation++) {
        for (int narrow = 0; narrow < 2; narrow++) {
            hspec_layer_params layer = hspec_layer_default(H);
            layer.activation = (hspec_activation)activation;
            hspec_objective objective;
            assert_int_equal(hspec_objective_create(signal, &layer, L, &nodes, 1, &objective, NULL), HSPEC_OK);
            double x[MOST] = {0};
            double low[MOST] = {0};
            double high[MOST] = {0};
            double gradient[MOST] = {0};
            double scratch[2 * MOST];
            for (size_t i = 0; i < objective.n; i++) {
                x[i] = sin(1.7 * (double)i + 0.4) + 0.2;
                high[i] = narrow ? 0.9 : 30;
                low[i] = -high[i];
            }
            const double start = hspec_objective_value(&objective, x, NULL);
            hspec_descent descent;
            assert_int_equal(hspec_descent_run(&objective, low, high, x, scratch, &descent, NULL), HSPEC_OK);
            assert_true(descent.loss < start - 1e-2);
            assert_true(descent.slope < 1e-5);
            assert_true(descent.loss == hspec_objective_value(&objective, x, gradient));
            size_t at_bounds = 0;
            for (size_t i = 0; i < objective.n; i++) {
                assert_true(x[i] >= low[i] && x[i] <= high[i]);
                const int up = x[i] == high[i];
                const int down = x[i] == low[i];
                at_bounds += up || down;
                assert_true(fabs(gradient[i]) < 1e-5 || (up && gradient[i] < 0) || (down && gradient[i] > 0));
            }
            assert_true(narrow ? at_bounds > 0 : at_bounds == 0);
            hspec_objective_free(&objective);
        }
    }
    hspec_signal_free(signal);
}

/* What a search tells of its minima, from any number of threads. */
static void test_report(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    const hspec_task_params task = {.tokens = L, .dimension = 100, .signal = signal};
    hspec_layer_params layer = hspec_layer_default(H + 1);
    layer.activation = HSPEC_BAYES;
    hspec_optimum_params params = hspec_optimum_default();
    params.nodes = 1024;
    params.starts = 9;
    double loss[2] = {0, 0};
    for (int threads = 1; threads <= 2; threads++) {
        hspec_optimum *optimum = NULL;
        size_t count = 0;
        double last = 0;
        assert_int_equal(hspec_optimum_create(&task, &layer, &params, threads, NULL, &optimum, NULL), HSPEC_OK);
        for (size_t i = 0; i < hspec_optimum_minima(optimum); i++) {
            hspec_optimum_minimum found;
            hspec_optimum_view(optimum, i, &found);
            assert_true(found.loss >= last);
            last = found.loss;
            loss[threads - 1] = i ? loss[threads - 1] : last;
            count += found.count;
            double sum = 0;
            int any = 0;
            for (size_t h = 0; h <= H; h++) {
                sum += found.order.bias[h];
                int at = found.bias_at_bound[h];
                for (size_t f = 0; f < F; f++) {
                    const double m = fabs(found.order.alignment[h * F + f]);
                    const double bound = 10 + 3 * sqrt(0.5 * 4 + 0.2); /* of feature 0; that of feature 1 is less */
                    assert_true(m <= bound);
                    assert_int_equal(found.alignment_at_bound[h * F + f], m > bound * (1 - 1e-6));
                    at |= found.alignment_at_bound[h * F + f];
                }
                any |= at && !found.silent[h];
                assert_false(found.residual_at_bound[h]);
            }
            assert_true(fabs(sum) < 1e-9);
            assert_int_equal(any, found.at_bound);
            assert_false(found.scale_at_bound);
            assert_true(found.residual_rate > -1e-4 - 4 * found.residual_rate_error);
        }
        assert_int_equal(count, 9);
        hspec_optimum_free(optimum);
    }
    assert_true(loss[0] == loss[1]);
    hspec_signal_free(signal);
}

static void refuse(const hspec_task_params *task, const hspec_layer_params *layer, const hspec_optimum_params *params,
                   int threads, const char *message)
{
    hspec_error err;
    hspec_optimum *optimum = NULL;
    assert_int_equal(hspec_optimum_create(task, layer, params, threads, NULL, &optimum, &err), HSPEC_EARG);
    assert_string_equal(err.message, message);
    assert_null(optimum);
}

static int stop(void *user, const hspec_event *event)
{
    *(double *)user = event->done;
    return event->done >= 2;
}

static void test_refusals(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    const hspec_task_params task = {.tokens = L, .dimension = 100, .signal = signal};
    const hspec_layer_params layer = hspec_layer_default(H);
    hspec_optimum_params params = hspec_optimum_default();
    params.nodes = 63;
    refuse(&task, &layer, &params, 1, "theory.nodes: found 63, allowed 64 to 2^40");
    params.nodes = 256;
    params.starts = 0;
    refuse(&task, &layer, &params, 1, "starts: found 0, allowed 1 to 100000");
    params.starts = 5;
    refuse(&task, &layer, &params, -1, "threads: found -1, allowed >= 0");
    refuse(&task, NULL, &params, 1, "hspec_optimum_create: task, layer, params and optimum must not be NULL");
    hspec_task_params one = task;
    one.tokens = 1;
    refuse(&one, &layer, &params, 1, "task: found 1 tokens, allowed 2 to 65536, and a signal");
    double told = 0;
    const hspec_monitor monitor = {stop, &told};
    hspec_optimum *optimum = NULL;
    hspec_error err;
    assert_int_equal(hspec_optimum_create(&task, &layer, &params, 1, &monitor, &optimum, &err), HSPEC_ESTOPPED);
    assert_string_equal(err.message, "stopped after 2 of 5 starts");
    assert_true(told == 2);
    assert_null(optimum);
    hspec_optimum_free(NULL);
    hspec_signal_free(signal);
}

#else

static void test_refusals(void **state)
{
    (void)state;
    hspec_signal *signal = discrete();
    const hspec_task_params task = {.tokens = L, .dimension = 100, .signal = signal};
    const hspec_layer_params layer = hspec_layer_default(H);
    const hspec_optimum_params params = hspec_optimum_default();
    hspec_optimum *optimum = NULL;
    hspec_error err;
    assert_int_equal(hspec_optimum_create(&task, &layer, &params, 1, NULL, &optimum, &err), HSPEC_EUNSUPPORTED);
    assert_string_equal(err.message, "optimum: this build has no optimizer (NLopt)");
    hspec_signal_free(signal);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradient), cmocka_unit_test(test_starts),
                                       cmocka_unit_test(test_distinct), cmocka_unit_test(test_witness),
#ifdef HSPEC_HAVE_NLOPT
                                       cmocka_unit_test(test_descent),  cmocka_unit_test(test_report),
#endif
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
