/* SPDX-License-Identifier: MIT */
#include "contender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A contender that has been asked for: its state, and how many pieces fill the time asked for. */
typedef struct running {
    void *state;
    size_t pieces;
} running;

typedef struct sample {
    double cpu, wall; /* seconds */
    double units;
} sample;

_Noreturn void bench_fail(const char *what)
{
    (void)fprintf(stderr, "%s\n", what);
    exit(1);
}

static double now(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0) {
        bench_fail("the clock cannot be read");
    }
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sample measure(const bench_contender *contender, const running *at)
{
    const double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    const double units = contender->run(at->state, at->pieces);
    return (sample){now(CLOCK_PROCESS_CPUTIME_ID) - cpu, now(CLOCK_MONOTONIC) - wall, units};
}

/* Creates the state, warms up, and finds how many pieces take the given time. */
static running start(const bench_contender *contender, double seconds)
{
    running made = {.state = contender->create(contender->sizes), .pieces = 1};
    for (int i = 0; i < 40; i++) {
        const double cpu = measure(contender, &made).cpu;
        if (cpu >= seconds) {
            break;
        }
        /* At most four times as many at once: the first, cold pieces say little. */
        const double factor = cpu > 0.3 * seconds ? 1.05 * seconds / cpu : 4;
        made.pieces = (size_t)(factor * (double)made.pieces) + 1;
    }
    return made;
}

static void list(size_t n, const bench_contender *contenders)
{
    for (size_t i = 0; i < n; i++) {
        const bench_contender *c = &contenders[i];
        printf("%s %s %s %s %s\n", c->group, c->who, c->unit, c->goal ? c->goal : "-", c->missing ? c->missing : "");
    }
}

/* "measure NUMBER SECONDS" @return whether the line is that, for one of n that can run. */
static int read_request(const char *line, size_t n, const bench_contender *contenders, size_t *number, double *seconds)
{
    static const char word[] = "measure ";
    if (strncmp(line, word, sizeof word - 1) != 0) {
        return 0;
    }
    char *end = NULL;
    *number = strtoul(line + sizeof word - 1, &end, 10);
    *seconds = strtod(end, NULL);
    return *number < n && !contenders[*number].missing && *seconds > 0;
}

/* Requests, one a line: "measure NUMBER SECONDS" -> "cpu wall units"; "end" frees what was created and has no answer. */
static void serve(size_t n, const bench_contender *contenders)
{
    running *all = calloc(n, sizeof *all);
    if (!all) {
        bench_fail("no memory");
    }
    char line[128];
    while (fgets(line, sizeof line, stdin)) {
        size_t i;
        double seconds;
        if (read_request(line, n, contenders, &i, &seconds)) {
            if (!all[i].state) {
                all[i] = start(&contenders[i], seconds);
            }
            const sample taken = measure(&contenders[i], &all[i]);
            printf("%.9f %.9f %.17g\n", taken.cpu, taken.wall, taken.units);
        } else if (strcmp(line, "end\n") == 0) {
            for (i = 0; i < n; i++) {
                if (all[i].state) {
                    contenders[i].free(all[i].state);
                    all[i].state = NULL;
                }
            }
        } else {
            bench_fail("a request is \"measure NUMBER SECONDS\" or \"end\"");
        }
        (void)fflush(stdout);
    }
    free(all);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_alone(const bench_contender *contender, double seconds)
{
    enum { TIMES = 7 };
    const running alone = start(contender, seconds);
    double cost[TIMES];
    for (int i = 0; i < TIMES; i++) {
        const sample taken = measure(contender, &alone);
        cost[i] = 1e9 * taken.cpu / taken.units;
    }
    contender->free(alone.state);
    qsort(cost, TIMES, sizeof *cost, ascending);
    printf("%s %s: %.4g %s (least %.4g)\n", contender->group, contender->who, cost[TIMES / 2], contender->unit,
           cost[0]);
}

int bench_main(int argc, char **argv, size_t n, const bench_contender *contenders)
{
    if (argc == 1) {
        list(n, contenders);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "serve") == 0) {
        serve(n, contenders);
        return 0;
    }
    if (argc == 5 && strcmp(argv[1], "run") == 0) {
        for (size_t i = 0; i < n; i++) {
            if (strcmp(contenders[i].group, argv[2]) == 0 && strcmp(contenders[i].who, argv[3]) == 0 &&
                !contenders[i].missing) {
                run_alone(&contenders[i], strtod(argv[4], NULL));
                return 0;
            }
        }
        (void)fprintf(stderr, "no contender %s %s can run here\n", argv[2], argv[3]);
        return 2;
    }
    (void)fprintf(stderr, "usage: %s [serve | run GROUP WHO SECONDS]\n", argv[0]);
    return 2;
}
