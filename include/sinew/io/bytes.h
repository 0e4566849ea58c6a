// Bytes in memory and in files: what writers write into, and how a file reaches the readers.
//
// Every reader takes a sinew_source, which is a name and bytes in memory; its twin that takes a
// path opens a sinew_file and reads that. Every writer adds to a sinew_bytes; its twin saves that.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_BYTES_H
#define SINEW_IO_BYTES_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: bytes that grow.
typedef struct sinew_bytes sinew_bytes;

/// Creates an empty buffer. Destroy it before its context.
SINEW_API sinew_status sinew_bytes_create(sinew_context *context, sinew_bytes **bytes);
/// NULL is allowed.
SINEW_API void sinew_bytes_destroy(sinew_bytes *bytes);

/// The content, followed by a zero byte. Valid until the next change.
SINEW_API const void *sinew_bytes_get_data(const sinew_bytes *bytes);
/// The size without that zero byte. [byte]
SINEW_API size_t sinew_bytes_get_size(const sinew_bytes *bytes);
/// SINEW_OUT_OF_MEMORY if anything could not be added since the buffer was created or cleared, so
/// that a writer need not check every call.
SINEW_API sinew_status sinew_bytes_get_status(const sinew_bytes *bytes);
/// Removes the content and keeps the memory.
SINEW_API void sinew_bytes_clear(sinew_bytes *bytes);

/// Adds bytes, or text that ends with a zero, at the end.
SINEW_API void sinew_bytes_add(sinew_bytes *bytes, const void *data, size_t size);
SINEW_API void sinew_bytes_add_text(sinew_bytes *bytes, const char *text);
/// Adds a number with the fewest digits that read back as the same double, whatever the locale.
SINEW_API void sinew_bytes_add_number(sinew_bytes *bytes, double value);

/// Reads a whole file. A file larger than `limit` is an error. [byte] 0 means 4 GiB.
SINEW_API sinew_status sinew_bytes_load(sinew_context *context, const char *path, size_t limit,
                                        sinew_bytes **bytes);
/// Writes a whole file atomically: other programs see the old content or the new (see
/// sinew/io/output.h).
SINEW_API sinew_status sinew_bytes_save(const sinew_bytes *bytes, const char *path);

/// Whether a file name has an ending such as ".obj", which is given in lower case; the case of the
/// name does not matter.
SINEW_API bool sinew_name_has_ending(const char *name, const char *ending);

/// Supplies a file that another file references: the .bin of a .gltf, a mesh of a scene. `name` is
/// relative to the folder of the file that the host opened; the host decides which folders may be
/// read. The bytes must stay valid until the reader returns (for a scene, until it is built).
/// Returns false if there is no such file, or if it must not be read.
typedef bool sinew_fetch_fn(void *user, const char *name, const void **data, size_t *size);

/// A file as the readers see it.
typedef struct sinew_source {
    const char *name;      ///< Used in messages; its ending may decide on the format. Required.
    const void *data;      ///< The content. Borrowed during the call. Required.
    size_t size;           ///< [byte]
    sinew_fetch_fn *fetch; ///< Supplies referenced files. NULL if there are none.
    void *fetch_user;      ///< Handed to `fetch`.
    /// Whether the source was itself supplied by `fetch`; names in it are then relative to the
    /// folder of `name`. Default false.
    bool nested;
} sinew_source;

/// Opaque: a file on disk, together with the files that it references.
typedef struct sinew_file sinew_file;

/// Reads a file. `limit` applies to each file, as in sinew_bytes_load. [byte]
SINEW_API sinew_status sinew_file_open(sinew_context *context, const char *path, size_t limit,
                                       sinew_file **file);
/// The file as a source. Its `fetch` reads files in the same folder and below. Names that lead
/// outside, by "..", "/" or links, are refused unless sinew_file_allow_outside was called. Valid as
/// long as the file.
SINEW_API const sinew_source *sinew_file_get_source(const sinew_file *file);
/// Allows references to files outside the folder, for files that you trust. Initially not allowed.
SINEW_API void sinew_file_allow_outside(sinew_file *file);
/// The status of the referenced files: SINEW_OK, SINEW_IO_FAILED if the system could not read one
/// of them, or the status of the first that was refused.
SINEW_API sinew_status sinew_file_get_status(const sinew_file *file);
/// Number of names that were refused because they lead outside the folder. [count]
SINEW_API int32_t sinew_file_get_refused_count(const sinew_file *file);
/// Frees the file and everything it references. NULL is allowed.
SINEW_API void sinew_file_close(sinew_file *file);

#ifdef __cplusplus
}
#endif

#endif
