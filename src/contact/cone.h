// Normal cones: from which directions a feature of a surface can be touched.
//
// Forces between features whose normal n leaves these cones would be ghosts: the neighbours of the
// face under a sliding vertex would act as bumps. The certificate of the commit needs no cones.
#ifndef SN_CONTACT_CONE_H
#define SN_CONTACT_CONE_H

#include "contact/scene.h"

// Whether the normal of a measured pair lies in the cones of both features.
//
//   face     n on the outer side, if the surface is closed
//   edge     r . m <= 0.01 |r| |m| for the inward directions m in both faces, r on the outer side;
//            the edge of a triangle counts only in the triangle that owns it
//   vertex   the same for the edges around it
//   edges    closest points inside of both, not parallel, r in the cones of both
bool sn_contact_in_cones(const sn_contact_scene *scene, const sn_contact_pair *pair,
                         const double *x);

#endif
