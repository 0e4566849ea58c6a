// The inside of sinew_scene: what was read, and the world made of it.
#ifndef SN_IO_PUBLIC_SCENE_H
#define SN_IO_PUBLIC_SCENE_H

#include "sinew/io/scene.h"

#include "io/scene/build.h"
#include "io/scene/read.h"

// A file that the scene references.
typedef struct sn_fetched sn_fetched;
struct sn_fetched {
    sn_fetched *next;
    char *name;
};

struct sinew_scene {
    sinew_context *context;
    sn_scene scene;
    sn_scene_world *world; // NULL until it is built
    sinew_source source;   // its files are fetched when the world is built
    sinew_file *file;      // of a scene that was loaded from a path; NULL otherwise
    int32_t load_count;    // of all bodies
    sn_fetched *fetched;   // files that were fetched so far
    uint64_t files;        // hash of their names and bytes, in the order of the first requests
};

// SINEW_OK if the scene is built.
sinew_status sn_scene_check_built(const sinew_scene *scene);
// The body of a load and its number there; NULL if there is no such load.
const sn_scene_load *sn_scene_find_load(const sinew_scene *scene, int32_t index, int32_t *body,
                                        int32_t *number);
// The failure of a call with a wrong index.
sinew_status sn_scene_fail_index(const sinew_scene *scene, const char *what, int32_t index,
                                 int32_t count);

// The member of a body of a scene that is built, or NULL.
sn_scene_member *sn_scene_get_member(const sinew_scene *scene, int32_t body);

#endif
