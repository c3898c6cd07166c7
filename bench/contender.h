/* SPDX-License-Identifier: MIT
 * A contender does a piece of work again and again; bench/pairs.py lets those of one group take turns. README.md describes
 * the dialogue between the two, peers/contender.py is the same in Python. */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#include <stddef.h>

typedef struct bench_contender {
    const char *group; /* what is done, without spaces; all that do it are compared */
    const char *who;   /* unique in its group, without spaces; the first of a group is what others are compared with */
    const char *unit;  /* of its cost, without spaces: ns/number */
    const char *goal;  /* NULL; or the largest cost allowed, "2.0"; or the largest ratio to the first, "x1.1" */
    const char *missing; /* NULL; or why this one cannot run */
    const void *sizes;   /* handed to create */
    void *(*create)(const void *sizes);
    double (*run)(void *state, size_t pieces); /* works, and returns how many units of work that was */
    void (*free)(void *state);
} bench_contender;

/** main of a program of contenders.
 *      (no argument)          lists them
 *      run GROUP WHO SECONDS  one of them, alone, seven times: for profilers
 *      serve                  answers bench/pairs.py
 *  @return the exit status of the program */
int bench_main(int argc, char **argv, size_t n, const bench_contender *contenders);

/** Prints what went wrong and ends the program with status 1. */
_Noreturn void bench_fail(const char *what);

#endif
