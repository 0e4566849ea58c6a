// Images as PNG in memory, through libpng, which no other file uses. Without libpng (SN_WITH_PNG)
// writing is unsupported.
#ifndef SN_IO_PICTURE_PNG_H
#define SN_IO_PICTURE_PNG_H

#include "io/bytes/buffer.h"
#include "io/picture/picture.h"

// Appends a PNG (sRGB, eight bits per channel) to the buffer. On failure the buffer keeps its size.
sinew_status sn_png_write(sinew_context *context, sn_image image, sn_buffer *buffer);

#endif
