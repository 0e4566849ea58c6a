// What moves the flesh: position dynamics, finite elements or frames, behind one table of
// functions.
//
// All of them live in the pose that the mesh was bound in, where the nodes near the bones stand
// still. Finite elements are corotational tets on the lattice, by implicit Euler. Frames see the
// cells of the lattice as voxels: what the bones hold follows one held frame per joint, and free
// affine frames are spread over the rest. For both, limbs that touch in the bind pose are glued:
// meshes of finite elements do not branch, and a grid of voxels has each cell once.
#include "sinew/frame_body.h"
#include "sinew/point.h"
#include "sinew/world.h"

#include "io/soften/softener.h"

#include <math.h>
#include <string.h>

static sinew_status step_positions(sn_softener *s, double h, const double *forces) {
    return sinew_pbd_step(s->pbd, h, NULL, forces);
}

static sinew_status read_positions(sn_softener *s) {
    sinew_pbd_get_positions(s->pbd, s->flesh);
    sinew_pbd_get_velocities(s->pbd, s->velocities);
    return SINEW_OK;
}

static sinew_status write_positions(sn_softener *s) {
    return sinew_pbd_set_state(s->pbd, s->flesh, s->velocities);
}

static sinew_status create_positions(sn_softener *s, const sn_soft_materials *materials) {
    sinew_pbd_material levels[SN_SOFT_LEVELS];
    for (int32_t i = 0; i < SN_SOFT_LEVELS; i++) {
        levels[i] =
            sinew_isotropic_pbd_material(materials->young[i], s->def->poisson, s->def->density);
    }

    sinew_pbd_def pbd = sinew_default_pbd_def();
    pbd.mode = SINEW_PBD_COMPLIANCE;
    pbd.damping = s->def->damping;
    pbd.materials = levels;
    pbd.material_count = SN_SOFT_LEVELS;
    pbd.tet_materials = materials->of_tet;
    pbd.kinematic = s->lattice.held;
    memset(pbd.gravity, 0, sizeof pbd.gravity); // it is among the forces
    return sinew_pbd_create(s->context, &s->lattice.mesh, &pbd, &s->pbd);
}

// A world without gravity, whose step is set when it is known.
static sinew_status create_world(sn_softener *s) {
    sinew_world_def def = sinew_default_world_def();
    memset(def.gravity, 0, sizeof def.gravity);
    return sinew_world_create(s->context, &def, &s->world);
}

static sinew_status step_world(sn_softener *s, double h) {
    sinew_world_def def = sinew_world_get_def(s->world);
    if (def.step != h) {
        def.step = h;
        SN_TRY(sinew_world_set_def(s->world, &def));
    }
    return sinew_world_step(s->world, NULL);
}

static void fill_materials(const sn_softener *s, const sn_soft_materials *materials,
                           sinew_material_def *defs, int32_t *labels) {
    for (int32_t i = 0; i < SN_SOFT_LEVELS; i++) {
        defs[i] = sinew_default_material_def();
        defs[i].young = materials->young[i];
        defs[i].poisson = s->def->poisson;
        defs[i].density = s->def->density;
        labels[i] = i + 1;
    }
}

static sinew_status step_tets(sn_softener *s, double h, const double *forces) {
    if (!forces) {
        memset(s->forces, 0, 3 * (size_t)s->lattice.mesh.point_count * sizeof *s->forces);
    }
    SN_TRY(sinew_body_set_forces(s->body, s->every, s->lattice.mesh.point_count, s->forces));
    return step_world(s, h);
}

static sinew_status read_tets(sn_softener *s) {
    size_t size = 3 * (size_t)s->lattice.mesh.point_count * sizeof(double);
    memcpy(s->flesh, sinew_body_get_positions(s->body), size);
    memcpy(s->velocities, sinew_body_get_velocities(s->body), size);
    return SINEW_OK;
}

static sinew_status write_tets(sn_softener *s) {
    SN_TRY(sinew_body_set_positions(s->body, s->flesh));
    return sinew_body_set_velocities(s->body, s->velocities);
}

static sinew_status create_tets(sn_softener *s, const sn_soft_materials *materials) {
    sinew_material_def defs[SN_SOFT_LEVELS];
    int32_t labels[SN_SOFT_LEVELS];
    fill_materials(s, materials, defs, labels);
    int32_t nodes = s->lattice.mesh.point_count, tets = s->lattice.mesh.element_count;
    int32_t *of_tet = SN_PUSH(s->arena, int32_t, tets);
    s->every = SN_PUSH(s->arena, int32_t, nodes);
    int32_t *held = SN_PUSH(s->arena, int32_t, nodes), held_count = 0;
    SN_TRY(sn_arena_status(s->arena));

    for (int32_t e = 0; e < tets; e++) {
        of_tet[e] = materials->of_tet[e] + 1;
    }
    for (int32_t i = 0; i < nodes; i++) {
        s->every[i] = i;
        if (s->lattice.held[i]) {
            held[held_count++] = i;
        }
    }

    sinew_mesh mesh = s->lattice.mesh;
    mesh.labels = of_tet;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = &mesh;
    def.materials = defs;
    def.material_count = SN_SOFT_LEVELS;
    def.material_labels = labels;
    def.mass_damping = s->def->damping;
    SN_TRY(create_world(s));
    SN_TRY(sinew_body_create(s->world, &def, &s->body));
    return sinew_body_fix_nodes(s->body, held, held_count, SINEW_AXIS_ALL);
}

static sinew_status step_frames(sn_softener *s, double h, const double *forces) {
    static const double none[3];
    for (int32_t i = 0; i < s->lattice.mesh.point_count; i++) {
        SN_TRY(sinew_point_set_force(s->followers[i], forces ? forces + 3 * (size_t)i : none));
    }
    return step_world(s, h);
}

static sinew_status read_frames(sn_softener *s) {
    for (int32_t i = 0; i < s->lattice.mesh.point_count; i++) {
        SN_TRY(sinew_point_get_position(s->followers[i], s->flesh + 3 * (size_t)i));
        SN_TRY(sinew_point_get_velocity(s->followers[i], s->velocities + 3 * (size_t)i));
    }
    return SINEW_OK;
}

// The joint that holds a tet, which has at least three held nodes; -1 for none.
static int32_t find_holder(const sn_softener *s, int32_t tet) {
    const int32_t *nodes = s->lattice.mesh.indices + 4 * (size_t)tet;
    int32_t held = 0;
    for (int k = 0; k < 4; k++) {
        held += s->lattice.held[nodes[k]];
    }
    if (held < 3) {
        return -1;
    }

    int32_t joints = s->skin->joint_count, holder = -1;
    float most = 0;
    for (int32_t j = 0; j < joints; j++) {
        float sum = 0;
        for (int k = 0; k < 4; k++) {
            sum += s->lattice.weights[(size_t)nodes[k] * (size_t)joints + (size_t)j];
        }
        if (sum > most) {
            most = sum;
            holder = j;
        }
    }
    return holder;
}

// The cells of the lattice as voxels: labels 1 ... LEVELS are flesh, and those above are held by a
// joint, whose frame stands in the middle of its voxels.
typedef struct soft_voxels {
    sinew_label_grid grid;
    uint16_t *labels;
    int32_t *of_tet;    // [tet] its voxel
    int32_t *frame_of;  // [joint] its held frame, or -1
    int32_t held_count; // frames
    sn_vec3 *middles;   // [held frame] sums over its tets
    int32_t *sizes;     // [held frame] tets
} soft_voxels;

static sn_vec3 find_center(const sn_softener *s, int32_t tet) {
    sn_vec3 sum = {0, 0, 0};
    for (size_t k = 4 * (size_t)tet; k < 4 * ((size_t)tet + 1); k++) {
        size_t node = 3 * (size_t)s->lattice.mesh.indices[k];
        sum = sn_add(sum, sn_load3(s->lattice.mesh.points + node));
    }
    return sn_scale(0.25, sum);
}

// The grid around all nodes, and the voxel that the centre of each tet is in.
static sinew_status fit_grid(sn_softener *s, soft_voxels *v) {
    const sinew_mesh *mesh = &s->lattice.mesh;
    double h = s->lattice.cell, extent[3];
    sn_vec3 lower = sn_load3(mesh->points), upper = lower;
    for (int32_t i = 1; i < mesh->point_count; i++) {
        lower = sn_min3(lower, sn_load3(mesh->points + 3 * (size_t)i));
        upper = sn_max3(upper, sn_load3(mesh->points + 3 * (size_t)i));
    }
    sn_store3(extent, sn_sub(upper, lower));
    sn_store3(v->grid.lower, lower);
    for (int k = 0; k < 3; k++) {
        v->grid.cells[k] = (int32_t)lround(extent[k] / h);
        v->grid.spacing[k] = h;
    }

    const int32_t *n = v->grid.cells;
    v->labels = SN_PUSH(s->arena, uint16_t, (size_t)n[0] * (size_t)n[1] * (size_t)n[2]);
    v->of_tet = SN_PUSH(s->arena, int32_t, mesh->element_count);
    SN_TRY(sn_arena_status(s->arena));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        sn_vec3 from = sn_scale(1 / h, sn_sub(find_center(s, e), lower));
        v->of_tet[e] = ((int32_t)from.z * n[1] + (int32_t)from.y) * n[0] + (int32_t)from.x;
    }
    v->grid.labels16 = v->labels;
    return SINEW_OK;
}

static sinew_status fill_voxels(sn_softener *s, const sn_soft_materials *materials,
                                soft_voxels *v) {
    int32_t joints = s->skin->joint_count;
    SN_TRY(fit_grid(s, v));
    v->frame_of = SN_PUSH(s->arena, int32_t, joints);
    v->middles = SN_PUSH(s->arena, sn_vec3, joints);
    v->sizes = SN_PUSH(s->arena, int32_t, joints);
    SN_TRY(sn_arena_status(s->arena));
    for (int32_t j = 0; j < joints; j++) {
        v->frame_of[j] = -1;
    }

    // A voxel with a held tet belongs to the tet's joint; the others are flesh.
    for (int32_t e = 0; e < s->lattice.mesh.element_count; e++) {
        uint16_t *label = &v->labels[v->of_tet[e]];
        int32_t holder = find_holder(s, e);
        if (*label > 0 || holder < 0) {
            continue;
        }
        if (v->frame_of[holder] < 0) {
            v->frame_of[holder] = v->held_count++;
        }
        int32_t frame = v->frame_of[holder];
        *label = (uint16_t)(SN_SOFT_LEVELS + 1 + frame);
        v->middles[frame] = sn_add(v->middles[frame], find_center(s, e));
        v->sizes[frame]++;
    }
    for (int32_t e = 0; e < s->lattice.mesh.element_count; e++) {
        uint16_t *label = &v->labels[v->of_tet[e]];
        *label = *label > 0 ? *label : (uint16_t)(materials->of_tet[e] + 1);
    }

    return SINEW_OK;
}

// Tissues and materials of all labels.
static sinew_status fill_tissues(sn_softener *s, const sn_soft_materials *materials,
                                 const soft_voxels *v, sinew_frame_body_def *def) {
    int32_t count = SN_SOFT_LEVELS + v->held_count;
    sinew_tissue *tissues = SN_PUSH(s->arena, sinew_tissue, count);
    sinew_material_def *defs = SN_PUSH(s->arena, sinew_material_def, count);
    int32_t *labels = SN_PUSH(s->arena, int32_t, count);
    SN_TRY(sn_arena_status(s->arena));
    fill_materials(s, materials, defs, labels);

    for (int32_t i = 0; i < count; i++) {
        labels[i] = i + 1;
        if (i >= SN_SOFT_LEVELS) {
            defs[i] = defs[SN_SOFT_LEVELS / 2]; // held: it does not deform
        }
        tissues[i] = sinew_default_tissue();
        tissues[i].label = labels[i];
        tissues[i].young = defs[i].young;
        tissues[i].density = s->def->density;
        tissues[i].node = i < SN_SOFT_LEVELS ? -1 : i - SN_SOFT_LEVELS;
    }

    def->tissues = tissues;
    def->tissue_count = count;
    def->materials = defs;
    def->material_count = count;
    def->material_labels = labels;
    return SINEW_OK;
}

// The held frames in the middle of what they hold, the free ones spread over the rest.
static sinew_status place_frames(sn_softener *s, const soft_voxels *v, sinew_frame_body_def *def) {
    int32_t count = v->held_count + s->def->frames;
    double *fixed = SN_PUSH(s->arena, double, 3 * (size_t)v->held_count);
    double *positions = SN_PUSH(s->arena, double, 3 * (size_t)count);
    sinew_frame_node *nodes = SN_PUSH(s->arena, sinew_frame_node, count);
    SN_TRY(sn_arena_status(s->arena));
    for (int32_t i = 0; i < v->held_count; i++) {
        double middle[3];
        sn_store3(middle, sn_scale(1.0 / v->sizes[i], v->middles[i]));
        int32_t voxel = sinew_voxels_find_nearest(s->voxels, middle, INFINITY);
        sinew_voxels_get_center(s->voxels, voxel, fixed + 3 * (size_t)i);
    }

    sinew_placement_def placement = sinew_default_placement_def();
    placement.count = count;
    placement.fixed = fixed;
    placement.fixed_count = v->held_count;
    SN_TRY(sinew_place_nodes(s->context, s->voxels, def->tissues, def->tissue_count, &placement,
                             positions, NULL));
    for (int32_t i = 0; i < count; i++) {
        nodes[i] = (sinew_frame_node){.kind = SINEW_NODE_AFFINE};
        memcpy(nodes[i].position, positions + 3 * (size_t)i, sizeof nodes[i].position);
    }
    def->nodes = nodes;
    def->node_count = count;
    return SINEW_OK;
}

static sinew_status create_frames(sn_softener *s, const sn_soft_materials *materials) {
    soft_voxels v = {0};
    SN_TRY(fill_voxels(s, materials, &v));
    if (v.held_count == 0) {
        return sn_source_fail(s->context, s->source, SINEW_UNSUPPORTED,
                              "its bones hold no cell of the flesh, so that no frame follows them; "
                              "ask for more tets or a larger core");
    }
    size_t limit = sinew_default_voxel_def().memory_limit;
    SN_TRY(sinew_voxels_create_from_labels(s->context, &v.grid, limit, &s->voxels));

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = s->voxels;
    def.mass_damping = s->def->damping;
    def.weights.adopt_unreached = true;
    SN_TRY(fill_tissues(s, materials, &v, &def));
    SN_TRY(place_frames(s, &v, &def));
    SN_TRY(create_world(s));
    SN_TRY(sinew_frame_body_create(s->world, &def, &s->body));
    for (int32_t i = 0; i < v.held_count; i++) {
        SN_TRY(sinew_frame_body_hold(s->body, i, SINEW_HOLD_ALL));
    }

    // Nodes of the lattice carry the forces and show the motion.
    s->followers = SN_PUSH(s->arena, sinew_point *, s->lattice.mesh.point_count);
    SN_TRY(sn_arena_status(s->arena));
    for (int32_t i = 0; i < s->lattice.mesh.point_count; i++) {
        SN_TRY(
            sinew_point_create(s->body, s->lattice.mesh.points + 3 * (size_t)i, &s->followers[i]));
    }
    return SINEW_OK;
}

typedef struct soft_model {
    sinew_status (*create)(sn_softener *s, const sn_soft_materials *materials);
    sinew_status (*step)(sn_softener *s, double h, const double *forces);
    sinew_status (*read)(sn_softener *s);
    sinew_status (*write)(sn_softener *s); // NULL: a state of its nodes cannot be set
} soft_model;

static const soft_model models[] = {
    [SINEW_SOFTEN_POSITIONS] = {create_positions, step_positions, read_positions, write_positions},
    [SINEW_SOFTEN_TETS] = {create_tets, step_tets, read_tets, write_tets},
    [SINEW_SOFTEN_FRAMES] = {create_frames, step_frames, read_frames, NULL},
};

sinew_status sn_soft_model_create(sn_softener *s, const sn_soft_materials *materials) {
    const soft_model *model = &models[s->def->model];
    if (!model->write && (s->def->floor || s->def->complementary)) {
        return sn_fail(s->context, SINEW_UNSUPPORTED,
                       "%s works with position dynamics and with tets, not with frames",
                       s->def->floor ? "a floor" : "complementary dynamics");
    }
    return model->create(s, materials);
}

sinew_status sn_soft_model_step(sn_softener *s, double h, const double *forces) {
    return models[s->def->model].step(s, h, forces);
}

sinew_status sn_soft_model_read(sn_softener *s) {
    return models[s->def->model].read(s);
}

sinew_status sn_soft_model_write(sn_softener *s) {
    return models[s->def->model].write(s);
}

void sn_soft_model_destroy(sn_softener *s) {
    sinew_pbd_destroy(s->pbd);
    sinew_world_destroy(s->world);
    sinew_voxels_destroy(s->voxels);
}
