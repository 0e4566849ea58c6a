// The only place that touches files. A failure leaves its message in the context.
//
// Three statuses matter to callers: SINEW_NOT_FOUND (there is no such file), SINEW_INVALID_DATA
// (there is something, but not a file that may be read), and SINEW_IO_FAILED (the system could not
// read or write: a full disk, a missing permission, a broken device), which ends the program with
// exit status 4.
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "sinew/base.h"

// The whole of a file, from the context's memory, followed by a zero byte.
typedef struct cli_bytes {
    char *data;
    size_t size;
} cli_bytes;

// Reads a regular file of at most `limit` bytes (0: 4 GiB). Folders, pipes, devices and sockets are
// refused without waiting for them.
sinew_status cli_read_file(sinew_context *context, const char *path, size_t limit,
                           cli_bytes *bytes);
void cli_free_bytes(sinew_context *context, cli_bytes *bytes);

// Replaces a file in one piece: writes PATH.sinew-tmp, flushes it to the disk and renames it, so
// that PATH is either what it was or complete, even after a crash. A temporary file that a killed
// run has left behind is overwritten. What is not a regular file (/dev/null, a pipe) is written
// directly.
sinew_status cli_write_file(sinew_context *context, const char *path, const void *data,
                            size_t size);

// The same for one of many files in a folder: its name is certain to survive a crash of the machine
// only after cli_sync_folder.
sinew_status cli_write_part(sinew_context *context, const char *path, const void *data,
                            size_t size);
sinew_status cli_sync_folder(sinew_context *context, const char *path);

// Sets room on the disk aside for a file that will be written later, so that it can be written even
// if the disk is full by then. At most three at a time; release them at the end.
sinew_status cli_reserve_file(sinew_context *context, const char *path, size_t size);
void cli_release_reserved_files(void);

// Removes all temporary files of this program. Safe in a signal handler.
void cli_remove_unfinished_files(void);

// Makes sure that the three standard streams are open, so that no file takes their numbers.
void cli_reserve_standard_streams(void);

// Flushes and closes standard output; false with errno set if anything that was printed is lost.
bool cli_close_output(void);

// Creates a folder and its parents; an existing folder is fine.
sinew_status cli_make_folder(sinew_context *context, const char *path);

// Creates a new folder in $TMPDIR, or else in /tmp; its name goes to `path`.
sinew_status cli_make_temporary_folder(sinew_context *context, char *path, size_t size);

// Removes a folder and everything in it.
sinew_status cli_remove_folder(sinew_context *context, const char *path);

#endif
