#include "frame/samples_internal.h"
sinew_status sn_partition_regions(const sn_shape *shape, const sinew_sampling_def *def, sn_arena *arena,
                                  sn_partition *partition) {
    (void)def;
    (void)arena;
    (void)partition;
    return sn_fail(shape->context, SINEW_UNSUPPORTED, "regions");
}
void sn_fit_sample(const sn_shape *shape, const int32_t *voxels, int32_t count, sn_vec3 center, sn_shape_point *result,
                   sn_fit *fit) {
    (void)center;
    (void)fit;
    sn_average_sample(shape, voxels, count, result);
}
