/* SPDX-License-Identifier: MIT */
#include "study/phases.h"

#include "study/growth.h"

#include <math.h>
#include <string.h>

/* ---- what is read -------------------------------------------------------------------------------------------------- */

static hspec_status check(const hspec_phases_trajectory *t, double level, hspec_error *err)
{
    if (!t || !t->time || !t->alignment || t->rows < 1 || t->heads < 1 || t->features < 1) {
        return hspec_error_set(err, HSPEC_EARG,
                               "hspec_phases_create: trajectory, time and alignment must not be NULL; rows, heads and "
                               "features must be at least 1");
    }
    if (!(level > 0) || !isfinite(level)) {
        return hspec_error_set(err, HSPEC_EARG, "level: found %g, allowed a finite number above 0", level);
    }
    return HSPEC_OK;
}

/** Rows before the first one with a number that is not finite. */
static hspec_status count_rows(const hspec_phases_trajectory *t, size_t *rows, hspec_error *err)
{
    const size_t each = t->heads * t->features;
    size_t row = 0;
    for (; row < t->rows; row++) {
        int finite = isfinite(t->time[row]);
        for (size_t i = 0; i < each && finite; i++) {
            finite = isfinite(t->alignment[row * each + i]);
        }
        if (!finite) {
            break;
        }
        if (row > 0 && !(t->time[row] > t->time[row - 1])) {
            return hspec_error_set(err, HSPEC_EARG, "time[%zu]: found %g after %g, allowed times that increase", row,
                                   t->time[row], t->time[row - 1]);
        }
    }
    if (row == 0) {
        return hspec_error_set(err, HSPEC_ENONFINITE, "row 0: found a time or an alignment that is not finite");
    }
    *rows = row;
    return HSPEC_OK;
}

/* ---- learning ------------------------------------------------------------------------------------------------------ */

/** The deviation at which the linear regime ends. */
static double linear_end(const hspec_phases *p)
{
    return fmin(HSPEC_PHASES_LINEAR * p->report.level, HSPEC_PHASES_LINEAR_MAX);
}

/** The row at which a feature is learned, or `rows`. */
static size_t learned_row(const hspec_phases *p, size_t f)
{
    const size_t F = p->report.features;
    size_t row = 0;
    while (row < p->report.rows && p->deviation[row * F + f] < p->report.level) {
        row++;
    }
    return row;
}

static int side_of(const hspec_phases *p, double m)
{
    return m >= p->report.side ? 1 : m <= -p->report.side ? -1 : 0;
}

static hspec_phases_split count_sides(size_t H, const int *side)
{
    hspec_phases_split split = {0, 0, 0};
    for (size_t h = 0; h < H; h++) {
        split.positive += side[h] > 0;
        split.negative += side[h] < 0;
        split.neither += side[h] == 0;
    }
    return split;
}

/** Sides and their count of one feature at one row. */
static hspec_phases_split take_sides(const hspec_phases *p, const double *alignment, size_t row, size_t f, int *side)
{
    const size_t H = p->report.heads, F = p->report.features;
    for (size_t h = 0; h < H; h++) {
        side[h] = side_of(p, alignment[(row * H + h) * F + f]);
    }
    return count_sides(H, side);
}

static void learn(hspec_phases *p, const hspec_phases_trajectory *t, size_t f)
{
    const size_t H = p->report.heads, F = p->report.features, rows = p->report.rows;
    hspec_phases_feature *feature = &p->feature[f];
    const size_t row = learned_row(p, f);
    feature->learned = NAN;
    if (row == rows) {
        return;
    }
    feature->learned = t->time[row];
    if (row > 0) { /* between two rows: a straight line */
        const double d0 = p->deviation[(row - 1) * F + f], d1 = p->deviation[row * F + f];
        feature->learned -= (t->time[row] - t->time[row - 1]) * (d1 - p->report.level) / (d1 - d0);
    }
    feature->split = take_sides(p, t->alignment, row, f, p->side_at_learning + f * H);
    feature->split_at_end = take_sides(p, t->alignment, rows - 1, f, p->side_at_end + f * H);
}

/** The learned features in the order of their times. */
static void put_in_order(hspec_phases *p)
{
    size_t n = 0;
    for (size_t f = 0; f < p->report.features; f++) {
        if (isnan(p->feature[f].learned)) {
            continue;
        }
        size_t i = n++;
        for (; i > 0 && p->feature[p->order[i - 1]].learned > p->feature[f].learned; i--) {
            p->order[i] = p->order[i - 1];
        }
        p->order[i] = f;
    }
    for (size_t i = 0; i < n; i++) {
        p->feature[p->order[i]].order = i + 1;
    }
    p->report.learned = n;
    p->report.specialized = n ? p->feature[p->order[0]].learned : NAN;
}

/** The learned feature that each head holds most of at the end. */
static void find_owners(hspec_phases *p, const double *alignment)
{
    const size_t H = p->report.heads, F = p->report.features;
    const double *m = alignment + (p->report.rows - 1) * H * F;
    for (size_t h = 0; h < H; h++) {
        p->owner[h] = F;
        for (size_t f = 0; f < F; f++) {
            const int better = p->owner[h] == F || fabs(m[h * F + f]) > fabs(m[h * F + p->owner[h]]);
            if (p->side_at_end[f * H + h] && better) {
                p->owner[h] = f;
            }
        }
    }
}

/* ---- growth -------------------------------------------------------------------------------------------------------- */

/** Rows before the first in which a feature has left the linear regime. */
static size_t linear_rows(const hspec_phases *p)
{
    const size_t F = p->report.features;
    const double end = linear_end(p);
    size_t i = 0;
    while (i < p->report.rows * F && p->deviation[i] < end) {
        i++;
    }
    return i / F;
}

static void fit_growth(hspec_phases *p, const hspec_phases_trajectory *t, size_t rows, size_t f)
{
    const size_t F = p->report.features;
    hspec_phases_feature *feature = &p->feature[f];
    feature->growth = feature->growth_error = feature->predicted = feature->predicted_error = NAN;
    const size_t points = hspec_growth_window(rows, p->report.heads, F, t->alignment, p->deviation, f, &feature->first);
    for (size_t i = 0; i < points; i++) {
        p->logarithm[i] = log(p->deviation[(feature->first + i) * F + f]);
    }
    const hspec_growth_line line = hspec_growth_fit(points, t->time + feature->first, p->logarithm);
    if (line.slope > 0) {
        feature->points = points;
        feature->growth = line.slope;
        feature->growth_error = line.error;
    } else {
        feature->first = 0;
    }
}

/* ---- crossings ----------------------------------------------------------------------------------------------------- */

/** The crossings of one head on one feature. A side counts where heads have parted, and until the head is on the other
 *  one: noise about zero is no crossing.
 *  @param crossing out NULL: count only @return how many */
static size_t cross(const hspec_phases *p, const hspec_phases_trajectory *t, size_t h, size_t f,
                    hspec_phases_crossing *crossing)
{
    const size_t H = p->report.heads, F = p->report.features;
    size_t count = 0, last = 0; /* the last row on the old side of zero */
    int side = 0;
    for (size_t row = 0; row < p->report.rows; row++) {
        const double m = t->alignment[(row * H + h) * F + f];
        const int parted = p->deviation[row * F + f] >= linear_end(p);
        const int now = parted ? side_of(p, m) : 0;
        if (side && now == -side) {
            const double m0 = t->alignment[(last * H + h) * F + f], m1 = t->alignment[((last + 1) * H + h) * F + f];
            const double time = t->time[last] + (t->time[last + 1] - t->time[last]) * m0 / (m0 - m1);
            if (crossing) {
                crossing[count] = (hspec_phases_crossing){h, f, time, side, now};
            }
            count++;
        }
        side = now ? now : side;
        last = m * side > 0 ? row : last;
    }
    return count;
}

/** All crossings of learned features. @param crossing out in the order of time; NULL: count only */
static size_t cross_all(const hspec_phases *p, const hspec_phases_trajectory *t, hspec_phases_crossing *crossing)
{
    size_t count = 0;
    for (size_t h = 0; h < p->report.heads; h++) {
        for (size_t f = 0; f < p->report.features; f++) {
            if (p->feature[f].order > 0) {
                count += cross(p, t, h, f, crossing ? crossing + count : NULL);
            }
        }
    }
    for (size_t i = 1; crossing && i < count; i++) {
        const hspec_phases_crossing one = crossing[i];
        size_t j = i;
        for (; j > 0 && crossing[j - 1].time > one.time; j--) {
            crossing[j] = crossing[j - 1];
        }
        crossing[j] = one;
    }
    return count;
}

/* ---- the object ---------------------------------------------------------------------------------------------------- */

static void lay_out(hspec_phases *p)
{
    const size_t H = p->report.heads, F = p->report.features, rows = p->report.rows;
    p->deviation = hspec_arena_doubles(&p->arena, hspec_memory_mul(rows, F));
    p->feature = hspec_arena_take(&p->arena, F, sizeof *p->feature);
    p->order = hspec_arena_take(&p->arena, F, sizeof *p->order);
    p->side_at_learning = hspec_arena_take(&p->arena, hspec_memory_mul(F, H), sizeof *p->side_at_learning);
    p->side_at_end = hspec_arena_take(&p->arena, hspec_memory_mul(F, H), sizeof *p->side_at_end);
    p->owner = hspec_arena_take(&p->arena, H, sizeof *p->owner);
    p->logarithm = hspec_arena_doubles(&p->arena, rows);
}

static hspec_status find_crossings(hspec_phases *p, const hspec_phases_trajectory *t, hspec_error *err)
{
    p->report.crossings = cross_all(p, t, NULL);
    if (p->report.crossings == 0) {
        return HSPEC_OK;
    }
    p->crossing = hspec_memory_alloc(p->report.crossings, sizeof *p->crossing);
    if (!p->crossing) {
        return hspec_error_memory(err, hspec_memory_mul(p->report.crossings, sizeof *p->crossing));
    }
    (void)cross_all(p, t, p->crossing);
    return HSPEC_OK;
}

static void point_to(hspec_phases *p)
{
    p->report.deviation = p->deviation;
    p->report.feature = p->feature;
    p->report.order = p->order;
    p->report.side_at_learning = p->side_at_learning;
    p->report.side_at_end = p->side_at_end;
    p->report.owner = p->owner;
    p->report.crossing = p->crossing;
}

hspec_status hspec_phases_create(const hspec_phases_trajectory *trajectory, double level, hspec_phases **phases,
                                 hspec_error *err)
{
    size_t rows = 0;
    HSPEC_TRY(check(trajectory, level, err));
    HSPEC_TRY(count_rows(trajectory, &rows, err));
    const size_t H = trajectory->heads, F = trajectory->features;
    hspec_phases *p = hspec_memory_alloc(1, sizeof *p);
    if (!p) {
        return hspec_error_memory(err, sizeof *p);
    }
    p->report = (hspec_phases_report){
        .rows = rows, .heads = H, .features = F, .level = level, .side = HSPEC_PHASES_SIDE * level};
    lay_out(p);
    hspec_status status = hspec_arena_commit(&p->arena, err);
    if (status == HSPEC_OK) {
        lay_out(p);
        for (size_t i = 0; i < rows * F; i++) {
            p->deviation[i] = hspec_growth_deviation(H, trajectory->alignment + i / F * H * F + i % F, F);
        }
        const size_t linear = linear_rows(p);
        for (size_t f = 0; f < F; f++) {
            learn(p, trajectory, f);
            fit_growth(p, trajectory, linear, f);
        }
        put_in_order(p);
        find_owners(p, trajectory->alignment);
        status = find_crossings(p, trajectory, err);
    }
    if (status != HSPEC_OK) {
        hspec_phases_free(p);
        return status;
    }
    point_to(p);
    *phases = p;
    return HSPEC_OK;
}

void hspec_phases_free(hspec_phases *phases)
{
    if (phases) {
        hspec_memory_free(phases->crossing);
        hspec_arena_free(&phases->arena);
        hspec_memory_free(phases);
    }
}

void hspec_phases_view(const hspec_phases *phases, hspec_phases_report *report)
{
    *report = phases->report;
}
