/* SPDX-License-Identifier: MIT
 * The instruction-set level of this machine, found once. */
#ifndef HSPEC_CORE_CPU_H
#define HSPEC_CORE_CPU_H

#include "core/level.h"

/** The highest level that was built and that this processor and its operating system support. */
hspec_level hspec_cpu_level(void);

#endif
