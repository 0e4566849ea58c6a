// Scalar measures of a stress in Voigt order (xx, yy, zz, yz, zx, xy).
#ifndef SN_MATERIAL_STRESS_H
#define SN_MATERIAL_STRESS_H

#include <math.h>

// The von Mises stress. [unit of s]
static inline double sn_von_mises(const double s[6]) {
    double a = s[0] - s[1];
    double b = s[1] - s[2];
    double c = s[2] - s[0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

#endif
