// Rigid cores: which nodes belong to them, and their projection onto rigid motions; see core.h.
#include "pbd/core.h"

#include "base/threads.h"

#include <string.h>

// The torque of the columns of M on those of R rotates R; |w| < 1e-14 is the limit of doubles.
sn_quat sn_extract_rotation(sn_mat3 M, sn_quat start) {
    sn_quat q = start;
    for (int iteration = 0; iteration < 50; iteration++) {
        sn_mat3 R = sn_quat_to_mat3(q);
        sn_vec3 torque = {0, 0, 0};
        double alignment = 0;

        // Torque of M's columns on R's.
        for (int i = 0; i < 3; i++) {
            torque = sn_add(torque, sn_cross(sn_mat3_column(R, i), sn_mat3_column(M, i)));
            alignment += sn_dot(sn_mat3_column(R, i), sn_mat3_column(M, i));
        }

        double scale = fabs(alignment) + 1e-9 * sn_mat3_norm(M);
        if (scale <= 0) {
            break;
        }

        sn_vec3 rotation = sn_scale(1 / scale, torque);
        double angle = sn_length(rotation);
        if (angle < 1e-14) {
            break;
        }

        // From a nearly opposite start the angle is arbitrary: at most half a radian at a time.
        if (angle > 0.5) {
            rotation = sn_scale(0.5 / angle, rotation);
        }

        q = sn_quat_normalize(sn_quat_mul(sn_quat_exp(rotation), q));
    }

    return q;
}

static sinew_status label_nodes(sinew_context *context, const sinew_mesh *mesh,
                                const int32_t *labels, int32_t *node_labels) {
    for (int32_t t = 0; t < mesh->element_count; t++) {
        if (labels[t] < 0) {
            continue;
        }

        for (int k = 0; k < 4; k++) {
            int32_t node = mesh->indices[4 * (size_t)t + (size_t)k];
            if (node_labels[node] >= 0 && node_labels[node] != labels[t]) {
                return sn_fail(
                    context, SINEW_INVALID_DATA,
                    "tet %d of core %d shares node %d with core %d; cores must not touch", t,
                    labels[t], node, node_labels[node]);
            }

            node_labels[node] = labels[t];
        }
    }

    return SINEW_OK;
}

static sinew_status check_driven(sinew_context *context, const int32_t *node_labels,
                                 int32_t node_count, const uint8_t *kinematic, const int32_t *sizes,
                                 int32_t *driven) {
    for (int32_t i = 0; i < node_count; i++) {
        if (node_labels[i] >= 0 && kinematic && kinematic[i]) {
            driven[node_labels[i]]++;
        }
    }

    for (int32_t i = 0; i < node_count; i++) {
        int32_t core = node_labels[i];
        if (core >= 0 && driven[core] > 0 && driven[core] < sizes[core + 1]) {
            return sn_fail(context, SINEW_INVALID_DATA,
                           "core %d has %d kinematic nodes of %d; either all or none of a core's "
                           "nodes are kinematic",
                           core, driven[core], sizes[core + 1]);
        }
    }

    return SINEW_OK;
}

static void center_rest(sn_pbd_cores *cores, int32_t core, const sinew_mesh *mesh,
                        const double *masses) {
    sn_vec3 center = {0, 0, 0};
    double mass = 0;
    for (int32_t i = cores->offsets[core]; i < cores->offsets[core + 1]; i++) {
        int32_t node = cores->nodes[i];
        center = sn_madd(center, masses[node], sn_load3(sn_at3(mesh->points, node)));
        mass += masses[node];
    }

    center = sn_scale(1 / mass, center);
    for (int32_t i = cores->offsets[core]; i < cores->offsets[core + 1]; i++) {
        const double *point = sn_at3(mesh->points, cores->nodes[i]);
        sn_store3(sn_at3(cores->rest, i), sn_sub(sn_load3(point), center));
    }
}

// Sorts the nodes of free cores by core, and numbers the free cores in use from 0.
static sinew_status list_nodes(sn_arena *arena, sn_arena *scratch, const sinew_mesh *mesh,
                               int32_t label_count, const uint8_t *kinematic, const double *masses,
                               sn_pbd_cores *cores) {
    const int32_t *node_labels = cores->node_cores;
    int32_t *sizes = SN_PUSH(scratch, int32_t, label_count + 1);
    int32_t *driven = SN_PUSH(scratch, int32_t, label_count);

    SN_TRY(sn_arena_status(scratch));

    // Sizes of the cores, and which of them the caller drives.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        sizes[node_labels[i] + 1] += node_labels[i] >= 0;
    }

    SN_TRY(check_driven(arena->context, node_labels, mesh->point_count, kinematic, sizes, driven));

    // Count the free cores and their nodes.
    int32_t total = 0;
    for (int32_t label = 0; label < label_count; label++) {
        bool is_free = sizes[label + 1] > 0 && !driven[label];
        cores->count += is_free;
        total += is_free ? sizes[label + 1] : 0;
    }

    cores->offsets = SN_PUSH(arena, int32_t, cores->count + 1);
    cores->nodes = SN_PUSH(arena, int32_t, total);
    cores->rest = SN_PUSH(arena, double, 3 * (size_t)total);
    cores->rotations = SN_PUSH(arena, sn_quat, cores->count);

    int32_t *numbers = SN_PUSH(scratch, int32_t, label_count);
    int32_t *ends = SN_PUSH(scratch, int32_t, cores->count);

    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_arena_status(scratch));

    // Number the free cores.
    int32_t core = 0;
    for (int32_t label = 0; label < label_count; label++) {
        numbers[label] = -1;
        if (sizes[label + 1] == 0 || driven[label]) {
            continue;
        }

        ends[core] = cores->offsets[core];
        cores->rotations[core] = sn_quat_identity();
        cores->offsets[core + 1] = cores->offsets[core] + sizes[label + 1];
        numbers[label] = core++;
    }

    // List their nodes, and the rest shape of each core.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (node_labels[i] >= 0 && numbers[node_labels[i]] >= 0) {
            cores->nodes[ends[numbers[node_labels[i]]]++] = i;
        }
    }

    for (core = 0; core < cores->count; core++) {
        center_rest(cores, core, mesh, masses);
    }

    return SINEW_OK;
}

sinew_status sn_pbd_build_cores(sn_arena *arena, const sinew_mesh *mesh, const int32_t *labels,
                                const uint8_t *kinematic, const double *masses,
                                sn_pbd_cores *cores) {
    *cores = (sn_pbd_cores){.node_cores = SN_PUSH(arena, int32_t, mesh->point_count)};
    SN_TRY(sn_arena_status(arena));
    memset(cores->node_cores, -1, (size_t)mesh->point_count * sizeof *cores->node_cores);

    int32_t label_count = 0;
    if (labels) {
        for (int32_t t = 0; t < mesh->element_count; t++) {
            // Labels may be arbitrary large numbers, but there are at most as many cores as tets.
            if (labels[t] >= mesh->element_count) {
                return sn_fail(arena->context, SINEW_INVALID_ARGUMENT,
                               "tet %d: core %d must be below the number of tets, %d", t, labels[t],
                               mesh->element_count);
            }

            label_count = labels[t] >= label_count ? labels[t] + 1 : label_count;
        }
    }

    if (label_count == 0) {
        return SINEW_OK;
    }

    SN_TRY(label_nodes(arena->context, mesh, labels, cores->node_cores));
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = list_nodes(arena, &scratch, mesh, label_count, kinematic, masses, cores);

    sn_arena_destroy(&scratch);
    return status;
}

typedef struct core_job {
    double *nodes;
    const sn_pbd_cores *cores;
    const double *masses;
} core_job;

static void project_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const core_job *job = data;
    const sn_pbd_cores *cores = job->cores;

    for (int32_t core = begin; core < end; core++) {
        // Centre of mass.
        sn_vec3 center = {0, 0, 0};
        double mass = 0;
        for (int32_t i = cores->offsets[core]; i < cores->offsets[core + 1]; i++) {
            int32_t node = cores->nodes[i];
            center = sn_madd(center, job->masses[node], sn_load3(job->nodes + 4 * (size_t)node));
            mass += job->masses[node];
        }

        center = sn_scale(1 / mass, center);

        // Moments of the current against the rest positions.
        sn_mat3 M = {0};
        for (int32_t i = cores->offsets[core]; i < cores->offsets[core + 1]; i++) {
            int32_t node = cores->nodes[i];
            sn_vec3 r = sn_sub(sn_load3(job->nodes + 4 * (size_t)node), center);
            sn_vec3 q = sn_load3(sn_at3(cores->rest, i));
            M = sn_mat3_add(M, sn_outer(sn_scale(job->masses[node], r), q));
        }

        cores->rotations[core] = sn_extract_rotation(M, cores->rotations[core]);

        // The nearest rigid copy of the rest shape.
        sn_mat3 R = sn_quat_to_mat3(cores->rotations[core]);
        for (int32_t i = cores->offsets[core]; i < cores->offsets[core + 1]; i++) {
            sn_vec3 x = sn_add(center, sn_mat3_apply(R, sn_load3(sn_at3(cores->rest, i))));
            sn_store3(job->nodes + 4 * (size_t)cores->nodes[i], x);
        }
    }
}

void sn_pbd_project_cores(sinew_context *context, double *nodes, const sn_pbd_cores *cores,
                          const double *masses) {
    core_job job = {nodes, cores, masses};
    sn_parallel_for(context, cores->count, 1, project_range, &job);
}
