#define _XOPEN_SOURCE 700 // mkdtemp, nftw

#include "files.h"

#include "base/memory.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t default_limit = (size_t)4 << 30;

static sinew_status fail_file(sinew_context *context, const char *what, const char *path) {
    return sn_fail(context, SINEW_INVALID_DATA, "%s: cannot %s: %s", path, what, strerror(errno));
}

static sinew_status read_open(sinew_context *context, FILE *file, const char *path, size_t limit,
                              cli_bytes *bytes) {
    struct stat info;
    if (fstat(fileno(file), &info) != 0) {
        return fail_file(context, "read", path);
    }
    if (S_ISDIR(info.st_mode)) {
        return sn_fail(context, SINEW_INVALID_DATA, "%s: is a folder, not a file", path);
    }

    size_t size = (size_t)info.st_size;
    if (size > (limit ? limit : default_limit)) {
        return sn_fail(context, SINEW_INVALID_DATA, "%s: has %zu bytes; the limit is %zu", path,
                       size, limit ? limit : default_limit);
    }

    char *data = sn_allocate(context, size + 1, 1);
    if (!data) {
        return SINEW_OUT_OF_MEMORY;
    }

    size_t read = fread(data, 1, size, file);
    if (read != size) {
        sn_release(context, data, size + 1, 1);
        return sn_fail(context, SINEW_INVALID_DATA, "%s: only %zu of %zu bytes could be read", path,
                       read, size);
    }

    *bytes = (cli_bytes){data, size};
    return SINEW_OK;
}

sinew_status cli_read_file(sinew_context *context, const char *path, size_t limit,
                           cli_bytes *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return fail_file(context, "open", path);
    }

    sinew_status status = read_open(context, file, path, limit, bytes);
    fclose(file);

    return status;
}

void cli_free_bytes(sinew_context *context, cli_bytes *bytes) {
    if (bytes->data) {
        sn_release(context, bytes->data, bytes->size + 1, 1);
    }
    *bytes = (cli_bytes){NULL, 0};
}

sinew_status cli_write_file(sinew_context *context, const char *path, const void *data,
                            size_t size) {
    char temporary[4096];
    int length = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: name is too long", path);
    }

    FILE *file = fopen(temporary, "wb");
    if (!file) {
        return fail_file(context, "write", path);
    }

    bool written = fwrite(data, 1, size, file) == size;
    written = fclose(file) == 0 && written;
    if (!written || rename(temporary, path) != 0) {
        sinew_status status = fail_file(context, "write", path);
        remove(temporary);
        return status;
    }

    return SINEW_OK;
}

sinew_status cli_make_folder(sinew_context *context, const char *path) {
    char part[4096];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: name is too long or empty", path);
    }

    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }

        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            return fail_file(context, "make the folder", part);
        }
    }

    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return sn_fail(context, SINEW_INVALID_DATA, "%s: is there, but is not a folder", path);
    }

    return SINEW_OK;
}

sinew_status cli_make_temporary_folder(sinew_context *context, char *path, size_t size) {
    const char *wanted = getenv("TMPDIR");
    if (wanted && strchr(wanted, '\'')) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "TMPDIR: %s: a name with ' cannot be given to other programs", wanted);
    }

    int length = snprintf(path, size, "%s/sinew-XXXXXX", wanted && wanted[0] ? wanted : "/tmp");
    if (length < 0 || (size_t)length >= size) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "TMPDIR: name is too long");
    }

    return mkdtemp(path) ? SINEW_OK : fail_file(context, "make the folder", path);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

sinew_status cli_remove_folder(sinew_context *context, const char *path) {
    enum { OPEN_FOLDERS = 8 };
    return nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0
               ? SINEW_OK
               : fail_file(context, "remove", path);
}
