// Any bytes are read as BVH or refused, without a wrong step in memory.
#include "sinew/skeleton.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sinew_context_def def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&def);
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;
    if (sinew_bvh_read(context, "fuzz", (const char *)data, size, 1, &skeleton, &motion) == SINEW_OK) {
        sinew_transform *pose = malloc((size_t)sinew_motion_joint_count(motion) * sizeof *pose);
        sinew_motion_sample(motion, 0.3, SINEW_MOTION_LOOP, pose);
        (void)sinew_skeleton_compute_world(skeleton, pose, pose);
        free(pose);
    }
    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
    return 0;
}
