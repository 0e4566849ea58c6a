// Files that the program writes. Names of unfinished temporary files are kept in a small table, so
// that the signal handler can remove them.
#include "files.h"

#include "command.h"

#include "sinew/io/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

// A file that is being written or reserved. `active` is set while the name of its temporary file is
// complete, for the signal handler.
typedef struct pending {
    sinew_output *output; // NULL: the entry is free
    char path[PATH_SIZE];
    char temporary[PATH_SIZE];
    volatile sig_atomic_t active;
} pending;

enum { MOST_PENDING = 4 };
static pending files[MOST_PENDING];

void cli_remove_unfinished_files(void) {
    for (int i = 0; i < MOST_PENDING; i++) {
        if (files[i].active) {
            unlink(files[i].temporary);
        }
    }
}

static void end(pending *file) {
    file->active = 0;
    sinew_output_destroy(file->output);
    file->output = NULL;
}

// The entry that was reserved for a path, or a new one with room for `size` bytes.
static sinew_status begin(sinew_context *context, const char *path, size_t size, pending **out) {
    pending *file = NULL;
    for (int i = 0; i < MOST_PENDING; i++) {
        if (!files[i].output) {
            file = &files[i];
        } else if (strcmp(files[i].path, path) == 0) {
            *out = &files[i];
            return SINEW_OK;
        }
    }

    assert(file);
    CLI_TRY(sinew_output_create(context, path, size, &file->output));

    // A name that is too long to be noted stays after a signal.
    const char *temporary = sinew_output_get_temporary(file->output);
    bool fits = temporary && strlen(temporary) < PATH_SIZE;
    snprintf(file->path, sizeof file->path, "%s", path);
    snprintf(file->temporary, sizeof file->temporary, "%s", fits ? temporary : "");
    file->active = fits;
    *out = file;

    return SINEW_OK;
}

sinew_status cli_write_part(sinew_context *context, const char *path, const void *data,
                            size_t size) {
    pending *file = NULL;
    CLI_TRY(begin(context, path, 0, &file));
    sinew_status status = sinew_output_write_part(file->output, data, size);
    end(file);
    return status;
}

sinew_status cli_write_file(sinew_context *context, const char *path, const void *data,
                            size_t size) {
    pending *file = NULL;
    CLI_TRY(begin(context, path, 0, &file));
    sinew_status status = sinew_output_write(file->output, data, size);
    if (status == SINEW_OK) {
        status = sinew_output_flush(file->output);
    }
    end(file);
    return status;
}

sinew_status cli_write_result(sinew_context *context, const char *path, const sinew_bytes *bytes) {
    CLI_TRY(sinew_bytes_get_status(bytes));
    const void *data = sinew_bytes_get_data(bytes);
    size_t size = sinew_bytes_get_size(bytes);
    if (path) {
        return cli_write_file(context, path, data, size);
    }
    fwrite(data, 1, size, stdout);
    return SINEW_OK;
}

sinew_status cli_reserve_file(sinew_context *context, const char *path, size_t size) {
    pending *file = NULL;
    return begin(context, path, size, &file);
}

void cli_release_reserved_files(void) {
    for (int i = 0; i < MOST_PENDING; i++) {
        if (files[i].output) {
            end(&files[i]);
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
