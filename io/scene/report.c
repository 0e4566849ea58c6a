// What acts on a body at a time, for summaries and tables: its loads with their areas, and the
// reactions of its supports.
#include "io/scene/report.h"

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

sinew_status sn_scene_member_get_load(sn_scene_member *member, int32_t index, double time,
                                      sn_load_report *report) {
    const sn_scene_load *load = &member->scene->loads[index];
    double scale = member->load_scales[index] * sn_curve_at(&load->scale, time);
    *report = (sn_load_report){.area = 0};

    if (load->kind == SN_LOAD_FORCE) {
        sn_store3(report->force, sn_scale(scale, sn_load3(load->vector)));
        return SINEW_OK;
    }

    sinew_load_report load_report;
    SN_TRY(sinew_body_get_load(member->body, member->load_index[index], &load_report));
    memcpy(report->force, load_report.force, sizeof report->force);

    // Faces of voxels are loaded with their own area, not that of the smoothed surface.
    double area = member->loads[index].area;
    report->area = area > 0 ? area : load_report.rest_area;
    return SINEW_OK;
}

// --- supports

void sn_support_add_force(sn_support_report *report, sn_vec3 x, sn_vec3 f) {
    sn_add_to3(report->force, f);
    sn_add_to3(report->torque, sn_cross(x, f));
}

sinew_status sn_scene_member_compute_supports(sn_scene_member *member, sn_support_report *reports) {
    size_t count = (size_t)member->scene->support_count + 1;
    memset(reports, 0, count * sizeof *reports);
    if (member->scene->positions.used) {
        return SINEW_OK;
    }
    return member->ops->compute_supports(member, reports);
}
