// Soft characters: a skinned, animated glTF comes in, and the same file goes out with flesh that
// swings, lags behind and keeps its volume.
//
// The flesh is a lattice of tets around all meshes of the file's first skin. Its nodes follow the
// joints by the artist's own weights; those near the bones exactly, the others swing about that by
// position dynamics. A character that does not accelerate looks as the artist made it. What the
// flesh adds is written as morph targets with an animation of their weights; targets act before the
// skin does, so that everything the file had (names, hierarchy, materials, textures, skin, props,
// other animations) stays as it was.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_SOFTEN_H
#define SINEW_IO_SOFTEN_H

#include "sinew/io/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_soften_def {
    /// Name of the animation to simulate. Default NULL: the first one.
    const char *animation;
    /// Approximate number of tets of the flesh. [count] In [100, 1e7]. Default 20000.
    int32_t tets;
    /// Young's modulus of the flesh: the smaller, the more it swings. [Pa] Above 0. Default 5e4.
    double young;
    /// Poisson's ratio. [-] In [0, 0.5). Default 0.45.
    double poisson;
    /// Mass per volume. [kg/m^3] Above 0. Default 1000.
    double density;
    /// Rate at which the swinging decays. [1/s] At least 0. Default 3.
    double damping;
    /// The share of the distance from a bone to the surface that moves with the bone. [-] In
    /// [0, 1]. Default 0.6.
    double core;
    /// Gravity, in the axes of the file. [m/s^2] Default (0, -9.81, 0). The shape in the file is
    /// taken to be in equilibrium with gravity in the first pose; the flesh sags when it rotates
    /// from there.
    double gravity[3];
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
    int32_t other_skins;          ///< Skins that were left alone. [count]
    int32_t nodes;                ///< Nodes of the flesh. [count]
    int32_t held_nodes;           ///< Those that follow the joints. [count]
    int32_t tets;                 ///< [count]
    int32_t images;               ///< Keys of the animation. [count]
    int32_t targets;              ///< Morph targets that were added. [count]
    double error;                 ///< Largest distance between flesh and file at a key. [m]
    double largest_displacement;  ///< Largest distance between flesh and skin. [m]
    double largest_volume_change; ///< Of the whole flesh, relative. [-]
    int32_t inverted;             ///< Largest number of inverted tets in an image. [count]
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
