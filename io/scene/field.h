// The grain of a body: curves that guide its material axes, a file of them, or one rotation for
// all.
#ifndef SN_IO_SCENE_FIELD_H
#define SN_IO_SCENE_FIELD_H

#include "io/scene/builder.h"
#include "io/scene/scene.h"

struct sn_scene_field {
    sinew_field_def
        def; // mesh and kind of curves filled in when it is built; curves live with the scene
    const char *file; // NULL: from the curves
    bool uniform;     // one rotation for all
    bool own;         // the curves that belong to the shape, an organism
    bool kind_given;  // otherwise an organism says
    double rotation[4];
    const sn_json *json;
};

// The field of a member's mesh; NULL if the scene gives it none.
sinew_status sn_builder_make_field(const sn_builder *b, const sn_scene_body *body,
                                   const sinew_mesh *mesh, sinew_field **field);

// The tets of an organism, and its smooth surface.
sinew_status sn_builder_make_organism(const sn_builder *b, const sn_scene_shape *shape,
                                      sinew_mesh **mesh);
sinew_status sn_builder_make_organism_skin(const sn_builder *b, const sn_scene_shape *shape,
                                           sinew_mesh **skin);

#endif
