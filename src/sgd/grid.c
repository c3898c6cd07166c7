/* SPDX-License-Identifier: MIT */
#include "sgd/grid.h"

#include <math.h>

void hspec_grid_fill(uint64_t steps, size_t records, hspec_spacing spacing, uint64_t *step)
{
    const double total = (double)steps, first = fmax(1, total * 1e-4);
    step[0] = 0;
    for (size_t k = 1; k <= records; k++) {
        uint64_t at = (uint64_t)(((unsigned __int128)steps * k * 2 + records) / ((unsigned __int128)records * 2));
        if (spacing == HSPEC_SPACING_LOG) {
            at = records > 1 ? (uint64_t)llround(first * pow(total / first, (double)(k - 1) / (double)(records - 1)))
                             : steps;
        }
        /* Rounding must not make two rows fall together. */
        const uint64_t latest = steps - (records - k);
        at = at > step[k - 1] ? at : step[k - 1] + 1;
        step[k] = at < latest ? at : latest;
    }
    step[records] = steps;
}
