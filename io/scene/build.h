// From a scene to a world, and through time: what is held follows its motion, loads follow their
// curves, probes are read.
#ifndef SN_IO_SCENE_BUILD_H
#define SN_IO_SCENE_BUILD_H

#include "io/text/mistakes.h"
#include "io/scene/scene.h"
#include "io/bytes/buffer.h"
#include "io/bytes/source.h"
#include "math/vec.h"

// The nodes that a selection of a body picked.
typedef struct sn_picked {
    int32_t count;
    int32_t *nodes;
    uint8_t *axes; // of supports: the directions of each node that the entry decides; else NULL
    // Of tractions and pressures on frame bodies, whose `nodes` are triangles of the surface:
    double area;   // loaded [m^2]
    double factor; // from the areas of these triangles to the loaded ones
} sn_picked;

// What is drawn and written as a surface: that of the body.
typedef struct sn_scene_surface {
    const sinew_mesh *mesh; // at rest; the body owns it
    double *points;         // present positions, three each
} sn_scene_surface;

typedef struct sn_scene_member sn_scene_member;
typedef struct sn_scene_world sn_scene_world;
typedef struct sn_probe_state sn_probe_state;
typedef struct sn_support_report sn_support_report; // io/scene/report.h
typedef struct sn_bones sn_bones;                   // io/scene/build_skeleton.h

// What differs between bodies that are held and loaded at nodes and those that are at frames.
// Nobody else asks which of the two a body is.
typedef struct sn_member_ops {
    sinew_status (*apply)(sn_scene_member *member, double time); // targets of what is held, loads
    // The forces of its supports, as sn_scene_member_compute_supports.
    sinew_status (*compute_supports)(sn_scene_member *member, sn_support_report *reports);
    // Brings the body to the structure that it had at a time, of which a snapshot is to be
    // restored. NULL: it is always the same.
    sinew_status (*replay)(sn_scene_member *member, double time);
    // Whether that structure changes before a step that ends at a time, and whether a change still
    // fades at a time. NULL: never.
    bool (*changes)(const sn_scene_member *member, double time);
    bool (*is_fading)(const sn_scene_member *member, double time);
    // The number of frames that are held now. NULL: the body has none.
    int32_t (*count_held_frames)(const sn_scene_member *member);
    void (*release)(sn_scene_member *member); // NULL: nothing
} sn_member_ops;

struct sn_scene_member {
    const sn_member_ops *ops;
    sinew_context *context;
    const sn_scene_body *scene;
    sinew_body *body;
    sinew_mesh *mesh;    // rest mesh; owned; NULL for bodies of frames
    void *own;           // what `ops` keep for this body; NULL if nothing
    int32_t voxel_count; // 0 without frames
    int32_t frame_count; // the most that it has in the course of the scene; 0 without frames
    int32_t material_count,
        *materials; // of the scene's list, in the order in which the body numbers them
    sn_scene_surface surface;
    sn_picked *supports; // one for each support of the scene's body
    double *targets;     // three for each node: where held nodes go; NULL for bodies of frames
    sn_picked *loads;    // one for each load
    int32_t *load_index; // of the body's load, -1 for forces
    double *load_scales; // factors besides the curves, 1 at first
    sinew_point **load_points; // of forces at points of frames, NULL for other loads
    double *forces;            // scratch: three for each node
    sinew_binding *binding;    // to a skeleton; NULL without one
    sinew_binding_report binding_report;
    sinew_field *field; // of material axes; NULL without one
};

struct sn_scene_world {
    sn_arena arena; // holds this struct too
    const sn_scene *scene;
    sinew_world *world;
    sn_scene_member *members;
    sinew_point **probes;       // the bodies own them
    sinew_obstacle **obstacles; // one for each of the scene's; the world owns them
    sinew_rigid_joint **joints; // one for each of the scene's; the world owns them
    sinew_glue **glues;         // likewise
    sn_bones *bones;            // one for each skeleton of the scene
    sn_buffer history;          // states that fades need (history.h)
    bool motion_ended;          // of a skeleton that stops the run with it
};

// Makes the world of a scene that was read without mistakes. What is wrong with files, meshes and
// selections goes to `mistakes`. `fetch` hands over files that the scene names; names are as
// written there. The scene must outlive the world.
sinew_status sn_scene_build(sinew_context *context, const sn_scene *scene, sn_fetch_fn *fetch,
                            void *fetch_user, sn_mistakes *mistakes, sn_scene_world **world);
void sn_scene_world_destroy(sn_scene_world *world);

// Where a body's placement puts a rest point; displacements count from there.
sn_vec3 sn_scene_place(const sn_scene_body *body, sn_vec3 X);

// Where a rest point is at a time: turned about the axis, then moved. In the body's own coordinates
// before its placement.
sn_vec3 sn_scene_motion_at(const sn_scene_motion *motion, sn_vec3 X, double time);

// Sets targets of scripted parts and scales of loads for a moment: before a step to `time`.
sinew_status sn_scene_world_apply(sn_scene_world *world, double time);

// Sends moving obstacles to where they are at a time.
sinew_status sn_scene_world_move_obstacles(sn_scene_world *world, double time);

// Gives the drives of hinges their angles at a time. A snapshot of that time fits only then.
sinew_status sn_scene_world_drive_joints(sn_scene_world *world, double time);

// The static solve and the steps, with what is due in time applied before each.
sinew_status sn_scene_world_step(sn_scene_world *world, sinew_step_report *report);
sinew_status sn_scene_world_solve_static(sn_scene_world *world, sinew_step_report *report);

// Continues from a snapshot of this scene's world: frames that had joined by then join first. A
// snapshot of a moment at which frames were fading in or out needs the history of the run, which
// the world has if it went through that moment.
sinew_status sn_scene_world_restore(sn_scene_world *world, const void *bytes, size_t size);

// How the elements of a body were bound to its skeleton, or NULL.
const sinew_rig_report *sn_scene_member_rigging(const sn_scene_member *member);

// Brings the surfaces' points to the present positions.
void sn_scene_world_update_surfaces(sn_scene_world *world);

// A number for each point of a body's surface: strain, stress or speed. Of a member also
// displacement.
sinew_status sn_body_compute_values(sinew_context *context, sinew_body *body,
                                    sinew_scene_color color, double *values);
sinew_status sn_scene_member_compute_values(sn_scene_member *member, sinew_scene_color color,
                                            double *values);

struct sn_probe_state {
    double position[3], displacement[3]; // [m]
    sinew_element_state element;
};

void sn_scene_world_read_probe(const sn_scene_world *world, int32_t probe, sn_probe_state *state);

#endif
