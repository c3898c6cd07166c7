/* SPDX-License-Identifier: MIT
 * Three softmax heads learn a signal whose sign is flipped in three sequences out of ten. Two heads take the common
 * sign; the third parts from them and takes the other. Prints the alignments of one seed along the way. */
#include <headspec.h>
#include <stdio.h>

static int fail(const hspec_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", hspec_status_sentence(err->status), err->message);
    return 1;
}

int main(void)
{
    hspec_error err = {0};

    /* The data: L = 5 tokens in D = 1000 dimensions, amplitude +2 with probability 0.7, else -2. */
    hspec_signal_params signal_params = {.kind = HSPEC_SIGNAL_FLIPPED, .strength = 4.0, .probability = 0.7};
    hspec_signal *signal = NULL;
    if (hspec_signal_create(&signal_params, &signal, &err) != HSPEC_OK) {
        return fail(&err);
    }
    hspec_task_params task = {.tokens = 5, .dimension = 1000, .signal = signal};

    /* The layer, and how it is trained: 100 * D steps of online SGD from a start with a little order in it. */
    const double alignment[3] = {0.1, 0.0, -0.1};
    hspec_layer_params layer = hspec_layer_default(3);
    hspec_training_params params = hspec_training_default();
    params.time = 100.0;
    params.seeds = 8;
    params.records = 10;
    params.init = (hspec_init_params){.kind = HSPEC_INIT_ALIGNED, .alignment = alignment};

    hspec_training *training = NULL;
    if (hspec_training_create(&task, &layer, &params, 0, &training, &err) != HSPEC_OK ||
        hspec_training_run(training, NULL, &err) != HSPEC_OK) {
        hspec_training_free(training);
        hspec_signal_free(signal);
        return fail(&err);
    }

    /* alignment is [S][T][H][F]: the first T H F numbers belong to seed 1. */
    hspec_trajectory trajectory;
    hspec_training_trajectory(training, &trajectory);
    (void)printf("%8s %8s %8s %8s\n", "time", "m_1", "m_2", "m_3");
    for (size_t row = 0; row < trajectory.done; row++) {
        const double *m = trajectory.alignment + row * trajectory.heads * trajectory.features;
        (void)printf("%8.1f %8.3f %8.3f %8.3f\n", trajectory.time[row], m[0], m[1], m[2]);
    }

    /* In every seed the heads end on both sides. */
    int specialized = 1;
    for (size_t seed = 0; seed < trajectory.seeds; seed++) {
        const double *m = trajectory.alignment + (seed * trajectory.rows + trajectory.done - 1) * trajectory.heads;
        specialized = specialized && m[0] > 0.5 && m[2] < -0.5;
    }
    (void)printf("specialized in all %zu seeds: %s\n", trajectory.seeds, specialized ? "yes" : "no");
    hspec_training_free(training);
    hspec_signal_free(signal);
    return specialized ? 0 : 1;
}
