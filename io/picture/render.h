// Renders a scene to a picture in software, without a display or graphics card.
//
// The picture is divided into tiles. Each draws its triangles into a visibility buffer (raster.h)
// and shades each visible face once per pixel (shade.h), so eight samples per pixel smooth the
// edges at little more than the cost of one. Tiles are independent, so the picture is bitwise the
// same for any number of threads.
#ifndef SN_IO_PICTURE_RENDER_H
#define SN_IO_PICTURE_RENDER_H

#include "io/picture/scene.h"

// Fills the image (or view of an image). On failure its pixels are unchanged.
sinew_status sn_picture_render(sinew_context *context, const sn_picture_scene *scene,
                               sn_image image);

#endif
