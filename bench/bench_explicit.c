/* SPDX-License-Identifier: MIT
 * The explicit engine: what each number of the token noise costs, all that is done with it included.
 * Peers: peers/explicit_numpy.py and peers/explicit_torch.py. */
#include "contender.h"
#include "workload.h"

#include <stdio.h>

enum { HEADS = 3, TOKENS = 5, BATCH = 64 };

int main(int argc, char **argv)
{
    static const struct {
        hspec_noise noise;
        const char *name, *goal;
        uint64_t D, steps;
    } rows[] = {
        {HSPEC_NOISE_SINGLE, "single", "2.0", 1000, 20}, {HSPEC_NOISE_SINGLE, "single", NULL, 10000, 2},
        {HSPEC_NOISE_SINGLE, "single", NULL, 100000, 1}, {HSPEC_NOISE_DOUBLE, "double", NULL, 1000, 20},
        {HSPEC_NOISE_DOUBLE, "double", NULL, 10000, 2},  {HSPEC_NOISE_DOUBLE, "double", NULL, 100000, 1},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    workload sizes[ROWS];
    char groups[ROWS][64];
    bench_contender contenders[ROWS];
    for (int i = 0; i < ROWS; i++) {
        (void)snprintf(groups[i], sizeof groups[i], "explicit-%s-D%llu", rows[i].name, (unsigned long long)rows[i].D);
        sizes[i] = (workload){.engine = HSPEC_ENGINE_EXPLICIT,
                              .noise = rows[i].noise,
                              .D = rows[i].D,
                              .H = HEADS,
                              .L = TOKENS,
                              .F = 1,
                              .B = BATCH,
                              .seeds = 1,
                              .steps = rows[i].steps,
                              .units = (double)(BATCH * TOKENS) * (double)rows[i].D};
        contenders[i] = (bench_contender){.group = groups[i],
                                          .who = "headspec",
                                          .unit = "ns/number",
                                          .goal = rows[i].goal,
                                          .sizes = &sizes[i],
                                          .create = workload_create,
                                          .run = workload_run,
                                          .free = workload_free};
    }
    return bench_main(argc, argv, ROWS, contenders);
}
