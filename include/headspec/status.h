/* SPDX-License-Identifier: MIT
 * Status, errors and events: a part of headspec.h, which is what programs include. */
#ifndef HEADSPEC_H
#error "include headspec.h"
#endif
#ifndef HEADSPEC_STATUS_H
#define HEADSPEC_STATUS_H

/* ---- 1. Status and errors ------------------------------------------------------------------------------------- */

/** X(name, value, sentence): every status that a function can return. */
#define HSPEC_STATUS_TABLE(X)                                                                                          \
    X(OK, 0, "success")                                                                                                \
    X(EARG, 1, "an argument is out of its range")                                                                      \
    X(ECONFIG, 2, "the experiment is not valid")                                                                       \
    X(ENOMEM, 3, "memory could not be had")                                                                            \
    X(EIO, 4, "a file could not be read or written")                                                                   \
    X(ENONFINITE, 5, "a number is not finite")                                                                         \
    X(ESTOPPED, 6, "the caller asked to stop")                                                                         \
    X(EUNSUPPORTED, 7, "not supported by this build")                                                                  \
    X(EEXTERNAL, 8, "a library or program that headspec uses failed")

typedef enum hspec_status {
#define HSPEC_X(name, value, sentence) HSPEC_##name = (value),
    HSPEC_STATUS_TABLE(HSPEC_X)
#undef HSPEC_X
} hspec_status;

/** What went wrong: where, what was found, what is allowed. Written only when a function fails. */
typedef struct hspec_error {
    hspec_status status;
    char message[2048]; /**< one or more lines of UTF-8, no trailing newline */
} hspec_error;

/** The sentence of a status ("success"); never NULL. */
HSPEC_API const char *hspec_status_sentence(hspec_status status);
/** The version of the library that is running, as HSPEC_VERSION was when it was built. */
HSPEC_API const char *hspec_status_version(void);
/** The instruction set in use: "baseline", "avx2" or "avx512". It is recorded in every archive. */
HSPEC_API const char *hspec_cpu_name(void);

/* ---- 2. Events: progress and warnings -------------------------------------------------------------------------- */

typedef enum hspec_event_kind {
    HSPEC_EVENT_PROGRESS, /**< `done` of `total` units are finished; message is NULL */
    HSPEC_EVENT_WARNING   /**< message is one sentence; done and total are 0 */
} hspec_event_kind;

typedef struct hspec_event {
    hspec_event_kind kind;
    double done, total;
    const char *message; /**< owned by the library, valid during the call */
} hspec_event;

/** Called from the thread that called the library. Return 0 to go on, anything else to stop (HSPEC_ESTOPPED). */
typedef struct hspec_monitor {
    int (*notify)(void *user, const hspec_event *event);
    void *user;
} hspec_monitor;

#endif
