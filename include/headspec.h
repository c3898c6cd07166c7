/* SPDX-License-Identifier: MIT
 *
 * headspec: how the heads of a softmax attention layer specialize.
 *
 * Contents, simple to advanced
 *   1. Status and errors
 *   2. Events: progress and warnings
 *   3. Signals and tasks            the data of the single-location model
 *   4. The attention layer          scores in; attention, loss and gradients out
 *   5. Training                     online SGD, explicit or reduced
 *   6. Population loss              the expected loss at given order parameters
 *   7. Theory                       order parameters as D grows
 *   8. Bayes risk                   the posterior of the position, and what no layer can beat
 *   9. Optimum                      the best loss of an activation, and the minima that it has
 *   10. Stability                   how fast heads part at a fixed point, and in which order
 *   11. Phases                      when features are learned, how fast, by which heads
 *   12. Experiments and archives    YAML in, HDF5 out (built with HEADSPEC_IO)
 *
 * Letters, as in the paper: D dimension, L tokens, H heads, F features, B batch, S seeds, T recorded rows.
 * Order parameters: alignment m_hf = k_h . k*_f / D, residual overlap r = q - m m^T with q_hh' = k_h . k_h' / D.
 * Time is counted in t = steps / D, samples in N = B D t.
 *
 * Conventions
 *   - Every function that can fail returns a status and takes a `hspec_error *` of the caller as its last argument
 *     (NULL is allowed). Results go through out-pointers that stay untouched on error.
 *   - Arrays are C order, dense, of double, and owned by whom the comment names. No argument may alias another.
 *   - The library never prints, exits, reads the environment or the clock. Equal input gives equal output, whatever
 *     the number of threads; across instruction sets results agree to rounding (hspec_cpu_name tells which is in use).
 *   - Objects live between `create` and `free`; `free(NULL)` does nothing. One object, one thread at a time.
 *   - Equations are derived in docs/theory.md under the anchors that the comments name.
 */
#ifndef HEADSPEC_H
#define HEADSPEC_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HSPEC_API __attribute__((visibility("default")))
#define HSPEC_MUST_USE __attribute__((warn_unused_result))
#else
#define HSPEC_API
#define HSPEC_MUST_USE
#endif

#define HSPEC_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* 1. Status and errors; 2. Events */
#include "headspec/status.h"

/* 3. Signals and tasks */
#include "headspec/task.h"

/* 4. The attention layer */
#include "headspec/layer.h"

/* 5. Training */
#include "headspec/training.h"

/* 6. Population loss; 7. Theory; 8. Bayes risk; 9. Optimum; 10. Stability */
#include "headspec/theory.h"

/* 11. Phases */
#include "headspec/phases.h"

/* 12. Experiments and archives */
#include "headspec/archive.h"

#ifdef __cplusplus
}
#endif

#endif
