/* SPDX-License-Identifier: MIT */
#include "io/figure_points.h"

#include <math.h>
#include <stdlib.h>

#include "core/status.h"

enum { POINTS_MAX = 800 }; /* more would make heavy files, and no one sees them */

/* Chooses rows that lie at least 1/POINTS_MAX of the axis apart, without N = 0 on a log axis. N / D = B t.
 * @param time in [rows] @param x, row out [*points], owned by the caller; *points is 0 if there is none */
static hspec_status choose_rows(const double *time, size_t rows, double batch, int xlog, double **x, size_t **row,
                                size_t *points, hspec_error *err)
{
    size_t first = 0, n = 0;
    while (xlog && first < rows && !(batch * time[first] > 0.0)) {
        first++;
    }
    *x = calloc(rows + 1, sizeof(double));
    *row = calloc(rows + 1, sizeof(size_t));
    if (!*x || !*row) {
        return hspec_error_memory(err, rows * (sizeof(double) + sizeof(size_t)));
    }
    double start = batch * time[first < rows ? first : 0], end = batch * time[rows - 1];
    double step = (xlog ? log(end / start) : end - start) / POINTS_MAX;
    for (size_t t = first; t < rows; t++) {
        double here = batch * time[t];
        double gap = n == 0 ? (double)INFINITY : xlog ? log(here / (*x)[n - 1]) : here - (*x)[n - 1];
        if (gap >= step || t == rows - 1) {
            (*x)[n] = here;
            (*row)[n++] = t;
        }
    }
    *points = n;
    return HSPEC_OK;
}

hspec_status hspec_figure_points_choose(hspec_figure_builder *b, hspec_error *err)
{
    const hspec_trajectory *tr = &b->source->trajectory;
    const hspec_theory_trajectory *theory = &b->source->theory.trajectory;
    hspec_figure *figure = b->figure;
    double batch = (double)b->source->experiment->training.batch;
    HSPEC_TRY(choose_rows(tr->time, tr->done, batch, figure->xlog, &figure->x, &b->row, &figure->points, err));
    if (figure->points == 0) {
        return hspec_error_set(err, HSPEC_EARG,
                               "xscale: log has nothing to show, as only N = 0 is recorded so far; "
                               "allowed here: linear");
    }
    figure->x_first = figure->x[0];
    figure->x_last = figure->x[figure->points - 1];
    if (theory->done == 0) {
        return HSPEC_OK;
    }
    HSPEC_TRY(choose_rows(theory->time, theory->done, batch, figure->xlog, &figure->theory_x, &b->theory_row,
                          &figure->theory_points, err));
    if (figure->theory_points > 0) {
        figure->x_first = fmin(figure->x_first, figure->theory_x[0]);
        figure->x_last = fmax(figure->x_last, figure->theory_x[figure->theory_points - 1]);
    }
    return HSPEC_OK;
}

hspec_status hspec_figure_points_mark(const hspec_figure *figure, size_t most, double phase, size_t **mark,
                                      size_t *marks, hspec_error *err)
{
    double start = figure->x_first, end = figure->x_last, before = -1.0;
    double step = (figure->xlog ? log(end / start) : end - start) / (double)most;
    size_t *chosen = calloc(figure->points, sizeof *chosen), n = 0;
    if (!chosen) {
        return hspec_error_memory(err, figure->points * sizeof *chosen);
    }
    for (size_t i = 0; i < figure->points; i++) {
        double at = figure->xlog ? log(figure->x[i] / start) : figure->x[i] - start;
        double cell = step > 0.0 ? floor(at / step - phase + 1e-9) : 0.0;
        if (cell > before) {
            chosen[n++] = i;
        }
        before = cell;
    }
    *mark = chosen;
    *marks = n;
    return HSPEC_OK;
}
