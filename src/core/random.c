/* SPDX-License-Identifier: MIT */
#include "core/random.h"

#include "core/cpu.h"
#include "core/threefry.h"

#include <math.h>

hspec_stream hspec_random_stream(uint64_t seed, uint64_t substream, hspec_purpose purpose)
{
    return (hspec_stream){{seed, (substream << 8) | (uint64_t)purpose}};
}

void hspec_random_words(hspec_stream stream, uint64_t c0, uint64_t c1, uint64_t words[2])
{
    uint64_t x0 = c0, x1 = c1;
    HSPEC_THREEFRY(1, uint64_t, stream.key[0], stream.key[1], &x0, &x1);
    words[0] = x0;
    words[1] = x1;
}

/** As vd_uniform of core/normal.h. */
static double uniform(uint64_t word)
{
    return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

double hspec_random_uniform(hspec_stream stream, uint64_t c0, uint64_t c1)
{
    uint64_t words[2];
    hspec_random_words(stream, c0, c1, words);
    return uniform(words[0]);
}

double hspec_random_chi2(hspec_stream stream, uint64_t c0, uint64_t c1, double degrees)
{
    if (degrees <= 0) {
        return 0;
    }
    const double pi = 3.14159265358979323846;
    for (uint64_t attempt = 0;; attempt++) {
        uint64_t words[2];
        hspec_random_words(stream, c0, c1 + 2 * attempt, words);
        const double x = sqrt(-2 * log(uniform(words[0]))) * cos(2 * pi * uniform(words[1]));
        if (degrees < 2) {
            return x * x;
        }
        const double u = hspec_random_uniform(stream, c0, c1 + 2 * attempt + 1);
        double value;
        if (hspec_random_chi2_try(degrees, x, u, &value)) {
            return value;
        }
    }
}

int hspec_random_chi2_try(double degrees, double x, double u, double *value)
{
    /* Marsaglia and Tsang (2000): with d = degrees/2 - 1/3, t = x / sqrt(9 d) and v = (1 + t)^3, d v is gamma(degrees/2)
     * when ln u < x^2/2 + d (1 - v + ln v) = d (3/2 t^2 - 3 t - t^3 + 3 ln(1 + t)). For small t this is a difference of
     * large numbers: the series is -3 d (t^4/4 - t^5/5 + ...). */
    const double d = 0.5 * degrees - 1.0 / 3.0;
    const double t = x / sqrt(9 * d);
    if (t <= -1) {
        return 0;
    }
    double f;
    if (fabs(t) < 0.02) {
        f = -3 * d * t * t * t * t * (1.0 / 4 - t * (1.0 / 5 - t * (1.0 / 6 - t * (1.0 / 7 - t * (1.0 / 8 - t / 9)))));
    } else {
        f = d * (1.5 * t * t - 3 * t - t * t * t + 3 * log1p(t));
    }
    *value = 2 * d * (1 + t) * (1 + t) * (1 + t);
    return log(u) < f;
}

const hspec_random_ops *hspec_random_bulk(void)
{
    return HSPEC_PICK(hspec_random_ops_table, hspec_cpu_level());
}
