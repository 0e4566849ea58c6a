// Building bodies of frames: tissues from the labels of the voxels, frames written down and frames
// placed, the body, what holds and loads it.
#include "io/scene/build_frames.h"

#include "sinew/autorig.h"
#include "sinew/frame_support.h"
#include "io/scene/claims.h"
#include "io/scene/field.h"
#include "io/scene/maps.h"

#include "io/text/json_check.h"
#include "io/volume/volume.h"

#include <math.h>
#include <string.h>

enum { MOST_LABELS = 256 };

// What the labels of the voxels stand for, in arrays as the library takes them.
typedef struct tissue_table {
    int32_t count;
    sinew_tissue *tissues;
    sinew_material_def *materials;
    int32_t *labels;
} tissue_table;

static int32_t material_of_label(const sn_scene_body *body, int32_t label) {
    for (int32_t i = 0; i < body->label_count; i++) {
        if (body->labels[i].label == label) {
            return body->labels[i].material;
        }
    }
    return body->material;
}

static bool has_label(const tissue_table *table, int32_t label) {
    for (int32_t k = 0; k < table->count; k++) {
        if (table->labels[k] == label) {
            return true;
        }
    }
    return false;
}

// Labels of rigid or bound tissues that the voxels do not have are slips of the pen.
static void check_labels(const sn_builder *b, const sn_scene_body *body,
                         const tissue_table *table) {
    for (int32_t i = 0; i < body->frames->tissue_count; i++) {
        const sn_scene_tissue *tissue = &body->frames->tissues[i];
        if (has_label(table, tissue->label)) {
            continue;
        }
        sn_json_key_mistake(b->mistakes, tissue->json, "no voxel has the label %d", tissue->label);
    }

    for (int32_t i = 0; i < body->label_count; i++) {
        if (!has_label(table, body->labels[i].label)) {
            sn_builder_warn_of_label(b, body, body->labels[i].label);
        }
    }
}

static sinew_status make_tissues(const sn_builder *b, sn_scene_member *member, sn_arena *scratch,
                                 tissue_table *table) {
    const sn_scene_body *body = member->scene;
    const sinew_voxels *voxels = sn_frames_of(member)->voxels;
    sinew_label_statistics *statistics = SN_PUSH(scratch, sinew_label_statistics, MOST_LABELS);

    SN_TRY(sn_arena_status(scratch));

    // The labels that the voxels really have.
    SN_TRY(sinew_voxels_compute_statistics(voxels, statistics, MOST_LABELS, &table->count));
    if (table->count > MOST_LABELS) {
        return sn_fail(b->context, SINEW_UNSUPPORTED,
                       "the voxels have %d labels; a body takes up to %d", table->count,
                       MOST_LABELS);
    }

    table->tissues = SN_PUSH(scratch, sinew_tissue, table->count);
    table->materials = SN_PUSH(scratch, sinew_material_def, table->count);
    table->labels = SN_PUSH(scratch, int32_t, table->count);
    SN_TRY(sn_arena_status(scratch));
    member->materials = SN_PUSH(&b->world->arena, int32_t, table->count);
    SN_TRY(sn_arena_status(&b->world->arena));
    member->material_count = table->count;

    // Each label's material gives its stiffness and density; "tissues" may make it rigid.
    for (int32_t i = 0; i < table->count; i++) {
        int32_t label = statistics[i].label;
        table->labels[i] = label;
        member->materials[i] = material_of_label(body, label);
        table->materials[i] = b->scene->materials[member->materials[i]].def;
        table->tissues[i] = sinew_default_tissue();
        table->tissues[i].label = label;
        table->tissues[i].young = sinew_material_get_young(&table->materials[i]);
        table->tissues[i].density = table->materials[i].density;

        for (int32_t k = 0; k < body->frames->tissue_count; k++) {
            if (body->frames->tissues[k].label != label) {
                continue;
            }
            table->tissues[i].rigid = body->frames->tissues[k].rigid;
            table->tissues[i].node = body->frames->tissues[k].node;
        }
    }

    check_labels(b, body, table);
    return SINEW_OK;
}

// A frame that is placed in a rigid part shall not deform it, whatever the others can do.
static bool in_rigid(const sinew_voxels *voxels, const tissue_table *table,
                     const double position[3]) {
    int32_t voxel = sinew_voxels_find_nearest(voxels, position, INFINITY);
    if (voxel >= 0) {
        for (int32_t i = 0; i < table->count; i++) {
            if (table->labels[i] == sinew_voxels_get_labels(voxels)[voxel]) {
                return table->tissues[i].rigid;
            }
        }
    }

    return false;
}

// Fills in the kinds of weights, placement and frames that the scene leaves automatic. Springs,
// regions and frames that join while the scene runs need weights that are local.
static sinew_status choose(const sn_builder *b, const sinew_voxels *voxels,
                           const tissue_table *table, sn_scene_frames *scene) {
    bool local = scene->springs || scene->insertion_count > 0 ||
                 scene->sampling.kind == SINEW_SAMPLING_MIDPOINT ||
                 scene->sampling.kind == SINEW_SAMPLING_REGIONS;
    bool automatic = scene->weights.kind == SINEW_WEIGHTS_AUTO;
    sinew_frame_choice choice = sinew_default_frame_choice();
    choice.weights = automatic && local ? SINEW_WEIGHTS_VORONOI : scene->weights.kind;
    choice.placement = scene->placement.kind;
    choice.kind = scene->kind;
    choice.blend = scene->blend;
    choice.count = scene->placement.count;
    choice.fixed_count = scene->node_count;
    SN_TRY(sinew_choose_frames(b->context, voxels, table->tissues, table->count, &choice));

    // Without spectral weights frames are rigid, placed or written down.
    bool spectral = choice.weights == SINEW_WEIGHTS_SPECTRAL;
    if (scene->kind == SINEW_NODE_AUTO) {
        scene->kind = spectral ? choice.kind : SINEW_NODE_RIGID;
    }
    scene->weights.kind = choice.weights;
    scene->placement.kind = choice.placement;
    return SINEW_OK;
}

// Frames that are written down first, then those that are placed.
static sinew_status make_nodes(const sn_builder *b, const sn_scene_frames *scene,
                               const sinew_voxels *voxels, const tissue_table *table,
                               sn_arena *scratch, sinew_frame_node **out) {
    int32_t count = scene->placement.count;
    sinew_frame_node *nodes = SN_PUSH(scratch, sinew_frame_node, count);
    double *positions = SN_PUSH(scratch, double, 3 * (size_t)count);

    SN_TRY(sn_arena_status(scratch));

    // Frames with a position.
    for (int32_t i = 0; i < scene->node_count; i++) {
        nodes[i] = scene->nodes[i].def;
        memcpy(positions + 3 * (size_t)i, nodes[i].position, sizeof nodes[i].position);
    }

    // The others are placed around them.
    if (count > scene->node_count) {
        sinew_placement_def def = scene->placement;
        double *fixed = SN_PUSH(scratch, double, 3 * (size_t)scene->node_count);
        SN_TRY(sn_arena_status(scratch));
        memcpy(fixed, positions, 3 * (size_t)scene->node_count * sizeof *fixed);
        def.fixed = fixed;
        def.fixed_count = scene->node_count;
        SN_TRY(sinew_place_nodes(b->context, voxels, table->tissues, table->count, &def, positions,
                                 NULL));
    }

    // A frame inside a rigid part has no deformation to describe.
    for (int32_t i = scene->node_count; i < count; i++) {
        nodes[i].kind =
            in_rigid(voxels, table, positions + 3 * (size_t)i) ? SINEW_NODE_RIGID : scene->kind;
        memcpy(nodes[i].position, positions + 3 * (size_t)i, sizeof nodes[i].position);
    }

    *out = nodes;
    return SINEW_OK;
}

static sinew_frame_body_def make_def(const sn_scene_body *body, const sn_scene_frames *scene,
                                     const sn_scene_member *member, const tissue_table *table,
                                     const sinew_frame_node *nodes, const sinew_mesh *surface) {
    sinew_frame_body_def def = sinew_default_frame_body_def();

    // What the body is made of.
    def.name = body->name;
    def.voxels = sn_frames_of(member)->voxels;
    def.tissues = table->tissues;
    def.tissue_count = def.material_count = table->count;
    def.materials = table->materials;
    def.material_labels = table->labels;
    def.field = member->field;

    // What drives it.
    def.nodes = nodes;
    def.node_count = scene->placement.count;
    def.blend = scene->blend;
    def.weights = scene->weights;
    def.sampling = scene->sampling;
    def.mass = scene->mass;
    def.springs = scene->springs;
    def.geometric_stiffness = scene->geometric_stiffness;
    def.assumed_strain = scene->assumed_strain;
    def.surface = surface;

    // How it moves at first.
    def.mass_damping = body->def.mass_damping;
    def.stiffness_damping = body->def.stiffness_damping;
    memcpy(def.position, body->def.position, sizeof def.position);
    memcpy(def.rotation, body->def.rotation, sizeof def.rotation);
    memcpy(def.velocity, body->def.velocity, sizeof def.velocity);
    memcpy(def.angular_velocity, body->def.angular_velocity, sizeof def.angular_velocity);

    return def;
}

// The field of material axes is smoothed over tets that fill the voxels; the field copies them.
static sinew_status make_field(const sn_builder *b, sn_scene_member *member) {
    if (!member->scene->field) {
        return SINEW_OK;
    }

    sinew_tetrahedralize_def fill = sinew_default_tetrahedralize_def();
    sinew_mesh *tets = NULL;

    SN_TRY(
        sn_builder_note(b, member->scene->json,
                        sn_builder_tets_of_voxels(b, sn_frames_of(member)->voxels, &fill, &tets)));

    sinew_status status = sn_builder_make_field(b, member->scene, tets, &member->field);
    sinew_mesh_destroy(tets);

    return status;
}

// Reads a map and divides it by what each label has: a factor for each voxel, in the arena.
static sinew_status read_map(const sn_builder *b, const char *name, const sinew_voxels *voxels,
                             double unit, const tissue_table *table, bool density,
                             sn_arena *scratch, double **factors) {
    const void *data;
    size_t size;
    SN_TRY(sn_fetch(b->context, b->fetch, b->fetch_user, name, &data, &size));
    *factors = SN_PUSH(scratch, double, sinew_voxels_get_count(voxels));
    SN_TRY(sn_arena_status(scratch));

    sn_source source = {name, data, size, b->fetch, b->fetch_user, true};
    sn_volume_options options = {.unit = unit, .use_values = true};
    sn_volume_file file;
    sinew_status status = sn_volume_read(b->context, &source, &options, &file);
    if (status == SINEW_OK) {
        status = sn_volume_sample(b->context, &source, &file, voxels, *factors);
    }
    sn_volume_file_destroy(&file);
    SN_TRY(status);

    const uint16_t *labels = sinew_voxels_get_labels(voxels);
    for (int32_t v = 0; v < sinew_voxels_get_count(voxels); v++) {
        int32_t k = 0;
        while (table->labels[k] != labels[v]) {
            k++;
        }
        (*factors)[v] /= density ? table->tissues[k].density : table->tissues[k].young;
    }
    return SINEW_OK;
}

// Maps of stiffness and density replace the constants of the materials; gradients still multiply.
static sinew_status apply_maps(const sn_builder *b, sn_scene_member *member,
                               const tissue_table *table, sn_arena *scratch) {
    const sn_scene_maps *maps = member->scene->shape.maps;
    sinew_voxels *voxels = sn_frames_of(member)->voxels;
    double unit = member->scene->shape.volume_unit;
    double *factors;
    if (maps && maps->stiffness) {
        SN_TRY(read_map(b, maps->stiffness, voxels, unit, table, false, scratch, &factors));
        const double *before = sinew_voxels_get_stiffness(voxels);
        for (int32_t v = 0; before && v < sinew_voxels_get_count(voxels); v++) {
            factors[v] *= before[v];
        }
        SN_TRY(sinew_voxels_set_stiffness(voxels, factors));
    }
    if (maps && maps->density) {
        SN_TRY(read_map(b, maps->density, voxels, unit, table, true, scratch, &factors));
        SN_TRY(sinew_voxels_set_density(voxels, factors));
    }
    return SINEW_OK;
}

static sinew_status make_body(const sn_builder *b, sn_scene_member *member, sn_arena *scratch) {
    const sn_scene_body *body = member->scene;
    const sn_json *json = body->frames->json;
    tissue_table table;
    sinew_frame_node *nodes = NULL;

    // The solid and its tissues; mistakes in the labels are reported together.
    int64_t before = b->mistakes->total;

    SN_TRY(sn_builder_note(b, body->json,
                           sn_builder_make_voxels(b, &body->shape, &body->frames->grid,
                                                  &sn_frames_of(member)->voxels)));
    SN_TRY(sn_builder_note(b, json, make_tissues(b, member, scratch, &table)));

    if (b->mistakes->total > before) {
        return SINEW_INVALID_DATA;
    }

    // The frames, and the axes of the material.
    const sinew_voxels *voxels = sn_frames_of(member)->voxels;
    sn_scene_frames frames = *body->frames;
    SN_TRY(sn_builder_note(b, body->json, apply_maps(b, member, &table, scratch)));
    SN_TRY(sn_builder_note(b, body->json, sn_builder_check_fibres(b, member)));
    SN_TRY(sn_builder_note(b, json, choose(b, voxels, &table, &frames)));
    SN_TRY(sn_builder_note(b, json, make_nodes(b, &frames, voxels, &table, scratch, &nodes)));
    SN_TRY(make_field(b, member));

    // The body with its surface.
    sinew_mesh *surface = NULL;
    SN_TRY(sn_builder_note(
        b, body->json,
        sn_builder_make_voxel_surface(b, body, sn_frames_of(member)->voxels, &surface)));
    sinew_frame_body_def def = make_def(body, &frames, member, &table, nodes, surface);
    sinew_status status = sinew_frame_body_create(b->world->world, &def, &member->body);
    sinew_mesh_destroy(surface);

    return sn_builder_note(b, json, status);
}

// --- what holds the frames

static sinew_status make_rest(sn_builder *b, sn_scene_member *member) {
    sn_member_frames *frames = sn_frames_of(member);
    frames->step = b->scene->world.step;
    frames->first_count = frames->node_count = sinew_frame_body_get_node_count(member->body);

    int32_t room = frames->node_count + member->scene->frames->insertion_count;
    member->frame_count =
        room + (member->scene->contact_frames_given ? member->scene->contact_frames.most : 0);
    member->voxel_count = sinew_voxels_get_count(frames->voxels);
    frames->rest = SN_PUSH(&b->world->arena, double, 3 * (size_t)room);
    frames->hold = SN_PUSH(&b->world->arena, int32_t, room);
    frames->motion =
        SN_PUSH(&b->world->arena, const sn_scene_motion *, SN_FRAME_DIRECTIONS *(size_t)room);
    frames->owner = SN_PUSH(&b->world->arena, int32_t, SN_FRAME_DIRECTIONS * (size_t)room);
    frames->held = SN_PUSH(&b->world->arena, double, 7 * (size_t)room);
    frames->insertion = SN_PUSH(&b->world->arena, int32_t, room);
    frames->support = SN_PUSH(&b->world->arena, int32_t, member->scene->support_count);
    SN_TRY(sn_arena_status(&b->world->arena));

    for (int32_t i = 0; i < frames->node_count; i++) {
        SN_TRY(sinew_frame_body_get_rest(member->body, i, frames->rest + 3 * (size_t)i));
        frames->insertion[i] = -1;
    }

    return SINEW_OK;
}

static bool select_point(const sn_select *select, const sinew_voxels *voxels,
                         const sinew_mesh *surface, int32_t i) {
    const double *x = surface->points + 3 * (size_t)i;
    int32_t voxel = sinew_voxels_find_nearest(voxels, x, INFINITY);
    int32_t label = voxel >= 0 ? sinew_voxels_get_labels(voxels)[voxel] : 0;
    sn_select_node node = {.node = i, .surface = true, .label_count = 1, .labels = &label};
    memcpy(node.position, x, sizeof node.position);
    return sn_select_test(select, &node);
}

static bool select_frame(const sn_select *select, const sn_member_frames *frames, int32_t i) {
    const sinew_voxels *voxels = frames->voxels;
    int32_t voxel = sinew_voxels_find_nearest(voxels, frames->rest + 3 * (size_t)i, INFINITY);
    int32_t label = voxel >= 0 ? sinew_voxels_get_labels(voxels)[voxel] : 0;
    sn_select_node node = {.node = i, .label_count = 1, .labels = &label};
    memcpy(node.position, frames->rest + 3 * (size_t)i, sizeof node.position);
    return sn_select_test(select, &node);
}

int32_t sn_frames_get_directions(int32_t hold) {
    const int32_t turns = SINEW_HOLD_TURN_X | SINEW_HOLD_TURN_Y | SINEW_HOLD_TURN_Z;
    int32_t directions = hold & SINEW_HOLD_TRANSLATION ? 7 : hold / SINEW_HOLD_X & 7;
    return hold & (SINEW_HOLD_ROTATION | turns) ? directions | 8 : directions;
}

sinew_status sn_frames_note_held(sn_scene_member *member, int32_t node) {
    double *held = sn_frames_of(member)->held + 7 * (size_t)node;
    return sinew_frame_body_get_node(member->body, node, held, held + 3);
}

// Some axes of an entry: of the translation. All: the whole frame.
static int32_t hold_of_axes(int32_t axes) {
    return axes == SINEW_AXIS_ALL ? SINEW_HOLD_ALL : axes * SINEW_HOLD_X;
}

// Whether a selection contains numbers, which are those of frames.
static bool selects_by_number(const sn_select *select) {
    bool found = select->kind == SN_SELECT_NODES;
    if (select->parts) {
        for (int32_t i = 0; i < select->count; i++) {
            found = found || selects_by_number(&select->parts[i]);
        }
    }
    return found;
}

// Holds the points of the surface that an entry of "fixed" or "scripted" selects, by their rest
// positions; of a smoothed surface by those of the voxels' faces (`net`). `found` is false if there
// is none, or if the selection names frames by number.
static sinew_status hold_surface(sn_builder *b, sn_scene_member *member, int32_t index,
                                 const sinew_mesh *net, sn_arena *scratch, bool *found) {
    const sn_scene_support *support = &member->scene->supports[index];
    const sinew_mesh *surface = net ? net : member->surface.mesh;
    int32_t *vertices = SN_PUSH(scratch, int32_t, surface->point_count);
    SN_TRY(sn_arena_status(scratch));

    sinew_frame_support_def def = sinew_default_frame_support_def();
    *found = false;
    if (selects_by_number(&support->where)) {
        return SINEW_OK;
    }

    // The vertices that the selection contains.
    for (int32_t i = 0; i < surface->point_count; i++) {
        if (select_point(&support->where, sn_frames_of(member)->voxels, surface, i)) {
            vertices[def.vertex_count++] = i;
        }
    }

    *found = def.vertex_count > 0;
    if (!*found) {
        return SINEW_OK;
    }

    def.vertices = vertices;
    def.axes = support->axes;
    return sn_builder_note(
        b, support->where.json,
        sinew_frame_body_add_support(member->body, &def, &sn_frames_of(member)->support[index]));
}

// Holds the frames that an entry of "fixed" or "scripted" selects.
static sinew_status hold_frames(sn_builder *b, sn_scene_member *member, int32_t index,
                                sn_claims *claims) {
    sn_member_frames *frames = sn_frames_of(member);
    const sn_scene_support *support = &member->scene->supports[index];
    int32_t hold = hold_of_axes(support->axes);
    int32_t picked = 0;
    for (int32_t i = 0; i < frames->node_count; i++) {
        if (!select_frame(&support->where, frames, i)) {
            continue;
        }

        picked++;
        frames->hold[i] |= hold;
        sn_claims_add(claims, index, i, sn_frames_get_directions(hold));
    }

    if (picked == 0) {
        sn_json_mistake(b->mistakes, support->where.json,
                        "no point of the body's surface and no frame is here");
        return SINEW_INVALID_DATA;
    }

    sn_claims_report(b->context, claims, index);
    return SINEW_OK;
}

// The motion of each direction of each frame: its own, or that of an entry.
static void choose_motions(sn_scene_member *member, const sn_claims *claims) {
    sn_member_frames *frames = sn_frames_of(member);
    for (int32_t i = 0; i < SN_FRAME_DIRECTIONS * frames->node_count; i++) {
        int32_t owner = frames->owner[i] = claims->owner[i];
        if (owner == claims->own_moved) {
            frames->motion[i] = &member->scene->frames->nodes[i / SN_FRAME_DIRECTIONS].motion;
        } else if (owner >= 0 && owner < claims->own_held &&
                   member->scene->supports[owner].scripted) {
            frames->motion[i] = &member->scene->supports[owner].motion;
        }
    }
}

// What holds the frames: their own entries, then "fixed" and "scripted".
static sinew_status apply_supports(sn_builder *b, sn_scene_member *member, const sinew_mesh *net,
                                   sn_arena *scratch) {
    sn_member_frames *frames = sn_frames_of(member);
    sn_claims claims = {.item = "frame", .own = "the frame's own entry"};
    SN_TRY(
        sn_claims_create(scratch, member->scene, frames->node_count, SN_FRAME_DIRECTIONS, &claims));

    // The frames' own entries.
    for (int32_t i = 0; i < member->scene->frames->node_count; i++) {
        const sn_scene_node *node = &member->scene->frames->nodes[i];
        frames->hold[i] = node->hold;
        sn_claims_add(&claims, node->scripted ? claims.own_moved : claims.own_held, i,
                      sn_frames_get_directions(node->hold));
    }

    // Entries of "fixed" and "scripted" hold a part of the surface, or frames if there is no
    // surface.
    sinew_status status = SINEW_OK;
    for (int32_t k = 0; k < member->scene->support_count; k++) {
        bool found = false;
        frames->support[k] = -1;
        sinew_status added = hold_surface(b, member, k, net, scratch, &found);
        if (added == SINEW_OK && !found) {
            added = hold_frames(b, member, k, &claims);
        }
        if (added != SINEW_OK) {
            status = added;
        }
    }

    choose_motions(member, &claims);
    return status;
}

static sinew_status move_node(sinew_body *body, int32_t index, const sn_scene_node *node) {
    double x[3], r[4];
    SN_TRY(sinew_frame_body_get_node(body, index, x, r));
    sn_add_to3(x, sn_load3(node->translate));
    sn_quat turn = sn_quat_normalize(
        (sn_quat){node->rotation[0], node->rotation[1], node->rotation[2], node->rotation[3]});
    sn_quat q = sn_quat_mul(turn, (sn_quat){r[0], r[1], r[2], r[3]});

    return sinew_frame_body_set_node(body, index, x, (const double[4]){q.x, q.y, q.z, q.w});
}

// Frames that begin elsewhere, then what is held.
static sinew_status set_nodes(const sn_builder *b, sn_scene_member *member) {
    const sn_scene_frames *scene = member->scene->frames;
    for (int32_t i = 0; i < scene->node_count; i++) {
        const sn_scene_node *node = &scene->nodes[i];
        if (node->moved) {
            SN_TRY(sn_builder_note(b, node->json, move_node(member->body, i, node)));
        }
        if (!node->thrown) {
            continue;
        }

        SN_TRY(sn_builder_note(
            b, node->json,
            sinew_frame_body_set_velocity(member->body, i, node->velocity, node->spin)));
    }

    for (int32_t i = 0; i < sn_frames_of(member)->node_count; i++) {
        SN_TRY(sn_frames_note_held(member, i));
        if (sn_frames_of(member)->hold[i]) {
            SN_TRY(sinew_frame_body_hold(member->body, i, sn_frames_of(member)->hold[i]));
        }
    }

    return SINEW_OK;
}

// Whether a frame of the body or an earlier insertion is where an insertion is to be, at the same
// time; if so, notes it as a mistake.
static bool note_coincident(const sn_builder *b, const sn_scene_member *member, int32_t index,
                            double cell) {
    const sn_scene_frames *scene = member->scene->frames;
    const sn_scene_insertion *own = &scene->insertions[index];
    const sn_json *place = sn_json_get(own->json, "position");
    sn_vec3 X = sn_load3(own->def.position);

    // The frames that the body starts with.
    for (int32_t i = 0; i < sn_frames_of(member)->first_count; i++) {
        if (sn_distance(X, sn_load3(sn_frames_of(member)->rest + 3 * (size_t)i)) > 1e-6 * cell) {
            continue;
        }
        sn_json_mistake(b->mistakes, place, "frame %d is there already; stay a voxel (%g) away", i,
                        cell / b->scene->unit);
        return true;
    }

    // Earlier insertions that are there at the same time.
    for (int32_t i = 0; i < index; i++) {
        const sn_scene_insertion *other = &scene->insertions[i];
        bool meet = own->time < other->leave && other->time < own->leave;
        if (!meet || sn_distance(X, sn_load3(other->def.position)) > 1e-6 * cell) {
            continue;
        }

        sn_json_mistake(b->mistakes, place,
                        "insertion %d is there at the same time; stay a voxel (%g) away", i,
                        cell / b->scene->unit);

        return true;
    }

    return false;
}

// Finds now what would fail only when a frame joins.
static sinew_status check_insertions(const sn_builder *b, const sn_scene_member *member) {
    const sn_scene_frames *scene = member->scene->frames;
    const sinew_voxels *voxels = sn_frames_of(member)->voxels;
    double spacing[3];
    sinew_voxels_get_grid(voxels, NULL, spacing, NULL);
    double smallest = fmin(spacing[0], fmin(spacing[1], spacing[2]));
    sinew_status status = SINEW_OK;

    for (int32_t i = 0; i < scene->insertion_count; i++) {
        const sn_scene_insertion *insertion = &scene->insertions[i];
        double reach = sn_length(sn_load3(spacing));

        // A node needs a solid around it, a range of a voxel, a position of its own and a kind that
        // fits.
        bool inside = sinew_voxels_find_nearest(voxels, insertion->def.position, reach) >= 0;
        bool wide = insertion->def.range >= smallest;
        bool free = !note_coincident(b, member, i, smallest);
        bool fits = insertion->def.kind == SINEW_NODE_RIGID ||
                    !(scene->springs || scene->blend == SINEW_BLEND_DUAL_QUATERNION);

        if (inside && wide && free && fits) {
            continue;
        }

        status = SINEW_INVALID_DATA;
        if (!fits) {
            sn_json_mistake(b->mistakes, insertion->json,
                            "must be of kind \"rigid\", because the body %s",
                            scene->springs ? "has springs" : "is blended by dual quaternions");
        }

        if (!inside) {
            sn_json_mistake(b->mistakes, sn_json_get(insertion->json, "position"),
                            "is outside the solid");
        }

        if (!wide) {
            sn_json_mistake(b->mistakes, sn_json_get(insertion->json, "range"),
                            "is less than a voxel, which measures %g", smallest / b->scene->unit);
        }
    }

    return status;
}

// --- what loads them: points of the surface

sinew_status sn_builder_pick_surface(sn_builder *b, const sn_scene_member *member,
                                     const sn_select *where, sn_picked *picked) {
    const sinew_mesh *surface = member->surface.mesh;
    picked->nodes = SN_PUSH(&b->world->arena, int32_t, surface->point_count);
    SN_TRY(sn_arena_status(&b->world->arena));

    for (int32_t i = 0; i < surface->point_count; i++) {
        if (select_point(where, sn_frames_of(member)->voxels, surface, i)) {
            picked->nodes[picked->count++] = i;
        }
    }

    if (picked->count > 0) {
        return SINEW_OK;
    }

    sn_json_mistake(b->mistakes, where->json, "no point of the body's surface is here");
    return SINEW_INVALID_DATA;
}

// A traction or a pressure on triangles of the surface.
static sinew_status add_area_load(sn_builder *b, sn_scene_member *member, int32_t index,
                                  const sinew_mesh *net) {
    SN_TRY(sn_builder_pick_area(b, member, index, sn_frames_of(member)->voxels, net));
    const sn_scene_load *load = &member->scene->loads[index];
    const sn_picked *picked = &member->loads[index];
    sinew_load_def def = sinew_default_load_def();
    def.kind = load->kind == SN_LOAD_PRESSURE ? SINEW_LOAD_PRESSURE : SINEW_LOAD_TRACTION;
    def.pressure = load->pressure;
    memcpy(def.traction, load->vector, sizeof def.traction);
    def.triangles = picked->nodes;
    def.triangle_count = picked->count;

    return sn_builder_note(b, load->json,
                           sinew_body_add_load(member->body, &def, &member->load_index[index]));
}

static sinew_status make_load(sn_builder *b, sn_scene_member *member, int32_t index,
                              const sinew_mesh *net) {
    const sn_scene_load *load = &member->scene->loads[index];
    if (load->at_point) {
        return sn_builder_note(
            b, load->json,
            sinew_point_create(member->body, load->point, &member->load_points[index]));
    }

    if (load->kind == SN_LOAD_FORCE) {
        return sn_builder_pick_surface(b, member, &load->where, &member->loads[index]);
    }
    return add_area_load(b, member, index, net);
}

static sinew_status make_loads(sn_builder *b, sn_scene_member *member, const sinew_mesh *net) {
    const sn_scene_body *scene = member->scene;
    member->loads = SN_PUSH(&b->world->arena, sn_picked, scene->load_count);
    member->load_index = SN_PUSH(&b->world->arena, int32_t, scene->load_count);
    member->load_points = SN_PUSH(&b->world->arena, sinew_point *, scene->load_count);
    member->forces =
        SN_PUSH(&b->world->arena, double, 3 * (size_t)member->surface.mesh->point_count);
    SN_TRY(sn_arena_status(&b->world->arena));

    sinew_status status = SINEW_OK;

    // Forces on frames need no preparation.
    for (int32_t i = 0; i < scene->load_count; i++) {
        const sn_scene_load *load = &scene->loads[i];
        if (load->at_node && load->node >= sn_frames_of(member)->node_count) {
            sn_json_mistake(b->mistakes, load->json, "frame %d: there are %d", load->node,
                            sn_frames_of(member)->node_count);
            status = SINEW_INVALID_DATA;
        }

        if (load->at_node) {
            continue;
        }

        sinew_status made = make_load(b, member, i, net);
        if (made != SINEW_OK) {
            status = made;
        }
    }

    return status;
}

static sinew_status finish(sn_builder *b, sn_scene_member *member) {
    SN_TRY(sn_builder_take_surface(b, member));
    SN_TRY(make_rest(b, member));

    // Faces of the smoothed surface are selected by those of the voxels.
    const sn_scene_body *scene = member->scene;
    sinew_mesh *net = NULL;
    if (scene->load_count + scene->support_count > 0 && sn_scene_body_has_net(scene)) {
        SN_TRY(sinew_voxels_create_surface(sn_frames_of(member)->voxels, 0, &net));
    }

    sn_arena scratch = sn_arena_create(b->context);
    sinew_status supports = apply_supports(b, member, net, &scratch);
    sn_arena_destroy(&scratch);
    sinew_status loads = make_loads(b, member, net);
    sinew_mesh_destroy(net);

    SN_TRY(check_insertions(b, member));
    SN_TRY(supports);
    SN_TRY(loads);

    return set_nodes(b, member);
}

sinew_status sn_builder_make_frames(sn_builder *b, sn_scene_member *member) {
    member->own = SN_PUSH(&b->world->arena, sn_member_frames, 1);
    SN_TRY(sn_arena_status(&b->world->arena));
    member->ops = &sn_frame_member_ops;
    sn_arena scratch = sn_arena_create(b->context);
    sinew_status status = make_body(b, member, &scratch);
    sn_arena_destroy(&scratch);
    SN_TRY(status);

    return finish(b, member);
}
