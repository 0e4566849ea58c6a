// The inside of sinew_scene: what was read, and the world made of it.
#ifndef SN_IO_PUBLIC_SCENE_H
#define SN_IO_PUBLIC_SCENE_H

#include "sinew/io/scene.h"

#include "io/scene/build.h"
#include "io/scene/read.h"

struct sinew_scene {
    sinew_context *context;
    sn_scene scene;
    sn_scene_world *world; // NULL until it is built
    sinew_source source;   // its files are fetched when the world is built
    sinew_file *file;      // of a scene that was loaded from a path; NULL otherwise
    int32_t load_count;    // of all bodies
};

// The member of a body of a scene that is built, or NULL.
sn_scene_member *sn_scene_get_member(const sinew_scene *scene, int32_t body);

#endif
