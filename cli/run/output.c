// Frames of a run in every format, and the tables that are complete only at its end.
#include "run/run.h"

#include "files.h"

#include "sinew/io/output.h"

#include "base/clock.h"
#include "io/gltf/gltf.h"
#include "io/mesh/write.h"
#include "io/picture/colormap.h"

#include <stdio.h>
#include <string.h>

sinew_status run_write(run_state *run, const char *name, const sn_buffer *buffer) {
    char path[4096];
    SN_TRY(sn_buffer_status(buffer));
    if (snprintf(path, sizeof path, "%s/%s", run->folder, name) >= (int)sizeof path) {
        return sn_fail(run->context, SINEW_INVALID_ARGUMENT, "%s/%s: the name is too long",
                       run->folder, name);
    }

    return cli_write_part(run->context, path, buffer->data, buffer->size);
}

void run_store_tensor(double *to, const double *from, double shear) {
    static const int order[6] = {0, 1, 2, 5, 3, 4};
    for (int k = 0; k < 6; k++) {
        to[k] = from[order[k]] * (k < 3 ? 1 : shear);
    }
}

// Displacement, velocity, reaction and recovered stress of each node; strain, stress, energy, J
// and, with a field, the material axes of each element.
static sinew_status write_vtu(run_state *run, const sn_scene_member *member, const char *name) {
    const sinew_mesh *rest = member->mesh;
    sn_arena scratch = sn_arena_create(run->context);
    size_t nodes = (size_t)rest->point_count;
    size_t elements = (size_t)rest->element_count;
    double *displacement = SN_PUSH(&scratch, double, 3 * nodes);
    double *von_mises = SN_PUSH(&scratch, double, elements);
    double *energy = SN_PUSH(&scratch, double, elements);
    double *J = SN_PUSH(&scratch, double, elements);
    double *strain = SN_PUSH(&scratch, double, 6 * elements);
    double *stress = SN_PUSH(&scratch, double, 6 * elements);
    double *node_stress = SN_PUSH(&scratch, double, 6 * nodes);
    double *reaction = SN_PUSH(&scratch, double, 3 * nodes);
    double *axes = SN_PUSH(&scratch, double, member->field ? 9 * elements : 0);
    sinew_element_state *states = SN_PUSH(&scratch, sinew_element_state, elements);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        status = sinew_body_compute_node_stresses(member->body, node_stress);
    }

    if (status == SINEW_OK) {
        const double *x = sinew_body_get_positions(member->body);
        for (size_t i = 0; i < nodes; i++) {
            sn_vec3 from = sn_scene_place(member->scene, sn_load3(rest->points + 3 * i));
            sn_store3(displacement + 3 * i, sn_sub(sn_load3(x + 3 * i), from));
        }

        sinew_body_compute_element_states(member->body, states);
        for (size_t e = 0; e < elements; e++) {
            von_mises[e] = states[e].von_mises;
            energy[e] = states[e].energy;
            J[e] = states[e].J;
            run_store_tensor(strain + 6 * e, states[e].strain, 0.5);
            run_store_tensor(stress + 6 * e, states[e].stress, 1);
        }

        sinew_body_compute_reactions(member->body, reaction);
        for (size_t i = 0; i < nodes; i++) {
            double own[6];
            memcpy(own, node_stress + 6 * i, sizeof own);
            run_store_tensor(node_stress + 6 * i, own, 1);
        }

        sn_field point[] = {{"displacement", 3, displacement},
                            {"velocity", 3, sinew_body_get_velocities(member->body)},
                            {"reaction", 3, reaction},
                            {"stress", 6, node_stress}};
        sn_field cell[5 + 4] = {{"von_mises", 1, von_mises},
                                {"strain_energy", 1, energy},
                                {"J", 1, J},
                                {"strain", 6, strain},
                                {"stress", 6, stress}};
        int32_t count = 5;

        for (size_t e = 0; member->field && e < elements; e++) {
            run_deform_axes(states[e].F, sinew_field_get_axes(member->field) + 9 * e, axes,
                            elements, e);
        }

        if (member->field) {
            count += run_name_axes(member->field, axes, elements, cell + count);
            cell[count++] =
                (sn_field){"axis_certainty", 1, sinew_field_get_certainties(member->field)};
        }

        sn_fields fields = {4, count, point, cell};
        sinew_mesh now = *rest;

        now.points = x;
        sn_mesh_view view = sn_mesh_view_of(&now);
        sn_vtu_options options = {.single = true};

        sn_buffer_clear(&run->buffer);
        status = sn_write_vtu(&view, &fields, &options, &run->buffer);
    }

    sn_arena_destroy(&scratch);
    if (status == SINEW_OK) {
        status = run_write(run, name, &run->buffer);
    }

    return status;
}

static sinew_status write_surface(run_state *run, const sn_scene_member *member, const char *name) {
    sinew_mesh now = *member->surface.mesh;
    now.points = member->surface.points;
    now.labels = NULL;
    sn_mesh_view view = sn_mesh_view_of(&now);
    sn_buffer_clear(&run->buffer);
    SN_TRY(sn_write_mesh(&view, name, &run->buffer));

    return run_write(run, name, &run->buffer);
}

static sinew_status write_frame(run_state *run, int32_t body, int32_t frame) {
    const sn_scene_member *member = &run->world->members[body];
    int32_t formats = run->scene->output.formats;
    char name[256];

    if (formats & SN_OUTPUT_VTU) {
        snprintf(name, sizeof name, "%s_%05d.vtu", member->scene->name, frame);
        SN_TRY(member->frames ? run_write_frame_surface(run, member, name)
                              : write_vtu(run, member, name));
    }

    if (formats & SN_OUTPUT_VTU && member->frames) {
        snprintf(name, sizeof name, "%s_frames_%05d.vtu", member->scene->name, frame);
        SN_TRY(run_write_frame_points(run, member, name));
    }

    if (formats & SN_OUTPUT_PLY) {
        snprintf(name, sizeof name, "%s_%05d.ply", member->scene->name, frame);
        SN_TRY(write_surface(run, member, name));
    }

    if (formats & SN_OUTPUT_OBJ) {
        snprintf(name, sizeof name, "%s_%05d.obj", member->scene->name, frame);
        SN_TRY(write_surface(run, member, name));
    }

    bool skin = formats & SN_OUTPUT_SKIN && member->frames;
    if (skin) {
        SN_TRY(run_keep_poses(run, body, frame));
    }

    if (formats & (SN_OUTPUT_GLB | SN_OUTPUT_PC2) || skin) {
        size_t count = 3 * (size_t)member->surface.mesh->point_count;
        double *copy = SN_PUSH(&run->arena, double, count);
        SN_TRY(sn_arena_status(&run->arena));
        memcpy(copy, member->surface.points, count * sizeof *copy);
        run->frame_points[frame][body] = copy;
    }

    return SINEW_OK;
}

static void add_probe_names(run_state *run) {
    static const char *const parts[] = {
        "x",         "y",         "z",         "ux",        "uy",        "uz",        "strain_xx",
        "strain_yy", "strain_zz", "strain_yz", "strain_zx", "strain_xy", "stress_xx", "stress_yy",
        "stress_zz", "stress_yz", "stress_zx", "stress_xy", "von_mises"};
    sn_buffer_add_text(&run->probes, "time");

    for (int32_t i = 0; i < run->scene->probe_count; i++) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            sn_buffer_print(&run->probes, ",%s_%s", run->scene->probes[i].name, parts[k]);
        }
    }

    sn_buffer_add_text(&run->probes, "\n");
}

static void add_probe_row(run_state *run) {
    if (run->scene->probe_count == 0) {
        return;
    }
    if (run->probes.size == 0) {
        add_probe_names(run);
    }

    sn_buffer_add_double(&run->probes, sinew_world_get_time(run->world->world));
    for (int32_t i = 0; i < run->scene->probe_count; i++) {
        sn_probe_state state;
        sn_scene_world_read_probe(run->world, i, &state);

        const double *groups[] = {state.position, state.displacement, state.element.strain,
                                  state.element.stress, &state.element.von_mises};
        const int counts[] = {3, 3, 6, 6, 1};

        for (int g = 0; g < 5; g++) {
            for (int k = 0; k < counts[g]; k++) {
                sn_buffer_add_text(&run->probes, ",");
                sn_buffer_add_double(&run->probes, groups[g][k]);
            }
        }
    }

    sn_buffer_add_text(&run->probes, "\n");
}

// The moments of the contact sheet: the start, the end, and evenly between.
static bool is_moment(const run_state *run, int32_t step, bool last) {
    if (!(run->scene->output.formats & SN_OUTPUT_PNG)) {
        return false;
    }

    int32_t count = run->scene->preview.count;
    int32_t steps = run->scene->steps;
    if (run->moment_count >= count) {
        return false;
    }
    if (count == 1 || steps == 0) {
        return last;
    }

    return last || (int64_t)step * (count - 1) >= (int64_t)run->moment_count * steps;
}

sinew_status run_output(run_state *run, int32_t step, bool last) {
    double begin = sn_seconds();
    bool due = step % run->scene->output.every == 0 || last;
    bool moment = is_moment(run, step, last);

    add_probe_row(run);
    if (due || moment) {
        sn_scene_world_update_surfaces(run->world);
    }
    if (moment) {
        SN_TRY(run_add_moment(run, false));
    }

    run->moment_count += moment;
    if (run->film && due) {
        SN_TRY(run_add_moment(run, true));
    }

    // An output counts when all of its files are written.
    if (due && run->frame_count < run->frame_capacity) {
        int32_t frame = run->frame_count;
        run->times[frame] = sinew_world_get_time(run->world->world);
        for (int32_t i = 0; i < run->scene->body_count; i++) {
            SN_TRY(write_frame(run, i, frame));
        }
        run->frame_count++;
        run->last_output = step;
    }

    run->output_seconds += sn_seconds() - begin;
    return SINEW_OK;
}

static sinew_status write_pvd(run_state *run, const char *body, const char *part) {
    char(*names)[256] = sn_arena_push(&run->arena, (size_t)run->frame_count, sizeof *names);
    char name[256];

    const char **list = SN_PUSH(&run->arena, const char *, run->frame_count);
    SN_TRY(sn_arena_status(&run->arena));
    for (int32_t i = 0; i < run->frame_count; i++) {
        snprintf(names[i], sizeof *names, "%s%s_%05d.vtu", body, part, i);
        list[i] = names[i];
    }

    sn_buffer_clear(&run->buffer);
    SN_TRY(sn_write_pvd(list, run->times, run->frame_count, &run->buffer));
    snprintf(name, sizeof name, "%s%s.pvd", body, part);

    return run_write(run, name, &run->buffer);
}

static sinew_status write_glb(run_state *run, int32_t body) {
    const sn_scene_member *member = &run->world->members[body];
    const double **frames = SN_PUSH(&run->arena, const double *, run->frame_count);

    SN_TRY(sn_arena_status(&run->arena));
    for (int32_t i = 0; i < run->frame_count; i++) {
        frames[i] = run->frame_points[i][body];
    }

    sn_color color = sn_palette(body);
    sn_glb_frames glb = {
        .name = member->scene->name,
        .point_count = member->surface.mesh->point_count,
        .index_count = 3 * member->surface.mesh->element_count,
        .frame_count = run->frame_count,
        .indices = member->surface.mesh->indices,
        .frames = frames,
        .times = run->times,
        .z_up = true,
        .material = {.name = member->scene->name,
                     .color = {(double)color.r, (double)color.g, (double)color.b, 1},
                     .roughness = 0.6}};
    char name[256];

    snprintf(name, sizeof name, "%s.glb", member->scene->name);
    sn_buffer_clear(&run->buffer);
    SN_TRY(sn_write_glb_frames(&glb, &run->buffer));

    return run_write(run, name, &run->buffer);
}

static sinew_status write_pc2(run_state *run, int32_t body) {
    const sn_scene_member *member = &run->world->members[body];
    int32_t count = member->surface.mesh->point_count;
    char name[256];

    snprintf(name, sizeof name, "%s.pc2", member->scene->name);
    sn_buffer_clear(&run->buffer);
    sn_write_pc2_header(count, run->frame_count, 0, 1, &run->buffer);

    for (int32_t i = 0; i < run->frame_count; i++) {
        sn_write_pc2_frame(run->frame_points[i][body], count, &run->buffer);
    }

    SN_TRY(run_write(run, name, &run->buffer));
    sinew_mesh rest = *member->surface.mesh; // the mesh that the cache moves

    rest.labels = NULL;
    sn_mesh_view view = sn_mesh_view_of(&rest);

    snprintf(name, sizeof name, "%s.obj", member->scene->name);
    sn_buffer_clear(&run->buffer);
    SN_TRY(sn_write_obj(&view, true, &run->buffer));

    return run_write(run, name, &run->buffer);
}

// The message of the context is that of the last failure, which says as much as the first: the same
// disk is full.
static void keep_first(sinew_status *status, sinew_status next) {
    if (*status == SINEW_OK) {
        *status = next;
    }
}

// The files of one body that are complete only at the end.
static sinew_status finish_body(run_state *run, int32_t body) {
    const char *name = run->scene->bodies[body].name;
    bool frames = run->world->members[body].frames;
    int32_t formats = run->scene->output.formats;
    sinew_status status = SINEW_OK;

    if (formats & SN_OUTPUT_VTU) {
        keep_first(&status, write_pvd(run, name, ""));
    }
    if (formats & SN_OUTPUT_VTU && frames) {
        keep_first(&status, write_pvd(run, name, "_frames"));
    }
    if (formats & SN_OUTPUT_GLB) {
        keep_first(&status, write_glb(run, body));
    }
    if (formats & SN_OUTPUT_PC2) {
        keep_first(&status, write_pc2(run, body));
    }
    if (formats & SN_OUTPUT_SKIN && frames) {
        keep_first(&status, run_write_skin(run, body));
    }

    return status;
}

sinew_status run_finish(run_state *run) {
    double begin = sn_seconds();
    int32_t formats = run->scene->output.formats;
    int32_t bodies = run->frame_count > 0 ? run->scene->body_count : 0;
    sinew_status status = SINEW_OK;

    if (run->probes.size > 0 && formats & SN_OUTPUT_CSV) {
        keep_first(&status, run_write(run, "probes.csv", &run->probes));
    }
    for (int32_t i = 0; i < bodies; i++) {
        keep_first(&status, finish_body(run, i));
    }

    if (formats & SN_OUTPUT_PNG && run->moment_count > 0) {
        // A build without libpng draws no pictures; the run is complete without them.
        sinew_status drawn = run_write_preview(run);
        run->pictureless = drawn == SINEW_UNSUPPORTED;
        keep_first(&status, run->pictureless ? SINEW_OK : drawn);
    }

    keep_first(&status, sinew_folder_flush(run->context, run->folder));
    run->output_seconds += sn_seconds() - begin;
    return status;
}
