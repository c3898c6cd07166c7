/* SPDX-License-Identifier: MIT
 * File to archive. Nothing in a file is believed before it is checked. */
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "io/archive_reader.h"
#include "io/archive_start.h"

/* Far above what headspec writes; a damaged file may claim anything, or hold groups that contain themselves. */
enum { DEPTH_MAX = 8, OBJECTS_MAX = 10000 };

hspec_status hspec_archive_read_fail(const hspec_archive_reader *in, const char *path, const char *what)
{
    return hspec_hdf5_fail(in->err, HSPEC_EIO, "%s: %s", path, what);
}

/* ---- The tree ---- */

static hspec_status read_group(hspec_archive_reader *in, hid_t group, const char *path, int depth);

static hspec_status read_object(hspec_archive_reader *in, hid_t parent, const char *name, const char *path, int depth)
{
    if (++in->objects > OBJECTS_MAX) {
        return hspec_error_set(in->err, HSPEC_EIO, "%s: found more than %d groups and datasets before it", path,
                               OBJECTS_MAX);
    }
    hid_t id = H5Oopen(parent, name, H5P_DEFAULT);
    hspec_status status;
    switch (id < 0 ? H5I_BADID : H5Iget_type(id)) {
    case H5I_GROUP:
        status = read_group(in, id, path, depth);
        break;
    case H5I_DATASET:
        status = hspec_archive_dataset_read(in, id, path);
        break;
    case H5I_DATATYPE:
        status = hspec_archive_read_leave_out(in, path, NULL);
        break;
    default:
        status = hspec_archive_read_fail(in, path, "could not be opened");
    }
    (void)hspec_hdf5_close(id);
    return status;
}

static hspec_status read_link(hspec_archive_reader *in, hid_t group, hsize_t index, const char *path, int depth)
{
    char name[HSPEC_ARCHIVE_PATH_MAX + 1], child[2 * HSPEC_ARCHIVE_PATH_MAX + 2];
    H5L_info_t info;
    ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, name, sizeof name, H5P_DEFAULT);
    if (length < 0 || H5Lget_info_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, &info, H5P_DEFAULT) < 0) {
        return hspec_archive_read_fail(in, path, "the names in it could not be read");
    }
    int used = snprintf(child, sizeof child, "%s%s%s", path, path[1] ? "/" : "", name);
    if (length > HSPEC_ARCHIVE_PATH_MAX || used > HSPEC_ARCHIVE_PATH_MAX) {
        return hspec_error_set(in->err, HSPEC_EIO, "%.40s...: found a path of more than %d bytes", child,
                               HSPEC_ARCHIVE_PATH_MAX);
    }
    /* Soft and external links lead anywhere. */
    return info.type == H5L_TYPE_HARD ? read_object(in, group, name, child, depth + 1)
                                      : hspec_archive_read_leave_out(in, child, NULL);
}

static hspec_status read_group(hspec_archive_reader *in, hid_t group, const char *path, int depth)
{
    H5G_info_t info;
    if (depth > DEPTH_MAX) {
        return hspec_error_set(in->err, HSPEC_EIO, "%s: found groups deeper than %d", path, DEPTH_MAX);
    }
    HSPEC_TRY(hspec_archive_add_group(in->archive, path, in->err));
    HSPEC_TRY(hspec_archive_attributes_read(in, group, path));
    if (H5Gget_info(group, &info) < 0) {
        return hspec_archive_read_fail(in, path, "the names in it could not be read");
    }
    for (hsize_t i = 0; i < info.nlinks; i++) {
        HSPEC_TRY(read_link(in, group, i, path, depth));
    }
    return HSPEC_OK;
}

/* ---- The file ---- */

static hid_t open_file(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    /* Writers rename whole files, so no lock is needed; some network file systems have none. */
    if (access >= 0 && H5Pset_fapl_sec2(access) >= 0 && H5Pset_file_locking(access, 0, 1) >= 0) {
        file = H5Fopen(path, H5F_ACC_RDONLY, access);
    }
    (void)hspec_hdf5_close(access);
    return file;
}

/* Is it ours, and of a layout that this program knows? */
static hspec_status check_origin(const hspec_archive *archive, hspec_error *err)
{
    const char *version = hspec_archive_text(archive, "/", "headspec_version");
    if (!version) {
        return hspec_error_set(err, HSPEC_EIO,
                               "/: found no attribute \"headspec_version\", allowed an archive of headspec");
    }
    for (size_t i = 0; i < hspec_archive_notes_count; i++) {
        const hspec_archive_note *note = &hspec_archive_notes[i];
        if (strcmp(note->group, "/") != 0) {
            continue;
        }
        const hspec_archive_attribute *found = hspec_archive_attribute_find(archive, "/", note->name);
        if (!found || found->kind != note->kind) {
            return hspec_error_set(err, HSPEC_EIO, "/: found %s attribute \"%s\", allowed: %s",
                                   found ? "a wrong type of" : "no", note->name, note->sentence);
        }
    }
    uint64_t format = hspec_archive_attribute_find(archive, "/", "format")->integer;
    if (format < 1 || format > HSPEC_ARCHIVE_FORMAT) {
        return hspec_error_set(err, HSPEC_EIO,
                               "/: found format %llu, allowed 1 to %d; the file was written by headspec %s, this is %s",
                               (unsigned long long)format, HSPEC_ARCHIVE_FORMAT, version, hspec_status_version());
    }
    return HSPEC_OK;
}

static hspec_status read_file(const char *path, hspec_archive_reader *in)
{
    hspec_hdf5_silence silence;
    HSPEC_TRY(hspec_hdf5_begin(&silence, in->err));
    hid_t file = open_file(path);
    hid_t root = file < 0 ? -1 : H5Gopen2(file, "/", H5P_DEFAULT);
    hspec_status status = root < 0 ? hspec_archive_read_fail(in, "/", "the file could not be opened")
                                   : hspec_archive_attributes_read(in, root, "/");
    if (status == HSPEC_OK) {
        status = check_origin(in->archive, in->err);
    }
    if (status == HSPEC_OK) {
        status = read_group(in, root, "/", 0);
    }
    (void)hspec_hdf5_close(root);
    (void)hspec_hdf5_close(file);
    hspec_hdf5_end(&silence);
    return status == HSPEC_OK ? hspec_archive_check(in->archive, in->err) : status;
}

hspec_status hspec_archive_read(const char *path, const char *const *only, hspec_archive **archive, hspec_error *err)
{
    hspec_error own;
    hspec_archive_reader in = {.only = only, .err = err ? err : &own};
    HSPEC_TRY(hspec_archive_start_look(path, &in.file_size, in.err));
    HSPEC_TRY(hspec_archive_create(&in.archive, in.err));
    hspec_status status = read_file(path, &in);
    if (status == HSPEC_OK) {
        *archive = in.archive;
        return HSPEC_OK;
    }
    hspec_archive_free(in.archive);
    status = status == HSPEC_ENOMEM || status == HSPEC_EEXTERNAL ? status : HSPEC_EIO;
    in.err->status = status;
    return hspec_error_prefix(in.err, status, "%s", path);
}
