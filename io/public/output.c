// Replacing files in one piece: a locked temporary file beside the target, flushed and renamed.
#ifdef __linux__
#define _GNU_SOURCE // syncfs
#else
#define _XOPEN_SOURCE 700 // realpath
#endif

#include "io/public/bytes.h"

#include "sinew/io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char temporary_ending[] = ".sinew-tmp";
static const size_t largest_transfer = (size_t)1 << 30; // one call moves at most 2 GiB

struct sinew_output {
    sn_arena arena;   // holds this struct too
    const char *path; // as the caller gave it, for messages
    char *target;     // what `path` stands for: links are followed
    char *temporary;  // NULL: the target is written directly
    int file;         // the temporary file, open and locked
    bool open;
};

static sinew_status fail(sinew_context *context, const char *what, const char *path) {
    return sn_fail(context, SINEW_IO_FAILED, "%s: cannot %s: %s", path, what, strerror(errno));
}

static bool write_all(int file, const char *data, size_t size) {
    size_t done = 0;
    while (done < size) {
        size_t part = size - done < largest_transfer ? size - done : largest_transfer;
        ssize_t put = write(file, data + done, part);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return false;
        }
        done += (size_t)put;
    }
    return true;
}

// Flushes to the disk. Some file systems cannot, and say so.
static bool flush_file(int file) {
    return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

// Flushes everything in the file system of an open folder.
static bool flush_folder(int folder) {
#ifdef __linux__
    if (syncfs(folder) != 0 && errno != ENOSYS) {
        return false;
    }
#endif
    return flush_file(folder);
}

// Opens and locks a temporary file; -1 with errno set. Another program may rename or remove it
// between the opening and the locking; then the name belongs to a new file, and this starts over.
static int open_temporary(const char *path) {
    for (int attempt = 0; attempt < 16; attempt++) {
        int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file < 0) {
            return -1;
        }

        // A file system without locks is used without them.
        bool busy = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        struct stat opened, named;
        bool same = !busy && fstat(file, &opened) == 0 && lstat(path, &named) == 0 &&
                    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
        if (same && S_ISREG(opened.st_mode) && opened.st_nlink == 1 && ftruncate(file, 0) == 0) {
            return file;
        }

        int trouble = busy ? EBUSY : same && opened.st_nlink == 1 ? errno : 0;
        if (trouble && !busy) {
            unlink(path);
        }

        close(file);
        if (trouble) {
            errno = trouble;
            return -1;
        }
    }

    errno = EBUSY;
    return -1;
}

static char *push_text(sn_arena *arena, const char *text, const char *ending) {
    size_t length = strlen(text);
    char *copy = SN_PUSH(arena, char, length + strlen(ending) + 1);
    if (copy) {
        memcpy(copy, text, length);
        strcpy(copy + length, ending);
    }
    return copy;
}

// Finds out what a path stands for, and whether a temporary file can take its place.
static sinew_status find_target(sinew_output *output) {
    sinew_context *context = output->arena.context;
    struct stat info;
    bool exists = stat(output->path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) {
        return sn_fail(context, SINEW_IO_FAILED, "%s: cannot write: is a folder", output->path);
    }

    char resolved[PATH_MAX];
    const char *found = exists && realpath(output->path, resolved) ? resolved : output->path;
    bool direct = exists && !S_ISREG(info.st_mode);
    output->target = push_text(&output->arena, direct ? output->path : found, "");
    if (!direct) {
        output->temporary = push_text(&output->arena, found, temporary_ending);
    }

    return sn_arena_status(&output->arena);
}

// Removes the temporary file, unless it has been renamed. False with errno set if the close fails.
static bool end_temporary(sinew_output *output, bool renamed) {
    if (!renamed) {
        unlink(output->temporary);
    }
    output->open = false;
    return close(output->file) == 0;
}

static sinew_status reserve(sinew_output *output, size_t size) {
    int trouble = size > 0 ? posix_fallocate(output->file, 0, (off_t)size) : 0;
    bool unable = trouble == EINVAL || trouble == EOPNOTSUPP || trouble == ENOSYS;
    if (trouble == 0 || unable) {
        return SINEW_OK;
    }
    errno = trouble;
    return fail(output->arena.context, "write", output->path);
}

static sinew_status open_output(sinew_output *output, size_t size) {
    SN_TRY(find_target(output));
    if (!output->temporary) {
        return SINEW_OK;
    }

    output->file = open_temporary(output->temporary);
    if (output->file < 0) {
        return fail(output->arena.context, "write", output->path);
    }
    output->open = true;

    return reserve(output, size);
}

sinew_status sinew_output_create(sinew_context *context, const char *path, size_t size,
                                 sinew_output **output) {
    SN_NEED(NULL, context);
    SN_NEED(context, path && output);

    sn_arena arena = sn_arena_create(context);
    sinew_output *made = SN_PUSH(&arena, sinew_output, 1);
    char *name = push_text(&arena, path, "");
    if (!made || !name) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sinew_output){.arena = arena, .path = name};
    sinew_status status = open_output(made, size);
    if (status != SINEW_OK) {
        sinew_output_destroy(made);
        return status;
    }

    *output = made;
    return SINEW_OK;
}

const char *sinew_output_get_temporary(const sinew_output *output) {
    SN_NEED_OR(NULL, output);
    return output->open ? output->temporary : NULL;
}

// Writes, flushes unless a whole folder will be, renames and closes; false with errno set. The lock
// lasts until the file has its final name.
static bool replace_target(sinew_output *output, const void *data, size_t size, bool flushed) {
    bool done = write_all(output->file, data, size) && ftruncate(output->file, (off_t)size) == 0 &&
                (!flushed || flush_file(output->file)) &&
                rename(output->temporary, output->target) == 0;
    int trouble = errno;
    bool closed = end_temporary(output, done);
    if (!done) {
        errno = trouble;
    }
    return done && closed;
}

static bool write_directly(const char *path, const void *data, size_t size) {
    int file = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }

    bool written = write_all(file, data, size);
    int trouble = errno;
    bool closed = close(file) == 0;
    if (!written) {
        errno = trouble;
    }
    return written && closed;
}

static sinew_status write_output(sinew_output *output, const void *data, size_t size,
                                 bool flushed) {
    if (output->temporary && !output->open) {
        return sn_fail(output->arena.context, SINEW_INVALID_ARGUMENT, "%s: is written already",
                       output->path);
    }

    bool written = output->temporary ? replace_target(output, data, size, flushed)
                                     : write_directly(output->target, data, size);
    return written ? SINEW_OK : fail(output->arena.context, "write", output->path);
}

sinew_status sinew_output_write(sinew_output *output, const void *data, size_t size) {
    SN_NEED(NULL, output && (data || size == 0));
    return write_output(output, data, size, true);
}

sinew_status sinew_output_write_part(sinew_output *output, const void *data, size_t size) {
    SN_NEED(NULL, output && (data || size == 0));
    return write_output(output, data, size, false);
}

void sinew_output_destroy(sinew_output *output) {
    if (!output) {
        return;
    }
    if (output->open) {
        end_temporary(output, false);
    }
    sn_arena arena = output->arena; // a copy: the arena holds the struct
    sn_arena_destroy(&arena);
}

// --- folders

sinew_status sinew_folder_create(sinew_context *context, const char *path) {
    SN_NEED(NULL, context);
    SN_NEED(context, path);

    char part[4096];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: the name is empty or too long", path);
    }

    // Make each part of the path that is missing.
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }

        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            return fail(context, "make the folder", part);
        }
    }

    // A file of that name may have been in the way.
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return sn_fail(context, SINEW_INVALID_DATA, "%s: exists and is not a folder", path);
    }

    return SINEW_OK;
}

static sinew_status flush_path(sinew_context *context, const char *path, bool contents) {
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0 && errno == EACCES) {
        return SINEW_OK; // a folder that may be written but not listed
    }
    if (file < 0) {
        return fail(context, "write to the folder", path);
    }

    bool flushed = contents ? flush_folder(file) : flush_file(file);
    sinew_status status = flushed ? SINEW_OK : fail(context, "write to", path);
    if (close(file) != 0 && status == SINEW_OK) {
        status = fail(context, "write to", path);
    }
    return status;
}

sinew_status sinew_folder_flush(sinew_context *context, const char *path) {
    SN_NEED(NULL, context);
    SN_NEED(context, path);
    return flush_path(context, path, true);
}

sinew_status sinew_output_flush(const sinew_output *output) {
    SN_NEED(NULL, output);
    char folder[PATH_MAX];
    const char *slash = strrchr(output->path, '/');
    int length = slash ? (int)(slash - output->path) + 1 : 0;
    snprintf(folder, sizeof folder, "%.*s.", length, output->path);
    return flush_path(output->arena.context, folder, false);
}

// --- whole files at once

static sinew_status save(const sn_buffer *buffer, const char *path) {
    SN_TRY(sn_buffer_status(buffer));
    sinew_output *output = NULL;
    SN_TRY(sinew_output_create(buffer->context, path, 0, &output));

    sinew_status status = sinew_output_write(output, buffer->data, buffer->size);
    if (status == SINEW_OK) {
        status = sinew_output_flush(output);
    }
    sinew_output_destroy(output);
    return status;
}

sinew_status sinew_bytes_save(const sinew_bytes *bytes, const char *path) {
    SN_NEED(NULL, bytes && path);
    return save(&bytes->buffer, path);
}

sinew_status sn_save_buffer(sinew_status status, sn_buffer *buffer, const char *path) {
    if (status == SINEW_OK) {
        status = save(buffer, path);
    }
    sn_buffer_destroy(buffer);
    return status;
}
