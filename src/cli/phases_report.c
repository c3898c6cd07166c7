/* SPDX-License-Identifier: MIT */
#include "cli/phases_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/status.h"

enum { CELL = 40, CROSSINGS_SHOWN = 12 };

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* "0.381 +- 0.002", "-" for what is not there. */
static const char *pair_cell(double value, double error, char *cell)
{
    if (isnan(value)) {
        (void)snprintf(cell, CELL, "-");
    } else if (isnan(error)) {
        (void)snprintf(cell, CELL, "%.4g", value);
    } else {
        (void)snprintf(cell, CELL, "%.4g +- %.1g", value, error);
    }
    return cell;
}

static const char *split_cell(const hspec_phases_split *split, int there, char *cell)
{
    if (there) {
        (void)snprintf(cell, CELL, "%zu %zu %zu", split->positive, split->negative, split->neither);
    } else {
        (void)snprintf(cell, CELL, "-");
    }
    return cell;
}

/* ---- one trajectory ---------------------------------------------------------------------------------------------- */

static void print_feature(const hspec_phases_feature *feature, size_t f, double samples)
{
    char learned[CELL], n[CELL], growth[CELL], predicted[CELL], split[CELL], end[CELL];
    (void)printf("  %7zu  %7s  %8s  %-18s  %-18s  %-10s  %s\n", f, pair_cell(feature->learned, NAN, learned),
                 pair_cell(feature->learned * samples, NAN, n),
                 pair_cell(feature->growth, feature->growth_error, growth),
                 pair_cell(feature->predicted, feature->predicted_error, predicted),
                 split_cell(&feature->split, feature->order > 0, split),
                 split_cell(&feature->split_at_end, feature->order > 0, end));
}

static void print_one(const hspec_phases *phases, double samples)
{
    hspec_phases_report r;
    hspec_phases_view(phases, &r);
    if (r.learned) {
        (void)printf("  the heads part at t = %.4g, N = %.4g\n", r.specialized, r.specialized * samples);
    } else {
        (void)printf("  the heads do not part\n");
    }
    (void)printf("  feature  learned         N  growth              predicted           + - 0       at the end\n");
    for (size_t f = 0; f < r.features; f++) {
        print_feature(&r.feature[f], f, samples);
    }
    for (size_t i = 0; i < r.crossings && i < CROSSINGS_SHOWN; i++) {
        const hspec_phases_crossing *c = &r.crossing[i];
        (void)printf("  head %zu crosses from %c to %c on feature %zu at t = %.4g\n", c->head, c->from > 0 ? '+' : '-',
                     c->to > 0 ? '+' : '-', c->feature, c->time);
    }
    if (r.crossings > CROSSINGS_SHOWN) {
        (void)printf("  and %zu more crossings: --json\n", r.crossings - CROSSINGS_SHOWN);
    }
}

/* ---- all seeds --------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which the part q of n sorted ones lies, interpolated. */
static double quantile(const double *sorted, size_t n, double q)
{
    const double place = q * (double)(n - 1);
    const size_t i = (size_t)place;
    return i + 1 < n ? sorted[i] + (place - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* "22.1 (21.6, 23.0)" of what is not NaN; sorts `values`. */
static const char *spread_cell(double *values, size_t n, char *cell)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isnan(values[i])) {
            values[known++] = values[i];
        }
    }
    if (known == 0) {
        (void)snprintf(cell, CELL, "-");
        return cell;
    }
    qsort(values, known, sizeof *values, by_size);
    (void)snprintf(cell, CELL, "%.4g (%.4g, %.4g)", quantile(values, known, 0.5), quantile(values, known, 0.25),
                   quantile(values, known, 0.75));
    return cell;
}

/* The sign of a symmetric feature means nothing: more heads are then on the side that is called positive. */
static hspec_phases_split comparable(hspec_phases_split split, int symmetric)
{
    if (symmetric && split.negative > split.positive) {
        return (hspec_phases_split){split.negative, split.positive, split.neither};
    }
    return split;
}

static int equal_splits(hspec_phases_split a, hspec_phases_split b)
{
    return a.positive == b.positive && a.negative == b.negative && a.neither == b.neither;
}

/* "3 3 0 in 5", the split at the end of most seeds. */
static const char *common_split(const hspec_phases_read *read, size_t f, int symmetric, char *cell)
{
    hspec_phases_split best = {0, 0, 0};
    size_t most = 0;
    for (size_t i = 0; i < read->count; i++) {
        hspec_phases_report a, b;
        hspec_phases_view(read->seeds[i], &a);
        const hspec_phases_split split = comparable(a.feature[f].split_at_end, symmetric);
        size_t same = 0;
        for (size_t j = 0; j < read->count; j++) {
            hspec_phases_view(read->seeds[j], &b);
            same += b.feature[f].order && equal_splits(split, comparable(b.feature[f].split_at_end, symmetric));
        }
        if (a.feature[f].order && same > most) {
            most = same;
            best = split;
        }
    }
    if (most == 0) {
        (void)snprintf(cell, CELL, "-");
    } else {
        (void)snprintf(cell, CELL, "%zu %zu %zu in %zu", best.positive, best.negative, best.neither, most);
    }
    return cell;
}

/* What is asked of a seed, of one feature. */
static double learned_of(const hspec_phases_feature *feature)
{
    return feature->learned;
}

static double growth_of(const hspec_phases_feature *feature)
{
    return feature->growth;
}

static double predicted_of(const hspec_phases_feature *feature)
{
    return feature->predicted;
}

static const char *over_seeds(const hspec_phases_read *read, size_t f, double (*of)(const hspec_phases_feature *),
                              double *values, char *cell)
{
    for (size_t i = 0; i < read->count; i++) {
        hspec_phases_report r;
        hspec_phases_view(read->seeds[i], &r);
        values[i] = of(&r.feature[f]);
    }
    return spread_cell(values, read->count, cell);
}

static void print_crossings(const hspec_phases_read *read, size_t f)
{
    size_t seeds = 0, all = 0;
    for (size_t i = 0; i < read->count; i++) {
        hspec_phases_report r;
        hspec_phases_view(read->seeds[i], &r);
        const size_t before = all;
        for (size_t k = 0; k < r.crossings; k++) {
            all += r.crossing[k].feature == f;
        }
        seeds += all > before;
    }
    if (all > 0) {
        (void)printf("  %zu crossing%s on feature %zu in %zu of %zu seeds\n", all, all > 1 ? "s" : "", f, seeds,
                     read->count);
    }
}

static hspec_status print_many(const hspec_phases_read *read, hspec_error *err)
{
    const size_t F = read->simulated.trajectory.features;
    double *values = calloc(read->count, sizeof *values);
    int *symmetric = calloc(F, sizeof *symmetric);
    if (values && symmetric) {
        hspec_signal_symmetries(read->run.signal, symmetric);
        (void)printf("  feature  learned by  at t (quartiles)          growth                    "
                     "predicted                 + - 0 at the end\n");
        for (size_t f = 0; f < F; f++) {
            char time[CELL], growth[CELL], predicted[CELL], split[CELL];
            size_t learned = 0;
            for (size_t i = 0; i < read->count; i++) {
                hspec_phases_report r;
                hspec_phases_view(read->seeds[i], &r);
                learned += r.feature[f].order > 0;
            }
            (void)printf("  %7zu  %4zu of %-3zu %-24s  %-24s  %-24s  %s\n", f, learned, read->count,
                         over_seeds(read, f, learned_of, values, time), over_seeds(read, f, growth_of, values, growth),
                         over_seeds(read, f, predicted_of, values, predicted),
                         common_split(read, f, symmetric[f], split));
        }
        for (size_t f = 0; f < F; f++) {
            print_crossings(read, f);
        }
    }
    const int failed = !values || !symmetric;
    free(values);
    free(symmetric);
    return failed ? hspec_error_memory(err, read->count * sizeof *values) : HSPEC_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static double samples_of(const hspec_phases_source *source)
{
    return (double)source->experiment->training.batch * (double)source->experiment->task.dimension;
}

hspec_status hspec_phases_report_print(const hspec_phases_read *read, hspec_error *err)
{
    (void)printf("%s: a feature is learned when the deviation between heads passes %g\n", read->path, read->level);
    if (read->theory) {
        (void)printf("\nTheory, limit %s\n", read->curve.experiment->theory.limit == HSPEC_LIMIT_FLOW ? "flow" : "sgd");
        print_one(read->theory_phases, samples_of(&read->curve));
    }
    if (!read->sgd) {
        return HSPEC_OK;
    }
    const char *stopped = read->simulated.complete ? "" : ", stopped before its end";
    if (read->count == 1) {
        (void)printf("\nSGD, seed %zu%s\n", read->first, stopped);
        print_one(read->seeds[0], samples_of(&read->run));
        return HSPEC_OK;
    }
    (void)printf("\nSGD, %zu seeds%s\n", read->count, stopped);
    return print_many(read, err);
}
