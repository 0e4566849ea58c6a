// Conversion of rotation matrices to quaternions, and interpolation; see quat.h.
#include "math/quat.h"

sn_quat sn_quat_from_mat3(sn_mat3 R) {
    double trace = sn_mat3_trace(R);
    int largest = 0;
    for (int i = 1; i < 3; i++) {
        if (R.m[i][i] > R.m[largest][largest]) {
            largest = i;
        }
    }

    // Divide by the largest of the four components, which is well away from zero.
    double q[4];
    if (trace > R.m[largest][largest]) {
        q[0] = R.m[2][1] - R.m[1][2];
        q[1] = R.m[0][2] - R.m[2][0];
        q[2] = R.m[1][0] - R.m[0][1];
        q[3] = 1 + trace;
    } else {
        int i = largest;
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        q[i] = 1 + R.m[i][i] - R.m[j][j] - R.m[k][k];
        q[j] = R.m[j][i] + R.m[i][j];
        q[k] = R.m[k][i] + R.m[i][k];
        q[3] = R.m[k][j] - R.m[j][k];
    }

    return sn_quat_normalize((sn_quat){q[0], q[1], q[2], q[3]});
}

sn_quat sn_quat_slerp(sn_quat a, sn_quat b, double t) {
    double cosine = sn_quat_dot(a, b);
    if (cosine < 0) {
        b = sn_quat_scale(-1, b);
        cosine = -cosine;
    }

    // Nearly equal: the sine is too small to divide by, and the chord is as good as the arc.
    if (cosine > 1 - 1e-9) {
        return sn_quat_normalize(sn_quat_add(sn_quat_scale(1 - t, a), sn_quat_scale(t, b)));
    }

    double angle = acos(cosine);
    return sn_quat_scale(1 / sin(angle), sn_quat_add(sn_quat_scale(sin((1 - t) * angle), a),
                                                     sn_quat_scale(sin(t * angle), b)));
}
