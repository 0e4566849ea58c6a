// Bodies for ParaView. Of elements: displacement, velocity, reaction and recovered stress of each
// node; strain, stress, energy, J and material axes of each element. Of frames: the surface with
// what the material feels and the weights of the frames, and the frames themselves as points with
// their axes. Where a scene has contact: its force and pressure at the vertices of surfaces.
#include "io/recording/recording.h"

#include "sinew/contact.h"

#include "io/scene/build_frames.h"

#include <stdio.h>
#include <string.h>

// From xx yy zz yz zx xy to VTK's XX YY ZZ XY YZ XZ, the shears multiplied by `shear`: 0.5 where
// they are doubled, 1 otherwise.
static void store_tensor(double *to, const double *from, double shear) {
    static const int order[6] = {0, 1, 2, 5, 3, 4};
    for (int k = 0; k < 6; k++) {
        to[k] = from[order[k]] * (k < 3 ? 1 : shear);
    }
}

// Stores what F makes of the material axes at rest, F a, as long as the material is stretched: at
// `place` of three arrays of `count` vectors each.
static void deform_axes(const double F[9], const double rest[9], double *axes, size_t count,
                        size_t place) {
    for (size_t k = 0; k < 3; k++) {
        double *axis = axes + 3 * (k * count + place);
        for (size_t i = 0; i < 3; i++) {
            axis[i] = F[3 * i] * rest[3 * k] + F[3 * i + 1] * rest[3 * k + 1] +
                      F[3 * i + 2] * rest[3 * k + 2];
        }
    }
}

// The arrays by their names; of fibres axis 3 alone. Returns how many.
static int32_t name_axes(const sinew_field *field, const double *axes, size_t count,
                         sn_field *named) {
    static const char *const names[3] = {"axis_1", "axis_2", "axis_3"};
    int32_t first = sinew_field_get_kind(field) == SINEW_FIELD_FIBRES ? 2 : 0;
    for (int32_t k = first; k < 3; k++) {
        named[k - first] = (sn_field){names[k], 3, axes + 3 * (size_t)k * count};
    }
    return 3 - first;
}

// --- Contact

// Forces and pressures of contact at the vertices of a body's surface.
typedef struct contact_fields {
    double *force, *pressure;
} contact_fields;

// The pressure is the force against the normal over the area that a vertex stands for.
static sinew_status push_contact(sn_arena *scratch, const sn_scene_member *member,
                                 contact_fields *f) {
    size_t count = (size_t)sinew_body_get_surface(member->body)->point_count;
    double *positions = SN_PUSH(scratch, double, 3 * count);
    double *normals = SN_PUSH(scratch, double, 3 * count);
    double *areas = SN_PUSH(scratch, double, count);
    f->force = SN_PUSH(scratch, double, 3 * count);
    f->pressure = SN_PUSH(scratch, double, count);
    SN_TRY(sn_arena_status(scratch));

    sinew_body_compute_surface(member->body, positions, normals);
    SN_TRY(sinew_body_compute_contact_forces(member->body, f->force, areas));
    for (size_t i = 0; i < count; i++) {
        double normal = sn_dot(sn_load3(f->force + 3 * i), sn_load3(normals + 3 * i));
        f->pressure[i] = areas[i] > 0 ? -normal / areas[i] : 0;
    }
    return SINEW_OK;
}

// The same at the nodes of a body of elements whose surface is its boundary; zero inside.
static sinew_status push_node_contact(sn_arena *scratch, const sn_scene_member *member,
                                      contact_fields *f) {
    const int32_t *nodes = sinew_body_get_surface_nodes(member->body);
    contact_fields surface;
    SN_TRY(push_contact(scratch, member, &surface));
    f->force = SN_PUSH(scratch, double, 3 * (size_t)member->mesh->point_count);
    f->pressure = SN_PUSH(scratch, double, member->mesh->point_count);
    SN_TRY(sn_arena_status(scratch));

    for (int32_t i = 0; i < sinew_body_get_surface(member->body)->point_count; i++) {
        memcpy(f->force + 3 * (size_t)nodes[i], surface.force + 3 * (size_t)i,
               3 * sizeof *f->force);
        f->pressure[nodes[i]] = surface.pressure[i];
    }
    return SINEW_OK;
}

// Adds the arrays by their names. Returns how many.
static int32_t name_contact(const contact_fields *f, sn_field *named) {
    named[0] = (sn_field){"contact_force", 3, f->force};
    named[1] = (sn_field){"contact_pressure", 1, f->pressure};
    return 2;
}

// --- Elements

// Numbers of nodes and elements.
typedef struct element_fields {
    double *displacement, *node_stress, *reaction;
    double *von_mises, *energy, *J, *strain, *stress;
    double *axes; // of the material, if there is a field
    sinew_element_state *states;
} element_fields;

static element_fields push_element_fields(sn_arena *scratch, size_t nodes, size_t elements,
                                          bool axes) {
    return (element_fields){.displacement = SN_PUSH(scratch, double, 3 * nodes),
                            .node_stress = SN_PUSH(scratch, double, 6 * nodes),
                            .reaction = SN_PUSH(scratch, double, 3 * nodes),
                            .von_mises = SN_PUSH(scratch, double, elements),
                            .energy = SN_PUSH(scratch, double, elements),
                            .J = SN_PUSH(scratch, double, elements),
                            .strain = SN_PUSH(scratch, double, 6 * elements),
                            .stress = SN_PUSH(scratch, double, 6 * elements),
                            .axes = SN_PUSH(scratch, double, axes ? 9 * elements : 0),
                            .states = SN_PUSH(scratch, sinew_element_state, elements)};
}

static sinew_status fill_element_fields(const sn_scene_member *member, element_fields *f) {
    const sinew_mesh *rest = member->mesh;
    size_t nodes = (size_t)rest->point_count;
    size_t elements = (size_t)rest->element_count;

    // Nodes: displacements count from where the placement put the rest shape.
    const double *x = sinew_body_get_positions(member->body);
    for (size_t i = 0; i < nodes; i++) {
        sn_vec3 from = sn_scene_place(member->scene, sn_load3(rest->points + 3 * i));
        sn_store3(f->displacement + 3 * i, sn_sub(sn_load3(x + 3 * i), from));
    }

    SN_TRY(sinew_body_compute_node_stresses(member->body, f->node_stress));
    for (size_t i = 0; i < nodes; i++) {
        double own[6];
        memcpy(own, f->node_stress + 6 * i, sizeof own);
        store_tensor(f->node_stress + 6 * i, own, 1);
    }
    sinew_body_compute_reactions(member->body, f->reaction);

    // Elements.
    sinew_body_compute_element_states(member->body, f->states);
    for (size_t e = 0; e < elements; e++) {
        f->von_mises[e] = f->states[e].von_mises;
        f->energy[e] = f->states[e].energy;
        f->J[e] = f->states[e].J;
        store_tensor(f->strain + 6 * e, f->states[e].strain, 0.5);
        store_tensor(f->stress + 6 * e, f->states[e].stress, 1);
    }

    if (member->field) {
        const double *axes = sinew_field_get_axes(member->field);
        for (size_t e = 0; e < elements; e++) {
            deform_axes(f->states[e].F, axes + 9 * e, f->axes, elements, e);
        }
    }

    return SINEW_OK;
}

static sinew_status write_mesh(sinew_recording *recording, const sinew_mesh *mesh,
                               const sn_fields *fields, const char *name) {
    sn_mesh_view view = sn_mesh_view_of(mesh);
    sn_vtu_options options = {.single = true};
    sn_buffer_clear(&recording->buffer);
    SN_TRY(sn_write_vtu(&view, fields, &options, &recording->buffer));
    return sn_recording_write(recording, name, &recording->buffer);
}

static sinew_status write_elements(sinew_recording *recording, const sn_scene_member *member,
                                   const char *name) {
    sn_arena scratch = sn_arena_create(recording->context);
    element_fields f = push_element_fields(&scratch, (size_t)member->mesh->point_count,
                                           (size_t)member->mesh->element_count, member->field);

    // What the body reports, and what contact does to it.
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        status = fill_element_fields(member, &f);
    }

    bool touches = recording->contact.on && sinew_body_get_surface_nodes(member->body);
    contact_fields contact = {0};
    if (status == SINEW_OK && touches) {
        status = push_node_contact(&scratch, member, &contact);
    }

    if (status == SINEW_OK) {
        // Fields of the nodes.
        sn_field point[4 + 2] = {{"displacement", 3, f.displacement},
                                 {"velocity", 3, sinew_body_get_velocities(member->body)},
                                 {"reaction", 3, f.reaction},
                                 {"stress", 6, f.node_stress}};
        int32_t point_count = 4 + (touches ? name_contact(&contact, point + 4) : 0);

        // Fields of the elements.
        sn_field cell[5 + 4] = {{"von_mises", 1, f.von_mises},
                                {"strain_energy", 1, f.energy},
                                {"J", 1, f.J},
                                {"strain", 6, f.strain},
                                {"stress", 6, f.stress}};
        int32_t count = 5;
        if (member->field) {
            size_t elements = (size_t)member->mesh->element_count;
            count += name_axes(member->field, f.axes, elements, cell + count);
            cell[count++] =
                (sn_field){"axis_certainty", 1, sinew_field_get_certainties(member->field)};
        }

        // The mesh where it is now.
        sn_fields fields = {point_count, count, point, cell};
        sinew_mesh now = *member->mesh;
        now.points = sinew_body_get_positions(member->body);
        status = write_mesh(recording, &now, &fields, name);
    }

    sn_arena_destroy(&scratch);
    return status;
}

// --- Frames

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

static sinew_status fill_fields(const sn_scene_member *member, int32_t nodes, surface_fields *f) {
    const sinew_mesh *surface = member->surface.mesh;
    const int32_t *starts, *frames;
    const double *weights;

    if (nodes > 0) {
        SN_TRY(sinew_frame_body_get_surface_weights(member->body, &starts, &frames, &weights));
    }
    SN_TRY(sinew_body_compute_surface_velocities(member->body, f->velocity));
    SN_TRY(sinew_body_compute_surface_states(member->body, f->states));

    // What each vertex of the surface shows.
    for (int32_t i = 0; i < surface->point_count; i++) {
        sn_vec3 from = sn_scene_place(member->scene, sn_load3(surface->points + 3 * (size_t)i));
        sn_vec3 now = sn_load3(member->surface.points + 3 * (size_t)i);
        sn_store3(f->displacement + 3 * (size_t)i, sn_sub(now, from));
        f->von_mises[i] = f->states[i].von_mises;
        f->energy[i] = f->states[i].energy;
        f->J[i] = f->states[i].J;
        store_tensor(f->strain + 6 * (size_t)i, f->states[i].strain, 0.5);

        if (nodes > 0) {
            for (int32_t k = starts[i]; k < starts[i + 1]; k++) {
                f->weights[(size_t)i * (size_t)nodes + (size_t)frames[k]] = weights[k];
            }
        }

        if (!member->field) {
            continue;
        }

        double rest[9];
        sinew_field_compute_axes_at(member->field, surface->points + 3 * (size_t)i, rest);
        deform_axes(f->states[i].F, rest, f->axes, (size_t)surface->point_count, (size_t)i);
    }

    return SINEW_OK;
}

static sinew_status write_surface(sinew_recording *recording, const sn_scene_member *member,
                                  const char *name) {
    sn_arena scratch = sn_arena_create(recording->context);
    // A rigid body has no weights worth writing.
    int32_t nodes =
        sinew_body_is_rigid(member->body) ? 0 : sinew_frame_body_get_node_count(member->body);
    surface_fields f = push_fields(&scratch, (size_t)member->surface.mesh->point_count,
                                   (size_t)nodes, member->field);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        status = fill_fields(member, nodes, &f);
    }
    contact_fields contact = {0};
    if (status == SINEW_OK && recording->contact.on) {
        status = push_contact(&scratch, member, &contact);
    }
    if (status == SINEW_OK) {
        sn_field point[7 + 3 + 2] = {{"displacement", 3, f.displacement},
                                     {"velocity", 3, f.velocity},
                                     {"von_mises", 1, f.von_mises},
                                     {"energy_density", 1, f.energy},
                                     {"J", 1, f.J},
                                     {"strain", 6, f.strain}};
        sn_fields fields = {.point_count = 6, .point = point};
        if (nodes > 0) {
            point[fields.point_count++] = (sn_field){"weights", nodes, f.weights};
        }
        size_t count = (size_t)member->surface.mesh->point_count;

        if (member->field) {
            fields.point_count +=
                name_axes(member->field, f.axes, count, point + fields.point_count);
        }
        if (recording->contact.on) {
            fields.point_count += name_contact(&contact, point + fields.point_count);
        }

        sinew_mesh now = *member->surface.mesh;
        now.points = member->surface.points;
        now.labels = NULL;
        status = write_mesh(recording, &now, &fields, name);
    }

    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sn_recording_write_contacts(sinew_recording *recording, const sn_scene_member *member,
                                         const char *name) {
    sn_arena scratch = sn_arena_create(recording->context);
    contact_fields contact;
    sinew_status status = push_contact(&scratch, member, &contact);
    if (status == SINEW_OK) {
        sn_field point[2];
        sn_fields fields = {.point_count = name_contact(&contact, point), .point = point};
        sinew_mesh now = *member->surface.mesh;
        now.points = member->surface.points;
        now.labels = NULL;
        status = write_mesh(recording, &now, &fields, name);
    }
    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sn_recording_write_frames(sinew_recording *recording, const sn_scene_member *member,
                                       const char *name) {
    sn_arena scratch = sn_arena_create(recording->context);
    size_t count = (size_t)sinew_frame_body_get_node_count(member->body);
    double *points = SN_PUSH(&scratch, double, 3 * count);
    double *axes[3];

    for (int k = 0; k < 3; k++) {
        axes[k] = SN_PUSH(&scratch, double, 3 * count);
    }

    sinew_status status = sn_arena_status(&scratch);

    // Position and axes of each frame: the columns of its matrix.
    for (size_t i = 0; status == SINEW_OK && i < count; i++) {
        double matrix[9];
        status = sinew_frame_body_get_node(member->body, (int32_t)i, points + 3 * i, NULL);
        if (status == SINEW_OK) {
            status = sinew_frame_body_get_matrix(member->body, (int32_t)i, matrix);
        }

        if (status == SINEW_OK) {
            for (size_t k = 0; k < 9; k++) {
                axes[k % 3][3 * i + k / 3] = matrix[k];
            }
        }
    }

    if (status == SINEW_OK) {
        // A mesh of points only.
        const sn_field point[] = {
            {"x_axis", 3, axes[0]}, {"y_axis", 3, axes[1]}, {"z_axis", 3, axes[2]}};
        sn_fields fields = {.point_count = 3, .point = point};
        sinew_mesh mesh = {
            .points = points, .point_count = (int32_t)count, .element = SINEW_ELEMENT_TRIANGLE};
        status = write_mesh(recording, &mesh, &fields, name);
    }

    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sn_recording_write_vtu(sinew_recording *recording, const sn_scene_member *member,
                                    const char *name) {
    return member->mesh ? write_elements(recording, member, name)
                        : write_surface(recording, member, name);
}
