// Pairs whose vertices move at the same time, by the same share of their motions.
//
// The planes of contact/commit.h stand still, so that each vertex may stop where it likes. Where
// // all four vertices take the same share, less is needed: planes may move and rotate with them.
#ifndef SN_CONTACT_JOINT_H
#define SN_CONTACT_JOINT_H

#include "contact/commit.h"

// What is in the way of a pair: the closest points where they are last proven to be apart.
typedef struct sn_contact_bar {
    double b[4]; // the points differ by the sum of b_i x_i
    sn_vec3 n;   // unit vector from the second to the first
} sn_contact_bar;

// Whether the features of a pair stay apart while all of its vertices move from motion->x to
// motion->target, no closer than half the floor on the way and the floor at the end, or than
// they were. Needs pair->gap. If not,
// `bar` says what is in the way, unless it is NULL.
bool sn_contact_stays_apart(const sn_contact_scene *scene, const sn_contact_motion *motion,
                            const sn_contact_pair *pair, sn_contact_bar *bar);

#endif
