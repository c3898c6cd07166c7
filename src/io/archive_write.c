/* SPDX-License-Identifier: MIT
 * Archive to bytes. HDF5 builds the file in memory; only hspec_atomic_write touches the disk. */
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "io/archive.h"
#include "io/archive_hdf5.h"
#include "io/archive_start.h"
#include "io/atomic.h"

enum { MEMORY_STEP = 1 << 20 };

/* Everything here goes through this: which HDF5 call failed is in the reason, where it failed in `what`. */
static hspec_status fail(hspec_error *err, const char *what)
{
    return hspec_hdf5_fail(err, HSPEC_EEXTERNAL, "archive: %s could not be made", what);
}

static int write_attribute(hid_t object, const char *name, hid_t file_type, hid_t memory_type, hid_t space,
                           const void *value)
{
    hid_t id = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    int bad = id < 0 || H5Awrite(id, memory_type, value) < 0;
    return hspec_hdf5_close(id) < 0 || bad ? -1 : 0;
}

static int write_scalar(hid_t object, const char *name, hid_t file_type, hid_t memory_type, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    int bad = space < 0 || write_attribute(object, name, file_type, memory_type, space, value) < 0;
    return hspec_hdf5_close(space) < 0 || bad ? -1 : 0;
}

static int write_text(hid_t object, const char *name, const char *text)
{
    hid_t type = hspec_hdf5_text_type();
    int bad = type < 0 || write_scalar(object, name, type, type, &text) < 0;
    return hspec_hdf5_close(type) < 0 || bad ? -1 : 0;
}

/* "a,b" becomes the list of texts {"a", "b"}. */
static int write_labels(hid_t object, size_t rank, const char *names)
{
    char *copy = malloc(strlen(names) + 1);
    if (!copy) {
        return -1;
    }
    memcpy(copy, names, strlen(names) + 1);
    const char *labels[HSPEC_ARCHIVE_RANK_MAX];
    char *name = copy;
    for (size_t i = 0; i < rank; i++) {
        size_t n = strcspn(name, ",");
        labels[i] = name;
        int last = name[n] == '\0';
        name[n] = '\0';
        name += last ? n : n + 1;
    }
    hsize_t length = rank;
    hid_t type = hspec_hdf5_text_type();
    hid_t space = H5Screate_simple(1, &length, NULL);
    int bad = type < 0 || space < 0 || write_attribute(object, HSPEC_HDF5_LABELS, type, type, space, labels) < 0;
    bad |= hspec_hdf5_close(space) < 0;
    bad |= hspec_hdf5_close(type) < 0;
    free(copy);
    return bad ? -1 : 0;
}

static hspec_status write_group(hid_t file, const hspec_archive_group *group, hspec_error *err)
{
    hid_t list = H5Pcreate(H5P_GROUP_CREATE);
    int is_root = strcmp(group->path, "/") == 0;
    hid_t id = -1;
    if (list >= 0 && H5Pset_obj_track_times(list, 0) >= 0) {
        id = is_root ? H5Gopen2(file, "/", H5P_DEFAULT) : H5Gcreate2(file, group->path, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    int bad = id < 0;
    for (size_t i = 0; !bad && i < group->count; i++) {
        const hspec_archive_attribute *attribute = &group->attributes[i];
        switch (attribute->kind) {
        case HSPEC_ARCHIVE_TEXT:
            bad = write_text(id, attribute->name, attribute->text) < 0;
            break;
        case HSPEC_ARCHIVE_NUMBER:
            bad = write_scalar(id, attribute->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &attribute->number) < 0;
            break;
        case HSPEC_ARCHIVE_INTEGER:
            bad = write_scalar(id, attribute->name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &attribute->integer) < 0;
            break;
        }
    }
    bad |= hspec_hdf5_close(id) < 0;
    bad |= hspec_hdf5_close(list) < 0;
    return bad ? fail(err, group->path) : HSPEC_OK;
}

static hid_t create_dataset(hid_t file, const hspec_archive_dataset *dataset)
{
    hsize_t dims[HSPEC_ARCHIVE_RANK_MAX];
    for (size_t i = 0; i < dataset->rank; i++) {
        dims[i] = dataset->dims[i];
    }
    hid_t type = dataset->type == HSPEC_ARCHIVE_DOUBLE ? H5T_IEEE_F64LE : H5T_STD_U64LE;
    hid_t space = H5Screate_simple((int)dataset->rank, dims, NULL);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t id = -1;
    if (space >= 0 && list >= 0 && H5Pset_obj_track_times(list, 0) >= 0 && H5Pset_layout(list, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0) {
        id = H5Dcreate2(file, dataset->path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    (void)hspec_hdf5_close(list);
    (void)hspec_hdf5_close(space);
    return id;
}

static hspec_status write_dataset(hid_t file, const hspec_archive_dataset *dataset, hspec_error *err)
{
    hid_t id = create_dataset(file, dataset);
    hid_t type = dataset->type == HSPEC_ARCHIVE_DOUBLE ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT64;
    int bad = id < 0 || H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, dataset->data) < 0;
    if (dataset->dimensions[0]) {
        bad = bad || write_text(id, HSPEC_HDF5_DIMENSIONS, dataset->dimensions) < 0;
        bad = bad || write_labels(id, dataset->rank, dataset->dimensions) < 0;
    }
    bad = bad || write_text(id, HSPEC_HDF5_UNIT, dataset->unit) < 0;
    bad = bad || write_text(id, HSPEC_HDF5_SENTENCE, dataset->sentence) < 0;
    bad |= hspec_hdf5_close(id) < 0;
    return bad ? fail(err, dataset->path) : HSPEC_OK;
}

/* ---- The file in memory ---- */

/* The memory in which HDF5 builds the file. It is ours, so that we can keep it when the file is closed: only then the
 * bytes are what a file on disk would hold. (H5Fget_file_image, of an open file, clears a flag and leaves the checksum of
 * the superblock as it was; with the layout used here nobody could open the result. It also takes a second copy.) */
typedef struct image {
    unsigned char *bytes;
    size_t size;
    size_t refused; /* bytes that could not be had */
} image;

static void *image_realloc(void *old, size_t size, H5FD_file_image_op_t operation, void *data)
{
    (void)operation;
    image *made = data;
    unsigned char *bytes = realloc(old, size);
    if (!bytes) {
        made->refused = size;
        return NULL;
    }
    if (size > made->size) {
        memset(bytes + made->size, 0, size - made->size);
    }
    made->bytes = bytes;
    made->size = size;
    return bytes;
}

static void *image_malloc(size_t size, H5FD_file_image_op_t operation, void *data)
{
    return image_realloc(NULL, size, operation, data);
}

static herr_t image_keep(void *bytes, H5FD_file_image_op_t operation, void *data)
{
    (void)bytes;
    (void)operation;
    (void)data;
    return 0;
}

static void *image_share(void *data)
{
    return data;
}

static herr_t image_unshare(void *data)
{
    (void)data;
    return 0;
}

/* An HDF5 file that exists in memory only. The bounds fix the layout: readable since HDF5 1.8, with checksums in the
 * file's own structures. The name is one that no file can have. */
static hid_t create_file(image *made)
{
    H5FD_file_image_callbacks_t callbacks = {.image_malloc = image_malloc,
                                             .image_memcpy = NULL,
                                             .image_realloc = image_realloc,
                                             .image_free = image_keep,
                                             .udata_copy = image_share,
                                             .udata_free = image_unshare,
                                             .udata = made};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = -1;
    if (access >= 0 && creation >= 0 && H5Pset_fapl_core(access, MEMORY_STEP, 0) >= 0 &&
        H5Pset_file_image_callbacks(access, &callbacks) >= 0 &&
        H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 && H5Pset_obj_track_times(creation, 0) >= 0) {
        file = H5Fcreate("/dev/null/headspec", H5F_ACC_TRUNC, creation, access);
    }
    (void)hspec_hdf5_close(creation);
    (void)hspec_hdf5_close(access);
    return file;
}

static hspec_status fill_file(hid_t file, const hspec_archive *archive, hspec_error *err)
{
    for (size_t i = 0; i < archive->group_count; i++) {
        HSPEC_TRY(write_group(file, &archive->groups[i], err));
    }
    for (size_t i = 0; i < archive->dataset_count; i++) {
        HSPEC_TRY(write_dataset(file, &archive->datasets[i], err));
    }
    return H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? fail(err, "the file") : HSPEC_OK;
}

/* The memory grows in steps; where the file ends is told by its superblock. */
static hspec_status find_end(const image *made, size_t *size, hspec_error *err)
{
    uint64_t end;
    if (!hspec_archive_start_end(made->bytes, made->size, &end) || end > made->size) {
        return hspec_error_set(err, HSPEC_EEXTERNAL, "archive: HDF5 made a file of an unknown layout");
    }
    *size = (size_t)end;
    return HSPEC_OK;
}

static hspec_status check_whole(const hspec_archive *archive, hspec_error *err)
{
    if (archive->foreign) {
        return hspec_error_set(err, HSPEC_EARG,
                               "%s: it is neither text nor float64 nor uint64, and would be lost when the archive is "
                               "written again",
                               archive->foreign);
    }
    for (size_t i = 0; i < archive->dataset_count; i++) {
        if (!archive->datasets[i].data) {
            return hspec_error_set(err, HSPEC_EARG, "%s: its numbers were not read, and would be lost",
                                   archive->datasets[i].path);
        }
    }
    return hspec_archive_check(archive, err);
}

hspec_status hspec_archive_image(const hspec_archive *archive, void **bytes, size_t *size, hspec_error *err)
{
    HSPEC_TRY(check_whole(archive, err));
    hspec_hdf5_silence silence;
    HSPEC_TRY(hspec_hdf5_begin(&silence, err));
    image made = {0};
    size_t end = 0;
    hid_t file = create_file(&made);
    hspec_status status = file < 0 ? fail(err, "the file") : fill_file(file, archive, err);
    if (file >= 0 && H5Fclose(file) < 0 && status == HSPEC_OK) {
        status = fail(err, "the file");
    }
    hspec_hdf5_end(&silence);
    if (made.refused) {
        status = hspec_error_memory(err, made.refused);
    }
    if (status == HSPEC_OK) {
        status = find_end(&made, &end, err);
    }
    if (status != HSPEC_OK) {
        free(made.bytes);
        return status;
    }
    *bytes = made.bytes;
    *size = end;
    return HSPEC_OK;
}

hspec_status hspec_archive_write(const hspec_archive *archive, const char *path, hspec_error *err)
{
    void *bytes;
    size_t size;
    hspec_status status = hspec_archive_image(archive, &bytes, &size, err);
    if (status != HSPEC_OK) {
        return hspec_error_prefix(err, status, "%s", path);
    }
    status = hspec_atomic_write(path, bytes, size, err);
    free(bytes);
    return status;
}
