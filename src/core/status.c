/* SPDX-License-Identifier: MIT */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *hspec_status_sentence(hspec_status status)
{
    switch (status) {
#define HSPEC_X(name, value, sentence)                                                                                 \
    case HSPEC_##name:                                                                                                 \
        return sentence;
        HSPEC_STATUS_TABLE(HSPEC_X)
#undef HSPEC_X
    }
    return "unknown status";
}

const char *hspec_status_version(void)
{
    return HSPEC_VERSION;
}

hspec_status hspec_error_set(hspec_error *err, hspec_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

hspec_status hspec_error_prefix(hspec_error *err, hspec_status status, const char *format, ...)
{
    if (!err) {
        return status;
    }
    char prefix[sizeof err->message];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    if (length < 0) {
        return status;
    }
    size_t room = sizeof err->message;
    size_t head = (size_t)length < room ? (size_t)length : room - 1;
    size_t tail = strlen(err->message);
    if (head + 2 >= room) {
        return status; /* no room for anything behind the prefix: the message itself matters more */
    }
    if (tail > room - head - 3) {
        tail = room - head - 3;
    }
    memmove(err->message + head + 2, err->message, tail);
    memcpy(err->message, prefix, head);
    memcpy(err->message + head, ": ", 2);
    err->message[head + 2 + tail] = '\0';
    return status;
}

hspec_status hspec_error_memory(hspec_error *err, size_t bytes)
{
    return hspec_error_set(err, HSPEC_ENOMEM, "memory: %zu bytes could not be had", bytes);
}

void hspec_monitor_warn(const hspec_monitor *monitor, const char *format, ...)
{
    if (!monitor || !monitor->notify) {
        return;
    }
    char message[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    hspec_event event = {.kind = HSPEC_EVENT_WARNING, .message = message};
    (void)monitor->notify(monitor->user, &event);
}
