// Pairs of features that may touch: a vertex and a triangle, or two edges.
//
// With the closest points p1 (on the vertex or the first edge) and p2 (on the triangle or the
// second edge):
//
//   p1 - p2 = sum b_i x_i,    distance = |p1 - p2|,    n = (p1 - p2) / distance
#ifndef SN_CONTACT_PAIR_H
#define SN_CONTACT_PAIR_H

#include "math/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum sn_contact_kind { SN_CONTACT_VERTEX_TRIANGLE, SN_CONTACT_EDGE_EDGE } sn_contact_kind;

typedef struct sn_contact_pair {
    sn_contact_kind kind;
    int32_t vertex[4];  // in the scene's numbering: vertex and corners, or the ends of both edges
    int32_t part[2];    // the parts that the first and the second feature belong to
    int32_t feature[2]; // in the scene's numbering: vertex and triangle, or both edges
    bool usable;        // the normal cones allow a force; written by sn_contact_measure
    bool exempt;        // no certificate: the parts overlapped at the start and still do here
    double b[4];        // written by sn_contact_measure, as are n and distance
    sn_vec3 n;          // unit vector from the second feature to the first; 0 if they touch
    double distance;    // [m]
    double gap;         // the largest gap between parallel planes found by sn_contact_limit [m]
    bool held;          // sn_contact_limit found no such planes
    bool joint;         // its features stay apart if its vertices move alike (joint.h)
} sn_contact_pair;

// A number that identifies a pair of features for as long as the scene lives.
static inline uint64_t sn_contact_pair_key(const sn_contact_pair *pair) {
    return (uint64_t)pair->kind << 63 | (uint64_t)pair->feature[0] << 32 |
           (uint64_t)pair->feature[1];
}

// How many vertices of a pair belong to its first feature: 1 or 2. The others are the second's.
static inline int sn_contact_first_side(sn_contact_kind kind) {
    return kind == SN_CONTACT_VERTEX_TRIANGLE ? 1 : 2;
}

#endif
