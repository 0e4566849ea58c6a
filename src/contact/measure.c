// Closest points and normal cones of all pairs.
#include "contact/blocks.h"
#include "contact/cone.h"

#include "base/threads.h"

enum { CHUNK = 512 };

typedef struct measuring {
    sn_contact_scene *scene;
    const double *x;
} measuring;

static void measure_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const measuring *job = data;
    sn_contact_scene *scene = job->scene;

    // A range may hold both kinds.
    int32_t middle = sn_contact_find_split(scene, begin, end);
    SN_ISA_PICK(scene->context->isa, sn_contact_measure_blocks)
    (scene->pairs, begin, middle, job->x);
    SN_ISA_PICK(scene->context->isa, sn_contact_measure_blocks)(scene->pairs, middle, end, job->x);

    for (int32_t i = begin; i < end; i++) {
        scene->pairs[i].usable = sn_contact_in_cones(scene, &scene->pairs[i], job->x);
    }
}

void sn_contact_measure(sn_contact_scene *scene, const double *x) {
    measuring job = {scene, x};
    sn_parallel_for(scene->context, scene->pair_count, CHUNK, measure_range, &job);
}
