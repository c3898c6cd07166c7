/* SPDX-License-Identifier: MIT */
#include "io/archive_start.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/status.h"

int hspec_archive_start_end(const unsigned char *bytes, size_t size, uint64_t *end)
{
    if (size < 36 || (bytes[8] != 2 && bytes[8] != 3) || bytes[9] != 8) {
        return 0;
    }
    uint64_t value = 0;
    for (size_t i = 36; i-- > 28;) {
        value = value << 8 | bytes[i];
    }
    *end = value;
    return 1;
}

hspec_status hspec_archive_start_look(const char *path, size_t *file_size, hspec_error *err)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char start[48] = {0};
    struct stat info;
    if (stat(path, &info) != 0) {
        return hspec_error_set(err, HSPEC_EIO, "%s: could not be opened: %s", path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return hspec_error_set(err, HSPEC_EIO, "%s: found a %s, allowed an archive of headspec", path,
                               S_ISDIR(info.st_mode) ? "folder" : "device or pipe");
    }
    FILE *file = fopen(path, "rb");
    if (!file) {
        return hspec_error_set(err, HSPEC_EIO, "%s: could not be opened: %s", path, strerror(errno));
    }
    size_t n = fread(start, 1, sizeof start, file);
    int bad = ferror(file);
    (void)fclose(file);
    if (bad || n == 0) {
        return hspec_error_set(err, HSPEC_EIO, "%s: %s", path, bad ? "could not be read" : "the file is empty");
    }
    *file_size = (size_t)info.st_size;
    if (n < sizeof signature || memcmp(start, signature, sizeof signature) != 0) {
        char text[17] = "";
        for (size_t i = 0; i + 1 < sizeof text && i < n && isprint(start[i]); i++) {
            text[i] = (char)start[i];
        }
        return hspec_error_set(err, HSPEC_EIO, "%s: found %s%s%s, allowed an archive of headspec (HDF5)", path,
                               text[0] ? "a file that starts with \"" : "a file that is not HDF5", text,
                               text[0] ? "\"" : "");
    }
    uint64_t end;
    int has_end = hspec_archive_start_end(start, n, &end);
    if (n < sizeof start || (has_end && end > *file_size)) {
        return hspec_error_set(err, HSPEC_EIO, "%s: the file is cut off: found %zu bytes, it was written with %s%llu",
                               path, *file_size, has_end ? "" : "at least ",
                               has_end ? (unsigned long long)end : (unsigned long long)sizeof start);
    }
    return HSPEC_OK;
}
