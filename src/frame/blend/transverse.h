// Displacements across the section of a rod or sheet, which frames along it do not have.
//
// Where the weights of affine nodes vary only along an axis or in a plane, F is linear across the
// section. A bent bar then cannot become wider on one side and narrower on the other, and is as
// stiff as if its sides were held: by (1 - nu) / ((1 + nu) (1 - 2 nu)) for a rod. The quadrature
// points of such a region get internal modes (body/internal_modes.h), the products of two
// coordinates across the section: y^2, z^2 and y z in a rod, z^2 in a sheet.
//
// The modes are incompatible between regions. Where several regions share a section, each widens
// on its own, and the gain falls with their number.
#ifndef SN_FRAME_BLEND_TRANSVERSE_H
#define SN_FRAME_BLEND_TRANSVERSE_H

#include "frame/blend/nodes.h"
#include "frame/sampling/sampling.h"

// The number of internal modes of a sample's region: 3 in a rod, 1 in a sheet, otherwise 0.
int32_t sn_transverse_mode_count(const sn_nodes *nodes, const sn_frame_samples *samples, int32_t s);

// Computes the gradients of the modes at a block of samples of one region,
// [mode][component][lane], with coordinates from the centre of the region.
void sn_transverse_modes(const sn_frame_samples *samples, const int32_t *list, int32_t modes,
                         double *gradient);

#endif
