// Shape functions and integration rules of elements: triangle, tetrahedra with 4 and 10 nodes,
// hexahedron.
//
// In an element, x(X) = sum_i N_i(X) x_i, so F = sum_i x_i (x) grad N_i with constant rest
// gradients.
#ifndef SN_INTERP_ELEMENT_H
#define SN_INTERP_ELEMENT_H

#include "sinew/mesh.h"

#include "math/mat3.h"

#include <stdint.h>

enum { SN_ELEMENT_MAX_NODES = 10, SN_ELEMENT_MAX_SAMPLES = 64 };

// An integration rule on the reference element: at each sample a weight, the shape functions and
// their reference derivatives.
typedef struct sn_element_rule {
    int32_t nodes, samples;
    double weight[SN_ELEMENT_MAX_SAMPLES];
    double N[SN_ELEMENT_MAX_SAMPLES][SN_ELEMENT_MAX_NODES];
    sn_vec3 dN[SN_ELEMENT_MAX_SAMPLES][SN_ELEMENT_MAX_NODES];
} sn_element_rule;

// The rule for stiffness: 1 sample for linear simplices, 4 for the ten-node tet (degree 2), 8 for
// the hexahedron (degree 3).
void sn_element_stiffness_rule(sn_element_rule *rule, sinew_element kind);

// The rule for mass: exact for products of two shape functions in undistorted elements.
void sn_element_mass_rule(sn_element_rule *rule, sinew_element kind);

// Rest gradients of the shape functions at one sample, and the volume the sample represents
// (negative if the element is inverted). `rest` holds the nodes' rest positions. For triangles in
// the xy plane the volume is an area.
double sn_element_gradients(sn_vec3 *gradient, const sn_element_rule *rule, int32_t sample,
                            sinew_element kind, const sn_vec3 *rest);

#endif
