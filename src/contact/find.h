// Parts of a scene that only this module uses.
#ifndef SN_CONTACT_FIND_H
#define SN_CONTACT_FIND_H

#include "contact/scene.h"

// Fits the boxes of a part's triangles, its tree and the part's box to the boxes of the vertices.
void sn_contact_fit_part(sn_contact_scene *scene, int32_t number);

// Frees the lists that grow with the number of pairs.
void sn_contact_release_pairs(sn_contact_scene *scene);

#endif
