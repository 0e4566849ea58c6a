// Loaded before the C library (LD_PRELOAD): lets the n-th operation on a file fail, as a disk or a
// file system would.
//
//   FAIL_AT=N      the N-th operation on a file fails, counted from 1; 0: none
//   FAIL_ONWARDS=1 and every later one that would need room on the disk fails as well
//
// Operations are open, read, write, flush (fsync, syncfs), truncate, reserve (fallocate), rename,
// close and mkdir. Files of the system (/dev/null, /proc, /sys, /etc) are left alone. A failure is
// announced on standard error as "fail_files: WHAT".
#define _GNU_SOURCE // RTLD_NEXT

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 1024 };

static bool watched[MOST_FILES]; // by number of the open file
static long operations;

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

// Counts an operation; true if it has to fail.
static bool fails(const char *what, bool needs_room) {
    const char *at = getenv("FAIL_AT");
    long wanted = at ? strtol(at, NULL, 10) : 0;
    operations++;

    bool hit = operations == wanted ||
               (wanted > 0 && operations > wanted && needs_room && getenv("FAIL_ONWARDS"));
    if (hit) {
        dprintf(STDERR_FILENO, "fail_files: %s\n", what);
        errno = needs_room ? ENOSPC : EIO;
    }

    return hit;
}

static bool is_watched_path(const char *path) {
    static const char *const system[] = {"/dev/null", "/proc/", "/sys/", "/etc/"};
    for (size_t i = 0; i < sizeof system / sizeof *system; i++) {
        if (strncmp(path, system[i], strlen(system[i])) == 0) {
            return false;
        }
    }

    return true;
}

static bool is_watched_file(int file) {
    return file >= 0 && file < MOST_FILES && watched[file];
}

static int open_with(const char *name, const char *path, int flags, mode_t mode) {
    bool watch = is_watched_path(path);
    if (watch && fails("open", (flags & O_CREAT) != 0)) {
        return -1;
    }

    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))next(name);
    int file = real(path, flags, mode);
    if (file >= 0 && file < MOST_FILES) {
        watched[file] = watch;
    }

    return file;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_with("open", path, flags, mode);
}

ssize_t read(int file, void *data, size_t size) {
    if (is_watched_file(file) && fails("read", false)) {
        return -1;
    }
    return ((ssize_t(*)(int, void *, size_t))next("read"))(file, data, size);
}

ssize_t write(int file, const void *data, size_t size) {
    if (is_watched_file(file) && fails("write", true)) {
        return -1;
    }
    return ((ssize_t(*)(int, const void *, size_t))next("write"))(file, data, size);
}

int fsync(int file) {
    if (is_watched_file(file) && fails("flush", false)) {
        return -1;
    }
    return ((int (*)(int))next("fsync"))(file);
}

int syncfs(int file) {
    if (is_watched_file(file) && fails("flush folder", false)) {
        return -1;
    }
    return ((int (*)(int))next("syncfs"))(file);
}

int ftruncate(int file, off_t size) {
    if (is_watched_file(file) && fails("truncate", false)) {
        return -1;
    }
    return ((int (*)(int, off_t))next("ftruncate"))(file, size);
}

int posix_fallocate(int file, off_t begin, off_t size) {
    if (is_watched_file(file) && fails("reserve", true)) {
        return ENOSPC;
    }
    return ((int (*)(int, off_t, off_t))next("posix_fallocate"))(file, begin, size);
}

int rename(const char *from, const char *to) {
    if (is_watched_path(to) && fails("rename", true)) {
        return -1;
    }
    return ((int (*)(const char *, const char *))next("rename"))(from, to);
}

int mkdir(const char *path, mode_t mode) {
    if (is_watched_path(path) && fails("mkdir", true)) {
        return -1;
    }
    return ((int (*)(const char *, mode_t))next("mkdir"))(path, mode);
}

// A close that fails has closed the file all the same, as on Linux.
int close(int file) {
    bool watch = is_watched_file(file);
    if (watch) {
        watched[file] = false;
    }

    int status = ((int (*)(int))next("close"))(file);
    return watch && fails("close", false) ? -1 : status;
}
