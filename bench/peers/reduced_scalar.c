/* SPDX-License-Identifier: MIT
 * The reduced engine as one would first write it in C: one seed, plain loops, the C library, xoshiro256+ and Box-Muller.
 * The same law as headspec's (docs/theory.md, "Reduced engine"); softmax, location loss, B = 1, one feature. */
#include "contender.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { H = 3, L = 5, COLUMNS = 2 * H };

static const double D = 1000, RATE = 1.0 / 1000, NU = 4, P = 0.7;

typedef struct layer {
    uint64_t s[4]; /* random state */
    double spare;  /* a normal that was made and not yet used */
    int has_spare;
    double m[H], R[H][H];
} layer;

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static double uniform(layer *self)
{
    uint64_t *s = self->s;
    const uint64_t result = s[0] + s[3], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return ((double)(result >> 11) + 0.5) * 0x1p-53;
}

static double normal(layer *self)
{
    if (self->has_spare) {
        self->has_spare = 0;
        return self->spare;
    }
    const double r = sqrt(-2 * log(uniform(self))), phi = 2 * M_PI * uniform(self);
    self->spare = r * sin(phi);
    self->has_spare = 1;
    return r * cos(phi);
}

/* Marsaglia and Tsang. */
static double chi2(layer *self, double degrees)
{
    const double d = degrees / 2 - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = normal(self), t = 1 + c * x;
        if (t <= 0) {
            continue;
        }
        const double v = t * t * t, u = uniform(self);
        if (u < 1 - 0.0331 * x * x * x * x || log(u) < 0.5 * x * x + d * (1 - v + log(v))) {
            return 2 * d * v;
        }
    }
}

/* A = L Q by Householder reflections, L in place; A is H x columns of rows of COLUMNS. */
static void lq(int columns, double A[H][COLUMNS])
{
    for (int i = 0; i < H; i++) {
        double square = 0;
        for (int j = i; j < columns; j++) {
            square += A[i][j] * A[i][j];
        }
        if (square == 0) {
            continue;
        }
        const double alpha = A[i][i] > 0 ? -sqrt(square) : sqrt(square);
        double v[COLUMNS] = {0};
        for (int j = i; j < columns; j++) {
            v[j] = A[i][j];
        }
        v[i] -= alpha;
        const double beta = 1 / (square - alpha * A[i][i]);
        for (int k = i; k < H; k++) {
            double dot = 0;
            for (int j = i; j < columns; j++) {
                dot += A[k][j] * v[j];
            }
            for (int j = i; j < columns; j++) {
                A[k][j] -= beta * dot * v[j];
            }
        }
    }
}

/* Gradient of the location loss of one sequence whose target is token 0. */
static void gradient(double chi[H][L], double d[H][L])
{
    double a[H][L], v[L] = {0};
    for (int h = 0; h < H; h++) {
        double max = chi[h][0], sum = 0;
        for (int l = 1; l < L; l++) {
            max = fmax(max, chi[h][l]);
        }
        for (int l = 0; l < L; l++) {
            a[h][l] = exp(chi[h][l] - max);
            sum += a[h][l];
        }
        for (int l = 0; l < L; l++) {
            a[h][l] /= sum;
            v[l] += a[h][l] / H;
        }
    }
    v[0] -= 1;
    for (int h = 0; h < H; h++) {
        double mean = 0;
        for (int l = 0; l < L; l++) {
            mean += a[h][l] * v[l];
        }
        for (int l = 0; l < L; l++) {
            d[h][l] = 2.0 / H * a[h][l] * (v[l] - mean);
        }
    }
}

static void step(layer *self)
{
    double c[L], u[H][L], chi[H][L], d[H][L], T[H][COLUMNS] = {{0}}, A[H][H] = {{0}}, X[H][COLUMNS] = {{0}};
    for (int l = 0; l < L; l++) {
        c[l] = normal(self);
    }
    c[0] += uniform(self) < P ? sqrt(NU) : -sqrt(NU);
    for (int h = 0; h < H; h++) {
        for (int l = 0; l < L; l++) {
            u[h][l] = normal(self);
        }
    }
    for (int h = 0; h < H; h++) {
        for (int l = 0; l < L; l++) {
            chi[h][l] = self->m[h] * c[l];
            for (int j = 0; j <= h; j++) {
                chi[h][l] += self->R[h][j] * u[j][l];
            }
        }
    }
    gradient(chi, d);
    for (int h = 0; h < H; h++) {
        for (int l = 0; l < L; l++) {
            self->m[h] -= RATE * d[h][l] * c[l];
            T[h][l] = d[h][l];
        }
    }
    lq(L, T);
    for (int i = 0; i < H; i++) {
        A[i][i] = sqrt(chi2(self, D - 1 - H - i));
        for (int j = 0; j < i; j++) {
            A[i][j] = normal(self);
        }
    }
    for (int h = 0; h < H; h++) {
        for (int j = 0; j < H; j++) {
            double inside = 0, outside = 0;
            for (int l = 0; l < L; l++) {
                inside += d[h][l] * u[j][l];
            }
            for (int k = j; k <= h; k++) {
                outside += T[h][k] * A[k][j];
            }
            X[h][j] = (j <= h ? self->R[h][j] : 0) - RATE * inside;
            X[h][H + j] = RATE * outside;
        }
    }
    lq(COLUMNS, X);
    for (int h = 0; h < H; h++) {
        for (int j = 0; j <= h; j++) {
            self->R[h][j] = X[h][j];
        }
    }
}

static void *create(const void *sizes)
{
    (void)sizes;
    layer *made = calloc(1, sizeof *made);
    if (!made) {
        bench_fail("no memory");
    }
    const layer start = {.s = {1, 2, 3, 4}, .m = {0.1, 0.0, -0.1}};
    *made = start;
    return made;
}

static double run(void *state, size_t pieces)
{
    enum { PIECE = 1000 };
    layer *self = state;
    for (size_t i = 0; i < pieces * PIECE; i++) {
        step(self);
    }
    if (!isfinite(self->m[0])) {
        bench_fail("reduced_scalar diverged");
    }
    return (double)pieces * PIECE;
}

int main(int argc, char **argv)
{
    const bench_contender contender = {.group = "reduced-H3-L5-F1-B1",
                                       .who = "scalar-c",
                                       .unit = "ns/seed-step",
                                       .create = create,
                                       .run = run,
                                       .free = free};
    return bench_main(argc, argv, 1, &contender);
}
