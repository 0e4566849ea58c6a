// Skins: a surface whose points follow weighted joints. They are written from moving frames or
// bones, and can be replayed as a viewer would, to measure the error of a file.
#ifndef SN_IO_GLTF_SKIN_H
#define SN_IO_GLTF_SKIN_H

#include "sinew/io/animation_file.h"

#include "io/gltf/gltf.h"

typedef sinew_joint_pose sn_joint_pose;

// The pose that best approximates x = translation + matrix (X - rest), matrix row by row. The scale
// acts along the rotated axes, so shear is lost. Returns the Frobenius norm of the lost part of the
// matrix.
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
    int32_t sets; // of four joints per point, 1 or 2; the largest weights are kept and normalised
    int32_t frame_count;
    const double *times;        // [s], increasing
    const sn_joint_pose *poses; // frame by frame, all joints of each
    bool z_up;                  // the points have z up: rotate the file upright
    sn_gltf_material material;
} sn_skin_def;

// Writes a .glb with a mesh, its skin and an animation of the joints. `largest_loss` receives the
// largest sum of absolute weights that was dropped at a point; it may be NULL.
sinew_status sn_write_glb_skin(const sn_skin_def *def, sn_buffer *out, double *largest_loss);

// The value of a channel at a time, constant before the first and after the last key; `out` has
// room for its components. Cubic interpolation uses Hermite polynomials.
void sn_gltf_sample(const sn_gltf_channel *channel, double time, double *out);

// The nodes at a time of animation number `animation`; `nodes` receives gltf->node_count of them.
void sn_gltf_pose(const sn_gltf *gltf, int32_t animation, double time, sn_gltf_node *nodes);

// The matrix that maps a skinned mesh in its bind pose to the world: that of the root of the skin
// without an animation. Exporters store the up axis and the unit of length in nodes above the root.
// `matrices` are those of all nodes.
void sn_gltf_bind_matrix(const sn_gltf *gltf, int32_t skin, const double *matrices, double out[16]);

// The skinning matrices of a skin (pose of the joint times its inverse bind matrix), 16 numbers
// each, column by column, in `arena`.
sinew_status sn_gltf_compute_joints(const sn_gltf *gltf, const sn_gltf_node *nodes, int32_t skin,
                                    sn_arena *arena, double **matrices);

// The points of all primitives of a skinned node, one after the other, for the given transforms of
// the nodes. `points` has room for three numbers each.
sinew_status sn_gltf_skin_points(const sn_gltf *gltf, const sn_gltf_node *nodes, int32_t node,
                                 sn_arena *scratch, double *points);

#endif
