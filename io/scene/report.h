// What loads and supports of a scene add up to, for `check` and the summary of a run.
#ifndef SN_IO_SCENE_REPORT_H
#define SN_IO_SCENE_REPORT_H

#include "io/scene/build.h"

typedef struct sn_load_report {
    double area;     // loaded part of the rest surface [m^2]; 0 for forces
    double force[3]; // total at a time [N]
} sn_load_report;

// Load number `index` of the scene's body at a time, at the present positions.
sinew_status sn_scene_member_get_load(sn_scene_member *member, int32_t index, double time,
                                      sn_load_report *report);

struct sn_support_report {
    double force[3];  // on the body [N]
    double torque[3]; // about the origin of the world [Nm]
};

// Adds a force that acts at a position.
void sn_support_add_force(sn_support_report *report, sn_vec3 x, sn_vec3 f);

// The reactions of each entry of `fixed` and `scripted` in the last step or static solve, one after
// the other, and then of whatever else holds the body: its skeleton, the frames' own entries.
// `reports` takes support_count + 1 of them. Bodies under position dynamics have none.
sinew_status sn_scene_member_compute_supports(sn_scene_member *member, sn_support_report *reports);

// "fixed[2]", "scripted[0]": an entry as the scene numbers it.
enum { SN_SUPPORT_NAME_SIZE = 32 };
void sn_scene_support_name(const sn_scene_body *body, int32_t index,
                           char out[SN_SUPPORT_NAME_SIZE]);

#endif
