// Soft characters: a skinned, animated glTF comes in, and the same file goes out with flesh that
// swings, lags behind and keeps its volume.
//
// The flesh is a lattice of tets around all meshes of the file's first skin. Its nodes follow the
// joints by the artist's own weights; those near the bones exactly, the others swing about that by
// position dynamics. A character that does not accelerate looks as the artist made it. What the
// flesh adds is written as morph targets with an animation of their weights, or as joints below
// those of the skin. Everything the file had (names, hierarchy, materials, textures, props, other
// animations) stays as it was.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_SOFTEN_H
#define SINEW_IO_SOFTEN_H

#include "sinew/io/bytes.h"
#include "sinew/skeleton.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How the motion of the flesh is written.
typedef enum sinew_soften_output {
    SINEW_SOFTEN_TARGETS, ///< Morph targets with an animation of their weights.
    SINEW_SOFTEN_JOINTS,  ///< Joints below those of the skin, which any engine can play.
} sinew_soften_output;

/// What moves the flesh.
typedef enum sinew_soften_model {
    SINEW_SOFTEN_POSITIONS, ///< Position dynamics: fast, and never unstable.
    SINEW_SOFTEN_TETS,      ///< Corotational finite elements: accurate stiffness. Limbs that touch
                            ///< in the bind pose are glued.
    SINEW_SOFTEN_FRAMES,    ///< A few affine frames: broad, smooth motion. Limbs are glued as with
                            ///< tets; without floor and complementary dynamics.
} sinew_soften_model;

/// What a rule about softness applies to.
typedef enum sinew_soften_subject {
    SINEW_SOFTEN_JOINT,    ///< A joint: vertices take the mean over their joints, by weight.
    SINEW_SOFTEN_MATERIAL, ///< A material: all vertices of the primitives that have it.
} sinew_soften_subject;

/// Makes a part of the character softer or stiffer.
typedef struct sinew_soften_rule {
    sinew_soften_subject subject;
    /// Name of the joint or material; a `*` in it stands for any text.
    const char *name;
    /// Factor on the compliance: 2 is twice as soft, 0 follows the bones. [-] In [0, 1000].
    double softness;
} sinew_soften_rule;

/// Receives a point cache (PC2) of a mesh with the name of its node.
typedef sinew_status sinew_soften_cache_fn(void *user, const char *name, const sinew_bytes *cache);

typedef struct sinew_soften_def {
    /// Name of the animation to simulate. Default NULL: the first one.
    const char *animation;
    /// A BVH or glTF file whose motion the character performs instead; it is added to the result
    /// as an animation. Default NULL.
    const sinew_source *motion;
    /// Pairs of joints of the motion and of the character. Others are paired by equal names, and
    /// by what the usual names mean ("LeftUpLeg", "thigh.L"). Default none.
    const sinew_name_pair *pairs;
    int32_t pair_count; ///< [count] At least 0. Default 0.
    /// Factor on the lengths of the motion. [-] At least 0; 0 makes its bones as long as those of
    /// the character. Default 0.
    double scale;
    /// Default SINEW_SOFTEN_POSITIONS.
    sinew_soften_model model;
    /// Free frames of SINEW_SOFTEN_FRAMES. [count] In [1, 1000]. Default 40.
    int32_t frames;
    /// Approximate number of tets of the flesh. [count] In [100, 1e7]. Default 20000.
    int32_t tets;
    /// Young's modulus of the flesh: the smaller, the more it swings. [Pa] Above 0. Default 5e4.
    double young;
    /// Poisson's ratio. [-] In [0, 0.5). Default 0.45.
    double poisson;
    /// Mass per volume. [kg/m^3] Above 0. Default 1000.
    double density;
    /// Rules about softness; of several that apply to a joint or material, the last counts. What
    /// no rule names has softness 1. Default none.
    const sinew_soften_rule *rules;
    int32_t rule_count; ///< [count] At least 0. Default 0.
    /// Name of a vertex attribute whose first component is a factor on the softness, such as
    /// "COLOR_0" or "_SOFTNESS". Vertices without it have factor 1. Default NULL.
    const char *attribute;
    /// A PNG file whose red, or grey, is a factor on the softness: 0 (black) follows the bones, 1
    /// (white) is as soft as without it. It is mapped by TEXCOORD_0; vertices without it have
    /// factor 1. Default NULL.
    const sinew_source *texture;
    /// Rate at which the swinging decays. [1/s] At least 0. Default 3.
    double damping;
    /// The share of the distance from a bone to the surface that moves with the bone. [-] In
    /// [0, 1]. Default 0.6.
    double core;
    /// Whether physics leaves alone what the joints control (complementary dynamics): the motion of
    /// the flesh has no share in any motion that joints could give it. Only the nodes along the
    /// bones are held then, and `core` is not used. Default false.
    bool complementary;
    /// Gravity, in the axes of the file. [m/s^2] Default (0, -9.81, 0). The shape in the file is
    /// taken to be in equilibrium with gravity in the first pose; the flesh sags when it rotates
    /// from there.
    double gravity[3];
    /// Whether the flesh rests on a floor at y = `floor_height`. Default false.
    bool floor;
    /// [m] Finite. Default 0.
    double floor_height;
    /// Largest acceleration that acts on the flesh. Animated characters start and stop within one
    /// image, which would tear any flesh apart. [m/s^2] In [1e-3, 1e9]. Default 50.
    double limit;
    /// The unit of the file in metres. [m] Above 0. Default 1, as glTF specifies.
    double unit;
    /// Keys of the result per second of the animation. [1/s] In [1, 240]. Default 30.
    double rate;
    /// Simulated time before the animation starts, in which the flesh settles. [s] In [0, 60].
    /// Default 1.
    double preroll;
    /// Whether the animation is a loop: it then also plays before the first key, and the end of the
    /// result fits its start. Default false.
    bool loop;
    /// Requested accuracy of the result. [m] At least 0; 0 means a thousandth of the character's
    /// size. Default 0.
    double tolerance;
    /// Largest number of morph targets that are added. [count] In [1, 1000]. Default 48.
    int32_t targets;
    /// How the motion is written. Default SINEW_SOFTEN_TARGETS.
    sinew_soften_output output;
    /// Whether morph targets also move the normals. Default true.
    bool normals;
    /// Largest number of joints that are added. [count] In [1, 1000]. Default 32.
    int32_t joints;
    /// Called once for each softened mesh with its motion as a point cache. Default NULL.
    sinew_soften_cache_fn *cache;
    void *cache_user; ///< Passed to `cache`. Default NULL.
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_soften_def;

SINEW_API sinew_soften_def sinew_default_soften_def(void);

typedef struct sinew_soften_report {
    int32_t meshes;               ///< Meshes that follow the skin. [count]
    int32_t points;               ///< Their vertices. [count]
    int32_t joints;               ///< Joints of the skin. [count]
    int32_t bare_joints;          ///< Joints that no vertex follows. [count]
    char bare_names[400];         ///< Their names, separated by commas; cut with "..." if needed.
    int32_t matched_joints;       ///< Joints that follow the motion of another file. [count]
    double motion_scale;          ///< Factor that was applied to its lengths. [-]
    int32_t other_skins;          ///< Skins that were left alone. [count]
    int32_t nodes;                ///< Nodes of the flesh. [count]
    int32_t held_nodes;           ///< Those that follow the joints. [count]
    int32_t tets;                 ///< [count]
    int32_t images;               ///< Keys of the animation. [count]
    int32_t targets;              ///< Morph targets that were added. [count]
    int32_t new_joints;           ///< Joints that were added. [count]
    double error;                 ///< Largest distance between flesh and file at a key. [m]
    double largest_displacement;  ///< Largest distance between flesh and skin. [m]
    double largest_volume_change; ///< Of the whole flesh, relative. [-]
    int32_t inverted;             ///< Largest number of inverted tets in an image. [count]
    double floor_depth;           ///< How far bones press skin below the floor. [m]
    double seconds;               ///< Length of the animation. [s]
} sinew_soften_report;

/// Makes the skinned character in `source` (.glb or .gltf) soft and adds the file as .glb to `out`.
/// `report` may be NULL. Reports progress to the context; a cancelled call writes nothing.
SINEW_API sinew_status sinew_soften(sinew_context *context, const sinew_source *source,
                                    const sinew_soften_def *def, sinew_bytes *out,
                                    sinew_soften_report *report);

#ifdef __cplusplus
}
#endif

#endif
