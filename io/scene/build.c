// Building: meshes from shapes and files, bodies, selections turned into node lists, attachments,
// probes.
#include "io/scene/build_frames.h"
#include "io/scene/build_skeleton.h"
#include "io/scene/claims.h"
#include "io/scene/field.h"
#include "io/scene/maps.h"

#include "io/text/json_check.h"
#include "io/mesh/mesh.h"

#include <math.h>
#include <string.h>

sinew_status sn_builder_note(const sn_builder *b, const sn_json *json, sinew_status status) {
    if (status == SINEW_OK || status == SINEW_OUT_OF_MEMORY) {
        return status;
    }
    sn_json_mistake(b->mistakes, json, "%s", sinew_context_message(b->context));
    return status;
}

static sinew_status copy_cells(const sn_builder *b, const sn_mesh_view *view, sinew_element element,
                               double scale, sinew_mesh **out) {
    const sn_mesh_cells *cells = &view->cells[element];
    sinew_mesh mesh = {view->points, view->point_count, element,
                       cells->nodes, cells->count,      cells->labels};

    SN_TRY(sinew_mesh_copy(b->context, &mesh, out));
    double *points = (double *)(uintptr_t)(*out)->points; // our own copy

    for (size_t i = 0; i < 3 * (size_t)mesh.point_count; i++) {
        points[i] *= scale;
    }

    return SINEW_OK;
}

// Reads a mesh file; fills a surface with tets if there are no solid elements or the scene asks for
// it.
sinew_status sn_builder_read_mesh(const sn_builder *b, const char *name,
                                  const sn_scene_shape *shape, bool surface, sinew_mesh **out) {
    const void *data;
    size_t size;
    SN_TRY(sn_fetch(b->context, b->fetch, b->fetch_user, name, &data, &size));

    sn_source source = {name, data, size, b->fetch, b->fetch_user, true};
    sn_mesh_file file;
    sinew_status status = sn_mesh_read(b->context, &source, &file);
    if (status == SINEW_OK && shape && shape->up) {
        sn_mesh_file_rotate_up(&file, shape->up);
    }

    // The best kind of element in the file, unless the scene asks for the surface.
    double scale = b->scene->unit * (shape ? shape->scale : 1);
    sinew_element kinds[] = {SINEW_ELEMENT_TET10, SINEW_ELEMENT_HEX8, SINEW_ELEMENT_TET4};
    sinew_element kind = SINEW_ELEMENT_TRIANGLE;

    if (status == SINEW_OK && !surface) {
        for (int i = 0; i < 3; i++) {
            if (file.view.cells[kinds[i]].count > 0 && !shape->tetrahedralize) {
                kind = kinds[i];
            }
        }
    }

    if (status == SINEW_OK && file.view.cells[kind].count == 0) {
        status = sn_fail(b->context, SINEW_INVALID_DATA,
                         "\"%s\" holds neither tets nor hexahedra nor triangles", name);
    }

    if (status == SINEW_OK) {
        status = copy_cells(b, &file.view, kind, scale, out);
    }

    sn_mesh_file_destroy(&file);
    return status;
}

static sinew_status make_mesh(const sn_builder *b, const sn_scene_shape *shape, sinew_mesh **out) {
    // Shapes that need no file.
    if (shape->is_character) {
        return sn_builder_make_flesh(b, shape, out);
    }
    if (shape->is_organism) {
        return sn_builder_make_organism(b, shape, out);
    }

    if (shape->maps && (shape->generated || shape->maps->gradient_count > 0 ||
                        shape->maps->stiffness || shape->maps->density)) {
        return sn_fail(b->context, SINEW_UNSUPPORTED,
                       "gradients, layers and maps are for bodies of \"model\": \"frames\"");
    }

    if (shape->volume || shape->solid_count > 0 || shape->maps) {
        return sn_builder_fill_voxels(b, shape, out);
    }
    if (shape->generated) {
        return sinew_mesh_create_shape(b->context, &shape->shape, out);
    }

    // A file: fill a surface with tets, or make tets quadratic.
    sinew_mesh *mesh = NULL;
    SN_TRY(sn_builder_read_mesh(b, shape->file, shape, false, &mesh));

    sinew_mesh *better = NULL;
    sinew_status status = SINEW_OK;
    if (mesh->element == SINEW_ELEMENT_TRIANGLE) {
        status = sinew_tetrahedralize(b->context, mesh, &shape->tets, &better, NULL);
    } else if (mesh->element == SINEW_ELEMENT_TET4 && shape->quadratic) {
        status = sinew_mesh_create_quadratic(b->context, mesh, &better);
    }

    if (better || status != SINEW_OK) {
        sinew_mesh_destroy(mesh);
        mesh = better;
    }

    *out = mesh;
    return status;
}

// The surface that a scene gives to a body: a file, or the skin of a generated shape; NULL: its own
// boundary.
static sinew_status make_surface(const sn_builder *b, const sn_scene_body *body,
                                 sinew_mesh **surface) {
    *surface = NULL;
    if (body->surface) {
        return sn_builder_read_mesh(b, body->surface, &body->shape, true, surface);
    }
    if (!body->skin) {
        return SINEW_OK;
    }
    return body->shape.is_organism ? sn_builder_make_organism_skin(b, &body->shape, surface)
                                   : sn_builder_make_skin(b, &body->shape, surface);
}

sinew_status sn_builder_take_surface(const sn_builder *b, sn_scene_member *member) {
    member->surface.mesh = sinew_body_get_surface(member->body);
    member->surface.points =
        SN_PUSH(&b->world->arena, double, 3 * (size_t)member->surface.mesh->point_count);
    return sn_arena_status(&b->world->arena);
}

enum { MOST_OTHER_LABELS = 256 }; // without a material of their own

// Labels of elements that "materials" leaves out take the body's "material", if there is one.
static sinew_status add_other_labels(const sn_builder *b, sn_scene_member *member, int32_t *labels,
                                     int32_t most) {
    const sinew_mesh *mesh = member->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        // Is there a material for the label?
        int32_t label = mesh->labels ? mesh->labels[e] : 0;
        int32_t k = 0;
        while (k < member->material_count && labels[k] != label) {
            k++;
        }

        if (k < member->material_count) {
            continue;
        }

        if (!member->scene->material_given || k == most) {
            return sn_fail(b->context, SINEW_INVALID_DATA,
                           "element %d has label %d, for which no material is given: \"materials\" "
                           "names one for each label, "
                           "and \"material\" one for up to %d others",
                           (int)e, (int)label, MOST_OTHER_LABELS);
        }

        member->materials[k] = member->scene->material;
        labels[k] = label;
        member->material_count++;
    }

    return SINEW_OK;
}

// A table may serve several bodies, so a label too many is no mistake, but it may be a slip of the
// pen.
void sn_builder_warn_of_label(const sn_builder *b, const sn_scene_body *body, int32_t label) {
    sn_log(b->context, SINEW_LOG_WARNING,
           "body \"%s\" names a material for label %d, which nothing of it has", body->name,
           (int)label);
}

static void look_for_labels(const sn_builder *b, const sn_scene_member *member) {
    const sinew_mesh *mesh = member->mesh;
    for (int32_t i = 0; i < member->scene->label_count; i++) {
        int32_t label = member->scene->labels[i].label;
        int32_t e = 0;
        while (e < mesh->element_count && (mesh->labels ? mesh->labels[e] : 0) != label) {
            e++;
        }

        if (e == mesh->element_count) {
            sn_builder_warn_of_label(b, member->scene, label);
        }
    }
}

// The materials in the order in which the body numbers them, and their labels.
static sinew_status list_materials(const sn_builder *b, sn_scene_member *member, int32_t **labels) {
    const sn_scene_body *scene = member->scene;
    int32_t count = scene->label_count;
    int32_t most = count + MOST_OTHER_LABELS;

    member->materials = SN_PUSH(&b->world->arena, int32_t, most);
    *labels = SN_PUSH(&b->world->arena, int32_t, most);
    SN_TRY(sn_arena_status(&b->world->arena));
    member->material_count = count > 0 ? count : 1;
    member->materials[0] = scene->material;

    for (int32_t i = 0; i < count; i++) {
        member->materials[i] = scene->labels[i].material;
        (*labels)[i] = scene->labels[i].label;
    }

    look_for_labels(b, member);
    return count > 0 ? add_other_labels(b, member, *labels, most) : SINEW_OK;
}

sinew_status sn_builder_check_fibres(const sn_builder *b, const sn_scene_member *member) {
    const sn_scene_body *scene = member->scene;
    if (scene->frames ? !scene->frames->springs
                      : !scene->positions.used && scene->def.model == SINEW_MODEL_ELASTIC) {
        return SINEW_OK;
    }

    for (int32_t i = 0; i < member->material_count; i++) {
        const sn_scene_material *material = &b->scene->materials[member->materials[i]];
        if (material->fibre_stress.kind == SN_CURVE_CONSTANT && material->def.fibre_stress == 0) {
            continue;
        }

        return sn_fail(b->context, SINEW_UNSUPPORTED,
                       "the fibre_stress of material \"%s\" has no effect in this model; fibres "
                       "pull in the models elastic "
                       "and frames without springs",
                       material->name);
    }

    return SINEW_OK;
}

static sinew_status make_body(sn_builder *b, sn_scene_member *member) {
    const sn_scene_body *scene = member->scene;
    sinew_body_def def = scene->def;
    int32_t *labels;

    SN_TRY(list_materials(b, member, &labels));
    SN_TRY(sn_builder_check_fibres(b, member));

    // The materials in the order of their labels.
    int32_t count = member->material_count;
    sinew_material_def *materials = SN_PUSH(&b->world->arena, sinew_material_def, count);

    SN_TRY(sn_arena_status(&b->world->arena));
    for (int32_t i = 0; i < count; i++) {
        materials[i] = b->scene->materials[member->materials[i]].def;
    }

    // The caller's mesh, field and surface are copied by the body.
    def.mesh = member->mesh;
    def.materials = materials;
    def.material_count = count;
    def.material_labels = scene->label_count ? labels : NULL;

    if (member->field) {
        def.material_axes = sinew_field_get_axes(member->field);
    }

    sinew_mesh *surface;
    SN_TRY(make_surface(b, scene, &surface));
    def.surface = surface;
    sinew_status status = scene->positions.used
                              ? sn_builder_make_positions(b, member, &def)
                              : sinew_body_create(b->world->world, &def, &member->body);
    sinew_mesh_destroy(surface);

    return status;
}

// What the selections look at: labels and surface of each node.
typedef struct node_table {
    int32_t *starts;   // one a node, and the end: where its elements begin in `elements`
    int32_t *elements; // at each node
    uint8_t *surface;
    int32_t *labels; // room for the labels at one node
} node_table;

// The elements at each node, by counting.
static sinew_status list_elements(sn_arena *scratch, const sinew_mesh *mesh, node_table *table) {
    size_t width = (size_t)sinew_element_node_count(mesh->element);
    size_t entries = width * (size_t)mesh->element_count;

    table->starts = SN_PUSH(scratch, int32_t, (size_t)mesh->point_count + 2);
    table->elements = SN_PUSH(scratch, int32_t, entries);
    SN_TRY(sn_arena_status(scratch));

    // Counted two places ahead, summed, and moved back one place while they are filled in.
    for (size_t i = 0; i < entries; i++) {
        table->starts[mesh->indices[i] + 2]++;
    }
    for (int32_t i = 0; i < mesh->point_count; i++) {
        table->starts[i + 2] += table->starts[i + 1];
    }
    for (size_t i = 0; i < entries; i++) {
        table->elements[table->starts[mesh->indices[i] + 1]++] = (int32_t)(i / width);
    }

    return SINEW_OK;
}

static sinew_status mark_surface(sinew_context *context, const sinew_mesh *mesh, uint8_t *marks) {
    sinew_mesh *surface = NULL;
    const int32_t *nodes;
    SN_TRY(sinew_mesh_create_surface(context, mesh, &surface, &nodes));

    for (int32_t i = 0; i < surface->point_count; i++) {
        marks[nodes[i]] = 1;
    }

    sinew_mesh_destroy(surface);
    return SINEW_OK;
}

static sinew_status build_node_table(sn_arena *scratch, const sinew_mesh *mesh, node_table *table) {
    SN_TRY(list_elements(scratch, mesh, table));
    int32_t most = 0;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        int32_t degree = table->starts[i + 1] - table->starts[i];
        most = degree > most ? degree : most;
    }

    table->surface = SN_PUSH(scratch, uint8_t, mesh->point_count);
    table->labels = SN_PUSH(scratch, int32_t, most);
    SN_TRY(sn_arena_status(scratch));

    return mark_surface(scratch->context, mesh, table->surface);
}

static bool test_node(const sn_select *select, const sinew_mesh *mesh, const node_table *table,
                      int32_t i) {
    sn_select_node node = {.node = i, .surface = table->surface[i], .labels = table->labels};
    memcpy(node.position, mesh->points + 3 * (size_t)i, sizeof node.position);
    if (!mesh->labels) {
        return sn_select_test(select, &node);
    }

    for (int32_t k = table->starts[i]; k < table->starts[i + 1]; k++) {
        table->labels[node.label_count++] = mesh->labels[table->elements[k]];
    }

    return sn_select_test(select, &node);
}

// The nodes of a selection; none is a mistake.
static sinew_status pick(sn_builder *b, const sn_select *select, const sinew_mesh *mesh,
                         const node_table *table, sn_picked *picked) {
    int32_t count = 0;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        count += test_node(select, mesh, table, i);
    }

    if (count == 0) {
        sn_json_mistake(b->mistakes, select->json, "no node of the body is here");
        return SINEW_INVALID_DATA;
    }

    picked->nodes = SN_PUSH(&b->world->arena, int32_t, count);
    SN_TRY(sn_arena_status(&b->world->arena));
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (test_node(select, mesh, table, i)) {
            picked->nodes[picked->count++] = i;
        }
    }

    return SINEW_OK;
}

static sinew_status add_load(sn_builder *b, sn_scene_member *member, int32_t index) {
    const sn_scene_load *scene = &member->scene->loads[index];
    member->load_index[index] = -1;
    if (scene->kind == SN_LOAD_FORCE) {
        return SINEW_OK;
    }

    sinew_load_def def = sinew_default_load_def();
    def.kind = scene->kind == SN_LOAD_PRESSURE ? SINEW_LOAD_PRESSURE : SINEW_LOAD_TRACTION;
    def.nodes = member->loads[index].nodes;
    def.node_count = member->loads[index].count;
    memcpy(def.traction, scene->vector, sizeof def.traction);
    def.pressure = scene->pressure;

    return sn_builder_note(b, scene->json,
                           sinew_body_add_load(member->body, &def, &member->load_index[index]));
}

// The directions of each picked node that an entry decides.
static sinew_status share_axes(const sn_builder *b, const sn_claims *claims, int32_t entry,
                               sn_picked *picked) {
    picked->axes = SN_PUSH(&b->world->arena, uint8_t, picked->count);
    SN_TRY(sn_arena_status(&b->world->arena));
    for (int32_t i = 0; i < picked->count; i++) {
        picked->axes[i] = (uint8_t)sn_claims_get(claims, entry, picked->nodes[i]);
    }
    return SINEW_OK;
}

// Holds every node in all the directions that the skeleton and the entries together name.
static sinew_status hold_nodes(sn_builder *b, sn_scene_member *member, sn_arena *scratch) {
    const sn_scene_body *scene = member->scene;
    int32_t nodes = member->mesh->point_count;
    sn_claims claims = {.item = "node", .own = "the skeleton"};
    SN_TRY(sn_claims_create(scratch, scene, nodes, 3, &claims));

    int32_t bound_count = 0;
    const int32_t *bound =
        member->binding ? sinew_binding_get_bound(member->binding, &bound_count) : NULL;
    for (int32_t i = 0; i < bound_count; i++) {
        sn_claims_add(&claims, claims.own_moved, bound[i], SINEW_AXIS_ALL);
    }

    for (int32_t k = 0; k < scene->support_count; k++) {
        const sn_picked *picked = &member->supports[k];
        for (int32_t i = 0; i < picked->count; i++) {
            sn_claims_add(&claims, k, picked->nodes[i], scene->supports[k].axes);
        }
        sn_claims_report(b->context, &claims, k);
    }

    for (int32_t k = 0; k < scene->support_count; k++) {
        SN_TRY(share_axes(b, &claims, k, &member->supports[k]));
    }

    // What is held without a motion stays where the placement put it.
    memcpy(member->targets, sinew_body_get_positions(member->body),
           3 * (size_t)nodes * sizeof *member->targets);
    for (int32_t i = 0; i < nodes; i++) {
        int32_t axes = sn_claims_get_all(&claims, i);
        if (axes) {
            SN_TRY(sinew_body_fix_nodes(member->body, &i, 1, axes));
        }
    }

    return SINEW_OK;
}

static sinew_status add_supports_and_loads(sn_builder *b, sn_scene_member *member,
                                           sn_arena *scratch) {
    const sn_scene_body *scene = member->scene;
    sn_arena *arena = &b->world->arena;
    node_table table;

    SN_TRY(build_node_table(scratch, member->mesh, &table));
    member->supports = SN_PUSH(arena, sn_picked, scene->support_count);
    member->loads = SN_PUSH(arena, sn_picked, scene->load_count);
    member->load_index = SN_PUSH(arena, int32_t, scene->load_count);
    member->forces = SN_PUSH(arena, double, 3 * (size_t)member->mesh->point_count);
    member->targets = SN_PUSH(arena, double, 3 * (size_t)member->mesh->point_count);
    SN_TRY(sn_arena_status(arena));

    // A mistake does not stop the loop: the user sees all of them at once.
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < scene->support_count; i++) {
        sinew_status picked =
            pick(b, &scene->supports[i].where, member->mesh, &table, &member->supports[i]);
        if (picked != SINEW_OK) {
            status = picked;
        }
    }
    SN_TRY(hold_nodes(b, member, scratch));
    if (scene->reduced) {
        SN_TRY(status);
        return sn_builder_reduce(b, member);
    }

    for (int32_t i = 0; i < scene->load_count; i++) {
        sinew_status picked =
            pick(b, &scene->loads[i].where, member->mesh, &table, &member->loads[i]);
        if (picked == SINEW_OK) {
            picked = add_load(b, member, i);
        }
        if (picked != SINEW_OK) {
            status = picked;
        }
    }

    return status;
}

static sinew_status make_member(sn_builder *b, int32_t index) {
    sn_scene_member *member = &b->world->members[index];
    member->scene = &b->scene->bodies[index];
    member->context = b->context;

    member->load_scales = SN_PUSH(&b->world->arena, double, member->scene->load_count);
    SN_TRY(sn_arena_status(&b->world->arena));
    for (int32_t i = 0; i < member->scene->load_count; i++) {
        member->load_scales[i] = 1;
    }

    const sn_json *json = member->scene->json;

    // Bodies of frames have voxels instead of a mesh.
    if (member->scene->frames) {
        SN_TRY(sn_builder_make_frames(b, member));
        SN_TRY(sinew_body_set_solver(member->body, member->scene->solver));
        return sn_builder_bind(b, member);
    }

    if (member->scene->rigid) {
        return sn_builder_make_rigid(b, member);
    }

    // Elements and position dynamics: a mesh and its field, the body, its surface.
    member->ops = &sn_element_member_ops;
    SN_TRY(sn_builder_note(b, json, make_mesh(b, &member->scene->shape, &member->mesh)));
    SN_TRY(sn_builder_make_field(b, member->scene, member->mesh, &member->field));
    SN_TRY(sn_builder_note(b, json, make_body(b, member)));
    SN_TRY(sinew_body_set_solver(member->body, member->scene->solver));
    SN_TRY(sn_builder_take_surface(b, member));

    // Bones hold nodes too, so they come before supports.
    sn_arena scratch = sn_arena_create(b->context);
    sinew_status status = sn_builder_bind(b, member);
    if (status == SINEW_OK) {
        status = add_supports_and_loads(b, member, &scratch);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status attach(sn_builder *b, const sn_scene_attachment *scene, int32_t node,
                           const double *rest) {
    sinew_attachment_def def = sinew_default_attachment_def();
    def.body = b->world->members[scene->body].body;
    if (scene->target >= 0) {
        def.target = b->world->members[scene->target].body;
    }

    def.node = node;
    if (rest) {
        memcpy(def.rest, rest, sizeof def.rest);
    }

    def.at_node = !scene->has_place;
    memcpy(def.point, scene->place, sizeof def.point);
    def.stiffness = scene->stiffness;

    return sn_builder_note(b, scene->json, sinew_world_attach(b->world->world, &def, NULL));
}

// Points of a body of frames: one, or those of its surface in a selection.
static sinew_status attach_points(sn_builder *b, const sn_scene_attachment *scene,
                                  const sn_scene_member *member) {
    if (scene->at_point) {
        return attach(b, scene, 0, scene->point);
    }
    if (member->scene->rigid) {
        sn_json_mistake(b->mistakes, scene->json,
                        "a rigid body is attached at a \"point\", or by \"joints\"");
        return SINEW_INVALID_DATA;
    }

    sn_picked picked = {0};
    SN_TRY(sn_builder_pick_surface(b, member, &scene->where, &picked));
    for (int32_t i = 0; i < picked.count; i++) {
        SN_TRY(attach(b, scene, 0, member->surface.mesh->points + 3 * (size_t)picked.nodes[i]));
    }

    return SINEW_OK;
}

static sinew_status attach_nodes(sn_builder *b, const sn_scene_attachment *scene,
                                 const sn_scene_member *member) {
    if (scene->at_point) {
        sn_json_mistake(b->mistakes, scene->json,
                        "\"point\" is of bodies of frames; select nodes by \"where\"");
        return SINEW_INVALID_DATA;
    }

    sn_arena scratch = sn_arena_create(b->context);
    node_table table;
    sn_picked picked = {0};
    sinew_status status = build_node_table(&scratch, member->mesh, &table);

    if (status == SINEW_OK) {
        status = pick(b, &scene->where, member->mesh, &table, &picked);
    }

    sn_arena_destroy(&scratch);
    SN_TRY(status);
    for (int32_t i = 0; i < picked.count; i++) {
        SN_TRY(attach(b, scene, picked.nodes[i], NULL));
    }

    return SINEW_OK;
}

static sinew_status make_attachments(sn_builder *b) {
    for (int32_t i = 0; i < b->scene->attachment_count; i++) {
        const sn_scene_attachment *scene = &b->scene->attachments[i];
        const sn_scene_member *member = &b->world->members[scene->body];
        SN_TRY(member->mesh ? attach_nodes(b, scene, member) : attach_points(b, scene, member));
    }

    return SINEW_OK;
}

static double measure_mesh(const sinew_mesh *mesh) {
    sn_vec3 lower = sn_load3(mesh->points);
    sn_vec3 upper = lower;
    for (int32_t i = 1; i < mesh->point_count; i++) {
        sn_vec3 p = sn_load3(mesh->points + 3 * (size_t)i);
        lower = sn_v3(fmin(lower.x, p.x), fmin(lower.y, p.y), fmin(lower.z, p.z));
        upper = sn_v3(fmax(upper.x, p.x), fmax(upper.y, p.y), fmax(upper.z, p.z));
    }
    return sn_distance(lower, upper);
}

// A probe outside the body is extrapolated, which is worth a warning; farther away than the body is
// large it is a slip of the pen.
static sinew_status check_probe(const sn_builder *b, const sn_scene_probe *probe, double distance,
                                double size) {
    const char *name = b->scene->bodies[probe->body].name;
    if (distance > size) {
        sn_json_mistake(b->mistakes, probe->json,
                        "probe \"%s\" is %g m outside body \"%s\", which measures %g m; its "
                        "point is in the body's own coordinates, before it is placed",
                        probe->name, distance, name, size);
        return SINEW_INVALID_DATA;
    }
    if (distance > 1e-6 * size) {
        sn_log(b->context, SINEW_LOG_WARNING,
               "probe \"%s\" is %g m outside body \"%s\": what it reports is extrapolated",
               probe->name, distance, name);
    }
    return SINEW_OK;
}

static sinew_status make_probes(sn_builder *b) {
    b->world->probes = SN_PUSH(&b->world->arena, sinew_point *, b->scene->probe_count);
    SN_TRY(sn_arena_status(&b->world->arena));
    for (int32_t i = 0; i < b->scene->probe_count; i++) {
        const sn_scene_probe *probe = &b->scene->probes[i];
        const sn_scene_member *member = &b->world->members[probe->body];
        sinew_point **point = &b->world->probes[i];
        SN_TRY(sinew_point_create(member->body, probe->point, point));
        SN_TRY(check_probe(b, probe, sinew_point_get_distance(*point),
                           measure_mesh(member->surface.mesh)));
    }

    return SINEW_OK;
}

static sinew_status build(sn_builder *b) {
    b->world->members = SN_PUSH(&b->world->arena, sn_scene_member, b->scene->body_count);
    SN_TRY(sn_arena_status(&b->world->arena));
    SN_TRY(sinew_world_create(b->context, &b->scene->world, &b->world->world));

    sinew_status status = sn_builder_make_bones(b);
    for (int32_t i = 0; i < b->scene->body_count; i++) { // all bodies, so that all mistakes show
        sinew_status made = make_member(b, i);

        if (made != SINEW_OK) {
            status = made;
        }
    }
    SN_TRY(status);
    SN_TRY(sn_builder_make_contact(b));
    SN_TRY(make_attachments(b));
    SN_TRY(sn_builder_make_joints(b));
    SN_TRY(sn_builder_make_glue(b));
    SN_TRY(make_probes(b));

    return sn_scene_world_apply(b->world, 0);
}

sinew_status sn_scene_build(sinew_context *context, const sn_scene *scene, sn_fetch_fn *fetch,
                            void *fetch_user, sn_mistakes *mistakes, sn_scene_world **out) {
    sn_arena arena = sn_arena_create(context);
    sn_scene_world *world = SN_PUSH(&arena, sn_scene_world, 1);

    SN_TRY(sn_arena_status(&arena));
    world->arena = arena;
    world->history = sn_buffer_create(context);
    world->scene = scene;

    sn_builder b = {context, scene, fetch, fetch_user, mistakes, world};
    sinew_status status = build(&b);
    if (status != SINEW_OK) {
        sn_scene_world_destroy(world);
        sn_mistakes_sort(mistakes);
        return status;
    }

    sn_scene_world_update_surfaces(world);
    *out = world;

    return SINEW_OK;
}

void sn_scene_world_destroy(sn_scene_world *world) {
    if (!world) {
        return;
    }

    // Bindings let go of the bodies before the world frees those.
    if (world->members) {
        for (int32_t i = 0; i < world->scene->body_count; i++) {
            sinew_binding_destroy(world->members[i].binding);
        }
    }

    sinew_world_destroy(world->world);

    // What the members own.
    if (world->members) {
        for (int32_t i = 0; i < world->scene->body_count; i++) {
            sn_scene_member *member = &world->members[i];
            if (member->ops && member->ops->release) {
                member->ops->release(member);
            }

            sinew_field_destroy(member->field);
            sinew_mesh_destroy(member->mesh);
        }
    }

    sn_bones_destroy(world);
    sn_buffer_destroy(&world->history);
    sn_arena arena = world->arena; // the struct lives in it

    sn_arena_destroy(&arena);
}
