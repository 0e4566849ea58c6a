// Plane stress for laws without a closed form of it. Internal to material/.
#ifndef SN_MATERIAL_PLANE_H
#define SN_MATERIAL_PLANE_H

#include "material/material.h"

// A kernel that wraps material->kernel: finds F33 with P33 = 0 and condenses the tangent.
void sn_evaluate_plane_stress(const sn_material *material, int want, const sn_material_block *in,
                              const sn_material_result *out);

#endif
