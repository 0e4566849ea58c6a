// The machine-readable summary of a run.
#include "io/recording/recording.h"

#include "io/public/bytes.h"
#include "io/scene/report.h"
#include "io/text/json_write.h"

#include <stdio.h>

static void write_measures(sn_json_writer *json, const sinew_measures *m) {
    sn_json_write_key(json, "energy");
    sn_json_begin_object(json);
    sn_json_write_number_pair(json, "kinetic", m->kinetic_energy);
    sn_json_write_number_pair(json, "elastic", m->elastic_energy);
    sn_json_write_number_pair(json, "gravity", m->gravity_energy);
    sn_json_end_object(json);
    sn_json_write_numbers_pair(json, "momentum", m->momentum, 3);
    sn_json_write_numbers_pair(json, "angular_momentum", m->angular_momentum, 3);
    sn_json_write_number_pair(json, "mass", m->mass);
    sn_json_write_number_pair(json, "volume_ratio", m->volume / m->rest_volume);
}

static void write_probes(const sinew_recording *recording, sn_json_writer *json) {
    sn_json_write_key(json, "probes");
    sn_json_begin_object(json);
    for (int32_t i = 0; i < recording->scene->probe_count; i++) {
        sn_probe_state state;
        sn_scene_world_read_probe(recording->world, i, &state);
        sn_json_write_key(json, recording->scene->probes[i].name);
        sn_json_begin_object(json);
        sn_json_write_numbers_pair(json, "position", state.position, 3);
        sn_json_write_numbers_pair(json, "displacement", state.displacement, 3);
        sn_json_write_numbers_pair(json, "strain", state.element.strain, 6);
        sn_json_write_numbers_pair(json, "stress", state.element.stress, 6);
        sn_json_write_number_pair(json, "von_mises", state.element.von_mises);
        sn_json_end_object(json);
    }

    sn_json_end_object(json);
}

// What each load adds up to at the end.
static void write_loads(const sinew_recording *recording, sn_json_writer *json) {
    sn_json_write_key(json, "loads");
    sn_json_begin_array(json);
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        sn_scene_member *member = &recording->world->members[i];
        for (int32_t k = 0; k < member->scene->load_count; k++) {
            sn_load_report report;
            double time = sinew_world_get_time(recording->world->world);
            if (sn_scene_member_get_load(member, k, time, &report) != SINEW_OK) {
                continue;
            }
            sn_json_begin_object(json);
            sn_json_write_key(json, "body");
            sn_json_write_string(json, member->scene->name);
            sn_json_write_key(json, "load");
            sn_json_write_integer(json, k);
            sn_json_write_number_pair(json, "area", report.area);
            sn_json_write_numbers_pair(json, "force", report.force, 3);
            sn_json_end_object(json);
        }
    }
    sn_json_end_array(json);
}

// The reactions of a body's supports: those of each entry, then of whatever else holds it.
static void write_member_supports(const sinew_recording *recording, sn_scene_member *member,
                                  sn_json_writer *json) {
    int32_t count = member->scene->support_count;
    sn_arena scratch = sn_arena_create(recording->context);
    sn_support_report *reports = SN_PUSH(&scratch, sn_support_report, count + 1);
    bool made = sn_arena_status(&scratch) == SINEW_OK &&
                sn_scene_member_compute_supports(member, reports) == SINEW_OK;

    if (made) {
        for (int32_t k = 0; k <= count; k++) {
            // "other" is left out if nothing else holds the body.
            char name[SN_SUPPORT_NAME_SIZE] = "other";
            const double *f = reports[k].force;
            const double *t = reports[k].torque;
            bool any = f[0] != 0 || f[1] != 0 || f[2] != 0 || t[0] != 0 || t[1] != 0 || t[2] != 0;
            if (k == count && !any) {
                continue;
            }
            if (k < count) {
                sn_scene_support_name(member->scene, k, name);
            }
            sn_json_begin_object(json);
            sn_json_write_key(json, "body");
            sn_json_write_string(json, member->scene->name);
            sn_json_write_key(json, "entry");
            sn_json_write_string(json, name);
            sn_json_write_numbers_pair(json, "force", f, 3);
            sn_json_write_numbers_pair(json, "torque", t, 3);
            sn_json_end_object(json);
        }
    }
    sn_arena_destroy(&scratch);
}

static void write_supports(const sinew_recording *recording, sn_json_writer *json) {
    sn_json_write_key(json, "supports");
    sn_json_begin_array(json);
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        write_member_supports(recording, &recording->world->members[i], json);
    }
    sn_json_end_array(json);
}

// How the bodies were bound to their skeletons.
static void write_rigging(const sinew_recording *recording, sn_json_writer *json) {
    sn_json_write_key(json, "rigging");
    sn_json_begin_object(json);
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        const sinew_rig_report *report = sn_scene_member_rigging(&recording->world->members[i]);
        if (!report) {
            continue;
        }

        // Counts by name.
        const char *const keys[] = {"bound_elements", "shared_elements", "bound_nodes",
                                    "shared_nodes", "idle_bones"};

        const int32_t values[] = {report->bound_elements, report->shared_elements,
                                  report->bound_nodes, report->shared_nodes, report->idle_bones};

        sn_json_write_key(json, recording->scene->bodies[i].name);
        sn_json_begin_object(json);
        for (int k = 0; k < 5; k++) {
            sn_json_write_key(json, keys[k]);
            sn_json_write_integer(json, values[k]);
        }

        sn_json_end_object(json);
    }

    sn_json_end_object(json);
}

// The volume of the voxels, and its error relative to the shape if that is known.
static void write_voxels(sn_json_writer *json, const sinew_voxels *voxels) {
    double shape;
    double volume = sinew_voxels_get_volume(voxels, &shape);

    sn_json_write_number_pair(json, "volume", volume);
    if (shape > 0) {
        sn_json_write_number_pair(json, "volume_error", volume / shape - 1);
    }
}

// How the shape functions and samples of bodies of frames came out.
static void write_frames(const sinew_recording *recording, sn_json_writer *json) {
    // Scenes without frames have no such section.
    bool any = false;
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        any = any || recording->world->members[i].frame_count > 0;
    }

    if (!any) {
        return;
    }

    sn_json_write_key(json, "frames");
    sn_json_begin_object(json);
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        const sn_scene_member *member = &recording->world->members[i];
        sinew_weights_report weights;
        sinew_sampling_report sampling;

        if (member->frame_count == 0 ||
            sinew_frame_body_get_report(member->body, &weights, &sampling) != SINEW_OK) {
            continue;
        }

        sn_json_write_key(json, member->scene->name);
        sn_json_begin_object(json);
        sn_json_write_number_pair(json, "frames", sinew_frame_body_get_node_count(member->body));
        sn_json_write_number_pair(json, "samples", sampling.sample_count);
        sn_json_write_number_pair(json, "frames_per_voxel", weights.mean_nodes);
        sn_json_write_number_pair(json, "largest_weight_loss", weights.largest_loss);
        sn_json_write_number_pair(json, "unreached_voxels", weights.unreached_voxels);
        sn_json_write_number_pair(json, "moved_frames", weights.moved_nodes);
        sn_json_write_number_pair(json, "residual", weights.residual);
        sn_json_write_number_pair(json, "mass", sampling.mass);
        write_voxels(json, sinew_frame_body_get_voxels(member->body));
        sn_json_end_object(json);
    }

    sn_json_end_object(json);
}

// How the fields that curves made came out.
static void write_fields(const sinew_recording *recording, sn_json_writer *json) {
    // Scenes without fields have no such section.
    bool any = false;
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        any = any || recording->world->members[i].field;
    }

    if (!any) {
        return;
    }

    sn_json_write_key(json, "fields");
    sn_json_begin_object(json);
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        const sinew_field *field = recording->world->members[i].field;
        if (!field) {
            continue;
        }

        sinew_field_report report;
        sinew_field_get_report(field, &report);
        sn_json_write_key(json, recording->scene->bodies[i].name);
        sn_json_begin_object(json);
        sn_json_write_key(json, "kind");
        sn_json_write_string(json, sinew_field_get_kind(field) == SINEW_FIELD_FIBRES ? "fibres"
                                                                                     : "frames");
        sn_json_write_number_pair(json, "curves", sinew_field_get_curve_count(field));
        sn_json_write_number_pair(json, "unknowns", report.unknown_count);
        sn_json_write_number_pair(json, "guides", report.constraint_count);
        sn_json_write_number_pair(json, "ignored_guides", report.ignored_count);
        sn_json_write_number_pair(json, "parts_without_curve", report.isolated_part_count);
        sn_json_write_number_pair(json, "seams", report.seam_count);
        sn_json_write_number_pair(json, "least_certainty", report.least_certainty);
        sn_json_write_numbers_pair(json, "least_certain_at", report.least_certain_at, 3);
        sn_json_end_object(json);
    }

    sn_json_end_object(json);
}

static void write_skins(const sinew_recording *recording, sn_json_writer *json) {
    sn_json_write_key(json, "skins");
    sn_json_begin_object(json);
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        const sinew_recorded_skin *skin = &recording->skins[i];
        if (recording->world->members[i].frame_count == 0) {
            continue;
        }

        sn_json_write_key(json, recording->scene->bodies[i].name);
        sn_json_begin_object(json);
        sn_json_write_key(json, "joints");
        sn_json_write_integer(json, skin->joint_count);
        sn_json_write_key(json, "joints_per_point");
        sn_json_write_integer(json, recording->def.skin_joints);
        sn_json_write_number_pair(json, "largest_error", skin->largest_error);
        sn_json_write_number_pair(json, "truncated_weight", skin->truncated_weight);
        sn_json_write_number_pair(json, "fit_error", skin->fit_error);
        sn_json_write_number_pair(json, "error_with_4_joints", skin->errors[0]);
        sn_json_write_number_pair(json, "error_with_8_joints", skin->errors[1]);
        sn_json_end_object(json);
    }

    sn_json_end_object(json);
}

static void write_counts(const sinew_recording *recording, sn_json_writer *json) {
    sn_json_write_key(json, "iterations");
    sn_json_begin_object(json);
    sn_json_write_key(json, "newton");
    sn_json_write_integer(json, recording->newton_iterations);
    sn_json_write_key(json, "solver");
    sn_json_write_integer(json, recording->solver_iterations);
    sn_json_write_key(json, "line_search_cuts");
    sn_json_write_integer(json, recording->line_search_cuts);
    sn_json_write_key(json, "steps_not_converged");
    sn_json_write_integer(json, recording->unconverged_steps);
    sn_json_write_key(json, "steps_rescued");
    sn_json_write_integer(json, recording->rescued_steps);
    sn_json_write_number_pair(json, "largest_residual", recording->largest_residual);
    sn_json_end_object(json);
    sn_json_write_key(json, "seconds");
    sn_json_begin_object(json);
    sn_json_write_number_pair(json, "simulate", recording->simulate_seconds);
    sn_json_write_number_pair(json, "assemble", recording->assemble_seconds);
    sn_json_write_number_pair(json, "solve", recording->solve_seconds);
    sn_json_write_number_pair(json, "output", recording->output_seconds);
    sn_json_end_object(json);
}

static void write_static(const sinew_recording *recording, sn_json_writer *json) {
    const sinew_step_report *report = &recording->static_report;
    sn_json_write_key(json, "static");
    sn_json_begin_object(json);
    sn_json_write_key(json, "outcome");
    sn_json_write_string(json, sinew_outcome_name(report->outcome));
    sn_json_write_number_pair(json, "residual", report->newton_residual);
    sn_json_write_key(json, "iterations");
    sn_json_write_integer(json, report->newton_iterations);
    sn_json_end_object(json);
}

sinew_status sinew_recording_write_summary(const sinew_recording *recording, const char *outcome,
                                           const char *reason, sinew_bytes *out) {
    SN_NEED(NULL, recording && outcome && out);

    sinew_world *world = recording->world->world;
    sn_json_writer json = sn_json_writer_create(&out->buffer, false);
    sn_json_begin_object(&json);

    // What became of the run.
    sn_json_write_key(&json, "scene");
    sn_json_write_string(&json, recording->scene->name);
    sn_json_write_key(&json, "outcome");
    sn_json_write_string(&json, outcome);
    if (reason) {
        sn_json_write_key(&json, "reason");
        sn_json_write_string(&json, reason);
    }
    if (recording->static_solved) {
        write_static(recording, &json);
    }
    sn_json_write_key(&json, "steps");
    sn_json_write_integer(&json, recording->steps);

    // The state at its end.
    sinew_measures measures;
    char hash[24];
    sinew_world_get_measures(world, &measures);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)sinew_world_get_hash(world));
    sn_json_write_number_pair(&json, "time", sinew_world_get_time(world));
    write_measures(&json, &measures);
    sn_json_write_number_pair(&json, "smallest_J", recording->smallest_J);
    sn_json_write_number_pair(&json, "largest_J", recording->largest_J);
    write_counts(recording, &json);
    sn_json_write_key(&json, "hash");
    sn_json_write_string(&json, hash);
    write_probes(recording, &json);
    write_loads(recording, &json);
    write_supports(recording, &json);
    sn_recording_write_contact(recording, &json);

    // How models were made.
    if (recording->scene->skeleton_count > 0) {
        write_rigging(recording, &json);
    }
    write_frames(recording, &json);
    write_fields(recording, &json);
    if (recording->skins) {
        write_skins(recording, &json);
    }

    sn_json_end_object(&json);
    sn_buffer_add_text(&out->buffer, "\n");
    return sn_buffer_status(&out->buffer);
}
