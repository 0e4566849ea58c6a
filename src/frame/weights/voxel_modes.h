// The lowest modes of conduction in a solid: the smoothest functions on its voxels, with the root
// of the stiffness as conductivity.
//
//   a(u, v) = sum over faces of area / distance c_f (u1 - u2) (v1 - v2),   a psi = lambda M psi
//
// c_f is the harmonic mean of the conductivity of both voxels and M the volume of the voxels. With
// the stiffness itself as conductivity, modes would be constant in stiff parts, and frames could
// not bend these: a bar around a core 100 times stiffer had frequencies 22 % too high with four
// frames, and has 5 % with the root. The first mode is constant. Those of a bar are cosines along
// it, until their waves are as short as the bar is wide.
//
// Method: block inverse iteration with a few vectors more than modes, first on a grid of about
// 20 000 voxels until it converges, then two sweeps on the given one. Cost: about 15 multigrid
// cycles for each vector.
#ifndef SN_FRAME_WEIGHTS_VOXEL_MODES_H
#define SN_FRAME_WEIGHTS_VOXEL_MODES_H

#include "geom/voxel/voxel.h"

// The most modes.
enum { SN_MAX_VOXEL_MODES = 64 };

// The stiffness of the solid: Young's modulus by label, and labels that count as rigid. With young
// NULL every voxel that is not rigid is equally stiff.
typedef struct sn_stiffness {
    const double *young;
    const bool *rigid;
} sn_stiffness;

typedef struct sn_voxel_modes {
    int32_t count;
    double *value;                     // count numbers for each voxel; every mode has mean square 1
    double lambda[SN_MAX_VOXEL_MODES]; // ascending, times the square of the finest spacing over the
                                       // mean conductivity
    int32_t sweeps;                    // on the coarse grid, or on the only one
} sn_voxel_modes;

// Computes modes; `modes->value` goes into the arena. Fails if there are fewer voxels than modes.
sinew_status sn_compute_voxel_modes(const sinew_voxels *voxels, const sn_stiffness *stiffness,
                                    int32_t count, sn_arena *arena, sn_voxel_modes *modes);

// The same on a coarse grid of about 20 000 voxels, or on the given one if that is not larger.
// `coarse` receives the grid, to be destroyed by the caller, or NULL if it is the given one.
sinew_status sn_compute_coarse_modes(const sinew_voxels *voxels, const sn_stiffness *stiffness,
                                     int32_t count, sn_arena *arena, sn_voxel_modes *modes,
                                     sinew_voxels **coarse);

// Computes the stiffness of each voxel relative to the harmonic mean over the solid, at most
// SN_RIGID_CONTRAST above or below; that bound also for rigid labels.
sinew_status sn_compute_relative_stiffness(const sinew_voxels *voxels,
                                           const sn_stiffness *stiffness, sn_arena *arena,
                                           double **relative);

// Computes the conductivity of each voxel, the root of that; rigid labels have the bound itself.
sinew_status sn_compute_conductivity(const sinew_voxels *voxels, const sn_stiffness *stiffness,
                                     sn_arena *arena, double **conductivity);

#endif
