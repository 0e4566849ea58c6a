#define _XOPEN_SOURCE 700 // mkdtemp, nftw

#include "files.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static const size_t default_limit = (size_t)4 << 30;
static const size_t largest_transfer = (size_t)1 << 30; // one call moves at most 2 GiB
static const char temporary_ending[] = ".sinew-tmp";

// Temporary files that exist at the moment: the one being written, and those reserved. `active` is
// set while the name is complete, for the signal handler.
typedef struct temporary {
    char name[PATH_SIZE];
    int file;
    volatile sig_atomic_t active;
} temporary;

enum { TEMPORARIES = 4 };
static temporary temporaries[TEMPORARIES];

void cli_remove_unfinished_files(void) {
    for (int i = 0; i < TEMPORARIES; i++) {
        if (temporaries[i].active) {
            unlink(temporaries[i].name);
        }
    }
}

static sinew_status fail_file(sinew_context *context, sinew_status status, const char *what,
                              const char *path) {
    return sn_fail(context, status, "%s: cannot %s: %s", path, what, strerror(errno));
}

// A file that is not there is the user's mistake; everything else is the system's trouble.
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

static sinew_status read_open(sinew_context *context, int file, const char *path, size_t limit,
                              cli_bytes *bytes) {
    struct stat info;
    if (fstat(file, &info) != 0) {
        return fail_file(context, SINEW_IO_FAILED, "read", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return sn_fail(context, SINEW_INVALID_DATA, "%s: is %s; only regular files are read", path,
                       name_of_kind(info.st_mode));
    }

    size_t size = (size_t)info.st_size;
    if (size > limit) {
        return sn_fail(context, SINEW_INVALID_DATA, "%s: has %zu bytes; the limit is %zu", path,
                       size, limit);
    }

    char *data = sn_allocate(context, size + 1, 1);
    if (!data) {
        return SINEW_OUT_OF_MEMORY;
    }

    ssize_t got = read_all(file, data, size);
    if (got == (ssize_t)size) {
        *bytes = (cli_bytes){data, size};
        return SINEW_OK;
    }

    sinew_status status = got < 0
                              ? fail_file(context, SINEW_IO_FAILED, "read", path)
                              : sn_fail(context, SINEW_IO_FAILED,
                                        "%s: only %zd of %zu bytes could be read", path, got, size);
    sn_release(context, data, size + 1, 1);

    return status;
}

sinew_status cli_read_file(sinew_context *context, const char *path, size_t limit,
                           cli_bytes *bytes) {
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) {
        return fail_open(context, path);
    }

    sinew_status status = read_open(context, file, path, limit ? limit : default_limit, bytes);
    if (close(file) != 0 && status == SINEW_OK) {
        cli_free_bytes(context, bytes);
        status = fail_file(context, SINEW_IO_FAILED, "read", path);
    }

    return status;
}

void cli_free_bytes(sinew_context *context, cli_bytes *bytes) {
    if (bytes->data) {
        sn_release(context, bytes->data, bytes->size + 1, 1);
    }
    *bytes = (cli_bytes){NULL, 0};
}

// Flushes to the disk. Some file systems cannot, and say so.
static bool sync_file(int file) {
    return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

sinew_status cli_sync_folder(sinew_context *context, const char *path) {
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0 && errno == EACCES) {
        return SINEW_OK; // a folder that may be written but not listed
    }
    if (file < 0) {
        return fail_file(context, SINEW_IO_FAILED, "write to the folder", path);
    }

    sinew_status status =
        sync_file(file) ? SINEW_OK : fail_file(context, SINEW_IO_FAILED, "write to", path);
    if (close(file) != 0 && status == SINEW_OK) {
        status = fail_file(context, SINEW_IO_FAILED, "write to", path);
    }

    return status;
}

static sinew_status sync_folder_of(sinew_context *context, const char *path) {
    char folder[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;
    snprintf(folder, sizeof folder, "%.*s.", length, path);
    return cli_sync_folder(context, folder);
}

// Opens and locks a temporary file. Another program may rename or remove it between the opening and
// the locking; then the name belongs to a new file, and this starts over.
static int open_temporary(const char *path) {
    for (int attempt = 0; attempt < 16; attempt++) {
        int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file < 0) {
            return -1;
        }

        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        struct stat opened, named;
        bool busy = fcntl(file, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN);
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

// The temporary file for `target`: the one reserved for it, or a new one. NULL with errno set.
static temporary *take_temporary(const char *target) {
    char name[PATH_SIZE];
    int length = snprintf(name, sizeof name, "%s%s", target, temporary_ending);
    if (length < 0 || (size_t)length >= sizeof name) {
        errno = ENAMETOOLONG;
        return NULL;
    }

    temporary *unused = NULL;
    for (int i = 0; i < TEMPORARIES; i++) {
        if (!temporaries[i].active) {
            unused = &temporaries[i];
        } else if (strcmp(temporaries[i].name, name) == 0) {
            return &temporaries[i];
        }
    }
    if (!unused) {
        errno = EMFILE;
        return NULL;
    }

    memcpy(unused->name, name, (size_t)length + 1);
    unused->file = open_temporary(name);
    if (unused->file < 0) {
        return NULL;
    }

    unused->active = 1;
    return unused;
}

// Removes the file, unless it has been renamed. False with errno set if the close fails.
static bool end_temporary(temporary *t, bool renamed) {
    if (!renamed) {
        unlink(t->name);
    }
    t->active = 0;
    return close(t->file) == 0;
}

// Writes, flushes, renames and closes; false with errno set. The lock lasts until the file has its
// final name.
static bool replace_file(temporary *t, const char *path, const void *data, size_t size) {
    bool done = write_all(t->file, data, size) && ftruncate(t->file, (off_t)size) == 0 &&
                sync_file(t->file) && rename(t->name, path) == 0;
    int trouble = errno;
    bool closed = end_temporary(t, done);
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

// What a path stands for as the target of a write.
typedef struct target {
    char path[PATH_SIZE]; // links are followed, so that a link stays and its file is replaced
    bool direct;          // not a regular file: a device, a pipe
} target;

static sinew_status find_target(sinew_context *context, const char *path, target *t) {
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) {
        return sn_fail(context, SINEW_IO_FAILED, "%s: cannot write: is a folder", path);
    }

    char resolved[PATH_MAX];
    const char *found = exists && realpath(path, resolved) ? resolved : path;
    int length = snprintf(t->path, sizeof t->path, "%s", found);
    if (length < 0 || (size_t)length >= sizeof t->path) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: the name is too long", path);
    }

    t->direct = exists && !S_ISREG(info.st_mode);
    return SINEW_OK;
}

sinew_status cli_write_part(sinew_context *context, const char *path, const void *data,
                            size_t size) {
    target to;
    SN_TRY(find_target(context, path, &to));
    if (to.direct) {
        return write_directly(path, data, size)
                   ? SINEW_OK
                   : fail_file(context, SINEW_IO_FAILED, "write", path);
    }

    temporary *t = take_temporary(to.path);
    bool replaced = t && replace_file(t, to.path, data, size);
    return replaced ? SINEW_OK : fail_file(context, SINEW_IO_FAILED, "write", path);
}

sinew_status cli_write_file(sinew_context *context, const char *path, const void *data,
                            size_t size) {
    SN_TRY(cli_write_part(context, path, data, size));
    return sync_folder_of(context, path);
}

sinew_status cli_reserve_file(sinew_context *context, const char *path, size_t size) {
    target to;
    SN_TRY(find_target(context, path, &to));
    if (to.direct) {
        return SINEW_OK;
    }

    temporary *t = take_temporary(to.path);
    if (!t) {
        return fail_file(context, SINEW_IO_FAILED, "write", path);
    }

    int trouble = posix_fallocate(t->file, 0, (off_t)size);
    bool unable = trouble == EINVAL || trouble == EOPNOTSUPP || trouble == ENOSYS;
    if (trouble == 0 || unable) {
        return SINEW_OK;
    }

    end_temporary(t, false);
    errno = trouble;
    return fail_file(context, SINEW_IO_FAILED, "write", path);
}

void cli_release_reserved_files(void) {
    for (int i = 0; i < TEMPORARIES; i++) {
        if (temporaries[i].active) {
            end_temporary(&temporaries[i], false);
        }
    }
}

void cli_reserve_standard_streams(void) {
    int file;
    do {
        file = open("/dev/null", O_RDONLY);
    } while (file >= 0 && file <= STDERR_FILENO);
    if (file > STDERR_FILENO) {
        close(file);
    }
}

bool cli_close_output(void) {
    errno = 0;
    bool failed_before = ferror(stdout) != 0;
    bool closed = fclose(stdout) == 0;
    return closed && !failed_before;
}

sinew_status cli_make_folder(sinew_context *context, const char *path) {
    char part[4096];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: the name is empty or too long", path);
    }

    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }

        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            return fail_file(context, SINEW_IO_FAILED, "make the folder", part);
        }
    }

    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return sn_fail(context, SINEW_INVALID_DATA, "%s: exists and is not a folder", path);
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

    return mkdtemp(path) ? SINEW_OK : fail_file(context, SINEW_IO_FAILED, "make the folder", path);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

sinew_status cli_remove_folder(sinew_context *context, const char *path) {
    enum { OPEN_FOLDERS = 8 };
    return nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0
               ? SINEW_OK
               : fail_file(context, SINEW_IO_FAILED, "remove", path);
}
