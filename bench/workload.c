/* SPDX-License-Identifier: MIT */
#include "workload.h"

#include "contender.h"

#include <stdlib.h>

enum { RECORDS = 4000 };

typedef struct job {
    workload sizes;
    hspec_signal *signal;
    hspec_training *training;
} job;

static void must(hspec_status status, const hspec_error *err)
{
    if (status != HSPEC_OK) {
        bench_fail(err->message);
    }
}

/* Flipped, nu = 4, p = 0.7; further features are gaussian. */
static hspec_signal *make_signal(size_t F)
{
    hspec_error err = {0};
    hspec_signal *signal = NULL;
    if (F == 1) {
        const hspec_signal_params params = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = 4, .probability = 0.7};
        must(hspec_signal_create(&params, &signal, &err), &err);
        return signal;
    }
    double *mean = calloc(F, sizeof *mean), *variance = calloc(F, sizeof *variance);
    if (!mean || !variance) {
        bench_fail("no memory");
    }
    mean[0] = 1.5;
    for (size_t f = 1; f < F; f++) {
        variance[f] = 9.0 / (double)f;
    }
    const hspec_signal_params params = {
        .kind = HSPEC_SIGNAL_GAUSSIAN, .features = F, .mean = mean, .variance = variance};
    must(hspec_signal_create(&params, &signal, &err), &err);
    free(mean);
    free(variance);
    return signal;
}

/* Aligned start: the first feature 0.1, 0, -0.1, 0.1, ... over the heads; residual 0. */
static hspec_training *make_training(const workload *w, const hspec_signal *signal)
{
    hspec_error err = {0};
    double *alignment = calloc(w->H * w->F, sizeof *alignment);
    if (!alignment) {
        bench_fail("no memory");
    }
    for (size_t h = 0; h < w->H; h++) {
        alignment[h * w->F] = 0.1 * (1.0 - (double)(h % 3));
    }
    const hspec_task_params task = {.tokens = w->L, .dimension = w->D, .signal = signal};
    hspec_layer_params layer = hspec_layer_default(w->H);
    layer.activation = w->activation;
    hspec_training_params params = hspec_training_default();
    params.engine = w->engine;
    params.loss = w->loss;
    params.noise = w->noise;
    params.batch = w->B;
    params.seeds = w->seeds;
    params.records = RECORDS;
    params.time = (double)(RECORDS * w->steps) / (double)w->D;
    params.init = (hspec_init_params){.kind = HSPEC_INIT_ALIGNED, .alignment = alignment};
    hspec_training *training = NULL;
    must(hspec_training_create(&task, &layer, &params, 1, &training, &err), &err);
    free(alignment);
    return training;
}

void *workload_create(const void *sizes)
{
    job *made = calloc(1, sizeof *made);
    if (!made) {
        bench_fail("no memory");
    }
    made->sizes = *(const workload *)sizes;
    made->signal = make_signal(made->sizes.F);
    made->training = make_training(&made->sizes, made->signal);
    return made;
}

/* Counts records, and stops after the last one that was asked for. */
static int count_down(void *left, const hspec_event *event)
{
    return event->kind == HSPEC_EVENT_PROGRESS && --*(size_t *)left == 0;
}

double workload_run(void *state, size_t pieces)
{
    job *j = state;
    size_t left = pieces;
    const hspec_monitor monitor = {.notify = count_down, .user = &left};
    while (left > 0) {
        hspec_error err = {0};
        const hspec_status status = hspec_training_run(j->training, &monitor, &err);
        if (status == HSPEC_OK && left > 0) { /* at its end: again from the start */
            hspec_training_free(j->training);
            j->training = make_training(&j->sizes, j->signal);
        } else if (status != HSPEC_ESTOPPED && status != HSPEC_OK) {
            bench_fail(err.message);
        }
    }
    return (double)pieces * (double)j->sizes.steps * (double)j->sizes.seeds * j->sizes.units;
}

void workload_free(void *state)
{
    job *j = state;
    hspec_training_free(j->training);
    hspec_signal_free(j->signal);
    free(j);
}
