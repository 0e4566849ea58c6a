// Overlaps: parts that already intersect, each other or themselves, or of which one lies inside the
// other. Their number and depth, a direction that drives them apart, and which pairs do without a
// certificate until they have come apart.
//
// A scene of overlapping bodies heals like this: find the overlaps of the first configuration; in
// each step exempt their pairs after sn_contact_find, push along the directions, and update them
// for the accepted configuration. A pair of parts that no longer overlaps leaves the list, and from
// then on the certificate holds for it.
//
// Inside and depth follow from the generalised winding number of closed surfaces. The direction is
// minus the gradient of the common volume V of parts A and B under a translation of A:
//
//   dV = sum over the vertices of A inside B of a n - the same sum for B inside A
//
// with the area normals a n of the vertices. Where that is 0, one inside the other, it leads from
// the centre of B to that of A.
#ifndef SN_CONTACT_OVERLAP_H
#define SN_CONTACT_OVERLAP_H

#include "contact/scene.h"

typedef struct sn_contact_overlap {
    int32_t part[2];        // ascending; equal: a part with itself
    int32_t crossing_count; // pairs of triangles that intersect
    int32_t inside_count;   // vertices of either inside the other
    double depth;           // the largest distance of one of these from the other surface [m]
    sn_vec3 direction;   // unit vector to push the first part along and the second against; 0 for a
                         // part with itself
    int32_t triangle[2]; // the first two triangles that intersect, as in the mesh; -1: none
    bool whole;          // an open surface or a part with itself: all its pairs are exempt
} sn_contact_overlap;

typedef struct sn_contact_overlaps {
    sinew_context *context;
    sn_contact_overlap *items; // by the order of the search, which depends on positions alone
    int32_t count;
    size_t capacity;
    uint8_t *tangled; // of each vertex: it lies inside a part, or at a triangle that intersects one
    double *depth;    // of each vertex how deep it lies inside another part [m]; 0: it does not
    int32_t vertex_count;
} sn_contact_overlaps;

// All overlaps of the scene at x that the scene's filter does not exclude. Pairs of triangles whose
// distance is within rounding count as intersecting. Uses the scene's search: find pairs
// afterwards. Release the result with sn_contact_overlaps_release.
sinew_status sn_contact_overlaps_find(sn_contact_scene *scene, const double *x,
                                      sn_contact_overlaps *overlaps);
void sn_contact_overlaps_release(sn_contact_overlaps *overlaps);

// The same at other positions for the pairs of parts on the list; those that have come apart leave
// it.
sinew_status sn_contact_overlaps_update(sn_contact_scene *scene, const double *x,
                                        sn_contact_overlaps *overlaps);

// Sets `exempt` of the pairs that do without a certificate: those between parts on the list with a
// tangled vertex.
void sn_contact_overlaps_exempt(sn_contact_scene *scene, const sn_contact_overlaps *overlaps);

#endif
