/* SPDX-License-Identifier: MIT
 * Samples of trajectories and their comparison in law. */
#include "law/trial.h"
#include "law/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        abort();
    }
    return memory;
}

static void must(hspec_status status, const hspec_error *err)
{
    if (status != HSPEC_OK) {
        fprintf(stderr, "the library failed: %s\n", err->message);
        abort();
    }
}

/* ---- columns ------------------------------------------------------------------------------------------------------- */

size_t trial_m(const trial *t, size_t h, size_t f)
{
    return h * t->F + f;
}

size_t trial_r(const trial *t, size_t h, size_t j)
{
    return t->H * t->F + (h >= j ? h * (h + 1) / 2 + j : j * (j + 1) / 2 + h);
}

size_t trial_b(const trial *t, size_t h)
{
    return t->H * t->F + t->H * (t->H + 1) / 2 + h;
}

size_t trial_s(const trial *t)
{
    return trial_b(t, t->H);
}

const double *trial_column(const trial *t, size_t row, size_t column)
{
    return t->x + (row * t->columns + column) * t->seeds;
}

static void column_name(const trial *t, size_t column, char *name, size_t size)
{
    for (size_t h = 0; h < t->H; h++) {
        for (size_t f = 0; f < t->F; f++) {
            if (column == trial_m(t, h, f)) {
                snprintf(name, size, "m[%zu][%zu]", h, f);
                return;
            }
        }
        for (size_t j = 0; j <= h; j++) {
            if (column == trial_r(t, h, j)) {
                snprintf(name, size, "r[%zu][%zu]", h, j);
                return;
            }
        }
        if (column == trial_b(t, h)) {
            snprintf(name, size, "b[%zu]", h);
            return;
        }
    }
    snprintf(name, size, "s");
}

/* ---- running ------------------------------------------------------------------------------------------------------- */

static void store(trial *t, size_t k, size_t row, const double *m, const double *r, const double *b, double s)
{
    double *x = t->x + row * t->columns * t->seeds + k;
    for (size_t h = 0; h < t->H; h++) {
        for (size_t f = 0; f < t->F; f++) {
            x[trial_m(t, h, f) * t->seeds] = m[h * t->F + f];
        }
        for (size_t j = 0; j <= h; j++) {
            /* The two halves of r must agree; if they do not, the NaN fails every test. */
            const double gap = fabs(r[h * t->H + j] - r[j * t->H + h]);
            x[trial_r(t, h, j) * t->seeds] = gap <= 1e-12 * (1.0 + fabs(r[h * t->H + j])) ? r[h * t->H + j] : NAN;
        }
        x[trial_b(t, h) * t->seeds] = b[h];
    }
    x[trial_s(t) * t->seeds] = s;
}

static void run_library(trial *t, const naive_case *c, uint64_t seed)
{
    hspec_error err;
    hspec_signal *signal = NULL;
    hspec_training *training = NULL;
    hspec_task_params task = c->task;
    hspec_training_params params = c->training;
    must(hspec_signal_create(&c->signal, &signal, &err), &err);
    task.signal = signal;
    params.engine = t->source == TRIAL_EXPLICIT ? HSPEC_ENGINE_EXPLICIT : HSPEC_ENGINE_REDUCED;
    params.seeds = t->seeds;
    params.seed = seed;
    must(hspec_training_create(&task, &c->layer, &params, 0, &training, &err), &err);
    must(hspec_training_run(training, NULL, &err), &err);
    hspec_trajectory view;
    hspec_training_trajectory(training, &view);
    if (view.done != t->rows || view.rows != t->rows || view.seeds != t->seeds) {
        fprintf(stderr, "the trajectory has the wrong shape\n");
        abort();
    }
    memcpy(t->time, view.time, t->rows * sizeof *t->time);
    for (size_t k = 0; k < t->seeds; k++) {
        for (size_t row = 0; row < t->rows; row++) {
            const size_t i = k * t->rows + row;
            store(t, k, row, view.alignment + i * t->H * t->F, view.residual + i * t->H * t->H, view.bias + i * t->H,
                  view.scale[i]);
        }
    }
    hspec_training_free(training);
    hspec_signal_free(signal);
}

static void run_naive(trial *t, const naive_case *c, uint64_t seed)
{
    const double D = (double)c->task.dimension;
    const double steps = round(c->training.time * D);
    uint64_t *step = need(calloc(t->rows, sizeof *step));
    double *m = need(calloc(t->rows * t->H * t->F, sizeof *m));
    double *r = need(calloc(t->rows * t->H * t->H, sizeof *r));
    double *b = need(calloc(t->rows * t->H, sizeof *b));
    double *s = need(calloc(t->rows, sizeof *s));
    for (size_t row = 0; row < t->rows; row++) {
        step[row] = (uint64_t)llround((double)row * steps / (double)(t->rows - 1));
        t->time[row] = (double)step[row] / D;
    }
    for (size_t k = 0; k < t->seeds; k++) {
        naive_train(c, seed * 1000003U + k, t->rows, step, m, r, b, s);
        for (size_t row = 0; row < t->rows; row++) {
            store(t, k, row, m + row * t->H * t->F, r + row * t->H * t->H, b + row * t->H, s[row]);
        }
    }
    free(step);
    free(m);
    free(r);
    free(b);
    free(s);
}

trial trial_run(const naive_case *c, trial_source source, size_t seeds, uint64_t seed)
{
    trial t = {.source = source, .seeds = seeds, .rows = c->training.records + 1};
    t.H = c->layer.heads;
    t.F = naive_features(&c->signal);
    t.columns = trial_s(&t) + 1;
    t.time = need(calloc(t.rows, sizeof *t.time));
    t.x = need(calloc(t.rows * t.columns * seeds, sizeof *t.x));
    if (source == TRIAL_NAIVE) {
        run_naive(&t, c, seed);
    } else {
        run_library(&t, c, seed);
    }
    return t;
}

void trial_free(trial *t)
{
    free(t->time);
    free(t->x);
}

/* ---- comparison ----------------------------------------------------------------------------------------------------- */

typedef struct ledger {
    size_t n, capacity;
    double *p;
    double *statistic;
    char (*label)[224];
} ledger;

static void ledger_add(ledger *book, stats_result result, const char *test, const char *what)
{
    if (book->n == book->capacity) {
        book->capacity = 2 * book->capacity + 256;
        book->p = need(realloc(book->p, book->capacity * sizeof *book->p));
        book->statistic = need(realloc(book->statistic, book->capacity * sizeof *book->statistic));
        book->label = need(realloc(book->label, book->capacity * sizeof *book->label));
    }
    book->p[book->n] = result.p;
    book->statistic[book->n] = result.statistic;
    snprintf(book->label[book->n], sizeof book->label[0], "%s of %s", test, what);
    book->n++;
}

static void add_all(ledger *book, const double *x, size_t nx, const double *y, size_t ny, const char *what)
{
    ledger_add(book, stats_welch(x, nx, y, ny), "mean", what);
    ledger_add(book, stats_brown_forsythe(x, nx, y, ny), "variance", what);
    ledger_add(book, stats_ks_two(x, nx, y, ny), "law", what);
}

/* Both samples with the mean and deviation of the two together; constant quantities become 0. */
static void standardize(const trial *a, const trial *b, double *za, double *zb)
{
    for (size_t i = 0; i < a->rows * a->columns; i++) {
        const double *x = a->x + i * a->seeds;
        const double *y = b->x + i * b->seeds;
        const double na = (double)a->seeds;
        const double nb = (double)b->seeds;
        const double mean = (stats_average(x, a->seeds) * na + stats_average(y, b->seeds) * nb) / (na + nb);
        const double variance =
            (stats_variance(x, a->seeds) * (na - 1.0) + stats_variance(y, b->seeds) * (nb - 1.0)) / (na + nb - 2.0);
        const double unit = variance > 1e-24 * (1.0 + mean * mean) ? 1.0 / sqrt(variance) : 0.0;
        for (size_t k = 0; k < a->seeds; k++) {
            za[i * a->seeds + k] = (x[k] - mean) * unit;
        }
        for (size_t k = 0; k < b->seeds; k++) {
            zb[i * b->seeds + k] = (y[k] - mean) * unit;
        }
    }
}

static double coefficient(uint64_t *s)
{
    *s = *s * 6364136223846793005U + 1442695040888963407U;
    return (double)(*s >> 11) * 0x1p-52 - 1.0;
}

/* Ten random directions in the space of all rows and quantities: they see correlations between times and heads. */
static void add_directions(ledger *book, const trial *a, const trial *b, size_t first_row, const double *za,
                           const double *zb)
{
    double *x = need(calloc(a->seeds, sizeof *x));
    double *y = need(calloc(b->seeds, sizeof *y));
    uint64_t s = 12345;
    for (size_t direction = 0; direction < 10; direction++) {
        memset(x, 0, a->seeds * sizeof *x);
        memset(y, 0, b->seeds * sizeof *y);
        for (size_t i = first_row * a->columns; i < a->rows * a->columns; i++) {
            const double weight = coefficient(&s);
            for (size_t k = 0; k < a->seeds; k++) {
                x[k] += weight * za[i * a->seeds + k];
            }
            for (size_t k = 0; k < b->seeds; k++) {
                y[k] += weight * zb[i * b->seeds + k];
            }
        }
        char what[40];
        snprintf(what, sizeof what, "direction %zu", direction);
        add_all(book, x, a->seeds, y, b->seeds, what);
    }
    free(x);
    free(y);
}

/* Mean of a product of two standardized quantities, i and j counted over rows and columns together. */
static void add_product(ledger *book, const trial *a, const trial *b, const double *za, const double *zb, size_t i,
                        size_t j)
{
    double *x = need(calloc(a->seeds, sizeof *x));
    double *y = need(calloc(b->seeds, sizeof *y));
    for (size_t k = 0; k < a->seeds; k++) {
        x[k] = za[i * a->seeds + k] * za[j * a->seeds + k];
    }
    for (size_t k = 0; k < b->seeds; k++) {
        y[k] = zb[i * b->seeds + k] * zb[j * b->seeds + k];
    }
    char first[64];
    char second[64];
    char what[192];
    column_name(a, i % a->columns, first, sizeof first);
    column_name(a, j % a->columns, second, sizeof second);
    snprintf(what, sizeof what, "%s %s at rows %zu, %zu", first, second, i / a->columns, j / a->columns);
    ledger_add(book, stats_welch(x, a->seeds, y, b->seeds), "mean", what);
    free(x);
    free(y);
}

static void add_products(ledger *book, const trial *a, const trial *b, size_t first_row, const double *za,
                         const double *zb)
{
    const size_t last = (a->rows - 1) * a->columns;
    for (size_t i = 0; i < a->columns; i++) {
        for (size_t j = 0; j < i; j++) {
            add_product(book, a, b, za, zb, last + i, last + j);
        }
        for (size_t row = first_row + 1; row < a->rows; row++) {
            add_product(book, a, b, za, zb, row * a->columns + i, (row - 1) * a->columns + i);
        }
    }
}

int trial_agree(const char *name, const trial *a, const trial *b, size_t first_row)
{
    static size_t comparisons = 0;
    if (++comparisons > TRIAL_COMPARISONS || a->rows != b->rows || a->columns != b->columns || first_row >= a->rows) {
        fprintf(stderr, "%s: too many comparisons, or samples of different shape\n", name);
        return 0;
    }
    ledger book = {0};
    double *za = need(calloc(a->rows * a->columns * a->seeds, sizeof *za));
    double *zb = need(calloc(b->rows * b->columns * b->seeds, sizeof *zb));
    standardize(a, b, za, zb);
    for (size_t row = first_row; row < a->rows; row++) {
        for (size_t column = 0; column < a->columns; column++) {
            char quantity[64];
            char what[192];
            column_name(a, column, quantity, sizeof quantity);
            snprintf(what, sizeof what, "%s at t = %.4g", quantity, a->time[row]);
            add_all(&book, trial_column(a, row, column), a->seeds, trial_column(b, row, column), b->seeds, what);
        }
    }
    add_directions(&book, a, b, first_row, za, zb);
    add_products(&book, a, b, first_row, za, zb);
    double *adjusted = need(calloc(book.n, sizeof *adjusted));
    const size_t worst = stats_holm(book.p, book.n, adjusted);
    const double level = TRIAL_LEVEL / TRIAL_COMPARISONS;
    const int agree = adjusted[worst] >= level;
    size_t rejected = 0;
    for (size_t i = 0; i < book.n; i++) {
        rejected += adjusted[i] < level;
    }
    printf("  %-44s %5zu tests, smallest adjusted p %.2g: %s, statistic %.4g%s\n", name, book.n, adjusted[worst],
           book.label[worst], book.statistic[worst], agree ? "" : "  REJECTED");
    for (size_t i = 0, shown = 0; i < book.n && rejected > 1 && shown < 8; i++) {
        if (adjusted[i] < level) {
            printf("      of %zu rejections: %s, statistic %.4g, p %.2g\n", rejected, book.label[i], book.statistic[i],
                   book.p[i]);
            shown++;
        }
    }
    fflush(stdout);
    free(adjusted);
    free(za);
    free(zb);
    free(book.p);
    free(book.statistic);
    free(book.label);
    return agree;
}
