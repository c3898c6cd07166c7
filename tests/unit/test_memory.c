/* SPDX-License-Identifier: MIT
 * Memory: alignment, sizes that overflow, arenas; and every allocation of every object fails once, which must be said and
 * must lose nothing. */
#include "unit/training_case.h"

#include "core/level.h"
#include "core/memory.h"

#include <stdio.h>

/* ---- memory that fails ----------------------------------------------------------------------------------------------- */

/* The linker lets these two take the place of aligned_alloc and free in everything that is linked here (--wrap), also
 * under the address sanitizer. Without such a linker the tests that need them are skipped. */
#if defined(HSPEC_WRAPPED)
void *real_alloc(size_t alignment, size_t bytes) __asm__("__real_aligned_alloc");
void real_free(void *memory) __asm__("__real_free");
void *counting_alloc(size_t alignment, size_t bytes) __asm__("__wrap_aligned_alloc");
void counting_free(void *memory) __asm__("__wrap_free");

enum { LIVE_MAX = 4096 };

static void *live[LIVE_MAX];
static size_t live_count;
static long countdown = -1; /* allocations that still succeed, then one fails; below 0: all succeed */
static long failed, seen;

void *counting_alloc(size_t alignment, size_t bytes)
{
    seen++;
    if (countdown == 0) {
        countdown = -1; /* one only: what comes after it must not be needed */
        failed++;
        return NULL;
    }
    countdown -= countdown > 0;
    void *memory = real_alloc(alignment, bytes);
    assert_true(live_count < LIVE_MAX);
    live[live_count++] = memory;
    return memory;
}

void counting_free(void *memory)
{
    for (size_t i = 0; memory && i < live_count; i++) {
        if (live[i] == memory) {
            live[i] = live[--live_count];
            break;
        }
    }
    real_free(memory);
}

/* What one attempt gave; everything it made is freed again. */
typedef hspec_status attempt(void *what, hspec_error *err);

static void fail_each(attempt *run, void *what, long least, const char *name)
{
    const size_t before = live_count;
    for (long n = 0;; n++) {
        hspec_error err;
        memset(&err, 0, sizeof err);
        countdown = n;
        failed = seen = 0;
        const hspec_status status = run(what, &err);
        countdown = -1;
        if (live_count != before) {
            fail_msg("%s: %zu pieces are lost when allocation %ld fails", name, live_count - before, n);
        }
        if (failed == 0) {
            assert_int_equal(status, HSPEC_OK);
            if (n < least) {
                fail_msg("%s: only %ld allocations were seen, not %ld", name, n, least);
            }
            return;
        }
        if (status != HSPEC_ENOMEM || err.status != HSPEC_ENOMEM || strncmp(err.message, "memory: ", 8) != 0 ||
            !strstr(err.message, " bytes could not be had")) {
            fail_msg("%s, allocation %ld: status %d, '%s'", name, n, (int)status, err.message);
        }
    }
}

static hspec_status try_signal(void *what, hspec_error *err)
{
    hspec_signal *signal = NULL;
    const hspec_status status = hspec_signal_create(what, &signal, err);
    assert_true((signal != NULL) == (status == HSPEC_OK));
    hspec_signal_free(signal);
    return status;
}

static hspec_status try_layer(void *what, hspec_error *err)
{
    hspec_layer *layer = NULL;
    const hspec_status status = hspec_layer_create(what, 5, &layer, err);
    assert_true((layer != NULL) == (status == HSPEC_OK));
    hspec_layer_free(layer);
    return status;
}

/* Create, run, two checkpoints. Running allocates nothing. */
static hspec_status try_training(void *what, hspec_error *err)
{
    const training_case *c = what;
    hspec_training *training = NULL;
    hspec_status status = hspec_training_create(&c->task, &c->layer, &c->params, 1, &training, err);
    assert_true((training != NULL) == (status == HSPEC_OK));
    if (status == HSPEC_OK) {
        const long before = seen;
        assert_int_equal(hspec_training_run(training, NULL, err), HSPEC_OK);
        assert_int_equal(seen, before);
        hspec_training_state state = {.step = 77};
        status = hspec_training_checkpoint(training, &state, err);
        assert_true((state.step == 77) == (status != HSPEC_OK));
        if (status != HSPEC_OK) { /* memory has come back: a later one works */
            hspec_error other;
            assert_int_equal(hspec_training_checkpoint(training, &state, &other), HSPEC_OK);
        }
    }
    hspec_training_free(training);
    return status;
}

static hspec_status try_estimate(void *what, hspec_error *err)
{
    const training_case *c = what;
    double bytes = -1, steps = -1;
    const hspec_status status = hspec_training_estimate(&c->task, &c->layer, &c->params, &bytes, &steps, err);
    assert_true((bytes > 0 && steps > 0) == (status == HSPEC_OK));
    return status;
}

static hspec_status try_population(void *what, hspec_error *err)
{
    const training_case *c = what;
    const double m[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {0};
    const hspec_order state = {.alignment = m, .residual = r, .bias = b, .scale = 1};
    double loss = -7.5, error = -7.5;
    const hspec_status status = hspec_population_loss(&c->task, &c->layer, 64, 1, 2, 1, &state, &loss, &error, err);
    assert_true((loss != -7.5 && error != -7.5) == (status == HSPEC_OK));
    return status;
}

static hspec_status try_bayes(void *what, hspec_error *err)
{
    const training_case *c = what;
    double risk = -7.5, error = -7.5;
    const hspec_status status = hspec_bayes_risk(&c->task, 128, 1, 2, &risk, &error, err);
    assert_true((risk != -7.5 && error != -7.5) == (status == HSPEC_OK));
    return status;
}
#endif

static void test_failing(void **state)
{
    (void)state;
#if defined(HSPEC_WRAPPED)
    const double theta[4] = {3, 0, 0, 3}, mean[2] = {1, 0}, variance[2] = {1, 2};
    hspec_signal_params signals[] = {{.kind = HSPEC_SIGNAL_FLIPPED, .strength = 4, .probability = 0.7},
                                     {.kind = HSPEC_SIGNAL_GAUSSIAN, .features = 2, .mean = mean, .variance = variance},
                                     {.kind = HSPEC_SIGNAL_DISCRETE, .features = 2, .points = 2, .theta = theta}};
    for (size_t k = 0; k < 3; k++) {
        fail_each(try_signal, &signals[k], 1, "signal");
    }
    hspec_layer_params layer = hspec_layer_default(3);
    fail_each(try_layer, &layer, 2, "layer");

    enum { D = 20 };
    const double m0[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    double spikes[2 * D];
    for (size_t d = 0; d < D; d++) {
        spikes[d] = d % 2 ? 1 : -1;
        spikes[D + d] = d % 4 < 2 ? 1 : -1;
    }
    for (int engine = 0; engine < 2; engine++) {
        for (int loss = 0; loss < 2; loss++) {
            for (int start = 0; start < 3; start++) {
                training_case c = case_make(D, 5, 3, 2);
                c.params.engine = engine ? HSPEC_ENGINE_EXPLICIT : HSPEC_ENGINE_REDUCED;
                c.params.loss = loss ? HSPEC_LOSS_TOKEN : HSPEC_LOSS_LOCATION;
                c.params.seeds = 10;
                c.params.batch = 1 + (size_t)start * 5;
                c.params.init.kind = start ? HSPEC_INIT_ALIGNED : HSPEC_INIT_RANDOM;
                c.params.init.alignment = m0;
                c.task.spikes = start == 2 ? spikes : NULL;
                fail_each(try_training, &c, engine ? 20 : 5, engine ? "explicit" : "reduced");
                fail_each(try_estimate, &c, 1, "estimate");
                case_free(&c);
            }
        }
    }
    training_case c = case_make(D, 5, 3, 2);
    fail_each(try_population, &c, 2, "population loss");
    fail_each(try_bayes, &c, 1, "Bayes risk");
    case_free(&c);
#else
    skip();
#endif
}

/* ---- the pieces ------------------------------------------------------------------------------------------------------ */

static void test_sizes(void **state)
{
    (void)state;
    assert_true(hspec_memory_mul(3, 4) == 12 && hspec_memory_add(3, 4) == 7);
    assert_true(hspec_memory_mul(0, SIZE_MAX) == 0 && hspec_memory_mul(1, SIZE_MAX) == SIZE_MAX);
    assert_true(hspec_memory_mul(SIZE_MAX / 2, 3) == SIZE_MAX && hspec_memory_add(SIZE_MAX, 1) == SIZE_MAX);
    assert_true(hspec_memory_mul(SIZE_MAX, SIZE_MAX) == SIZE_MAX && hspec_memory_add(SIZE_MAX - 1, 1) == SIZE_MAX);
}

static void test_alloc(void **state)
{
    (void)state;
    for (size_t n = 0; n < 300; n += 7) {
        unsigned char *memory = hspec_memory_alloc(n, 3);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % HSPEC_ALIGN, 0);
        for (size_t i = 0; i < 3 * n; i++) {
            assert_int_equal(memory[i], 0);
        }
        hspec_memory_free(memory);
    }
    hspec_memory_free(NULL);
    assert_null(hspec_memory_alloc(SIZE_MAX, 2));
    assert_null(hspec_memory_alloc(SIZE_MAX / 2 + 2, 2)); /* wraps to 2 bytes */
    assert_null(hspec_memory_alloc(SIZE_MAX, 1));
    assert_null(hspec_memory_alloc(SIZE_MAX - 10, 1));
    assert_null(hspec_memory_alloc((size_t)PTRDIFF_MAX + 1, 1));
}

static void test_arena(void **state)
{
    (void)state;
    hspec_arena arena = {0};
    hspec_error err;
    char *a = NULL, *c = NULL;
    double *b = NULL;
    for (int pass = 0; pass < 2; pass++) {
        a = hspec_arena_take(&arena, 3, 1);
        b = hspec_arena_doubles(&arena, 9);
        c = hspec_arena_take(&arena, 0, 8);
        assert_true(pass == 1 || (!a && !b && !c));
        assert_int_equal(arena.used, 64 + 128);
        if (pass == 0) {
            assert_int_equal(hspec_arena_commit(&arena, &err), HSPEC_OK);
            assert_int_equal(arena.used, 0);
        }
    }
    assert_true(a == arena.base && (char *)b == a + 64 && c == a + 192);
    hspec_arena_free(&arena);
    assert_true(arena.base == NULL && arena.used == 0);
    /* Sizes that no machine has: said with the number of bytes, and nothing wraps. */
    hspec_arena_take(&arena, SIZE_MAX / 4, 8);
    hspec_arena_doubles(&arena, 10);
    assert_true(arena.used == SIZE_MAX);
    assert_int_equal(hspec_arena_commit(&arena, &err), HSPEC_ENOMEM);
    assert_string_equal(err.message, "memory: 18446744073709551615 bytes could not be had");
    hspec_arena_free(&arena);
}

/* What no memory can hold is refused before anything is touched. */
static void test_too_large(void **state)
{
    (void)state;
    hspec_error err;
    hspec_training *training = NULL;
    training_case c = case_make((size_t)1000000000000, 5, 3, 2);
    c.params.engine = HSPEC_ENGINE_EXPLICIT;
    c.params.seeds = 1000000;
    c.params.records = 10000000;
    case_steps(&c, 2e7);
    assert_int_equal(hspec_training_create(&c.task, &c.layer, &c.params, 1, &training, &err), HSPEC_ENOMEM);
    assert_null(training);
    assert_non_null(strstr(err.message, " bytes could not be had"));
    double bytes, steps;
    assert_int_equal(hspec_training_estimate(&c.task, &c.layer, &c.params, &bytes, &steps, &err), HSPEC_OK);
    assert_true(bytes > 1e15 && steps == 2e13);
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing), cmocka_unit_test(test_sizes),     cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_arena),   cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
