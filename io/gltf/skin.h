// Skins: a surface whose points follow weighted joints. Written from what moves (frames of a body,
// bones), and replayed the way any viewer does, to tell how far a file is from what it stands for.
#ifndef SN_IO_GLTF_SKIN_H
#define SN_IO_GLTF_SKIN_H

#include "sinew/io/animation_file.h"

#include "io/gltf/gltf.h"

typedef sinew_joint_pose sn_joint_pose;

// The pose nearest to x = translation + matrix * (X - rest), row by row: the scale is along the
// rotated axes, so that shear is lost. Returns the norm (Frobenius) of what is lost of the matrix.
double sn_joint_pose_fit(const double translation[3], const double matrix[9], sn_joint_pose *pose);

typedef struct sn_skin_def {
    const char *name;
    int32_t point_count, index_count;
    const double *points; // rest, three each
    const int32_t *indices;
    const int32_t *start; // point_count + 1: weights of point i are start[i] .. start[i + 1] - 1
    const int32_t *joint;
    const double *weight;
    int32_t joint_count;
    const double *joint_rest; // three each
    int32_t sets; // of four joints at a point: 1 or 2. The largest weights stay and are scaled to
                  // sum to 1
    int32_t frame_count;
    const double *times;        // [s], increasing
    const sn_joint_pose *poses; // joint after joint, frame after frame
    bool z_up;                  // stand the file upright: the points have z up
    sn_gltf_material material;
} sn_skin_def;

// Writes a .glb with a mesh, its skin and an animation of the joints. `largest_loss` receives the
// largest sum of absolute weights that a point lost; it may be NULL.
sinew_status sn_write_glb_skin(const sn_skin_def *def, sn_buffer *out, double *largest_loss);

// The value of a channel at a time, held before the first and after the last key; `out` has room
// for its components. Cubic ones by Hermite's polynomials.
void sn_gltf_sample(const sn_gltf_channel *channel, double time, double *out);

// The nodes as animation number `animation` places them at a time; `nodes` receives
// gltf->node_count of them.
void sn_gltf_pose(const sn_gltf *gltf, int32_t animation, double time, sn_gltf_node *nodes);

// The matrix that takes a skinned mesh in the pose it was bound in to the world: where the root of
// the skin carries it as the nodes stand without an animation. Exporters put the axis that is up
// and the unit of length into nodes above the root. `matrices` are those of all nodes.
void sn_gltf_bind_matrix(const sn_gltf *gltf, int32_t skin, const double *matrices, double out[16]);

// The matrices that take points as they were bound to where the joints of a skin have them, 16
// numbers each, column after column, in `arena`.
sinew_status sn_gltf_compute_joints(const sn_gltf *gltf, const sn_gltf_node *nodes, int32_t skin,
                                    sn_arena *arena, double **matrices);

// The points of all primitives of a skinned node, one after the other, with the nodes placed as
// given. `points` has room for three numbers each.
sinew_status sn_gltf_skin_points(const sn_gltf *gltf, const sn_gltf_node *nodes, int32_t node,
                                 sn_arena *scratch, double *points);

#endif
