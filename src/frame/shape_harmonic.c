#include "frame/table.h"
sinew_status sn_build_harmonic(sn_shape *shape) {
    return sn_fail(shape->context, SINEW_UNSUPPORTED, "harmonic");
}
sinew_status sn_build_voronoi(sn_shape *shape) {
    return sn_fail(shape->context, SINEW_UNSUPPORTED, "voronoi");
}
