/* SPDX-License-Identifier: MIT
 * Experiments that must be refused, each with its message. */
#ifndef HSPEC_TESTS_REFUSED_H
#define HSPEC_TESTS_REFUSED_H

#include <stddef.h>

typedef struct refused {
    const char *yaml;
    const char *sets[3];
    const char *message; /* the whole message; "..." at its end stands for any rest */
} refused;

/* A small good experiment, and the same with one value or with further lines. Lines are counted from 1. */
#define TASK "task:\n  tokens: 5\n  dimension: 100\n  signal: {kind: flipped, strength: 4.0}\n"
#define GOOD TASK "layer:\n  heads: 3\n"
#define TOKENS(value)                                                                                                  \
    "task:\n  tokens: " value "\n  dimension: 100\n  signal: {kind: flipped, strength: 4.0}\nlayer:\n  heads: 3\n"
#define DIMENSION(value)                                                                                               \
    "task:\n  tokens: 5\n  dimension: " value "\n  signal: {kind: flipped, strength: 4.0}\nlayer:\n  heads: 3\n"
#define SIGNAL(value) "task:\n  tokens: 5\n  dimension: 100\n  signal: " value "\nlayer:\n  heads: 3\n"
#define LAYER(lines) TASK "layer:\n  " lines "\n"
#define HEADS(value) LAYER("heads: " value)
#define TRAINING(lines) GOOD "training:\n  " lines "\n"
#define THEORY(lines) GOOD "theory:\n  " lines "\n"
#define ALIGNED TRAINING("init: {kind: aligned, alignment: [[0.1], [0.0], [-0.1]]}")

/** Fails unless every case is refused with ECONFIG and its message, and nothing is handed out. */
void refused_check(const refused *cases, size_t count);

#endif
