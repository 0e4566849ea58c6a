// A joint of a skeleton in one line: no rest rotation, a tip if that is not NULL.
#ifndef SN_TESTS_SUPPORT_JOINTS_H
#define SN_TESTS_SUPPORT_JOINTS_H

#include "sinew/skeleton.h"

#include <string.h>

static inline sinew_joint_def test_joint(const char *name, int32_t parent,
                                         const double translation[3], const double *tip) {
    sinew_joint_def joint = sinew_default_joint_def();
    joint.name = name;
    joint.parent = parent;
    memcpy(joint.rest.translation, translation, sizeof joint.rest.translation);
    joint.has_tip = tip != NULL;
    if (tip) {
        memcpy(joint.tip, tip, sizeof joint.tip);
    }
    return joint;
}

#endif
