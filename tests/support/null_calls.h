// Objects for the calls that tests/public/null_calls.py writes, and its table of calls.
#ifndef SN_TESTS_SUPPORT_NULL_CALLS_H
#define SN_TESTS_SUPPORT_NULL_CALLS_H

#include "sinew/io.h"
#include "sinew/sinew.h"

typedef struct null_case {
    const char *function, *pointer;
    bool allowed; // the comment of the function mentions NULL
    sinew_status (*call)(void);
} null_case;

extern const null_case null_cases[];
extern const int null_case_count;

// Room for what a call returns, zeroed; another one each time, of eight.
void *null_room(void);

// Valid objects, NULL where none is made.
sinew_context *null_context(void);
sinew_world *null_world(void);
sinew_body *null_body(void);
sinew_mesh *null_mesh(void);
sinew_voxels *null_voxels(void);
sinew_skeleton *null_skeleton(void);
sinew_motion *null_motion(void);
sinew_field *null_field(void);
sinew_pbd *null_pbd(void);
sinew_embedding *null_embedding(void);
sinew_obstacle *null_obstacle(void);
sinew_point *null_point(void);
sinew_reduction *null_reduction(void);
sinew_attachment *null_attachment(void);
sinew_rigid_joint *null_rigid_joint(void);
sinew_glue *null_glue(void);
sinew_rig *null_rig(void);
sinew_skin *null_skin(void);
sinew_binding *null_binding(void);
sinew_bytes *null_bytes(void);
sinew_source *null_source(void);
sinew_scene *null_scene(void);
sinew_recording *null_recording(void);
sinew_json_writer *null_json_writer(void);
sinew_variants *null_variants(void);
sinew_variant *null_variant(void);
sinew_mesh_file *null_mesh_file(void);
sinew_volume_file *null_volume_file(void);
sinew_field_file *null_field_file(void);
sinew_gltf_file *null_gltf_file(void);
sinew_character *null_character(void);
sinew_tissue_table *null_tissue_table(void);
sinew_picture *null_picture(void);
sinew_output *null_output(void);
sinew_file *null_file(void);

#endif
