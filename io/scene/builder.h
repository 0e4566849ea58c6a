// What the files that build bodies share: the world under construction, files, mistakes; and the
// models' operations.
#ifndef SN_IO_SCENE_BUILDER_H
#define SN_IO_SCENE_BUILDER_H

#include "io/scene/build.h"

#include "math/quat.h"

typedef struct sn_builder {
    sinew_context *context;
    const sn_scene *scene;
    sn_fetch_fn *fetch;
    void *fetch_user;
    sn_mistakes *mistakes;
    sn_scene_world *world;
} sn_builder;

// Notes what the context says as a mistake at a place of the scene; out of memory is passed on
// instead.
sinew_status sn_builder_note(const sn_builder *b, const sn_json *json, sinew_status status);

// Refuses materials whose fibres would not pull in the model of the body.
sinew_status sn_builder_check_fibres(const sn_builder *b, const sn_scene_member *member);

// Reads a mesh file: its solid elements, or, if there are none or `surface` is asked for, its
// triangles.
sinew_status sn_builder_read_mesh(const sn_builder *b, const char *name,
                                  const sn_scene_shape *shape, bool surface, sinew_mesh **out);

// How a motion turns at a time, before the body's placement.
sn_quat sn_scene_motion_turn(const sn_scene_motion *motion, double time);

// Rigid bodies, and the joints of the scene once all bodies are there.
sinew_status sn_builder_make_rigid(sn_builder *b, sn_scene_member *member);
sinew_status sn_builder_make_joints(sn_builder *b);

// Glue, likewise.
sinew_status sn_builder_make_glue(sn_builder *b);

// The closed surface of triangles that a shape describes, to be destroyed by the caller.
sinew_status sn_builder_make_closed(const sn_builder *b, const sn_scene_shape *shape,
                                    sinew_mesh **surface);

// Switches contact on as the scene says, and makes its obstacles; after the bodies.
sinew_status sn_builder_make_contact(sn_builder *b);

// Takes over the surface of the body that was made for a member.
sinew_status sn_builder_take_surface(const sn_builder *b, sn_scene_member *member);

extern const sn_member_ops sn_element_member_ops;

// Reduces a body of elements once it is held, if the scene asks for that.
sinew_status sn_builder_reduce(sn_builder *b, sn_scene_member *member);

// That "materials" of a body names a label which none of its elements or voxels has.
void sn_builder_warn_of_label(const sn_builder *b, const sn_scene_body *body, int32_t label);

#endif
