// The inside of sinew_bytes: the buffer that the writers of io write into.
#ifndef SN_IO_PUBLIC_BYTES_H
#define SN_IO_PUBLIC_BYTES_H

#include "sinew/io/bytes.h"

#include "io/bytes/buffer.h"

struct sinew_bytes {
    sn_buffer buffer;
};

// Saves what a writer has put into `buffer` unless it failed; frees the buffer in every case.
sinew_status sn_save_buffer(sinew_status status, sn_buffer *buffer, const char *path);

#endif
