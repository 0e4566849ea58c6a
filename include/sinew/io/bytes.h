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

/// Makes an empty one. Destroy it before its context.
SINEW_API sinew_status sinew_bytes_create(sinew_context *context, sinew_bytes **bytes);
/// NULL is allowed.
SINEW_API void sinew_bytes_destroy(sinew_bytes *bytes);

/// The content, and a zero byte behind it. Lives until the next change.
SINEW_API const void *sinew_bytes_get_data(const sinew_bytes *bytes);
/// Its size without that zero. [byte]
SINEW_API size_t sinew_bytes_get_size(const sinew_bytes *bytes);
/// SINEW_OUT_OF_MEMORY if anything could not be added since it was made or cleared: add everything,
/// then ask once.
SINEW_API sinew_status sinew_bytes_get_status(const sinew_bytes *bytes);
/// Forgets the content, keeps the memory.
SINEW_API void sinew_bytes_clear(sinew_bytes *bytes);

/// Adds bytes, or text that ends with a zero, at the end.
SINEW_API void sinew_bytes_add(sinew_bytes *bytes, const void *data, size_t size);
SINEW_API void sinew_bytes_add_text(sinew_bytes *bytes, const char *text);
/// Adds a number with the fewest digits that read back as the same double, whatever the locale.
SINEW_API void sinew_bytes_add_number(sinew_bytes *bytes, double value);

/// Reads a whole file. `limit`: a larger one is refused. [byte] 0 means 4 GiB.
SINEW_API sinew_status sinew_bytes_load(sinew_context *context, const char *path, size_t limit,
                                        sinew_bytes **bytes);
/// Writes a whole file in one piece, so that nobody sees half of it (see sinew/io/output.h).
SINEW_API sinew_status sinew_bytes_save(const sinew_bytes *bytes, const char *path);

/// Whether the name of a file ends with an ending such as ".obj" (in lower case), in any case of
/// letters, and is longer than it.
SINEW_API bool sinew_name_has_ending(const char *name, const char *ending);

/// Hands over a file that another one references: the .bin of a .gltf, a mesh of a scene. `name` is
/// as the file has it, relative to the folder of the file that the host opened: a host decides
/// which folders it lets a file reach. The bytes must stay valid until the reader returns (those
/// for a scene: until it is built). Returns false if there is no such file, or none that may be
/// read.
typedef bool sinew_fetch_fn(void *user, const char *name, const void **data, size_t *size);

/// A file as the readers see it.
typedef struct sinew_source {
    const char *name;      ///< For messages, and for its ending, which may tell the format. Needed.
    const void *data;      ///< Its bytes. Borrowed during the call. Needed.
    size_t size;           ///< [byte]
    sinew_fetch_fn *fetch; ///< Files beside it. NULL: there are none.
    void *fetch_user;      ///< Handed to `fetch`.
    /// The source was fetched itself: what it references is relative to the folder of `name`.
    /// Default false.
    bool nested;
} sinew_source;

/// Opaque: a file on disk with the files beside it that were asked for.
typedef struct sinew_file sinew_file;

/// Reads a file. `limit`: as for sinew_bytes_load, for each file. [byte]
SINEW_API sinew_status sinew_file_open(sinew_context *context, const char *path, size_t limit,
                                       sinew_file **file);
/// The file as a source: `fetch` reads those in the same folder and below it, and refuses names
/// that lead out of it, by "..", by "/" or by links, unless sinew_file_allow_outside was called.
/// Lives as long as the file.
SINEW_API const sinew_source *sinew_file_get_source(const sinew_file *file);
/// Lets the file reference others anywhere: for files that are trusted. At first it may not.
SINEW_API void sinew_file_allow_outside(sinew_file *file);
/// How fetching files beside it went: SINEW_OK, or SINEW_IO_FAILED if the system could not read one
/// of them, or the status of the first that was not handed over.
SINEW_API sinew_status sinew_file_get_status(const sinew_file *file);
/// How many names were refused because they lead out of the folder. [count]
SINEW_API int32_t sinew_file_get_refused_count(const sinew_file *file);
/// Frees the bytes of all of them. NULL is allowed.
SINEW_API void sinew_file_close(sinew_file *file);

#ifdef __cplusplus
}
#endif

#endif
