// Closest points and normal cones of all pairs.
#include "contact/closest.h"
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

    for (int32_t i = begin; i < end; i++) {
        sn_contact_pair *pair = &job->scene->pairs[i];
        sn_vec3 p[4];
        for (int k = 0; k < 4; k++) {
            p[k] = sn_load3(sn_at3(job->x, pair->vertex[k]));
        }

        sn_contact_closest(pair, p);
        pair->usable = sn_contact_in_cones(job->scene, pair, job->x);
    }
}

void sn_contact_measure(sn_contact_scene *scene, const double *x) {
    measuring job = {scene, x};
    sn_parallel_for(scene->context, scene->pair_count, CHUNK, measure_range, &job);
}
