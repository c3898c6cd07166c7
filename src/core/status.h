/* SPDX-License-Identifier: MIT
 * Status and messages: the only way in which the library speaks of failure. */
#ifndef HSPEC_CORE_STATUS_H
#define HSPEC_CORE_STATUS_H

#include "headspec.h"

/** Writes status and a formatted message into err (NULL allowed) and returns the status, for `return`. */
hspec_status hspec_error_set(hspec_error *err, hspec_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Puts "prefix: " before the message that is already there (a file, a line, a path). Returns `status`. */
hspec_status hspec_error_prefix(hspec_error *err, hspec_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** ENOMEM with the number of bytes that could not be had. */
hspec_status hspec_error_memory(hspec_error *err, size_t bytes);

/** Leaves the calling function with the status of `call` unless it is OK. */
#define HSPEC_TRY(call)                                                                                                \
    do {                                                                                                               \
        hspec_status hspec_try_status = (call);                                                                        \
        if (hspec_try_status != HSPEC_OK) {                                                                            \
            return hspec_try_status;                                                                                   \
        }                                                                                                              \
    } while (0)

/** Sends one warning to a monitor (NULL allowed). */
void hspec_monitor_warn(const hspec_monitor *monitor, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
