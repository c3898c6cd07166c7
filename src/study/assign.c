/* SPDX-License-Identifier: MIT
 * The linear assignment problem, by shortest augmenting paths. */
#include "study/assign.h"

#include <math.h>
#include <stdlib.h>

#include "core/status.h"

/* Column 0 of the arrays stands for "no column": a path starts there. Rows and columns count from 1 inside. */
struct hspec_assign {
    size_t size;
    double *row_potential;    /* [size + 1] */
    double *column_potential; /* [size + 1] */
    double *distance;         /* [size + 1] from the new row to each column, in reduced costs */
    size_t *row_of;           /* [size + 1] the row that a column is paired with, 0: none */
    size_t *previous;         /* [size + 1] the column before this one on its shortest path */
    unsigned char *reached;   /* [size + 1] */
};

hspec_status hspec_assign_create(size_t size, hspec_assign **assign, hspec_error *err)
{
    if (size == 0 || size > 1000000) {
        return hspec_error_set(err, HSPEC_EARG, "assignment: size is %zu, allowed are 1 to 1000000", size);
    }
    size_t n = size + 1;
    hspec_assign *a = calloc(1, sizeof *a);
    if (!a) {
        return hspec_error_memory(err, sizeof *a);
    }
    a->size = size;
    a->row_potential = malloc(n * sizeof(double));
    a->column_potential = malloc(n * sizeof(double));
    a->distance = malloc(n * sizeof(double));
    a->row_of = malloc(n * sizeof(size_t));
    a->previous = malloc(n * sizeof(size_t));
    a->reached = malloc(n);
    if (!a->row_potential || !a->column_potential || !a->distance || !a->row_of || !a->previous || !a->reached) {
        hspec_assign_free(a);
        return hspec_error_memory(err, n * (3 * sizeof(double) + 2 * sizeof(size_t) + 1));
    }
    *assign = a;
    return HSPEC_OK;
}

void hspec_assign_free(hspec_assign *assign)
{
    if (!assign) {
        return;
    }
    free(assign->row_potential);
    free(assign->column_potential);
    free(assign->distance);
    free(assign->row_of);
    free(assign->previous);
    free(assign->reached);
    free(assign);
}

/* Grows the tree of shortest paths from `row` (Dijkstra on reduced costs, which are never negative) until it meets a
 * free column, and keeps the potentials such that paired entries have reduced cost 0. Returns that column. */
static size_t shortest_path(hspec_assign *a, size_t n, const double *cost, size_t row)
{
    for (size_t j = 0; j <= n; j++) {
        a->distance[j] = INFINITY;
        a->reached[j] = 0;
    }
    a->row_of[0] = row;
    size_t column = 0;
    while (a->row_of[column] != 0) {
        a->reached[column] = 1;
        size_t i = a->row_of[column];
        size_t nearest = 0;
        double shortest = INFINITY;
        for (size_t j = 1; j <= n; j++) {
            if (a->reached[j]) {
                continue;
            }
            double reduced = cost[(i - 1) * n + j - 1] - a->row_potential[i] - a->column_potential[j];
            if (reduced < a->distance[j]) {
                a->distance[j] = reduced;
                a->previous[j] = column;
            }
            if (a->distance[j] < shortest) {
                shortest = a->distance[j];
                nearest = j;
            }
        }
        for (size_t j = 0; j <= n; j++) {
            if (a->reached[j]) {
                a->row_potential[a->row_of[j]] += shortest;
                a->column_potential[j] -= shortest;
            } else {
                a->distance[j] -= shortest;
            }
        }
        column = nearest;
    }
    return column;
}

hspec_status hspec_assign_solve(hspec_assign *assign, size_t n, const double *cost, size_t *column, double *total,
                                hspec_error *err)
{
    if (n == 0 || n > assign->size) {
        return hspec_error_set(err, HSPEC_EARG, "assignment: n is %zu, allowed are 1 to %zu", n, assign->size);
    }
    for (size_t i = 0; i < n * n; i++) {
        /* Sums of 2 n entries must not overflow either. */
        if (!(fabs(cost[i]) <= 1e300)) {
            return hspec_error_set(err, HSPEC_ENONFINITE, "assignment: the cost of row %zu, column %zu is %g", i / n,
                                   i % n, cost[i]);
        }
    }
    for (size_t j = 0; j <= n; j++) {
        assign->row_potential[j] = 0.0;
        assign->column_potential[j] = 0.0;
        assign->row_of[j] = 0;
        assign->previous[j] = 0;
    }
    for (size_t row = 1; row <= n; row++) {
        size_t j = shortest_path(assign, n, cost, row);
        /* Along the path every row moves to the next column; the new row gets the first. */
        while (j != 0) {
            size_t before = assign->previous[j];
            assign->row_of[j] = assign->row_of[before];
            j = before;
        }
    }
    for (size_t j = 1; j <= n; j++) {
        column[assign->row_of[j] - 1] = j - 1;
    }
    if (total) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            sum += cost[i * n + column[i]];
        }
        *total = sum;
    }
    return HSPEC_OK;
}
