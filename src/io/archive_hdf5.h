/* SPDX-License-Identifier: MIT
 * What the writer and the reader of archives share about HDF5. */
#ifndef HSPEC_IO_ARCHIVE_HDF5_H
#define HSPEC_IO_ARCHIVE_HDF5_H

#include <hdf5.h>

#include "headspec.h"

/* Attributes of a dataset. */
#define HSPEC_HDF5_DIMENSIONS "dimensions"
#define HSPEC_HDF5_UNIT "unit"
#define HSPEC_HDF5_SENTENCE "description"
/** The standard's own place for the names of dimensions: h5py shows them as dataset.dims[i].label. */
#define HSPEC_HDF5_LABELS "DIMENSION_LABELS"

/** HDF5 prints its errors unless told not to; the program that calls us may want it to. Meanwhile we listen. */
typedef struct hspec_hdf5_silence {
    H5E_auto2_t print; /**< what was there before */
    void *data;
    char reason[512]; /**< of the first failure, from the innermost function of HDF5 */
} hspec_hdf5_silence;

/** From here on HDF5 does not print; `silence` must stay where it is until the end. @return OK, EEXTERNAL. */
hspec_status hspec_hdf5_begin(hspec_hdf5_silence *silence, hspec_error *err);
/** As it was before. */
void hspec_hdf5_end(const hspec_hdf5_silence *silence);

/** Makes an error of the text and of the reason of the first failure since hspec_hdf5_begin, and returns the status. */
hspec_status hspec_hdf5_fail(hspec_error *err, hspec_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Closes any identifier; one below 0 is allowed. @return 0, or -1 if HDF5 failed. */
int hspec_hdf5_close(hid_t id);

/** A type for UTF-8 text of any length, or < 0. */
hid_t hspec_hdf5_text_type(void);

#endif
