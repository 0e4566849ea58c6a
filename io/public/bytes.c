// Growing bytes, and reading whole files.
#include "io/public/bytes.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t default_limit =
    SIZE_MAX / 2 < ((uint64_t)4 << 30) ? SIZE_MAX / 2 : (size_t)((uint64_t)4 << 30);
static const size_t largest_transfer = (size_t)1 << 30; // one call moves at most 2 GiB

sinew_status sinew_bytes_create(sinew_context *context, sinew_bytes **bytes) {
    SN_NEED(NULL, context);
    SN_NEED(context, bytes);
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
    SN_NEED_OR(NULL, bytes);
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
    SN_NEED_OR(0, bytes);
    return bytes->buffer.size;
}

sinew_status sinew_bytes_get_status(const sinew_bytes *bytes) {
    SN_NEED(NULL, bytes);
    return sn_buffer_status(&bytes->buffer);
}

void sinew_bytes_clear(sinew_bytes *bytes) {
    SN_NEED_OR(, bytes);
    sn_buffer_clear(&bytes->buffer);
}

void sinew_bytes_add(sinew_bytes *bytes, const void *data, size_t size) {
    SN_NEED_OR(, bytes);
    sn_buffer_add(&bytes->buffer, data, size);
}

void sinew_bytes_add_text(sinew_bytes *bytes, const char *text) {
    SN_NEED_OR(, bytes && text);
    sn_buffer_add_text(&bytes->buffer, text);
}

void sinew_bytes_add_number(sinew_bytes *bytes, double value) {
    SN_NEED_OR(, bytes);
    sn_buffer_add_double(&bytes->buffer, value);
}

static sinew_status fail_file(sinew_context *context, sinew_status status, const char *what,
                              const char *path) {
    return sn_fail(context, status, "%s: cannot %s: %s", path, what, strerror(errno));
}

// A file that does not exist or may not be read is the user's mistake, all else the system's.
static sinew_status fail_open(sinew_context *context, const char *path) {
    bool absent = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP;
    bool refused = errno == EACCES || errno == EPERM || errno == ENXIO || errno == ENODEV;
    sinew_status status = absent ? SINEW_NOT_FOUND : refused ? SINEW_INVALID_DATA : SINEW_IO_FAILED;
    return fail_file(context, status, "open", path);
}

static const char *name_of_kind(mode_t mode) {
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a named pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

// Reads until `size` bytes are there or the file ends; -1 with errno set.
static ssize_t read_all(int file, char *data, size_t size) {
    size_t done = 0;
    while (done < size) {
        size_t part = size - done < largest_transfer ? size - done : largest_transfer;
        ssize_t got = read(file, data + done, part);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static sinew_status read_open(int file, const char *path, size_t limit, sn_buffer *out) {
    struct stat info;
    if (fstat(file, &info) != 0) {
        return fail_file(out->context, SINEW_IO_FAILED, "read", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return sn_fail(out->context, SINEW_INVALID_DATA, "%s: is %s; only regular files are read",
                       path, name_of_kind(info.st_mode));
    }

    // Check the size before memory is taken for it.
    uint64_t size = (uint64_t)info.st_size;
    if (size > limit) {
        return sn_fail(out->context, SINEW_INVALID_DATA, "%s: has %llu bytes; the limit is %zu",
                       path, (unsigned long long)size, limit);
    }

    char *data = sn_buffer_reserve(out, (size_t)size + 1);
    if (!data) {
        return SINEW_OUT_OF_MEMORY;
    }

    // A file that shrinks while it is read is an error, not a short result.
    ssize_t got = read_all(file, data, (size_t)size);
    if (got < 0) {
        return fail_file(out->context, SINEW_IO_FAILED, "read", path);
    }
    if ((uint64_t)got != size) {
        return sn_fail(out->context, SINEW_IO_FAILED, "%s: only %zd of %llu bytes could be read",
                       path, got, (unsigned long long)size);
    }

    out->size += (size_t)got;
    return SINEW_OK;
}

sinew_status sinew_bytes_load(sinew_context *context, const char *path, size_t limit,
                              sinew_bytes **bytes) {
    SN_NEED(NULL, context);
    SN_NEED(context, path && bytes);

    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) {
        return fail_open(context, path);
    }

    sinew_bytes *made = NULL;
    sinew_status status = sinew_bytes_create(context, &made);
    if (status == SINEW_OK) {
        status = read_open(file, path, limit ? limit : default_limit, &made->buffer);
    }
    if (close(file) != 0 && status == SINEW_OK) {
        status = fail_file(context, SINEW_IO_FAILED, "read", path);
    }

    if (status != SINEW_OK) {
        sinew_bytes_destroy(made);
        return status;
    }

    *bytes = made;
    return SINEW_OK;
}

bool sinew_name_has_ending(const char *name, const char *ending) {
    SN_NEED_OR(false, name && ending);

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
