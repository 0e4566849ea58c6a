// Shape functions of the ten-node tetrahedron and the eight-node hexahedron in VTK's order of
// nodes.
#include "geom/mesh/mesh.h"

const int8_t sn_hex_corners[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                     {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

void sn_shape_tet10(sn_vec3 natural, double N[10], double dN[10][3]) {
    static const double dL[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double L[4] = {1 - natural.x - natural.y - natural.z, natural.x, natural.y, natural.z};
    for (int i = 0; i < 4; i++) {
        N[i] = L[i] * (2 * L[i] - 1);
        for (int k = 0; k < 3; k++) {
            dN[i][k] = (4 * L[i] - 1) * dL[i][k];
        }
    }

    for (int i = 0; i < 6; i++) {
        int a = sn_tet_edges[i][0];
        int b = sn_tet_edges[i][1];
        N[4 + i] = 4 * L[a] * L[b];
        for (int k = 0; k < 3; k++) {
            dN[4 + i][k] = 4 * (dL[a][k] * L[b] + L[a] * dL[b][k]);
        }
    }
}

void sn_shape_hex8(sn_vec3 natural, double N[8], double dN[8][3]) {
    for (int i = 0; i < 8; i++) {
        const int8_t *c = sn_hex_corners[i];
        double r = 1 + c[0] * natural.x;
        double s = 1 + c[1] * natural.y;
        double t = 1 + c[2] * natural.z;
        N[i] = r * s * t / 8;
        dN[i][0] = c[0] * s * t / 8;
        dN[i][1] = r * c[1] * t / 8;
        dN[i][2] = r * s * c[2] / 8;
    }
}
