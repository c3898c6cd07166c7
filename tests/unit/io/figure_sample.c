/* SPDX-License-Identifier: MIT
 * A source of figures whose numbers are known. */
#include "figure_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

double figure_planted(size_t s, size_t t, size_t h, size_t f)
{
    return 1e-3 * (100.0 * (double)s + 10.0 * (double)h + (double)f + (double)t);
}

figure_sample figure_sample_make(const char *yaml)
{
    figure_sample a = {0};
    hspec_error err = {0};
    assert_int_equal(hspec_experiment_parse(yaml, strlen(yaml), "test", NULL, 0, &a.experiment, &err), HSPEC_OK);
    assert_int_equal(hspec_signal_create(&a.experiment->signal, &a.signal, &err), HSPEC_OK);
    size_t S = a.experiment->training.seeds, T = a.experiment->training.records + 1;
    size_t H = a.experiment->layer.heads, F = hspec_signal_features(a.signal);
    a.time = calloc(T, sizeof(double));
    a.alignment = calloc(S * T * H * F, sizeof(double));
    a.residual = calloc(S * T * H * H, sizeof(double));
    a.bias = calloc(S * T * H, sizeof(double));
    a.scale = calloc(S * T, sizeof(double));
    a.loss = calloc(S * T, sizeof(double));
    assert_true(a.time && a.alignment && a.residual && a.bias && a.scale && a.loss);
    for (size_t t = 0; t < T; t++) {
        a.time[t] = (double)t;
        for (size_t s = 0; s < S; s++) {
            for (size_t h = 0; h < H; h++) {
                size_t at = (s * T + t) * H + (s % 2 ? H - 1 - h : h);
                for (size_t f = 0; f < F; f++) {
                    a.alignment[at * F + f] = figure_planted(s, t, h, f);
                }
                a.residual[at * H + (s % 2 ? H - 1 - h : h)] = figure_planted(s, t, h, 0) + 1.0;
                a.bias[at] = figure_planted(s, t, h, 0) + 2.0;
            }
            a.scale[s * T + t] = figure_planted(s, t, 0, 0) + 3.0;
            a.loss[s * T + t] = figure_planted(s, t, 0, 0) + 4.0;
        }
    }
    a.source = (hspec_figure_source){.experiment = a.experiment, .signal = a.signal, .loss = a.loss};
    a.source.trajectory = (hspec_trajectory){.seeds = S, .rows = T, .heads = H, .features = F, .done = T};
    a.source.trajectory.time = a.time;
    a.source.trajectory.alignment = a.alignment;
    a.source.trajectory.residual = a.residual;
    a.source.trajectory.bias = a.bias;
    a.source.trajectory.scale = a.scale;
    return a;
}

void figure_sample_release(figure_sample *a)
{
    hspec_experiment_free(a->experiment);
    hspec_signal_free(a->signal);
    free(a->time);
    free(a->alignment);
    free(a->residual);
    free(a->bias);
    free(a->scale);
    free(a->loss);
}

const char *const figure_sample_flipped = "task:\n  tokens: 5\n  dimension: 100\n"
                                          "  signal: {kind: flipped, strength: 4, probability: 0.7}\n"
                                          "layer: {heads: 3, activation: softmax1}\n"
                                          "training: {seeds: 4, records: 10, time: 10, batch: 2}\n";
const char *const figure_sample_gaussian = "task:\n  tokens: 6\n"
                                           "  signal: {kind: gaussian, mean: [1.5, 0], variance: [0, 9]}\n"
                                           "layer: {heads: 2, activation: bayes}\n"
                                           "training: {seeds: 3, records: 10, time: 10, learning_rate: 0.5}\n";

hspec_figure *figure_sample_create(const figure_sample *a, const hspec_figure_options *options)
{
    hspec_figure *figure = NULL;
    hspec_error err = {0};
    if (hspec_figure_create(&a->source, options, &figure, &err) != HSPEC_OK) {
        fail_msg("%s", err.message);
    }
    return figure;
}
