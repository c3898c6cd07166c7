/* SPDX-License-Identifier: MIT */
#include "io/archive_hdf5.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"

/* The walk goes from the innermost function outwards; the first text is the reason. */
static herr_t take_reason(unsigned n, const H5E_error2_t *entry, void *data)
{
    hspec_hdf5_silence *silence = data;
    if (n == 0 && entry->desc) {
        (void)snprintf(silence->reason, sizeof silence->reason, "%s", entry->desc);
    }
    return 0;
}

/* HDF5 calls this where it would print. Later calls, even those that close things, forget the error. */
static herr_t listen(hid_t stack, void *data)
{
    hspec_hdf5_silence *silence = data;
    return silence->reason[0] ? 0 : H5Ewalk2(stack, H5E_WALK_UPWARD, take_reason, silence);
}

hspec_status hspec_hdf5_begin(hspec_hdf5_silence *silence, hspec_error *err)
{
    silence->reason[0] = '\0';
    if (H5open() < 0 || H5Eget_auto2(H5E_DEFAULT, &silence->print, &silence->data) < 0 ||
        H5Eset_auto2(H5E_DEFAULT, listen, silence) < 0) {
        return hspec_error_set(err, HSPEC_EEXTERNAL, "HDF5 could not be started");
    }
    return HSPEC_OK;
}

void hspec_hdf5_end(const hspec_hdf5_silence *silence)
{
    (void)H5Eclear2(H5E_DEFAULT);
    (void)H5Eset_auto2(H5E_DEFAULT, silence->print, silence->data);
}

hspec_status hspec_hdf5_fail(hspec_error *err, hspec_status status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    H5E_auto2_t print;
    void *data;
    const char *reason = "";
    if (H5Eget_auto2(H5E_DEFAULT, &print, &data) >= 0 && print == listen) {
        reason = ((const hspec_hdf5_silence *)data)->reason;
    }
    return hspec_error_set(err, status, "%s (HDF5: %s)", text, reason[0] ? reason : "no reason given");
}

int hspec_hdf5_close(hid_t id)
{
    return id < 0 || H5Idec_ref(id) >= 0 ? 0 : -1;
}

hid_t hspec_hdf5_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        (void)hspec_hdf5_close(type);
        return -1;
    }
    return type;
}
