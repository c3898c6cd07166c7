/* SPDX-License-Identifier: MIT */
#include "theory/guess.h"

#include <math.h>

/** Ways to share out the heads that are listed one by one. */
#define MOST_WAYS 64

/** Random numbers of one start. */
typedef struct source {
    hspec_stream stream;
    uint64_t count;
} source;

static double uniform(source *from)
{
    return hspec_random_uniform(from->stream, 0, from->count++);
}

static double normal(source *from)
{
    const double radius = sqrt(-2 * log(uniform(from)));
    return radius * cos(6.283185307179586 * uniform(from));
}

/** H heads among K points, as many ways as there are nondecreasing sequences: (H + K - 1) over H, or more than MOST_WAYS. */
static size_t count_ways(size_t H, size_t K)
{
    size_t ways = 1;
    for (size_t i = 1; i <= H && ways <= MOST_WAYS; i++) {
        ways = ways * (K - 1 + i) / i;
    }
    return ways;
}

/** The point of each head in way number `way`. @param next scratch, the sequence itself: out [H] */
static void share_out(size_t H, size_t K, size_t way, size_t *next)
{
    for (size_t h = 0; h < H; h++) {
        next[h] = 0;
    }
    for (; way > 0; way--) {
        size_t h = H;
        while (next[h - 1] == K - 1) {
            h--;
        }
        const size_t value = next[h - 1] + 1;
        for (size_t j = h - 1; j < H; j++) {
            next[j] = value;
        }
    }
}

static size_t draw_point(const hspec_signal *signal, source *from)
{
    const double u = uniform(from);
    size_t k = 0;
    while (k + 1 < signal->points && u > signal->cumulative[k]) {
        k++;
    }
    return k;
}

/** theta of one head, and its weight. @param theta out [F] */
static double point_of(const hspec_signal *signal, size_t k, source *from, double *theta)
{
    for (size_t f = 0; f < signal->features; f++) {
        theta[f] = signal->points ? signal->theta[k * signal->features + f]
                                  : signal->mean[f] + signal->deviation[f] * normal(from);
    }
    return signal->points ? signal->weights[k] : 1;
}

static void by_support(const hspec_signal *signal, hspec_activation activation, const hspec_objective *o, size_t k,
                       source *from, double *x)
{
    static const double sizes[] = {1.0, 0.5, 1.5};
    const size_t H = o->H, F = o->F, K = signal->points;
    const size_t ways = K && H <= MOST_WAYS ? count_ways(H, K) : MOST_WAYS + 1;
    const double size = sizes[ways <= MOST_WAYS ? (k / ways) % 3 : k % 3];
    double *biases = x + H * F + o->root, norm = 0;
    for (size_t h = 0; h < H; h++) {
        size_t own = 0;
        if (ways <= MOST_WAYS) {
            size_t points[MOST_WAYS];
            share_out(H, K, k % ways, points);
            own = points[h];
        } else if (K) {
            own = draw_point(signal, from);
        }
        double *m = x + h * F, squares = 0;
        const double weight = point_of(signal, own, from, m);
        for (size_t f = 0; f < F; f++) {
            squares += m[f] * m[f];
            m[f] = size * m[f] + 0.02 * normal(from);
        }
        norm += squares / (double)H;
        if (o->biases > 1) {
            biases[h] = activation == HSPEC_BAYES ? log(fmax(weight, 1e-12)) - squares / 2 : 0.7 * size * squares;
        }
    }
    if (o->biases == 1) {
        biases[0] = activation == HSPEC_BAYES ? 0 : 0.7 * size * norm;
    }
    if (o->scales) {
        biases[o->biases] = K && K < H ? (double)K : (double)H;
    }
}

static void at_random(const hspec_objective *o, size_t k, source *from, double *x)
{
    static const double sizes[] = {0.3, 1.0, 3.0};
    const double size = sizes[k % 3];
    double *biases = x + o->H * o->F + o->root;
    for (size_t i = 0; i < o->H * o->F; i++) {
        x[i] = size * normal(from);
    }
    for (size_t i = 0; i < o->biases; i++) {
        biases[i] = size * normal(from);
    }
    if (o->scales) {
        biases[o->biases] = 1 + (double)(o->H - 1) * uniform(from);
    }
}

void hspec_guess_make(const hspec_signal *signal, hspec_activation activation, const hspec_objective *objective,
                      uint64_t seed, size_t k, double *x)
{
    source from = {hspec_random_stream(seed, k + 1, HSPEC_PURPOSE_STARTS), 0};
    if (k % 2 == 0) {
        by_support(signal, activation, objective, k / 2, &from, x);
    } else {
        at_random(objective, k / 2, &from, x);
    }
    for (size_t i = 0; i < objective->root; i++) {
        x[objective->H * objective->F + i] = 0.5 * normal(&from);
    }
}
