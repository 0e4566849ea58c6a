// Scenes with contact, stepped: after every step an exact test, which shares nothing with the
// detection of contact, looks for bodies that intersect each other or an obstacle, for bodies
// inside others, and for vertices inside a plane, sphere or capsule.
//
// Bodies that are attached to each other may overlap, and so may a body itself where the scene does
// not ask for contact within bodies. Bodies that stand in an obstacle or in each other from the
// start are left out there.
#ifndef SN_TESTS_SUPPORT_SCENE_CROSSINGS_H
#define SN_TESTS_SUPPORT_SCENE_CROSSINGS_H

#include "sinew/io/scene.h"

typedef struct test_crossing_count {
    int64_t scenes, steps; // that were checked
    int64_t unstable;      // scenes that ended early because a step was refused as unstable
    int64_t touching;      // steps in which something pressed
    int64_t faults;        // pairs of triangles that intersect, and vertices or bodies inside
    uint64_t hash;         // of the last states of all scenes
    char first[400];       // says where the first one was
} test_crossing_count;

// Builds the scene, takes at most so many of its steps, and adds to the counts. A scene without
// contact is left alone. `name` goes into `first`.
sinew_status test_check_scene(sinew_context *context, sinew_scene *scene, const char *name,
                              int32_t most_steps, test_crossing_count *count);

// The same for every example of a folder with contact.
sinew_status test_check_examples(sinew_context *context, const char *folder, int32_t most_steps,
                                 test_crossing_count *count);

#endif
