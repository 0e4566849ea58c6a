// What the bodies, materials, loads and supports of a scene are, and what they add up to.
#include "io/public/scene.h"

#include "io/scene/build.h"
#include "io/scene/report.h"
#include "io/scene/words.h"

#include <stdio.h>
#include <string.h>

static bool has_body(const sinew_scene *scene, int32_t index) {
    return index >= 0 && index < scene->scene.body_count;
}

// --- bodies and materials

static const char *model_name(const sn_scene_body *body) {
    const char *own = body->frames           ? "frames"
                      : body->rigid          ? "rigid"
                      : body->positions.used ? "positions"
                                             : NULL;
    return own ? own : sinew_words_get(SINEW_WORDS_MODELS, (int32_t)body->def.model);
}

// Besides those of labels a body may have one for all other elements.
static bool has_plain_material(const sn_scene_body *body) {
    return body->label_count == 0 || body->material_given;
}

sinew_status sinew_scene_get_body_info(const sinew_scene *scene, int32_t index,
                                       sinew_scene_body_info *info) {
    SN_NEED(NULL, scene && info);

    if (!has_body(scene, index)) {
        return sn_scene_fail_index(scene, "body", index, scene->scene.body_count);
    }

    const sn_scene_body *body = &scene->scene.bodies[index];
    const sn_scene_member *member = sn_scene_get_member(scene, index);
    *info = (sinew_scene_body_info){.name = body->name,
                                    .model = model_name(body),
                                    .volume = body->def.volume,
                                    .material_count = body->label_count + has_plain_material(body),
                                    .support_count = body->support_count,
                                    .load_count = body->load_count};
    if (member) {
        info->voxel_count = member->voxel_count;
        info->frame_capacity = member->frame_count;
        if (member->ops->count_held_frames) {
            info->held_frame_count = member->ops->count_held_frames(member);
        }
    }

    return SINEW_OK;
}

int32_t sinew_scene_get_body_material(const sinew_scene *scene, int32_t body, int32_t number,
                                      int32_t *label) {
    SN_NEED_OR(-1, scene);

    if (!has_body(scene, body) || number < 0) {
        return -1;
    }

    const sn_scene_body *b = &scene->scene.bodies[body];
    if (label) {
        *label = number < b->label_count ? b->labels[number].label : -1;
    }
    if (number < b->label_count) {
        return b->labels[number].material;
    }
    return number == b->label_count && has_plain_material(b) ? b->material : -1;
}

const char *sinew_scene_get_material(const sinew_scene *scene, int32_t index,
                                     sinew_material_def *def) {
    SN_NEED_OR(NULL, scene);
    if (index < 0 || index >= scene->scene.material_count) {
        return NULL;
    }
    if (def) {
        *def = scene->scene.materials[index].def;
    }
    return scene->scene.materials[index].name;
}

int32_t sinew_scene_get_probe_body(const sinew_scene *scene, int32_t index, double point[3]) {
    SN_NEED_OR(-1, scene);
    if (index < 0 || index >= scene->scene.probe_count) {
        return -1;
    }
    if (point) {
        memcpy(point, scene->scene.probes[index].point, sizeof scene->scene.probes[index].point);
    }
    return scene->scene.probes[index].body;
}

// --- loads and supports

sinew_status sinew_scene_compute_load(sinew_scene *scene, int32_t index, double *area,
                                      double force[3]) {
    SN_NEED(NULL, scene);

    SN_TRY(sn_scene_check_built(scene));
    int32_t body, number;
    if (!sn_scene_find_load(scene, index, &body, &number)) {
        return sn_scene_fail_index(scene, "load", index, scene->load_count);
    }

    sn_load_report report;
    double time = sinew_world_get_time(scene->world->world);
    SN_TRY(sn_scene_member_get_load(&scene->world->members[body], number, time, &report));
    if (area) {
        *area = report.area;
    }
    if (force) {
        memcpy(force, report.force, sizeof report.force);
    }

    return SINEW_OK;
}

sinew_status sinew_scene_compute_supports(sinew_scene *scene, int32_t body,
                                          sinew_support_report *reports) {
    SN_NEED(NULL, scene && reports);

    SN_TRY(sn_scene_check_built(scene));
    sn_scene_member *member = sn_scene_get_member(scene, body);
    if (!member) {
        return sn_scene_fail_index(scene, "body", body, scene->scene.body_count);
    }

    int32_t count = member->scene->support_count;
    sn_arena scratch = sn_arena_create(scene->context);
    sn_support_report *sums = SN_PUSH(&scratch, sn_support_report, count + 1);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        status = sn_scene_member_compute_supports(member, sums);
    }

    // One report for each entry, and one for whatever else holds the body.
    if (status == SINEW_OK) {
        for (int32_t k = 0; k <= count; k++) {
            snprintf(reports[k].name, sizeof reports[k].name, "other");
            if (k < count) {
                sn_scene_support_name(member->scene, k, reports[k].name);
            }
            memcpy(reports[k].force, sums[k].force, sizeof sums[k].force);
            memcpy(reports[k].torque, sums[k].torque, sizeof sums[k].torque);
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}
