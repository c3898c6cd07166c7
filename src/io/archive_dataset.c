/* SPDX-License-Identifier: MIT
 * Datasets of a file that is read: types, shapes and sizes are checked before any number is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "io/archive_reader.h"

/* The most that deflate reaches: somebody may have compressed the file. */
enum { COMPRESSION_MAX = 1032 };

/* "int32", "text"; for messages. */
static const char *type_name(hid_t type, char *buffer, size_t size)
{
    size_t bits = 8 * H5Tget_size(type);
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        (void)snprintf(buffer, size, "%s%zu", H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int", bits);
        return buffer;
    case H5T_FLOAT:
        (void)snprintf(buffer, size, "float%zu", bits);
        return buffer;
    case H5T_STRING:
        return "text";
    default:
        return "structured";
    }
}

static int known_type(hid_t type, hspec_archive_type *found)
{
    if (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0) {
        *found = HSPEC_ARCHIVE_DOUBLE;
        return 1;
    }
    if (H5Tequal(type, H5T_STD_U64LE) > 0 || H5Tequal(type, H5T_STD_U64BE) > 0) {
        *found = HSPEC_ARCHIVE_UINT64;
        return 1;
    }
    return 0;
}

/* Could the file hold so many bytes? Other files are never looked into. */
static hspec_status check_storage(const hspec_archive_reader *in, hid_t id, const hspec_archive_dataset *dataset)
{
    hid_t list = H5Dget_create_plist(id);
    H5D_layout_t layout = list < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(list);
    int external = list < 0 ? 0 : H5Pget_external_count(list);
    (void)hspec_hdf5_close(list);
    if (layout == H5D_LAYOUT_ERROR) {
        return hspec_archive_read_fail(in, dataset->path, "its layout could not be read");
    }
    if (layout == H5D_VIRTUAL || external != 0) {
        return hspec_error_set(in->err, HSPEC_EIO, "%s: found numbers that stand in another file, allowed in this one",
                               dataset->path);
    }
    size_t times = layout == H5D_CHUNKED ? COMPRESSION_MAX : 1;
    if (dataset->count > in->file_size * times / 8) {
        char shape[200];
        return hspec_error_set(in->err, HSPEC_EIO,
                               "%s: found the shape %s, allowed is what fits into the %zu bytes of the file",
                               dataset->path, hspec_archive_shape(dataset, shape, sizeof shape), in->file_size);
    }
    return HSPEC_OK;
}

static int wanted(const hspec_archive_reader *in, const char *path)
{
    if (!in->only) {
        return 1;
    }
    for (const char *const *name = in->only; *name; name++) {
        if (strcmp(*name, path) == 0) {
            return 1;
        }
    }
    return 0;
}

static hspec_status read_numbers(const hspec_archive_reader *in, hid_t id, hspec_archive_dataset *dataset)
{
    HSPEC_TRY(check_storage(in, id, dataset));
    if (!wanted(in, dataset->path)) {
        return HSPEC_OK;
    }
    dataset->owned = malloc(dataset->count * 8);
    if (!dataset->owned) {
        return hspec_error_set(in->err, HSPEC_ENOMEM, "%s: no memory for %zu numbers", dataset->path, dataset->count);
    }
    hid_t type = dataset->type == HSPEC_ARCHIVE_DOUBLE ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT64;
    if (H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, dataset->owned) < 0) {
        return hspec_archive_read_fail(in, dataset->path, "its numbers could not be read");
    }
    dataset->data = dataset->owned;
    return HSPEC_OK;
}

/* Shape and type; *keep = 0 for somebody's own dataset that an archive cannot hold. */
static hspec_status describe(const hspec_archive_reader *in, hid_t id, hspec_archive_dataset *dataset, int *keep)
{
    const hspec_archive_row *row = hspec_archive_table_row(dataset->path);
    hid_t type = H5Dget_type(id);
    hid_t space = H5Dget_space(id);
    hsize_t dims[H5S_MAX_RANK];
    int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, dims, NULL);
    hspec_status status = HSPEC_OK;
    *keep = 0;
    if (type < 0 || rank < 0) {
        status = hspec_archive_read_fail(in, dataset->path, "its shape could not be read");
    } else if (!known_type(type, &dataset->type)) {
        char name[40];
        if (row) {
            status = hspec_error_set(in->err, HSPEC_EIO, "%s: found %s numbers, allowed %s", dataset->path,
                                     type_name(type, name, sizeof name), hspec_archive_table_type(row->type));
        }
    } else if (row && rank != (int)row->rank) {
        status = hspec_error_set(in->err, HSPEC_EIO, "%s: found %d dimensions, allowed %zu (%s)", dataset->path, rank,
                                 row->rank, row->dimensions);
    } else if (rank >= 1 && rank <= HSPEC_ARCHIVE_RANK_MAX) {
        *keep = 1;
        dataset->rank = (size_t)rank;
        for (int i = 0; i < rank; i++) {
            dataset->dims[i] = dims[i];
            *keep = *keep && (dims[i] > 0 || row);
        }
    }
    (void)hspec_hdf5_close(space);
    (void)hspec_hdf5_close(type);
    return status;
}

/* Attributes of somebody else cannot be kept. */
static hspec_status look_for_strangers(hspec_archive_reader *in, hid_t dataset, const char *path)
{
    static const char *const ours[] = {HSPEC_HDF5_DIMENSIONS, HSPEC_HDF5_UNIT, HSPEC_HDF5_SENTENCE, HSPEC_HDF5_LABELS};
    int count = H5Aget_num_attrs(dataset);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        count -= H5Aexists(dataset, ours[i]) > 0;
    }
    return count == 0 ? HSPEC_OK : hspec_archive_read_leave_out(in, path, "of another program");
}

hspec_status hspec_archive_dataset_read(hspec_archive_reader *in, hid_t id, const char *path)
{
    hspec_archive_dataset found = {.path = (char *)path};
    int keep;
    HSPEC_TRY(describe(in, id, &found, &keep));
    if (!keep) {
        return hspec_archive_read_leave_out(in, path, NULL);
    }
    HSPEC_TRY(look_for_strangers(in, id, path));
    hspec_status status = hspec_archive_attributes_text(in, id, path, HSPEC_HDF5_DIMENSIONS, &found.dimensions);
    if (status == HSPEC_OK) {
        status = hspec_archive_attributes_text(in, id, path, HSPEC_HDF5_UNIT, &found.unit);
    }
    if (status == HSPEC_OK) {
        status = hspec_archive_attributes_text(in, id, path, HSPEC_HDF5_SENTENCE, &found.sentence);
    }
    hspec_archive_dataset *dataset = NULL;
    if (status == HSPEC_OK) {
        status = hspec_archive_add(in->archive, &found, &dataset, in->err);
    }
    free(found.dimensions);
    free(found.unit);
    free(found.sentence);
    return status == HSPEC_OK ? read_numbers(in, id, dataset) : status;
}
