/* SPDX-License-Identifier: MIT */
#include "io/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/status.h"
#include "io/text.h"

enum { LINKS_MAX = 40, NAMES_MAX = 1000, WRITE_MAX = 1 << 30 };

/* Where the bytes go. */
typedef struct place {
    char *file;      /* the path behind all symbolic links */
    char *folder;    /* where the temporary file lives */
    char *temporary; /* NULL for a device or a pipe */
    int fd;          /* open for writing, or -1 */
} place;

static hspec_status fail(hspec_error *err, const char *path, const char *step, int code)
{
    return hspec_error_set(err, HSPEC_EIO, "%s: %s: %s", path, step, strerror(code));
}

/* The part of the path up to and with the last slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Frees both parts whatever comes out. */
static char *joined(char *head, size_t head_length, char *tail)
{
    hspec_text text = {0};
    hspec_text_append(&text, head, head_length);
    hspec_text_add(&text, "%s", tail);
    free(head);
    free(tail);
    return hspec_text_take(&text);
}

static char *copied(const char *bytes, size_t length)
{
    hspec_text text = {0};
    hspec_text_append(&text, bytes, length);
    return hspec_text_take(&text);
}

/* The target of a link; NULL, with the status OK, if `path` is none (or does not exist). */
static char *link_target(const char *path, hspec_status *status, hspec_error *err)
{
    struct stat info;
    *status = HSPEC_OK;
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) {
        return NULL;
    }
    for (size_t size = 256;; size *= 2) {
        char *target = malloc(size);
        if (!target) {
            *status = hspec_error_memory(err, size);
            return NULL;
        }
        ssize_t length = readlink(path, target, size);
        if (length >= 0 && (size_t)length < size) {
            target[length] = '\0';
            return target;
        }
        int code = errno;
        free(target);
        if (length < 0) {
            *status = fail(err, path, "the symbolic link could not be read", code);
            return NULL;
        }
    }
}

/* Follows links by hand, since the file at the end need not exist. */
static hspec_status follow(const char *path, char **file, hspec_error *err)
{
    char *now = copied(path, strlen(path));
    for (int links = 0; now; links++) {
        hspec_status status;
        char *target = link_target(now, &status, err);
        if (status != HSPEC_OK) {
            free(now);
            return status;
        }
        if (!target) {
            *file = now;
            return HSPEC_OK;
        }
        if (links == LINKS_MAX) {
            free(now);
            free(target);
            return fail(err, path, "could not be written", ELOOP);
        }
        now = joined(now, target[0] == '/' ? 0 : folder_length(now), target);
    }
    return hspec_error_memory(err, strlen(path) + 1);
}

static hspec_status open_temporary(const char *path, place *at, const struct stat *old, hspec_error *err)
{
    static atomic_uint counter;
    for (int i = 0; i < NAMES_MAX; i++) {
        hspec_text text = {0};
        hspec_text_add(&text, "%s.headspec-%ld-%u.tmp", at->folder, (long)getpid(), atomic_fetch_add(&counter, 1));
        char *name = hspec_text_take(&text);
        if (!name) {
            return hspec_error_memory(err, strlen(at->folder) + 40);
        }
        at->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (at->fd >= 0) {
            at->temporary = name;
            struct stat made;
            if (old && (fstat(at->fd, &made) != 0 ||
                        (made.st_mode != old->st_mode && fchmod(at->fd, old->st_mode & 0777) != 0))) {
                return fail(err, path, "its permissions could not be kept", errno);
            }
            return HSPEC_OK;
        }
        int code = errno;
        free(name);
        if (code != EEXIST && code != EINTR) {
            return fail(err, path, "no file could be made in its folder", code);
        }
    }
    return fail(err, path, "no file could be made in its folder", EEXIST);
}

static hspec_status place_open(const char *path, place *at, int probe, hspec_error *err)
{
    if (path[folder_length(path)] == '\0') {
        return hspec_error_set(err, HSPEC_EIO, "\"%s\": found no file name, allowed the path of a file", path);
    }
    struct stat old;
    int exists = stat(path, &old) == 0;
    if (!exists && errno != ENOENT) {
        return fail(err, path, "could not be written", errno);
    }
    if (exists && S_ISDIR(old.st_mode)) {
        return fail(err, path, "could not be written", EISDIR);
    }
    if (exists && !S_ISREG(old.st_mode)) {
        /* Opening a pipe may wait for its reader, which is no business of a probe. */
        at->fd = probe ? -1 : open(path, O_WRONLY | O_CLOEXEC);
        return probe || at->fd >= 0 ? HSPEC_OK : fail(err, path, "could not be opened for writing", errno);
    }
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) {
        return fail(err, path, "the file may not be replaced", errno);
    }
    hspec_status status = follow(path, &at->file, err);
    if (status != HSPEC_OK || !at->file) {
        return status;
    }
    size_t length = folder_length(at->file);
    at->folder = length > 0 ? copied(at->file, length) : copied("./", 2);
    if (!at->folder) {
        return hspec_error_memory(err, length + 1);
    }
    return open_temporary(path, at, exists ? &old : NULL, err);
}

static void place_close(place *at)
{
    if (at->fd >= 0) {
        (void)close(at->fd);
    }
    if (at->temporary) {
        (void)unlink(at->temporary);
    }
    free(at->temporary);
    free(at->folder);
    free(at->file);
}

static hspec_status write_all(const char *path, int fd, const unsigned char *bytes, size_t size, hspec_error *err)
{
    size_t done = 0;
    while (done < size) {
        size_t part = size - done < WRITE_MAX ? size - done : WRITE_MAX;
        ssize_t written = write(fd, bytes + done, part);
        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            return hspec_error_set(err, HSPEC_EIO, "%s: only %zu of %zu bytes could be written: %s", path, done, size,
                                   written == 0 ? "nothing more is taken" : strerror(errno));
        }
    }
    return HSPEC_OK;
}

/* A rename is safe against a power cut once the folder is on the disk. Not every file system or folder lets us say so. */
static hspec_status sync_folder(const char *path, const char *folder, hspec_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return HSPEC_OK;
    }
    int code = fsync(fd) == 0 ? 0 : errno;
    (void)close(fd);
    if (code == EIO || code == ENOSPC || code == EDQUOT) {
        return fail(err, path, "the file is written, but its folder could not be synced to the disk", code);
    }
    return HSPEC_OK;
}

static hspec_status place_write(const char *path, place *at, const void *bytes, size_t size, hspec_error *err)
{
    HSPEC_TRY(write_all(path, at->fd, bytes, size, err));
    if (at->temporary && fsync(at->fd) != 0) {
        return fail(err, path, "could not be synced to the disk", errno);
    }
    int fd = at->fd;
    at->fd = -1;
    if (close(fd) != 0 && errno != EINTR) {
        return fail(err, path, "could not be closed", errno);
    }
    if (!at->temporary) {
        return HSPEC_OK;
    }
    if (rename(at->temporary, at->file) != 0) {
        return fail(err, path, "could not be replaced", errno);
    }
    free(at->temporary);
    at->temporary = NULL;
    return sync_folder(path, at->folder, err);
}

hspec_status hspec_atomic_write(const char *path, const void *bytes, size_t size, hspec_error *err)
{
    place at = {.fd = -1};
    hspec_status status = place_open(path, &at, 0, err);
    if (status == HSPEC_OK) {
        status = place_write(path, &at, bytes, size, err);
    }
    place_close(&at);
    return status;
}

hspec_status hspec_atomic_probe(const char *path, hspec_error *err)
{
    place at = {.fd = -1};
    hspec_status status = place_open(path, &at, 1, err);
    place_close(&at);
    return status;
}
