// Growing bytes and whole files.
#include "io/public/bytes.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t default_limit =
    SIZE_MAX / 2 < ((uint64_t)4 << 30) ? SIZE_MAX / 2 : (size_t)((uint64_t)4 << 30);

sinew_status sinew_bytes_create(sinew_context *context, sinew_bytes **bytes) {
    sinew_bytes *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->buffer = sn_buffer_create(context);
    *bytes = made;

    return SINEW_OK;
}

void sinew_bytes_destroy(sinew_bytes *bytes) {
    if (!bytes) {
        return;
    }
    sinew_context *context = bytes->buffer.context;
    sn_buffer_destroy(&bytes->buffer);
    sn_release(context, bytes, 1, sizeof *bytes);
}

const void *sinew_bytes_get_data(const sinew_bytes *bytes) {
    // The zero behind the content changes neither the content nor its size.
    sn_buffer *buffer = (sn_buffer *)(uintptr_t)&bytes->buffer;
    char *end = sn_buffer_reserve(buffer, 1);
    if (!end) {
        return "";
    }
    *end = 0;
    return buffer->data;
}

size_t sinew_bytes_get_size(const sinew_bytes *bytes) {
    return bytes->buffer.size;
}

sinew_status sinew_bytes_get_status(const sinew_bytes *bytes) {
    return sn_buffer_status(&bytes->buffer);
}

void sinew_bytes_clear(sinew_bytes *bytes) {
    sn_buffer_clear(&bytes->buffer);
}

void sinew_bytes_add(sinew_bytes *bytes, const void *data, size_t size) {
    sn_buffer_add(&bytes->buffer, data, size);
}

void sinew_bytes_add_text(sinew_bytes *bytes, const char *text) {
    sn_buffer_add_text(&bytes->buffer, text);
}

void sinew_bytes_add_number(sinew_bytes *bytes, double value) {
    sn_buffer_add_double(&bytes->buffer, value);
}

// A file that does not exist or may not be read is the user's mistake, all else the system's.
static sinew_status fail_file(sinew_context *context, const char *what, const char *path) {
    bool absent = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP;
    bool refused = errno == EACCES || errno == EPERM;
    sinew_status status = absent ? SINEW_NOT_FOUND : refused ? SINEW_INVALID_DATA : SINEW_IO_FAILED;
    return sn_fail(context, status, "%s: cannot %s: %s", path, what, strerror(errno));
}

static sinew_status read_open(FILE *file, const char *path, size_t limit, sn_buffer *out) {
    struct stat info;
    if (fstat(fileno(file), &info) != 0) {
        return fail_file(out->context, "read", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return sn_fail(out->context, SINEW_INVALID_DATA, "%s: is %s; only regular files are read",
                       path, S_ISDIR(info.st_mode) ? "a folder" : "a pipe or a device");
    }

    uint64_t size = (uint64_t)info.st_size;
    if (size > (limit ? limit : default_limit)) {
        return sn_fail(out->context, SINEW_INVALID_DATA, "%s: has %llu bytes; the limit is %zu",
                       path, (unsigned long long)size, limit ? limit : default_limit);
    }

    char *data = sn_buffer_reserve(out, (size_t)size + 1);
    if (!data) {
        return SINEW_OUT_OF_MEMORY;
    }

    size_t read = fread(data, 1, (size_t)size, file);
    if (read != size) {
        return sn_fail(out->context, SINEW_IO_FAILED, "%s: only %zu of %llu bytes could be read",
                       path, read, (unsigned long long)size);
    }

    out->size += read;
    return SINEW_OK;
}

sinew_status sinew_bytes_load(sinew_context *context, const char *path, size_t limit,
                              sinew_bytes **bytes) {
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (!file) {
        sinew_status status = fail_file(context, "open", path);
        if (descriptor >= 0) {
            close(descriptor);
        }
        return status;
    }

    sinew_bytes *made = NULL;
    sinew_status status = sinew_bytes_create(context, &made);
    if (status == SINEW_OK) {
        status = read_open(file, path, limit, &made->buffer);
    }

    fclose(file);
    if (status != SINEW_OK) {
        sinew_bytes_destroy(made);
        return status;
    }

    *bytes = made;
    return SINEW_OK;
}

static sinew_status save(const sn_buffer *buffer, const char *path) {
    SN_TRY(sn_buffer_status(buffer));
    char temporary[4096];
    int length = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary) {
        return sn_fail(buffer->context, SINEW_INVALID_ARGUMENT, "%s: name is too long", path);
    }

    FILE *file = fopen(temporary, "wb");
    if (!file) {
        return fail_file(buffer->context, "write", path);
    }

    // The content is on the disk before it gets its name; some file systems cannot say so.
    bool written = buffer->size == 0 || fwrite(buffer->data, 1, buffer->size, file) == buffer->size;
    written = written && fflush(file) == 0;
    written = written && (fsync(fileno(file)) == 0 || errno == EINVAL || errno == ENOTSUP);
    int trouble = errno;
    written = fclose(file) == 0 && written;
    if (!written || rename(temporary, path) != 0) {
        errno = written ? errno : trouble;
        sinew_status status = fail_file(buffer->context, "write", path);
        remove(temporary);
        return status;
    }

    return SINEW_OK;
}

sinew_status sinew_bytes_save(const sinew_bytes *bytes, const char *path) {
    return save(&bytes->buffer, path);
}

sinew_status sn_save_buffer(sinew_status status, sn_buffer *buffer, const char *path) {
    if (status == SINEW_OK) {
        status = save(buffer, path);
    }
    sn_buffer_destroy(buffer);
    return status;
}

bool sn_ends_with(const char *name, const char *ending) {
    size_t length = strlen(name);
    size_t tail = strlen(ending);
    if (length <= tail) {
        return false;
    }

    for (size_t i = 0; i < tail; i++) {
        if (tolower((unsigned char)name[length - tail + i]) != ending[i]) {
            return false;
        }
    }

    return true;
}
