/* SPDX-License-Identifier: MIT
 * Attributes of a file that is read. */
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "io/archive_reader.h"

/* Remembers the first thing that the archive cannot hold. */
hspec_status hspec_archive_read_leave_out(hspec_archive_reader *in, const char *path, const char *name)
{
    if (in->archive->foreign) {
        return HSPEC_OK;
    }
    hspec_text text = {0};
    hspec_text_add(&text, "%s%s%s", path, name ? ": attribute " : "", name ? name : "");
    in->archive->foreign = hspec_text_take(&text);
    return in->archive->foreign ? HSPEC_OK : hspec_error_memory(in->err, strlen(path));
}

/* Text of fixed or variable length; *text is NULL if the attribute is no text. The caller frees it. */
static hspec_status read_text(const hspec_archive_reader *in, hid_t id, hid_t type, char **text)
{
    *text = NULL;
    if (H5Tget_class(type) != H5T_STRING) {
        return HSPEC_OK;
    }
    hid_t memory = H5Tcopy(type);
    if (memory < 0) {
        return HSPEC_EIO;
    }
    hspec_text copy = {0};
    int bad = 0;
    if (H5Tis_variable_str(type) > 0) {
        char *value = NULL;
        bad = H5Aread(id, memory, &value) < 0;
        if (!bad && value) {
            hspec_text_add(&copy, "%s", value);
        }
        (void)H5free_memory(value);
    } else {
        size_t size = H5Tget_size(type);
        char *value = size <= in->file_size ? calloc(size + 1, 1) : NULL;
        bad = !value || H5Aread(id, memory, value) < 0;
        if (!bad) {
            hspec_text_add(&copy, "%s", value);
        }
        free(value);
    }
    (void)hspec_hdf5_close(memory);
    if (bad) {
        hspec_text_free(&copy);
        return HSPEC_EIO;
    }
    *text = hspec_text_take(&copy);
    return *text ? HSPEC_OK : HSPEC_ENOMEM;
}

/* EIO without a message when HDF5 fails: the caller knows the names. */
static hspec_status read_scalar(hspec_archive_reader *in, hid_t id, hid_t type, const char *path, const char *name)
{
    hspec_status status = HSPEC_EIO;
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_STRING) {
        char *text = NULL;
        HSPEC_TRY(read_text(in, id, type, &text));
        status = hspec_archive_set_text(in->archive, path, name, text, in->err);
        free(text);
    } else if (class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE) {
        uint64_t integer = 0;
        if (H5Aread(id, H5T_NATIVE_UINT64, &integer) >= 0) {
            status = hspec_archive_set_integer(in->archive, path, name, integer, in->err);
        }
    } else if (class == H5T_FLOAT || class == H5T_INTEGER) {
        double number = 0;
        if (H5Aread(id, H5T_NATIVE_DOUBLE, &number) >= 0) {
            status = hspec_archive_set_number(in->archive, path, name, number, in->err);
        }
    } else {
        status = hspec_archive_read_leave_out(in, path, name);
    }
    return status;
}

static hspec_status read_attribute(hspec_archive_reader *in, hid_t id, const char *path, const char *name)
{
    hid_t type = H5Aget_type(id);
    hid_t space = H5Aget_space(id);
    hspec_status status = HSPEC_EIO;
    if (type >= 0 && space >= 0) {
        status = H5Sget_simple_extent_type(space) == H5S_SCALAR ? read_scalar(in, id, type, path, name)
                                                                : hspec_archive_read_leave_out(in, path, name);
    }
    if (status == HSPEC_EIO) {
        (void)hspec_hdf5_fail(in->err, HSPEC_EIO, "%s: attribute %s could not be read", path, name);
    } else if (status == HSPEC_ENOMEM) {
        (void)hspec_error_set(in->err, HSPEC_ENOMEM, "%s: no memory for attribute %s", path, name);
    }
    (void)hspec_hdf5_close(space);
    (void)hspec_hdf5_close(type);
    return status;
}

hspec_status hspec_archive_attributes_read(hspec_archive_reader *in, hid_t group, const char *path)
{
    for (int i = 0, n = H5Aget_num_attrs(group); i < n || n < 0; i++) {
        hid_t id =
            n < 0 ? -1 : H5Aopen_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)i, H5P_DEFAULT, H5P_DEFAULT);
        char name[HSPEC_ARCHIVE_PATH_MAX + 1];
        ssize_t length = id < 0 ? -1 : H5Aget_name(id, sizeof name, name);
        hspec_status status;
        if (length < 0) {
            status = hspec_archive_read_fail(in, path, "its attributes could not be read");
        } else if (length > HSPEC_ARCHIVE_PATH_MAX) {
            status = hspec_archive_read_leave_out(in, path, name);
        } else {
            status = read_attribute(in, id, path, name);
        }
        (void)hspec_hdf5_close(id);
        HSPEC_TRY(status);
    }
    return HSPEC_OK;
}

hspec_status hspec_archive_attributes_text(const hspec_archive_reader *in, hid_t dataset, const char *path,
                                           const char *name, char **text)
{
    *text = NULL;
    hspec_status status = HSPEC_OK;
    htri_t exists = H5Aexists(dataset, name);
    if (exists > 0) {
        hid_t id = H5Aopen(dataset, name, H5P_DEFAULT);
        hid_t type = id < 0 ? -1 : H5Aget_type(id);
        hid_t space = id < 0 ? -1 : H5Aget_space(id);
        if (type < 0 || space < 0) {
            status = HSPEC_EIO;
        } else if (H5Sget_simple_extent_type(space) == H5S_SCALAR) {
            status = read_text(in, id, type, text);
        }
        (void)hspec_hdf5_close(space);
        (void)hspec_hdf5_close(type);
        (void)hspec_hdf5_close(id);
    }
    if (exists < 0 || status == HSPEC_EIO) {
        return hspec_hdf5_fail(in->err, HSPEC_EIO, "%s: attribute %s could not be read", path, name);
    }
    if (status == HSPEC_OK && !*text) {
        *text = calloc(1, 1);
    }
    return *text ? HSPEC_OK : hspec_error_set(in->err, HSPEC_ENOMEM, "%s: no memory for attribute %s", path, name);
}
