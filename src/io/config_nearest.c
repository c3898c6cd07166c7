/* SPDX-License-Identifier: MIT
 * The nearest of the allowed names: Damerau-Levenshtein distance with adjacent swaps. */
#include "io/config_nearest.h"

#include <stdint.h>
#include <string.h>

#define LONGEST 40

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t hspec_config_nearest_distance(const char *a, const char *b)
{
    size_t m = strlen(a);
    size_t n = strlen(b);
    if (m > LONGEST || n > LONGEST) {
        return SIZE_MAX;
    }
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= m; i++) {
        d[i][0] = i;
    }
    for (size_t j = 0; j <= n; j++) {
        d[0][j] = j;
    }
    for (size_t i = 1; i <= m; i++) {
        for (size_t j = 1; j <= n; j++) {
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = smaller(best, smaller(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = smaller(best, d[i - 2][j - 2] + 1);
            }
            d[i][j] = best;
        }
    }
    return d[m][n];
}

int hspec_config_nearest_close(const char *found, size_t distance)
{
    size_t n = strlen(found);
    return distance <= (n < 3 ? 1 : (n + 2) / 3);
}
