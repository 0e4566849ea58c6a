#include "io/scene/report.h"

#include "io/scene/build_frames.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sn_scene_support_name(const sn_scene_body *body, int32_t index,
                           char out[SN_SUPPORT_NAME_SIZE]) {
    bool scripted = body->supports[index].scripted;
    int32_t number = 0;
    for (int32_t i = 0; i < index; i++) {
        number += body->supports[i].scripted == scripted;
    }
    snprintf(out, SN_SUPPORT_NAME_SIZE, "%s[%d]", scripted ? "scripted" : "fixed", (int)number);
}

// --- loads

static sn_vec3 sum_pressure(sn_scene_member *member, const sn_picked *picked) {
    sinew_body_compute_surface(member->body, member->surface.points, NULL);
    sn_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < picked->count; i++) {
        const int32_t *t = member->surface.mesh->indices + 3 * (size_t)picked->nodes[i];
        sn_vec3 a = sn_load3(member->surface.points + 3 * (size_t)t[0]);
        sn_vec3 b = sn_sub(sn_load3(member->surface.points + 3 * (size_t)t[1]), a);
        sn_vec3 c = sn_sub(sn_load3(member->surface.points + 3 * (size_t)t[2]), a);
        sum = sn_madd(sum, 0.5 * picked->factor, sn_cross(b, c));
    }
    return sum;
}

sinew_status sn_scene_member_get_load(sn_scene_member *member, int32_t index, double time,
                                      sn_load_report *report) {
    const sn_scene_load *load = &member->scene->loads[index];
    double scale = member->load_scales[index] * sn_curve_at(&load->scale, time);
    *report = (sn_load_report){.area = 0};

    if (load->kind == SN_LOAD_FORCE) {
        sn_store3(report->force, sn_scale(scale, sn_load3(load->vector)));
        return SINEW_OK;
    }
    if (!member->frames) {
        sinew_load_report load_report;
        SN_TRY(sinew_body_get_load(member->body, member->load_index[index], &load_report));
        report->area = load_report.rest_area;
        memcpy(report->force, load_report.force, sizeof report->force);
        return SINEW_OK;
    }

    const sn_picked *picked = &member->loads[index];
    report->area = picked->area;
    sn_store3(report->force, load->kind == SN_LOAD_PRESSURE
                                 ? sn_scale(-scale * load->pressure, sum_pressure(member, picked))
                                 : sn_scale(scale * picked->area, sn_load3(load->vector)));
    return SINEW_OK;
}

// --- supports

static void add_force(sn_support_report *report, sn_vec3 x, sn_vec3 f) {
    sn_add_to3(report->force, f);
    sn_add_to3(report->torque, sn_cross(x, f));
}

// One component of a force.
static sn_vec3 along(const double *f, int axis) {
    double part[3] = {0, 0, 0};
    part[axis] = f[axis];
    return sn_load3(part);
}

static sinew_status sum_nodes(sn_scene_member *member, sn_support_report *reports) {
    const sn_scene_body *scene = member->scene;
    int32_t count = sinew_body_get_node_count(member->body);
    const double *x = sinew_body_get_positions(member->body);
    sn_arena scratch = sn_arena_create(member->context);
    double *reactions = SN_PUSH(&scratch, double, 3 * (size_t)count);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        sinew_body_compute_reactions(member->body, reactions);
        for (int32_t k = 0; k < scene->support_count; k++) {
            const sn_picked *picked = &member->supports[k];
            for (int32_t i = 0; i < 3 * picked->count; i++) {
                size_t node = (size_t)picked->nodes[i / 3];
                if (picked->axes[i / 3] >> i % 3 & 1) {
                    add_force(&reports[k], sn_load3(x + 3 * node),
                              along(reactions + 3 * node, i % 3));
                    reactions[3 * node + (size_t)(i % 3)] = 0;
                }
            }
        }

        // What no entry decides.
        for (int32_t i = 0; i < count; i++) {
            add_force(&reports[scene->support_count], sn_load3(x + 3 * (size_t)i),
                      sn_load3(reactions + 3 * (size_t)i));
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status sum_frames(sn_scene_member *member, sn_support_report *reports) {
    const sn_member_frames *frames = member->frames;
    for (int32_t i = 0; i < frames->node_count; i++) {
        double force[3], torque[3], x[3];
        SN_TRY(sinew_frame_body_get_reaction(member->body, i, force, torque));
        SN_TRY(sinew_frame_body_get_node(member->body, i, x, NULL));
        for (int d = 0; d < SN_FRAME_DIRECTIONS; d++) {
            int32_t owner = frames->owner[SN_FRAME_DIRECTIONS * i + d];
            bool entry = owner >= 0 && owner < member->scene->support_count;
            sn_support_report *report = &reports[entry ? owner : member->scene->support_count];
            if (d == 3) {
                sn_add_to3(report->torque, sn_load3(torque));
            } else {
                add_force(report, sn_load3(x), along(force, d));
            }
        }
    }
    return SINEW_OK;
}

sinew_status sn_scene_member_compute_supports(sn_scene_member *member, sn_support_report *reports) {
    size_t count = (size_t)member->scene->support_count + 1;
    memset(reports, 0, count * sizeof *reports);
    if (member->scene->positions.used) {
        return SINEW_OK;
    }
    return member->frames ? sum_frames(member, reports) : sum_nodes(member, reports);
}
