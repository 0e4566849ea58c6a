// Temporary folders; see folder.h.
#define _XOPEN_SOURCE 700 // mkdtemp, nftw

#include "folder.h"

#include "base/context.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sinew_status fail(sinew_context *context, const char *what, const char *path) {
    return sn_fail(context, SINEW_IO_FAILED, "%s: cannot %s: %s", path, what, strerror(errno));
}

sinew_status proof_make_folder(sinew_context *context, char *path, size_t size) {
    const char *wanted = getenv("TMPDIR");
    if (wanted && strchr(wanted, '\'')) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "TMPDIR: %s: a name with ' cannot be given to other programs", wanted);
    }

    int length = snprintf(path, size, "%s/sinew-XXXXXX", wanted && wanted[0] ? wanted : "/tmp");
    if (length < 0 || (size_t)length >= size) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "TMPDIR: name is too long");
    }

    return mkdtemp(path) ? SINEW_OK : fail(context, "make the folder", path);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

sinew_status proof_remove_folder(sinew_context *context, const char *path) {
    enum { OPEN_FOLDERS = 8 };
    bool removed = nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0;
    return removed ? SINEW_OK : fail(context, "remove", path);
}
