// A character while it is made soft: what the parts of soften share.
//
//   surface.c    its meshes and their weights
//   motion.c     the animation it performs, its own or one taken from another file
//   softness.c   how soft each vertex is
//   flesh.c      bones, lattice, materials
//   model.c      position dynamics, finite elements or frames
//   complement.c physics that does not move what the joints control
//   simulate.c   the motion of the flesh
//   floor.c      a floor that the flesh rests on
//   write.c      the motion as morph targets, as joints, or as point caches
//   decompose.c  displacements as the motion of a few joints
#ifndef SN_IO_SOFTEN_SOFTENER_H
#define SN_IO_SOFTEN_SOFTENER_H

#include "sinew/io/soften.h"
#include "sinew/point.h"
#include "sinew/voxel.h"
#include "sinew/pbd.h"

#include "io/bytes/source.h"
#include "io/gltf/gltf.h"
#include "io/soften/soften.h"
#include "math/svd.h"

// A primitive of a mesh that follows the skin.
typedef struct sn_soft_part {
    int32_t mesh, primitive;
    int32_t first; // of its points among all
} sn_soft_part;

enum { SN_SOFT_LEVELS = 41 }; // of softness, from 2^-10 to 2^10

typedef struct sn_soft_materials {
    double young[SN_SOFT_LEVELS]; // [Pa]
    int32_t *of_tet;              // level of each tet
} sn_soft_materials;

// See complement.c. The arrays must outlive the projection.
typedef struct sn_complement_def {
    const double *points; // of the nodes at rest, three numbers each
    int32_t node_count, joint_count;
    const int32_t *first_weight, *joints; // [node + 1], [weight]
    const double *weights;                // [weight]
    const double *masses;                 // [node]
    const uint8_t *held;                  // [node] does not move and takes no part
} sn_complement_def;

typedef struct sn_complement {
    sn_complement_def def;
    size_t width;    // four functions for each joint
    double size;     // lengths are divided by it
    double *middles; // [3 joint]
    double *factor;  // [width * width], lower triangle
    double *shares;  // [width]
} sn_complement;

sinew_status sn_complement_create(sn_arena *arena, const sn_complement_def *def,
                                  sn_complement *complement);

// Takes out of the vectors, three numbers for each node, what the joints can do.
void sn_complement_project(sn_complement *complement, double *vectors);

typedef struct sn_softener {
    sinew_context *context;
    const sinew_source *source;
    const sinew_soften_def *def;
    const sn_gltf *file; // as it is in the file
    sn_gltf view;        // the same, with the motion of another file as its last animation
    const sn_gltf *gltf; // the view
    sn_arena *arena;
    sinew_soften_report *report;

    const sn_gltf_skin *skin;
    int32_t animation; // of the view
    bool borrowed;     // it is not in the file
    double unit;       // metres in a unit of the mesh: that of the file, times the joints' scale

    int32_t part_count, point_count, index_count;
    sn_soft_part *parts;
    double *points;  // as they were bound, in the units of the mesh
    double *normals; // of the points, zero where the file has none
    double *rest;    // the points in metres
    double *weights; // [point * joint_count + joint]
    double *soft;    // [point] factor on the compliance; 0: follows the bones
    int32_t *indices;

    sn_lattice lattice;
    sinew_pbd *pbd;          // position dynamics, or
    sinew_world *world;      // a world with the body of
    sinew_body *body;        // tets or frames;
    int32_t *every;          // all nodes of the lattice
    sinew_voxels *voxels;    // frames see the lattice so, and
    sinew_point **followers; // each node of the lattice is a point of their body
    sn_complement complement;
    sn_gltf_node *nodes;           // as the animation has them
    double *mass;                  // [node of the flesh] [kg]
    int32_t *first_weight, *joint; // [node + 1], [weight]: the joints that each node follows
    double *weight;                // [weight]
    double *path[3];               // where the skin has the nodes before, at and after a time [m]
    sn_mat3 *rotation;             // [node] of the skin at that time
    sn_vec3 *sag;                  // [node] R0' g [m/s^2]
    double *forces, *flesh, *velocities;
    sn_mat3 *gradients;           // [node] of the displacement
    sn_mat3 *tet_inverses;        // [tet] of the edges at rest
    sn_mat3 *tet_gradients;       // [tet] F
    int32_t *first_tet, *tets_at; // [node + 1]: the tets at each node

    int32_t image_count;
    double *times;
    // What the flesh adds to the points, image after image, and behind that what it adds to their
    // normals.
    double *images;
} sn_softener;

// The numbers of an image.
static inline size_t sn_softener_image_size(const sn_softener *s) {
    return (s->def->normals ? 6 : 3) * (size_t)s->point_count;
}

sinew_status sn_soft_choose_animation(sn_softener *s);
sinew_status sn_soft_collect_surface(sn_softener *s);
sinew_status sn_soft_find_softness(sn_softener *s);
sinew_status sn_soft_build_flesh(sn_softener *s);
sinew_status sn_soft_simulate(sn_softener *s);
sinew_status sn_soft_write(sn_softener *s, sn_buffer *out);

// The last key of the animation. [s]
double sn_soft_animation_length(const sn_softener *s);

// Adds the motion of def->motion to the view as an animation.
sinew_status sn_soft_borrow_motion(sn_softener *s);

// The skinning matrices at a time, in the arena.
sinew_status sn_soft_pose(sn_softener *s, double time, double **matrices);

// S = sum_k w_k M_k, as matrix and translation.
void sn_soft_blend(const double *matrices, int32_t count, const int32_t *joints,
                   const double *weights, sn_mat3 *S, sn_vec3 *t);

// The same for a point of the surface.
void sn_soft_blend_point(const sn_softener *s, const double *matrices, int32_t point, sn_mat3 *S,
                         sn_vec3 *t);

// The model of the flesh: creates it, advances it with forces on the nodes of the lattice (or
// NULL), and moves the state of the nodes from and to s->flesh and s->velocities.
sinew_status sn_soft_model_create(sn_softener *s, const sn_soft_materials *materials);
sinew_status sn_soft_model_step(sn_softener *s, double h, const double *forces);
sinew_status sn_soft_model_read(sn_softener *s);
sinew_status sn_soft_model_write(sn_softener *s);
void sn_soft_model_destroy(sn_softener *s);

// Lifts what is below the floor at a time, after a step of length h.
sinew_status sn_soft_lift(sn_softener *s, double time, double h);

// Joints that carry the displacements of many points: x = X + sum_k u_k (T_k X - X).
typedef struct sn_soft_joints {
    int32_t count;
    int32_t *parents; // [joint] joint of the skin
    double *centers;  // [3 joint] in the bind pose
    double *poses;    // [image][joint] 12 numbers: T_k, row by row, translation last
    int32_t slots;    // joints at a point
    int32_t *joints;  // [point * slots]: of the skin, then the new ones
    double *weights;  // [point * slots]
} sn_soft_joints;

typedef struct sn_soft_joints_def {
    const double *points;
    int32_t point_count;
    const double *weights; // [point * joint_count + joint]
    int32_t joint_count;
    const double *images; // `stride` numbers each, of which the first 3 point_count count
    int32_t image_count;
    size_t stride;
    int32_t most;  // new joints
    int32_t slots; // joints at a point: 4 or 8
} sn_soft_joints_def;

// Finds the joints. With all of them at rest every point has exactly the weights of the skin.
sinew_status sn_soft_joints_create(sn_arena *arena, const sn_soft_joints_def *def,
                                   sn_soft_joints *joints);

#endif
