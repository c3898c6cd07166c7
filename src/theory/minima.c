/* SPDX-License-Identifier: MIT */
#include "theory/minima.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Losses this close are equal whatever the alignments: along a valley the search stops anywhere. */
#define SAME_LOSS 1e-6
/** Losses this close are equal if the alignments are: relative to 1 + |m|, this close. */
#define NEAR_LOSS 1e-4
#define NEAR_ALIGNMENT 0.1
/** Signs are tried in all combinations for this many symmetric features; beyond, together. */
#define MOST_SIGNS 10

size_t hspec_minima_flags(size_t heads, size_t features)
{
    return hspec_memory_add(hspec_memory_mul(heads, features), hspec_memory_mul(2, heads) + 1);
}

static void lay_out(hspec_minima *minima)
{
    const size_t H = minima->H, F = minima->F;
    minima->list = hspec_arena_take(&minima->arena, minima->capacity, sizeof *minima->list);
    minima->taken = hspec_arena_take(&minima->arena, H, sizeof *minima->taken);
    for (size_t i = 0; i < minima->capacity; i++) {
        double *m = hspec_arena_doubles(&minima->arena, hspec_memory_mul(H, F));
        double *r = hspec_arena_doubles(&minima->arena, hspec_memory_mul(H, H));
        double *b = hspec_arena_doubles(&minima->arena, H);
        int *silent = hspec_arena_take(&minima->arena, H, sizeof *silent);
        int *at_bound = hspec_arena_take(&minima->arena, hspec_minima_flags(H, F), sizeof *at_bound);
        if (minima->list) {
            minima->list[i] = (hspec_minimum){.m = m, .r = r, .b = b, .silent = silent, .at_bound = at_bound};
        }
    }
}

hspec_status hspec_minima_create(size_t heads, size_t features, const int *symmetric, int shared, size_t capacity,
                                 hspec_minima *minima, hspec_error *err)
{
    hspec_minima created = {.H = heads, .F = features, .symmetric = symmetric, .shared = shared, .capacity = capacity};
    lay_out(&created);
    HSPEC_TRY(hspec_arena_commit(&created.arena, err));
    lay_out(&created);
    *minima = created;
    return HSPEC_OK;
}

void hspec_minima_free(hspec_minima *minima)
{
    hspec_arena_free(&minima->arena);
}

/** Is head h of a, with the signs of some features turned, where head j of b is? */
static int near(const hspec_minima *minima, const hspec_minimum *a, size_t h, size_t signs, const hspec_minimum *b,
                size_t j)
{
    const size_t F = minima->F;
    for (size_t f = 0, bit = 0; f < F; f++) {
        const int turned = minima->symmetric[f] && (signs >> (bit < MOST_SIGNS ? bit : MOST_SIGNS - 1)) & 1;
        bit += minima->symmetric[f] ? 1 : 0;
        const double x = turned ? -a->m[h * F + f] : a->m[h * F + f], y = b->m[j * F + f];
        if (fabs(x - y) > NEAR_ALIGNMENT * (1 + fmax(fabs(x), fabs(y)))) {
            return 0;
        }
    }
    return 1;
}

/** Do the heads with influence match: one to one, or (bayes) each one any of the other's? */
static int match(const hspec_minima *minima, const hspec_minimum *a, size_t signs, const hspec_minimum *b)
{
    int *taken = minima->taken; /* heads of b */
    memset(taken, 0, minima->H * sizeof *taken);
    for (size_t h = 0; h < minima->H; h++) {
        size_t j = 0, found = minima->H;
        for (; !a->silent[h] && j < minima->H; j++) {
            if (!b->silent[j] && (minima->shared || !taken[j]) && near(minima, a, h, signs, b, j)) {
                taken[j] = 1;
                found = j;
                if (!minima->shared) {
                    break;
                }
            }
        }
        if (!a->silent[h] && found == minima->H) {
            return 0;
        }
    }
    for (size_t j = 0; j < minima->H; j++) {
        if (!b->silent[j] && !taken[j]) {
            return 0;
        }
    }
    return 1;
}

static int equal(const hspec_minima *minima, const hspec_minimum *a, const hspec_minimum *b)
{
    const double apart = fabs(a->loss - b->loss);
    if (!(apart < NEAR_LOSS)) {
        return 0;
    }
    if (apart < SAME_LOSS) {
        return 1;
    }
    size_t symmetric = 0;
    for (size_t f = 0; f < minima->F; f++) {
        symmetric += minima->symmetric[f] ? 1 : 0;
    }
    symmetric = symmetric < MOST_SIGNS ? symmetric : MOST_SIGNS;
    for (size_t signs = 0; signs < (size_t)1 << symmetric; signs++) {
        if (match(minima, a, signs, b)) {
            return 1;
        }
    }
    return 0;
}

static void copy(const hspec_minima *minima, const hspec_minimum *from, hspec_minimum *to)
{
    const size_t H = minima->H;
    to->loss = from->loss;
    to->s = from->s;
    to->bound = from->bound;
    to->residual = from->residual;
    to->rate = from->rate;
    to->rate_error = from->rate_error;
    memcpy(to->m, from->m, H * minima->F * sizeof *to->m);
    memcpy(to->r, from->r, H * H * sizeof *to->r);
    memcpy(to->b, from->b, H * sizeof *to->b);
    memcpy(to->silent, from->silent, H * sizeof *to->silent);
    memcpy(to->at_bound, from->at_bound, hspec_minima_flags(H, minima->F) * sizeof *to->at_bound);
}

size_t hspec_minima_find(const hspec_minima *minima, const hspec_minimum *found)
{
    size_t i = 0;
    while (i < minima->count && !equal(minima, found, &minima->list[i])) {
        i++;
    }
    return i;
}

void hspec_minima_add(hspec_minima *minima, const hspec_minimum *found)
{
    const size_t i = hspec_minima_find(minima, found);
    if (i == minima->count) {
        minima->list[i].count = 0;
        minima->list[i].loss = HUGE_VAL;
        minima->count++;
    }
    minima->list[i].count += found->count;
    if (found->loss < minima->list[i].loss) {
        copy(minima, found, &minima->list[i]);
    }
}

static int by_loss(const void *a, const void *b)
{
    const double x = ((const hspec_minimum *)a)->loss, y = ((const hspec_minimum *)b)->loss;
    return (x > y) - (x < y);
}

void hspec_minima_sort(hspec_minima *minima)
{
    qsort(minima->list, minima->count, sizeof *minima->list, by_loss);
}
