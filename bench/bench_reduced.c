/* SPDX-License-Identifier: MIT
 * The reduced engine: what one step of one seed costs, with 8 seeds, at several sizes, layers and dimensions.
 * Peers: peers/reduced_scalar.c and peers/reduced_numpy.py. */
#include "contender.h"
#include "workload.h"

#include <stdio.h>

typedef struct row {
    const char *group, *who, *goal;
    uint64_t D;
    size_t H, L, F, B;
    hspec_activation activation;
    hspec_loss loss;
} row;

static const row rows[] = {
    /* The goal: six million steps of a seed in a second. */
    {"reduced-H3-L5-F1-B1", "headspec", "166.7", 1000, 3, 5, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},

    {"reduced-any-D", "headspec-D1e3", NULL, 1000, 3, 5, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-any-D", "headspec-D1e5", "x1.1", 100000, 3, 5, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-any-D", "headspec-D1e9", "x1.1", 1000000000, 3, 5, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},

    {"reduced-layers", "softmax-location", NULL, 1000, 3, 5, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-layers", "softmax1-location", NULL, 1000, 3, 5, 1, 1, HSPEC_SOFTMAX1, HSPEC_LOSS_LOCATION},
    {"reduced-layers", "bayes-location", NULL, 1000, 3, 5, 1, 1, HSPEC_BAYES, HSPEC_LOSS_LOCATION},
    {"reduced-layers", "softmax-token", NULL, 1000, 3, 5, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_TOKEN},

    {"reduced-sizes", "H3-L5-F1-B1", NULL, 1000, 3, 5, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-sizes", "H1-L5-F1-B1", NULL, 1000, 1, 5, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-sizes", "H2-L3-F1-B1", NULL, 1000, 2, 3, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-sizes", "H3-L5-F1-B4", NULL, 1000, 3, 5, 1, 4, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-sizes", "H4-L7-F1-B1", NULL, 1000, 4, 7, 1, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-sizes", "H6-L6-F3-B1", NULL, 1000, 6, 6, 3, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-sizes", "H8-L10-F2-B1", NULL, 1000, 8, 10, 2, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
    {"reduced-sizes", "H16-L32-F4-B1", NULL, 1000, 16, 32, 4, 1, HSPEC_SOFTMAX, HSPEC_LOSS_LOCATION},
};

int main(int argc, char **argv)
{
    enum { ROWS = sizeof rows / sizeof *rows };
    workload sizes[ROWS];
    bench_contender contenders[ROWS];
    for (int i = 0; i < ROWS; i++) {
        sizes[i] = (workload){.engine = HSPEC_ENGINE_REDUCED,
                              .loss = rows[i].loss,
                              .activation = rows[i].activation,
                              .D = rows[i].D,
                              .H = rows[i].H,
                              .L = rows[i].L,
                              .F = rows[i].F,
                              .B = rows[i].B,
                              .seeds = 8,
                              .steps = 1000,
                              .units = 1};
        contenders[i] = (bench_contender){.group = rows[i].group,
                                          .who = rows[i].who,
                                          .unit = "ns/seed-step",
                                          .goal = rows[i].goal,
                                          .sizes = &sizes[i],
                                          .create = workload_create,
                                          .run = workload_run,
                                          .free = workload_free};
    }
    return bench_main(argc, argv, ROWS, contenders);
}
