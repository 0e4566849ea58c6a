// The only place that touches files. Failures are told by the context's message and status.
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "sinew/base.h"

// The whole of a file, from the context's memory, with a zero byte behind it. Refuses directories
// and files over `limit` bytes (0: 4 GiB).
typedef struct cli_bytes {
    char *data;
    size_t size;
} cli_bytes;

sinew_status cli_read_file(sinew_context *context, const char *path, size_t limit,
                           cli_bytes *bytes);
void cli_free_bytes(sinew_context *context, cli_bytes *bytes);

// Writes to a temporary name beside `path` and renames it, so that no reader sees half a file.
sinew_status cli_write_file(sinew_context *context, const char *path, const void *data,
                            size_t size);

// Makes a folder and those above it; nothing to do if it is there.
sinew_status cli_make_folder(sinew_context *context, const char *path);

// Makes a new folder where the environment wants temporary files ($TMPDIR, or else /tmp); its name
// goes to `path`.
sinew_status cli_make_temporary_folder(sinew_context *context, char *path, size_t size);

// Removes a folder with all that is in it.
sinew_status cli_remove_folder(sinew_context *context, const char *path);

#endif
