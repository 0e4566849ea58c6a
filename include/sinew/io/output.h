// Files on disk that are replaced in one piece, and the folders they are in.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_OUTPUT_H
#define SINEW_IO_OUTPUT_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: a file that is being written. Its content goes to PATH.sinew-tmp first, so that PATH has
/// either its old content or all of the new, even after a crash. The temporary file is locked: a
/// second program that writes PATH fails with "busy". One that a killed program left behind is
/// overwritten. If PATH is a link, the file it points to is replaced. Anything but a regular file
/// (/dev/null, a pipe) is written directly.
typedef struct sinew_output sinew_output;

/// Prepares `path` for writing and reserves `size` bytes on the disk, so that they can be written
/// even if the disk is full by then. [byte] 0 reserves nothing.
SINEW_API sinew_status sinew_output_create(sinew_context *context, const char *path, size_t size,
                                           sinew_output **output);
/// The name of the temporary file, so that a program can remove it in a signal handler; NULL if
/// there is none. Valid as long as the output.
SINEW_API const char *sinew_output_get_temporary(const sinew_output *output);
/// Writes the whole content, flushes it to the disk and gives the file its name. Can be called
/// once. The name is certain to survive a crash of the machine only after sinew_output_flush or,
/// for many files in one folder, sinew_folder_flush.
SINEW_API sinew_status sinew_output_write(sinew_output *output, const void *data, size_t size);
/// The same for one of many files in a folder, such as the images of a film: its content is not
/// flushed either, which costs milliseconds a file. Call sinew_folder_flush after the last of them.
SINEW_API sinew_status sinew_output_write_part(sinew_output *output, const void *data, size_t size);
/// Flushes the name of a file that was written to the disk.
SINEW_API sinew_status sinew_output_flush(const sinew_output *output);
/// Removes the temporary file if nothing was written. NULL is allowed.
SINEW_API void sinew_output_destroy(sinew_output *output);

/// Creates a folder and its parents; an existing folder is fine.
SINEW_API sinew_status sinew_folder_create(sinew_context *context, const char *path);
/// Flushes the content and the names of all files in a folder to the disk, so that they survive a
/// crash of the machine. If the system has no such call for a folder, only the names are flushed.
SINEW_API sinew_status sinew_folder_flush(sinew_context *context, const char *path);

#ifdef __cplusplus
}
#endif

#endif
