/* SPDX-License-Identifier: MIT */
#include "core/bartlett.h"

#include "core/level.h"

#include <math.h>

void hspec_bartlett_layout(hspec_bartlett *b, size_t order, double degrees, hspec_arena *arena)
{
    b->order = order;
    b->degrees = degrees;
    b->columns = degrees < (double)order ? (size_t)degrees : order;
    b->normals = b->columns;
    for (size_t i = 0; i < order; i++) {
        b->normals += i < b->columns ? i : b->columns;
    }
    b->words = (b->columns + 2) / 3;
    b->d = hspec_arena_doubles(arena, b->columns * HSPEC_W);
    b->c = hspec_arena_doubles(arena, b->columns * HSPEC_W);
    b->bound = hspec_arena_doubles(arena, b->columns * HSPEC_W);
}

void hspec_bartlett_fill(hspec_bartlett *b)
{
    for (size_t j = 0; j < b->columns; j++) {
        const double degrees = b->degrees - (double)j;
        const double d = degrees >= 2 ? 0.5 * degrees - 1.0 / 3.0 : 0;
        for (size_t i = j * HSPEC_W; i < (j + 1) * HSPEC_W; i++) {
            b->d[i] = d;
            b->c[i] = d > 0 ? 1 / sqrt(9 * d) : 0;
            b->bound[i] = d > 0 ? 1 / (54 * d) : 0;
        }
    }
}
