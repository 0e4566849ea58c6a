// Contact: obstacles, friction, and what touches what.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_CONTACT_H
#define SINEW_CONTACT_H

#include "sinew/body.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How hard a step tries. Both modes accept only configurations that a separating plane of every
/// pair certifies to be free of intersections.
typedef enum sinew_contact_mode {
    /// At most two linear solves a step for bodies that touch, three in fast impacts. The cost is
    /// bounded; forces and friction lag behind by a step where contact changes. The default.
    /// Integrators that iterate
    /// to convergence take the reliable mode instead.
    SINEW_CONTACT_INTERACTIVE,
    /// Solves until forces, gaps and friction agree, with a line search.
    SINEW_CONTACT_RELIABLE,
} sinew_contact_mode;

/// What becomes of bodies that intersect each other when a step begins.
typedef enum sinew_contact_overlap_rule {
    /// They are led apart, by at most their size a second, and carry no forces where they overlap
    /// until then. The default.
    SINEW_OVERLAP_HEAL,
    /// They do not touch each other for as long as they overlap.
    SINEW_OVERLAP_IGNORE,
    /// The step fails with SINEW_INVALID_DATA and changes nothing.
    SINEW_OVERLAP_REFUSE,
} sinew_contact_overlap_rule;

typedef struct sinew_contact_def {
    /// Default SINEW_CONTACT_INTERACTIVE.
    sinew_contact_mode mode;
    /// Whether bodies touch each other, but for those that are attached to one another. Default
    /// true.
    bool bodies;
    /// Whether bodies touch themselves. Default false.
    bool self;
    /// Coefficient of Coulomb friction of everything that has none of its own. [-] At least 0.
    /// Default 0.5. Between two materials acts the geometric mean of both, unless
    /// sinew_world_set_friction says otherwise.
    double friction;
    /// Speed of sliding below which friction is smoothed; a body that should stick creeps at most
    /// this fast. [m/s] At least 0. Default 0: a thousandth of the largest body's size a second.
    double friction_speed;
    /// The gap that a body keeps to an obstacle; two bodies keep the sum of theirs. [m] At least 0.
    /// Default 0: a thousandth of each body's size.
    double thickness;
    /// Bodies that intersect each other. Default SINEW_OVERLAP_HEAL.
    sinew_contact_overlap_rule overlaps;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_contact_def;

/// A definition with every field at its default.
SINEW_API sinew_contact_def sinew_default_contact_def(void);

/// Switches contact on, or changes how it is solved from the next step on. NULL switches it off and
/// keeps the obstacles. Contact needs implicit Euler, linearised or by Newton's method, or BDF2.
SINEW_API sinew_status sinew_world_set_contact(sinew_world *world, const sinew_contact_def *def);
/// Returns whether contact is on; `def` receives its definition if it is, and may be NULL.
SINEW_API bool sinew_world_get_contact(const sinew_world *world, sinew_contact_def *def);

/// Sets the coefficient of friction between two materials, in place of the mean of their own, from
/// the next step on. [-] At least 0; below 0 removes the entry. Materials are numbers that bodies
/// and obstacles are given, from 1; both may be the same. The order does not matter.
SINEW_API sinew_status sinew_world_set_friction(sinew_world *world, int32_t material, int32_t other,
                                                double friction);
/// The entry of the table for two materials; below 0 if there is none.
SINEW_API double sinew_world_get_friction(const sinew_world *world, int32_t material,
                                          int32_t other);

/// Contact settings of one body.
typedef struct sinew_body_contact_def {
    /// Whether the body takes part in contact. Default true.
    bool on;
    /// Coefficient of friction. [-] At least 0, or below 0 for the world's. Default -1.
    double friction;
    /// The gap that it keeps. [m] At least 0; 0 means the world's. Default 0.
    double thickness;
    /// Number of its material in the table of sinew_world_set_friction. At least 0. Default 0:
    /// none.
    int32_t material;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_body_contact_def;

/// A definition with every field at its default.
SINEW_API sinew_body_contact_def sinew_default_body_contact_def(void);
/// Sets them from the next step on.
SINEW_API sinew_status sinew_body_set_contact(sinew_body *body, const sinew_body_contact_def *def);

/// Frames that join a body of frames where something presses a dent into it, and leave again.
typedef struct sinew_contact_frames_def {
    /// The most that there are at a time. [count] In [1, 16]. Default 4.
    int32_t most;
    /// The depth of a dent that is worth a frame: estimated from the force on a patch and its area,
    /// as if the body were much larger than the patch. [m] At least 0; 0 means a hundredth of the
    /// body's size. Default 0.
    double depth;
    /// The range of a frame in terms of the radius of the patch of contact. [-] Above 0. Default 3.
    /// Frames whose range would exceed half the body's size do not join.
    double spread;
    /// The time over which a change of the frames spreads. [s] At least 0. Default 0.1.
    double fade;
    /// How long a frame stays after the last contact near it. [s] At least 0. Default 0.2.
    double linger;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_contact_frames_def;

/// A definition with every field at its default.
SINEW_API sinew_contact_frames_def sinew_default_contact_frames_def(void);
/// Lets frames join the body after steps in which something presses on it, and leave again. NULL
/// ends that, and those that joined leave. They are affine, or rigid where the body takes no
/// others, and come after the body's own in its numbering. Snapshots contain them. Not for bodies
/// with frames that were inserted otherwise, nor in static solves.
SINEW_API sinew_status sinew_frame_body_set_contact_frames(sinew_body *body,
                                                           const sinew_contact_frames_def *def);
/// Returns whether frames may join the body; `def` receives the definition then, and may be NULL.
SINEW_API bool sinew_frame_body_get_contact_frames(const sinew_body *body,
                                                   sinew_contact_frames_def *def);

/// Opaque: a solid that bodies cannot enter, fixed or moved by the host. Lives until it is
/// destroyed or its world is.
typedef struct sinew_obstacle sinew_obstacle;

typedef enum sinew_obstacle_kind {
    SINEW_OBSTACLE_PLANE,   ///< Everything below z = 0 in its own axes.
    SINEW_OBSTACLE_SPHERE,  ///< About its position.
    SINEW_OBSTACLE_BOX,     ///< About its position, along its own axes.
    SINEW_OBSTACLE_CAPSULE, ///< About its position, along its own z axis, with round ends.
    SINEW_OBSTACLE_MESH,    ///< Any closed surface, in its own axes.
} sinew_obstacle_kind;

typedef struct sinew_obstacle_def {
    /// Name for messages and files. Copied, at most 63 bytes. Default NULL, which gives "obstacle".
    const char *name;
    /// Default SINEW_OBSTACLE_PLANE.
    sinew_obstacle_kind kind;
    /// Where it is. [m] Finite. Default 0.
    double position[3];
    /// How it is rotated, as a quaternion (x, y, z, w); its length does not matter. [-] Not zero.
    /// Default (0, 0, 0, 1).
    double rotation[4];
    /// Of a sphere or capsule. [m] Above 0. Default 0.5.
    double radius;
    /// Edges of a box. [m] Above 0. Default 1, 1, 1.
    double size[3];
    /// Of a capsule between the centres of its ends. [m] At least 0. Default 1.
    double length;
    /// Surface of a mesh: triangles that are closed and face outwards, without any of zero area.
    /// Copied. Required for meshes. Default NULL.
    const sinew_mesh *mesh;
    /// Coefficient of friction. [-] At least 0, or below 0 for the world's. Default -1.
    double friction;
    /// Number of its material in the table of sinew_world_set_friction. At least 0. Default 0:
    /// none.
    int32_t material;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_obstacle_def;

/// A level floor through the origin.
SINEW_API sinew_obstacle_def sinew_default_obstacle_def(void);

/// Adds an obstacle; `obstacle` may be NULL. Switches contact on with its defaults if it is off.
/// Bodies that overlap it are pushed out gently.
SINEW_API sinew_status sinew_obstacle_create(sinew_world *world, const sinew_obstacle_def *def,
                                             sinew_obstacle **obstacle);
/// Removes an obstacle. NULL is allowed.
SINEW_API void sinew_obstacle_destroy(sinew_obstacle *obstacle);

/// Sets the position [m] and rotation (a quaternion) of the obstacle at the end of the next step.
/// By friction it moves bodies that touch it. An obstacle that would have to pass through a body
/// stops in front of it and continues in later steps.
SINEW_API sinew_status sinew_obstacle_move(sinew_obstacle *obstacle, const double position[3],
                                           const double rotation[4]);
/// The present position [m] and rotation. Either pointer may be NULL.
SINEW_API void sinew_obstacle_get_pose(const sinew_obstacle *obstacle, double position[3],
                                       double rotation[4]);
/// The force and the torque about its position that bodies exerted on it in the last step. [N],
/// [N m] Either pointer may be NULL.
SINEW_API void sinew_obstacle_get_force(const sinew_obstacle *obstacle, double force[3],
                                        double torque[3]);
/// The name. Valid as long as the obstacle.
SINEW_API const char *sinew_obstacle_get_name(const sinew_obstacle *obstacle);
/// The number of obstacles [count], and an obstacle by its index in the order of creation; NULL if
/// the index is out of range.
SINEW_API int32_t sinew_world_get_obstacle_count(const sinew_world *world);
SINEW_API sinew_obstacle *sinew_world_get_obstacle(const sinew_world *world, int32_t index);
/// Its definition, with the present position and rotation. Its mesh lives as long as the obstacle.
SINEW_API sinew_obstacle_def sinew_obstacle_get_def(const sinew_obstacle *obstacle);

/// Contact of all bodies in the last step.
typedef struct sinew_contact_report {
    int32_t pairs;        ///< Pairs of features near enough to be looked at. [count]
    int32_t active;       ///< ... that carry a force. [count]
    int32_t solves;       ///< Linear solves of the group of bodies that took most. [count]
    int32_t truncated;    ///< Vertices that stopped short of where forces would move them. [count]
    int32_t held;         ///< Pairs without a proof of separation, kept where they were. [count]
    int32_t overlapping;  ///< Pairs of bodies that intersected when the step began. [count]
    int32_t overlaps;     ///< Vertices inside an obstacle or another body then. [count]
    double deepest;       ///< ... and how deep at most. [m]
    double smallest_gap;  ///< Between accepted surfaces, of the pairs; INFINITY without any. [m]
    double lag;           ///< The longest distance by which a vertex stopped short. [m]
    double largest_force; ///< Of a pair. [N]
} sinew_contact_report;

/// The report of the last step: zeros and an infinite gap if nothing was close.
SINEW_API sinew_contact_report sinew_world_get_contact_report(const sinew_world *world);

/// A force between a body and an obstacle or another body, in the last step.
typedef struct sinew_contact {
    sinew_body *body;
    sinew_body *other;        ///< NULL: an obstacle.
    sinew_obstacle *obstacle; ///< NULL: a body.
    double position[3];       ///< On the surface of `body`. [m]
    double normal[3];         ///< Unit, towards `body`.
    double force[3];          ///< On `body`, with friction. [N]
    double gap;               ///< Between both surfaces. [m]
    double slip;              ///< Tangential motion in the step. [m]
} sinew_contact;

/// The contacts of the last step. Returns their number; the list is valid until the next step.
SINEW_API int32_t sinew_world_get_contacts(const sinew_world *world,
                                           const sinew_contact **contacts);

/// Opaque: see sinew/glue.h.
typedef struct sinew_glue sinew_glue;

/// A body started or stopped touching another body or an obstacle in the last step, or glue broke.
typedef struct sinew_contact_event {
    sinew_body *body;
    sinew_body *other;        ///< NULL: an obstacle.
    sinew_obstacle *obstacle; ///< NULL: a body.
    bool began;               ///< false: ended.
    sinew_glue *glue;         ///< Glue between both bodies that broke; NULL: none.
} sinew_contact_event;

/// The events of the last step. Returns their number; the list is valid until the next step.
SINEW_API int32_t sinew_world_get_contact_events(const sinew_world *world,
                                                 const sinew_contact_event **events);

/// Contact of one body in the last step.
typedef struct sinew_body_contact {
    int32_t count;   ///< Of its contacts.
    double force[3]; ///< The sum of their forces on it. [N]
    double area;     ///< Of the part of its surface that carries them, one third of the triangles
                     ///< around each vertex with a force. [m^2]
    double position[3]; ///< The mean of their positions, weighted by their forces. [m]
} sinew_body_contact;

/// Sums up the contacts of a body.
SINEW_API sinew_status sinew_body_get_contact(sinew_body *body, sinew_body_contact *contact);

/// Contact forces of the last step on the vertices of the body's surface, three numbers each. [N]
/// `areas` receives the area that each vertex stands for, a third of the triangles around it, now,
/// and may be NULL: force over area is the pressure. [m^2]
SINEW_API sinew_status sinew_body_compute_contact_forces(sinew_body *body, double *forces,
                                                         double *areas);

#ifdef __cplusplus
}
#endif

#endif
