/* SPDX-License-Identifier: MIT
 * Online SGD in plain loops, written from the definitions and sharing nothing with the library but parameter structs. */
#ifndef HSPEC_TESTS_NAIVE_H
#define HSPEC_TESTS_NAIVE_H

#include "headspec.h"

/** One experiment. `task.signal` is not read: the signal is given by its parameters. `training.engine` is ignored. */
typedef struct naive_case {
    hspec_signal_params signal;
    hspec_task_params task;
    hspec_layer_params layer;
    hspec_training_params training;
} naive_case;

/** Trains one layer from its own random stream and records it at the given steps.
 *  @param stream     in  which random numbers
 *  @param rows       in  number of records
 *  @param step       in  [rows] ascending; 0 is the start
 *  @param alignment  out [rows][H][F]
 *  @param residual   out [rows][H][H]
 *  @param bias       out [rows][H]; bayes: shifted to mean 0
 *  @param scale      out [rows] */
void naive_train(const naive_case *c, uint64_t stream, size_t rows, const uint64_t *step, double *alignment,
                 double *residual, double *bias, double *scale);

/** Mean of |v|^2 over sequences of full tokens in R^D, for the keys of an aligned start.
 *  @param bias in [H] @param error out standard error */
double naive_loss(const naive_case *c, uint64_t stream, size_t sequences, const double *bias, double scale,
                  double *error);

/** F of a signal. */
size_t naive_features(const hspec_signal_params *signal);

#endif
