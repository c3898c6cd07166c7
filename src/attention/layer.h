/* SPDX-License-Identifier: MIT
 * Validation of layer parameters, for whoever creates something from them. */
#ifndef HSPEC_ATTENTION_LAYER_H
#define HSPEC_ATTENTION_LAYER_H

#include "core/status.h"

#define HSPEC_LAYER_MAX_HEADS 4096
#define HSPEC_LAYER_MAX_TOKENS 65536

/** @return OK or EARG: which parameter, what was found, what is allowed. */
hspec_status hspec_layer_check(const hspec_layer_params *params, hspec_error *err);

#endif
