// Temporary folders for files exchanged with other programs.
#ifndef PROOF_FOLDER_H
#define PROOF_FOLDER_H

#include "sinew/base.h"

// Creates a new folder in $TMPDIR, or else in /tmp; its name goes to `path`.
sinew_status proof_make_folder(sinew_context *context, char *path, size_t size);

// Removes a folder and everything in it.
sinew_status proof_remove_folder(sinew_context *context, const char *path);

#endif
