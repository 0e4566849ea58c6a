// One vertex attribute of a glTF file, by name.
#ifndef SN_IO_GLTF_ATTRIBUTE_H
#define SN_IO_GLTF_ATTRIBUTE_H

#include "io/gltf/gltf.h"

// The first component of an attribute of a primitive that has `count` points, in `arena`; NULL if
// the primitive does not have it. The attribute may have one to four components of any type.
sinew_status sn_gltf_read_attribute(sinew_context *context, const sn_source *source, int32_t mesh,
                                    int32_t primitive, const char *name, int32_t count,
                                    sn_arena *arena, const double **values);

#endif
