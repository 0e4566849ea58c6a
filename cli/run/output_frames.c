// Bodies of frames for ParaView: the surface with what the material feels and the weights of the
// frames, and the frames themselves as points with their axes.
#include "run/run.h"

#include "io/mesh/write.h"
#include "io/scene/build_frames.h"

#include <stdio.h>
#include <string.h>

// Numbers at the points of the surface.
typedef struct surface_fields {
    double *displacement, *velocity, *von_mises, *energy, *J, *strain, *weights;
    double *axes; // of the material, if there is a field
    sinew_element_state *states;
} surface_fields;

static surface_fields push_fields(sn_arena *scratch, size_t points, size_t nodes, bool axes) {
    return (surface_fields){SN_PUSH(scratch, double, 3 * points),
                            SN_PUSH(scratch, double, 3 * points),
                            SN_PUSH(scratch, double, points),
                            SN_PUSH(scratch, double, points),
                            SN_PUSH(scratch, double, points),
                            SN_PUSH(scratch, double, 6 * points),
                            SN_PUSH(scratch, double, nodes *points),
                            SN_PUSH(scratch, double, axes ? 9 * points : 0),
                            SN_PUSH(scratch, sinew_element_state, points)};
}

static void fill_fields(const sn_scene_member *member, int32_t nodes, surface_fields *f) {
    const sinew_mesh *surface = member->surface.mesh;
    const int32_t *starts, *frames;
    const double *weights;

    sinew_frame_points_get_weights(member->frames->points, &starts, &frames, &weights);
    sinew_frame_points_compute(member->frames->points, f->displacement, f->velocity, f->states);
    for (int32_t i = 0; i < surface->point_count; i++) {
        sn_vec3 from = sn_scene_place(member->scene, sn_load3(surface->points + 3 * (size_t)i));
        sn_store3(f->displacement + 3 * (size_t)i,
                  sn_sub(sn_load3(f->displacement + 3 * (size_t)i), from));
        f->von_mises[i] = f->states[i].von_mises;
        f->energy[i] = f->states[i].energy;
        f->J[i] = f->states[i].J;
        run_store_tensor(f->strain + 6 * (size_t)i, f->states[i].strain, 0.5);

        for (int32_t k = starts[i]; k < starts[i + 1]; k++) {
            f->weights[(size_t)i * (size_t)nodes + (size_t)frames[k]] = weights[k];
        }

        if (!member->field) {
            continue;
        }

        double rest[9];
        sinew_field_compute_axes_at(member->field, surface->points + 3 * (size_t)i, rest);
        run_deform_axes(f->states[i].F, rest, f->axes, (size_t)surface->point_count, (size_t)i);
    }
}

static sinew_status write_mesh(run_state *run, const sinew_mesh *mesh, const sn_fields *fields,
                               const char *name) {
    sn_mesh_view view = sn_mesh_view_of(mesh);
    sn_vtu_options options = {.single = true};
    sn_buffer_clear(&run->buffer);
    SN_TRY(sn_write_vtu(&view, fields, &options, &run->buffer));
    return run_write(run, name, &run->buffer);
}

sinew_status run_write_frame_surface(run_state *run, const sn_scene_member *member,
                                     const char *name) {
    sn_arena scratch = sn_arena_create(run->context);
    int32_t nodes = sinew_frame_body_get_node_count(member->body);
    surface_fields f = push_fields(&scratch, (size_t)member->surface.mesh->point_count,
                                   (size_t)nodes, member->field);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        fill_fields(member, nodes, &f);
        sn_field point[7 + 3] = {{"displacement", 3, f.displacement},
                                 {"velocity", 3, f.velocity},
                                 {"von_mises", 1, f.von_mises},
                                 {"energy_density", 1, f.energy},
                                 {"J", 1, f.J},
                                 {"strain", 6, f.strain},
                                 {"weights", nodes, f.weights}};
        sn_fields fields = {.point_count = 7, .point = point};
        size_t count = (size_t)member->surface.mesh->point_count;

        if (member->field) {
            fields.point_count += run_name_axes(member->field, f.axes, count, point + 7);
        }

        sinew_mesh now = *member->surface.mesh;
        now.points = member->surface.points;
        now.labels = NULL;
        status = write_mesh(run, &now, &fields, name);
    }

    sn_arena_destroy(&scratch);
    return status;
}

sinew_status run_write_frame_points(run_state *run, const sn_scene_member *member,
                                    const char *name) {
    sn_arena scratch = sn_arena_create(run->context);
    size_t count = (size_t)sinew_frame_body_get_node_count(member->body);
    double *points = SN_PUSH(&scratch, double, 3 * count);
    double *axes[3];

    for (int k = 0; k < 3; k++) {
        axes[k] = SN_PUSH(&scratch, double, 3 * count);
    }

    sinew_status status = sn_arena_status(&scratch);
    for (size_t i = 0; status == SINEW_OK && i < count; i++) {
        double matrix[9];
        status = sinew_frame_body_get_node(member->body, (int32_t)i, points + 3 * i, NULL);
        if (status == SINEW_OK) {
            status = sinew_frame_body_get_matrix(member->body, (int32_t)i, matrix);
        }

        for (size_t k = 0; status == SINEW_OK && k < 9; k++) {
            axes[k % 3][3 * i + k / 3] = matrix[k];
        }
    }

    if (status == SINEW_OK) {
        const sn_field point[] = {
            {"x_axis", 3, axes[0]}, {"y_axis", 3, axes[1]}, {"z_axis", 3, axes[2]}};
        sn_fields fields = {.point_count = 3, .point = point};
        sinew_mesh mesh = {
            .points = points, .point_count = (int32_t)count, .element = SINEW_ELEMENT_TRIANGLE};
        status = write_mesh(run, &mesh, &fields, name);
    }

    sn_arena_destroy(&scratch);
    return status;
}
