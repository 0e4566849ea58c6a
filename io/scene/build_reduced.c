// Reduced bodies of a scene: built as bodies of elements with their supports, then reduced.
#include "io/scene/builder.h"
#include "io/scene/report.h"

// Nothing changes in time: supports stay, and there are no loads.
static sinew_status apply(sn_scene_member *member, double time) {
    (void)member;
    (void)time;
    return SINEW_OK;
}

// The frame takes up what all supports bear together.
static sinew_status compute_supports(sn_scene_member *member, sn_support_report *reports) {
    double force[3], torque[3], x[3];
    int32_t count = member->scene->support_count;
    SN_TRY(sinew_reduced_body_get_reaction(member->body, x, force, torque));
    sn_support_report *report = &reports[count == 1 ? 0 : count];
    sn_support_add_force(report, sn_load3(x), sn_load3(force));
    sn_add_to3(report->torque, sn_load3(torque));
    return SINEW_OK;
}

static const sn_member_ops reduced_member_ops = {.apply = apply,
                                                 .compute_supports = compute_supports};

sinew_status sn_builder_reduce(sn_builder *b, sn_scene_member *member) {
    const sn_scene_body *scene = member->scene;
    SN_TRY(
        sn_builder_note(b, scene->json, sinew_body_reduce(member->body, &scene->reduction, NULL)));
    member->ops = &reduced_member_ops;
    sinew_mesh_destroy(member->mesh);
    member->mesh = NULL;
    return SINEW_OK;
}
