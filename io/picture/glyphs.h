// Converts glyphs to triangles: balls, arrows, coordinate frames and lines as small solids that the
// renderer treats like any mesh. Their thickness is given in pixels, so in the scene it grows with
// the distance from the eye. Thicker glyphs are finer.
#ifndef SN_IO_PICTURE_GLYPHS_H
#define SN_IO_PICTURE_GLYPHS_H

#include "io/picture/stage.h"

// Glyphs with a point or vector that is not finite are omitted. Arrays live in the arena.
sinew_status sn_glyphs_to_mesh(sn_picture_mesh *mesh, const sn_picture_glyphs *glyphs,
                               const sn_stage_view *view, sn_arena *arena);

#endif
