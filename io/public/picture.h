// Pictures that other parts of the library have drawn.
#ifndef SN_IO_PUBLIC_PICTURE_H
#define SN_IO_PUBLIC_PICTURE_H

#include "sinew/io/picture.h"

#include "io/picture/picture.h"

// Makes a picture of an image, which it takes over: `image` is empty afterwards.
sinew_status sn_picture_take(sinew_context *context, sn_image *image, sinew_picture **picture);

#endif
