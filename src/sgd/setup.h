/* SPDX-License-Identifier: MIT
 * What both engines are told: sizes, rates and the start, validated and copied once. And what an engine is. */
#ifndef HSPEC_SGD_SETUP_H
#define HSPEC_SGD_SETUP_H

#include "attention/kernel.h"
#include "core/memory.h"
#include "model/signal.h"

typedef struct hspec_setup {
    size_t H, L, F, B;
    uint64_t D;
    double rate; /* eta / (B D): one step of the order parameters, the biases and the scale */
    uint64_t steps;
    const hspec_signal *signal;
    hspec_layer_params layer; /* bias_train, bias_per_head, scale_train as the activation makes them */
    hspec_training_params training;
    const hspec_activation_ops *activation;
    double *m0;   /* [H][F] aligned start */
    double *R0;   /* [H][H] lower triangular root of the aligned residual */
    size_t *twin; /* [H] the first head that starts exactly as this one does; the head itself if there is none before */
    int twins;    /* is there any such pair? */
    double *spikes; /* [F][D] explicit engine only */
    hspec_arena arena;
} hspec_setup;

/** Validates and copies. Needs nothing but the parameters: also `check` and estimates use it. @return OK, EARG, ENOMEM. */
hspec_status hspec_setup_create(const hspec_task_params *task, const hspec_layer_params *layer,
                                const hspec_training_params *training, hspec_setup *setup, hspec_error *err);
void hspec_setup_free(hspec_setup *setup);

/** An engine: how blocks of seeds advance. The only export of reduced.c and explicit.c. */
typedef struct hspec_engine_ops {
    size_t lanes; /**< seeds in a block */
    /** Bytes of one block. */
    double (*bytes)(const hspec_setup *setup);
    /** A block with the seeds first .. first + lanes - 1 (from 0), at their start. The setup must outlive it. */
    hspec_status (*create)(const hspec_setup *setup, size_t first, void **block, hspec_error *err);
    void (*free)(void *block);
    /** Steps from .. to - 1 of every seed in the block. */
    void (*advance)(void *block, uint64_t from, uint64_t to);
    /** Order parameters of one lane. @param m out [H][F] @param r out [H][H] @param b out [H] @param s out scalar */
    void (*observe)(const void *block, size_t lane, double *m, double *r, double *b, double *s);
    /** Doubles per seed of the state that `restore`-able runs need, and the state of one lane. */
    size_t (*state_size)(const hspec_setup *setup);
    void (*state)(const void *block, size_t lane, double *values);
} hspec_engine_ops;

extern const hspec_engine_ops hspec_reduced_engine, hspec_explicit_engine;

#endif
