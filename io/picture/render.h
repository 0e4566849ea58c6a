// From a scene to a picture, in software: no display, no graphics card.
//
// The picture is cut into tiles; each draws its triangles into a visibility buffer (raster.h) and
// shades each visible face once a pixel (shade.h), so eight samples a pixel smooth the edges for
// little more than one. Tiles are independent: the picture is the same, bit for bit, for any number
// of threads.
#ifndef SN_IO_PICTURE_RENDER_H
#define SN_IO_PICTURE_RENDER_H

#include "io/picture/scene.h"

// Fills the image (or view of an image). On failure its pixels are as they were.
sinew_status sn_picture_render(sinew_context *context, const sn_picture_scene *scene,
                               sn_image image);

#endif
