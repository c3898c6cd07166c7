/* SPDX-License-Identifier: MIT
 * Matching of heads over seeds: assignment to the running mean. */
#include "study/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "study/assign.h"

enum { ROWS_MAX = 256, MEDOIDS_MAX = 128, EXHAUSTIVE_MAX = 10, MEDOID_EXHAUSTIVE_MAX = 4, ROUNDS_MAX = 100 };

/* Everything that the rounds share. x and mean hold sqrt(w_t) m with t innermost, so that distances are plain sums. */
typedef struct {
    size_t seeds, heads, features, rows;
    double *x;           /* [S][H][F][rows] */
    double *mean;        /* [H][F][rows] */
    double *product;     /* [H][H][F] sum_t mean[j][f][t] x[h][f][t] */
    double *cost;        /* [H][H] of one group */
    size_t *column;      /* [H] */
    size_t *members;     /* [H] heads of one group */
    const size_t *group; /* [H] or NULL */
    size_t *flips;       /* [n_flips] the features that may flip */
    size_t n_flips;
    size_t *head, *try_head, *best_head; /* [S][H], [H], [H] */
    int *sign, *try_sign, *best_sign;    /* [S][F], [F], [F] */
    hspec_assign *assign;
} matcher;

static void matcher_free(matcher *a)
{
    free(a->x);
    free(a->mean);
    free(a->product);
    free(a->cost);
    free(a->column);
    free(a->members);
    free(a->flips);
    free(a->head);
    free(a->try_head);
    free(a->best_head);
    free(a->sign);
    free(a->try_sign);
    free(a->best_sign);
    hspec_assign_free(a->assign);
}

static hspec_status matcher_create(matcher *a, const hspec_trajectory *tr, hspec_error *err)
{
    size_t S = tr->seeds, H = tr->heads, F = tr->features;
    size_t rows = tr->done < ROWS_MAX ? tr->done : ROWS_MAX;
    a->seeds = S;
    a->heads = H;
    a->features = F;
    a->rows = rows;
    a->x = calloc(S * H * F * rows, sizeof(double));
    a->mean = calloc(H * F * rows, sizeof(double));
    a->product = calloc(H * H * F, sizeof(double));
    a->cost = calloc(H * H, sizeof(double));
    a->column = calloc(H, sizeof(size_t));
    a->members = calloc(H, sizeof(size_t));
    a->flips = calloc(F, sizeof(size_t));
    a->head = calloc(S * H, sizeof(size_t));
    a->try_head = calloc(H, sizeof(size_t));
    a->best_head = calloc(H, sizeof(size_t));
    a->sign = calloc(S * F, sizeof(int));
    a->try_sign = calloc(F, sizeof(int));
    a->best_sign = calloc(F, sizeof(int));
    if (!a->x || !a->mean || !a->product || !a->cost || !a->column || !a->members || !a->flips || !a->head ||
        !a->try_head || !a->best_head || !a->sign || !a->try_sign || !a->best_sign) {
        return hspec_error_memory(err, (S + 1) * H * F * rows * sizeof(double));
    }
    for (size_t i = 0; i < S * H; i++) {
        a->head[i] = i % H;
    }
    for (size_t i = 0; i < S * F; i++) {
        a->sign[i] = 1;
    }
    return hspec_assign_create(H, &a->assign, err);
}

/* Row k of `rows` that are chosen evenly out of `done`; the first and the last are always among them. */
static size_t chosen_row(size_t k, size_t rows, size_t done)
{
    return rows == done ? k : k * (done - 1) / (rows - 1);
}

/* Trapezoidal weights of the integral of t dt, normalized; equal weights if no time passes. weight [rows] */
static void row_weights(const hspec_trajectory *tr, size_t rows, double *weight)
{
    double sum = 0.0;
    for (size_t k = 0; k < rows; k++) {
        double here = tr->time[chosen_row(k, rows, tr->done)];
        double before = k > 0 ? tr->time[chosen_row(k - 1, rows, tr->done)] : here;
        double after = k + 1 < rows ? tr->time[chosen_row(k + 1, rows, tr->done)] : here;
        weight[k] = 0.5 * here * (after - before);
        sum += weight[k];
    }
    for (size_t k = 0; k < rows; k++) {
        weight[k] = sum > 0.0 ? weight[k] / sum : 1.0 / (double)rows;
    }
}

static hspec_status fill(matcher *a, const hspec_trajectory *tr, hspec_error *err)
{
    double weight[ROWS_MAX];
    size_t H = a->heads, F = a->features, rows = a->rows;
    row_weights(tr, rows, weight);
    for (size_t s = 0; s < a->seeds; s++) {
        for (size_t k = 0; k < rows; k++) {
            size_t t = chosen_row(k, rows, tr->done);
            const double *m = tr->alignment + (s * tr->rows + t) * H * F;
            for (size_t i = 0; i < H * F; i++) {
                if (!isfinite(m[i])) {
                    return hspec_error_set(err, HSPEC_ENONFINITE, "alignment[%zu, %zu, %zu, %zu] is %g", s, t, i / F,
                                           i % F, m[i]);
                }
                a->x[(s * H * F + i) * rows + k] = sqrt(weight[k]) * m[i];
            }
        }
    }
    return HSPEC_OK;
}

/* product[j][h][f] of the reference [H][F][rows] and seed s. */
static void multiply(matcher *a, const double *reference, size_t s)
{
    size_t H = a->heads, F = a->features, rows = a->rows;
    const double *x = a->x + s * H * F * rows;
    for (size_t j = 0; j < H; j++) {
        for (size_t h = 0; h < H; h++) {
            for (size_t f = 0; f < F; f++) {
                const double *u = reference + (j * F + f) * rows, *v = x + (h * F + f) * rows;
                double sum = 0.0;
                for (size_t k = 0; k < rows; k++) {
                    sum += u[k] * v[k];
                }
                a->product[(j * H + h) * F + f] = sum;
            }
        }
    }
}

/* The best pairing at the signs try_sign: fills try_head and returns the agreement, sum_jf sigma_f product. */
static hspec_status pair(matcher *a, double *agreement, hspec_error *err)
{
    size_t H = a->heads, F = a->features;
    *agreement = 0.0;
    for (size_t g = 0; g < H; g++) {
        size_t n = 0;
        for (size_t h = 0; h < H; h++) {
            if ((a->group ? a->group[h] : 0) == g) {
                a->members[n++] = h;
            }
        }
        if (n == 0) {
            continue;
        }
        for (size_t j = 0; j < n; j++) {
            for (size_t h = 0; h < n; h++) {
                const double *p = a->product + (a->members[j] * H + a->members[h]) * F;
                double sum = 0.0;
                for (size_t f = 0; f < F; f++) {
                    sum += a->try_sign[f] * p[f];
                }
                a->cost[j * n + h] = -sum;
            }
        }
        double total = 0.0;
        HSPEC_TRY(hspec_assign_solve(a->assign, n, a->cost, a->column, &total, err));
        *agreement -= total;
        for (size_t j = 0; j < n; j++) {
            a->try_head[a->members[j]] = a->members[a->column[j]];
        }
    }
    return HSPEC_OK;
}

static void keep_best(matcher *a)
{
    memcpy(a->best_head, a->try_head, a->heads * sizeof(size_t));
    memcpy(a->best_sign, a->try_sign, a->features * sizeof(int));
}

/* The best pairing and signs for the products at hand, into best_head and best_sign. */
static hspec_status pair_signed(matcher *a, size_t exhaustive_max, double *agreement, hspec_error *err)
{
    for (size_t f = 0; f < a->features; f++) {
        a->try_sign[f] = 1;
    }
    HSPEC_TRY(pair(a, agreement, err));
    keep_best(a);
    if (a->n_flips <= exhaustive_max) {
        /* A Gray code visits all choices, one flip at a time. */
        for (size_t code = 1; code < ((size_t)1 << a->n_flips); code++) {
            size_t bit = 0;
            while (!((code >> bit) & 1)) {
                bit++;
            }
            a->try_sign[a->flips[bit]] *= -1;
            double found = 0.0;
            HSPEC_TRY(pair(a, &found, err));
            if (found > *agreement) {
                *agreement = found;
                keep_best(a);
            }
        }
        return HSPEC_OK;
    }
    for (int improved = 1; improved;) {
        improved = 0;
        for (size_t i = 0; i < a->n_flips; i++) {
            a->try_sign[a->flips[i]] *= -1;
            double found = 0.0;
            HSPEC_TRY(pair(a, &found, err));
            if (found > *agreement + 1e-12 * fabs(*agreement)) {
                *agreement = found;
                keep_best(a);
                improved = 1;
            } else {
                a->try_sign[a->flips[i]] *= -1;
            }
        }
    }
    return HSPEC_OK;
}

static double norm2(const double *v, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i] * v[i];
    }
    return sum;
}

/* The seed whose summed distance to the others is least. It is only where the search begins, so that here a coarser
 * search for signs will do. */
static hspec_status medoid(matcher *a, size_t *result, hspec_error *err)
{
    size_t n = a->seeds < MEDOIDS_MAX ? a->seeds : MEDOIDS_MAX;
    size_t length = a->heads * a->features * a->rows;
    double *sum = calloc(n, sizeof(double));
    if (!sum) {
        return hspec_error_memory(err, n * sizeof(double));
    }
    hspec_status status = HSPEC_OK;
    for (size_t i = 0; i < n && status == HSPEC_OK; i++) {
        size_t p = chosen_row(i, n, a->seeds);
        const double *reference = a->x + p * length;
        for (size_t j = 0; j < i && status == HSPEC_OK; j++) {
            size_t q = chosen_row(j, n, a->seeds);
            double agreement = 0.0;
            multiply(a, reference, q);
            status = pair_signed(a, MEDOID_EXHAUSTIVE_MAX, &agreement, err);
            double distance2 = norm2(reference, length) + norm2(a->x + q * length, length) - 2.0 * agreement;
            double distance = sqrt(fmax(distance2, 0.0));
            sum[i] += distance;
            sum[j] += distance;
        }
    }
    size_t best = 0;
    for (size_t i = 1; i < n; i++) {
        if (sum[i] < sum[best]) {
            best = i;
        }
    }
    free(sum);
    *result = chosen_row(best, n, a->seeds);
    return status;
}

static void average(matcher *a)
{
    size_t H = a->heads, F = a->features, rows = a->rows;
    memset(a->mean, 0, H * F * rows * sizeof(double));
    for (size_t s = 0; s < a->seeds; s++) {
        for (size_t j = 0; j < H; j++) {
            size_t h = a->head[s * H + j];
            for (size_t f = 0; f < F; f++) {
                double factor = a->sign[s * F + f] / (double)a->seeds;
                const double *x = a->x + ((s * H + h) * F + f) * rows;
                double *mean = a->mean + (j * F + f) * rows;
                for (size_t k = 0; k < rows; k++) {
                    mean[k] += factor * x[k];
                }
            }
        }
    }
}

/* Root mean square distance of a seed to the mean, per head. */
static double distance_to_mean(matcher *a)
{
    size_t H = a->heads, F = a->features, rows = a->rows;
    double sum = 0.0;
    average(a);
    for (size_t s = 0; s < a->seeds; s++) {
        for (size_t i = 0; i < H * F; i++) {
            const double *x = a->x + (s * H + a->head[s * H + i / F]) * F * rows + (i % F) * rows;
            for (size_t k = 0; k < rows; k++) {
                double difference = a->sign[s * F + i % F] * x[k] - a->mean[i * rows + k];
                sum += difference * difference;
            }
        }
    }
    return sqrt(sum / (double)(a->seeds * H));
}

static hspec_status improve(matcher *a, hspec_error *err)
{
    size_t H = a->heads, F = a->features, first = 0;
    HSPEC_TRY(medoid(a, &first, err));
    memcpy(a->mean, a->x + first * H * F * a->rows, H * F * a->rows * sizeof(double));
    for (int round = 0; round < ROUNDS_MAX; round++) {
        int changed = 0;
        for (size_t s = 0; s < a->seeds; s++) {
            double agreement = 0.0;
            multiply(a, a->mean, s);
            HSPEC_TRY(pair_signed(a, EXHAUSTIVE_MAX, &agreement, err));
            changed |= memcmp(a->head + s * H, a->best_head, H * sizeof(size_t)) != 0;
            changed |= memcmp(a->sign + s * F, a->best_sign, F * sizeof(int)) != 0;
            memcpy(a->head + s * H, a->best_head, H * sizeof(size_t));
            memcpy(a->sign + s * F, a->best_sign, F * sizeof(int));
        }
        if (!changed && round > 0) {
            break;
        }
        average(a);
    }
    return HSPEC_OK;
}

/* Mean matched alignment in the last row, of role j and feature f. */
static double final_mean(const matcher *a, const hspec_trajectory *tr, size_t j, size_t f)
{
    size_t H = a->heads, F = a->features;
    double sum = 0.0;
    for (size_t s = 0; s < a->seeds; s++) {
        const double *m = tr->alignment + (s * tr->rows + tr->done - 1) * H * F;
        sum += a->sign[s * F + f] * m[a->head[s * H + j] * F + f];
    }
    return sum / (double)a->seeds;
}

/* Puts signs and roles in the order that the header states. */
static void canonical_order(matcher *a, const hspec_trajectory *tr)
{
    size_t H = a->heads, F = a->features, strongest = 0;
    double widest = -1.0;
    for (size_t f = 0; f < F; f++) {
        double sum = 0.0, sum2 = 0.0;
        for (size_t j = 0; j < H; j++) {
            double m = final_mean(a, tr, j, f);
            sum += m;
            sum2 += m * m;
        }
        double width = sum2 - sum * sum / (double)H;
        if (width > widest) {
            widest = width;
            strongest = f;
        }
        int may_flip = 0;
        for (size_t i = 0; i < a->n_flips; i++) {
            may_flip |= a->flips[i] == f;
        }
        for (size_t s = 0; may_flip && sum < 0.0 && s < a->seeds; s++) {
            a->sign[s * F + f] *= -1;
        }
    }
    /* Insertion sort of the roles of each group, largest first; equal ones keep their order. */
    for (size_t i = 1; i < H; i++) {
        for (size_t j = i, k = i; k-- > 0;) {
            if (a->group && a->group[k] != a->group[j]) {
                continue;
            }
            if (!(final_mean(a, tr, j, strongest) > final_mean(a, tr, k, strongest))) {
                break;
            }
            for (size_t s = 0; s < a->seeds; s++) {
                size_t swap = a->head[s * H + j];
                a->head[s * H + j] = a->head[s * H + k];
                a->head[s * H + k] = swap;
            }
            j = k;
        }
    }
}

hspec_status hspec_match_heads(const hspec_trajectory *trajectory, const size_t *group, const int *flip, size_t *head,
                               int *sign, double *spread, hspec_error *err)
{
    const hspec_trajectory *tr = trajectory;
    if (tr->seeds == 0 || tr->heads == 0 || tr->features == 0 || tr->done == 0 || tr->done > tr->rows) {
        return hspec_error_set(err, HSPEC_EARG,
                               "matching: %zu seeds, %zu heads, %zu features, %zu of %zu rows; at least one of each is "
                               "needed",
                               tr->seeds, tr->heads, tr->features, tr->done, tr->rows);
    }
    for (size_t h = 0; group && h < tr->heads; h++) {
        if (group[h] >= tr->heads) {
            return hspec_error_set(err, HSPEC_EARG, "matching: group of head %zu is %zu, allowed are 0 to %zu", h,
                                   group[h], tr->heads - 1);
        }
    }
    matcher a = {.group = group};
    double before = 0.0, after = 0.0;
    hspec_status status = matcher_create(&a, tr, err);
    for (size_t f = 0; status == HSPEC_OK && flip && f < a.features; f++) {
        if (flip[f]) {
            a.flips[a.n_flips++] = f;
        }
    }
    if (status == HSPEC_OK) {
        status = fill(&a, tr, err);
    }
    if (status == HSPEC_OK) {
        before = distance_to_mean(&a);
        status = improve(&a, err);
    }
    if (status == HSPEC_OK) {
        after = distance_to_mean(&a);
        canonical_order(&a, tr);
        memcpy(head, a.head, a.seeds * a.heads * sizeof(size_t));
        memcpy(sign, a.sign, a.seeds * a.features * sizeof(int));
        if (spread) {
            spread[0] = before;
            spread[1] = after;
        }
    }
    matcher_free(&a);
    return status;
}

void hspec_match_groups(size_t heads, size_t features, const double *alignment, const double *residual, size_t *group)
{
    size_t H = heads, F = features;
    for (size_t h = 0; h < H; h++) {
        group[h] = h;
        for (size_t g = 0; g < h && group[h] == h; g++) {
            int equal = group[g] == g;
            for (size_t f = 0; equal && f < F; f++) {
                equal = alignment[g * F + f] == alignment[h * F + f];
            }
            if (equal && residual) {
                equal = residual[g * H + g] == residual[h * H + h];
                for (size_t k = 0; equal && k < H; k++) {
                    equal = k == g || k == h || residual[g * H + k] == residual[h * H + k];
                }
            }
            if (equal) {
                group[h] = g;
            }
        }
    }
}
