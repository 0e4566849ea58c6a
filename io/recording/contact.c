// What contact did in a run: a row of contact.csv for each step, extremes, and the state at the
// end.
#include "io/recording/recording.h"
#include "io/scene/rigid.h"

#include "sinew/contact.h"

#include <math.h>

static int32_t most(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static void take_report(sinew_recorded_contact *total, const sinew_contact_report *report) {
    total->touching_count += report->active > 0;
    total->truncated_count += report->truncated > 0;
    total->held_count += report->held > 0;
    total->most_pairs = most(total->most_pairs, report->pairs);
    total->most_active = most(total->most_active, report->active);
    total->most_solves = most(total->most_solves, report->solves);
    total->most_overlapping = most(total->most_overlapping, report->overlapping);
    total->most_overlaps = most(total->most_overlaps, report->overlaps);
    total->deepest = fmax(total->deepest, report->deepest);
    total->smallest_gap = fmin(total->smallest_gap, report->smallest_gap);
    total->largest_lag = fmax(total->largest_lag, report->lag);
    total->largest_force = fmax(total->largest_force, report->largest_force);
}

// --- The table

static void add_names(sinew_recording *recording) {
    static const char *const parts[] = {"contacts", "fx", "fy", "fz", "area", "x", "y", "z"};
    sn_buffer *out = &recording->contacts;
    sn_buffer_add_text(
        out, "time,pairs,active,solves,truncated,held,overlapping,overlaps,deepest,smallest_gap,"
             "lag,largest_force");

    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            sn_buffer_print(out, ",%s_%s", recording->scene->bodies[i].name, parts[k]);
        }
    }
    sn_buffer_add_text(out, "\n");
}

static void add_number(sn_buffer *out, double value) {
    sn_buffer_add_text(out, ",");
    if (isfinite(value)) {
        sn_buffer_add_double(out, value);
    }
}

static sinew_status add_row(sinew_recording *recording, const sinew_contact_report *report) {
    sn_buffer *out = &recording->contacts;
    if (out->size == 0) {
        add_names(recording);
    }

    // The world. A gap to nothing is left empty.
    sn_buffer_add_double(out, sinew_world_get_time(recording->world->world));
    sn_buffer_print(out, ",%d,%d,%d,%d,%d,%d,%d", report->pairs, report->active, report->solves,
                    report->truncated, report->held, report->overlapping, report->overlaps);
    add_number(out, report->deepest);
    add_number(out, report->smallest_gap);
    add_number(out, report->lag);
    add_number(out, report->largest_force);

    // The bodies.
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        sinew_body_contact contact;
        SN_TRY(sinew_body_get_contact(recording->world->members[i].body, &contact));
        sn_buffer_print(out, ",%d", contact.count);
        for (int k = 0; k < 3; k++) {
            add_number(out, contact.force[k]);
        }
        add_number(out, contact.area);
        for (int k = 0; k < 3; k++) {
            add_number(out, contact.count > 0 ? contact.position[k] : NAN);
        }
    }

    sn_buffer_add_text(out, "\n");
    return SINEW_OK;
}

sinew_status sn_recording_note_contact(sinew_recording *recording) {
    if (!recording->contact.on) {
        return SINEW_OK;
    }

    sinew_contact_report report = sinew_world_get_contact_report(recording->world->world);
    take_report(&recording->contact, &report);
    return recording->def.formats & SINEW_FORMAT_CSV ? add_row(recording, &report) : SINEW_OK;
}

// --- The summary

static void write_report(sn_json_writer *json, const sinew_contact_report *report) {
    sn_json_write_key(json, "last_step");
    sn_json_begin_object(json);
    sn_json_write_number_pair(json, "pairs", report->pairs);
    sn_json_write_number_pair(json, "active", report->active);
    sn_json_write_number_pair(json, "solves", report->solves);
    sn_json_write_number_pair(json, "truncated", report->truncated);
    sn_json_write_number_pair(json, "held", report->held);
    sn_json_write_number_pair(json, "overlapping", report->overlapping);
    sn_json_write_number_pair(json, "overlaps", report->overlaps);
    sn_json_write_number_pair(json, "deepest", report->deepest);
    sn_json_write_number_pair(json, "smallest_gap", report->smallest_gap);
    sn_json_write_number_pair(json, "lag", report->lag);
    sn_json_write_number_pair(json, "largest_force", report->largest_force);
    sn_json_end_object(json);
}

// The force of its contacts in the last step, and where they are.
static void write_body(const sinew_recording *recording, int32_t index, sn_json_writer *json) {
    sinew_body *body = recording->world->members[index].body;
    const sinew_contact *contacts;
    int32_t count = sinew_world_get_contacts(recording->world->world, &contacts);
    sinew_body_contact contact;
    if (sinew_body_get_contact(body, &contact) != SINEW_OK) {
        return;
    }

    // Sums over the body.
    sn_json_begin_object(json);
    sn_json_write_key(json, "body");
    sn_json_write_string(json, recording->scene->bodies[index].name);
    sn_json_write_number_pair(json, "contacts", contact.count);
    sn_json_write_numbers_pair(json, "force", contact.force, 3);
    sn_json_write_number_pair(json, "area", contact.area);
    sn_json_write_numbers_pair(json, "position", contact.position, 3);

    // Single contacts, in which the body may come first or second.
    sn_json_write_key(json, "positions");
    sn_json_begin_array(json);
    for (int32_t i = 0; i < count; i++) {
        if (contacts[i].body == body || contacts[i].other == body) {
            sn_json_write_numbers(json, contacts[i].position, 3);
        }
    }
    sn_json_end_array(json);
    sn_json_end_object(json);
}

static void write_obstacle(const sinew_obstacle *obstacle, sn_json_writer *json) {
    double force[3], torque[3];
    sinew_obstacle_get_force(obstacle, force, torque);
    sn_json_begin_object(json);
    sn_json_write_key(json, "obstacle");
    sn_json_write_string(json, sinew_obstacle_get_name(obstacle));
    sn_json_write_numbers_pair(json, "force", force, 3);
    sn_json_write_numbers_pair(json, "torque", torque, 3);
    sn_json_end_object(json);
}

static void write_glue(const sinew_recording *recording, int32_t index, sn_json_writer *json) {
    const sn_scene_glue *scene = &recording->scene->glues[index];
    sinew_glue *glue = recording->world->glues[index];
    double force[3] = {0, 0, 0};
    if (sinew_glue_get_force(glue, force) != SINEW_OK) {
        return;
    }

    sn_json_begin_object(json);
    sn_json_write_string_pair(json, "body", recording->scene->bodies[scene->body].name);
    sn_json_write_string_pair(json, "to", recording->scene->bodies[scene->target].name);
    sn_json_write_number_pair(json, "vertices", sinew_glue_get_count(glue));
    sn_json_write_key(json, "broken");
    sn_json_write_boolean(json, sinew_glue_is_broken(glue));
    sn_json_write_numbers_pair(json, "force", force, 3);
    sn_json_end_object(json);
}

static void write_glues(const sinew_recording *recording, sn_json_writer *json) {
    if (recording->scene->glue_count == 0) {
        return;
    }

    sn_json_write_key(json, "glue");
    sn_json_begin_array(json);
    for (int32_t i = 0; i < recording->scene->glue_count; i++) {
        write_glue(recording, i, json);
    }
    sn_json_end_array(json);
}

void sn_recording_write_contact(const sinew_recording *recording, sn_json_writer *json) {
    const sinew_recorded_contact *total = &recording->contact;
    const sinew_world *world = recording->world->world;
    write_glues(recording, json);
    if (!total->on) {
        return;
    }

    // The run.
    sn_json_write_key(json, "contact");
    sn_json_begin_object(json);
    sn_json_write_number_pair(json, "touching_steps", (double)total->touching_count);
    sn_json_write_number_pair(json, "truncated_steps", (double)total->truncated_count);
    sn_json_write_number_pair(json, "held_steps", (double)total->held_count);
    sn_json_write_number_pair(json, "most_pairs", total->most_pairs);
    sn_json_write_number_pair(json, "most_active", total->most_active);
    sn_json_write_number_pair(json, "most_solves", total->most_solves);
    sn_json_write_number_pair(json, "most_overlapping", total->most_overlapping);
    sn_json_write_number_pair(json, "most_overlaps", total->most_overlaps);
    sn_json_write_number_pair(json, "deepest", total->deepest);
    sn_json_write_number_pair(json, "smallest_gap", total->smallest_gap);
    sn_json_write_number_pair(json, "largest_lag", total->largest_lag);
    sn_json_write_number_pair(json, "largest_force", total->largest_force);

    // Its last step.
    sinew_contact_report report = sinew_world_get_contact_report(world);
    write_report(json, &report);
    sn_json_write_key(json, "bodies");
    sn_json_begin_array(json);
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        write_body(recording, i, json);
    }
    sn_json_end_array(json);

    sn_json_write_key(json, "obstacles");
    sn_json_begin_array(json);
    for (int32_t i = 0; i < sinew_world_get_obstacle_count(world); i++) {
        write_obstacle(sinew_world_get_obstacle(world, i), json);
    }
    sn_json_end_array(json);
    sn_json_end_object(json);
}
