// Variants of frames: the body's mesh as voxels, in the body's own coordinates. With Voronoi
// weights one frame is held at the middle of each patch of held nodes, and the others are placed
// automatically. With spectral weights all are placed automatically, and each patch is held by a
// support of the surface.
#include "io/variant/variant.h"

#include "sinew/frame_support.h"

#include <math.h>
#include <string.h>

enum { VOXELS = 40000, SAMPLES_PER_NODE = 60, MOST_PATCHES = 16 };

// Held nodes that hang together.
typedef struct patch {
    int32_t support;
    sn_vec3 middle;
} patch;

typedef struct frames {
    sn_arena arena; // holds this struct too
    sinew_variants *variants;
    const sn_scene_member *member;
    int32_t patch_count;
    patch patches[MOST_PATCHES];
    int32_t *patch_of; // of each node of the mesh; -1: free
    double edge;       // of the cubes that the mesh's tets would make
    bool spectral;
    sinew_mesh *surface; // of the mesh, with spectral weights
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
    sinew_point **loaded; // at the nodes of each load, one load after the other
    sinew_point **read;   // at the points to compare
} frames;

static void destroy(void *self) {
    frames *f = self;
    sinew_world_destroy(f->world);
    sinew_voxels_destroy(f->voxels);
    sinew_mesh_destroy(f->surface);
    sn_arena arena = f->arena;
    sn_arena_destroy(&arena);
}

static sinew_status apply(frames *f, double time) {
    const sn_scene_body *scene = f->member->scene;
    for (int32_t i = 0; i < f->patch_count; i++) {
        const sn_scene_support *support = &scene->supports[f->patches[i].support];
        if (!support->scripted) {
            continue;
        }

        // The frame of a patch follows the motion of the patch; a support moves about the origin.
        double position[3];
        double rotation[4] = {0, 0, 0, 1};
        sn_vec3 from = f->spectral ? sn_v3(0, 0, 0) : f->patches[i].middle;
        sn_store3(position, sn_scene_motion_at(&support->motion, from, time));
        if (support->motion.turns) {
            sn_quat q = sn_quat_exp(sn_scale(sn_curve_at(&support->motion.angle, time),
                                             sn_load3(support->motion.axis)));
            rotation[0] = q.x;
            rotation[1] = q.y;
            rotation[2] = q.z;
            rotation[3] = q.w;
        }

        SN_TRY(f->spectral ? sinew_frame_body_move_support(f->body, i, position, rotation)
                           : sinew_frame_body_move(f->body, i, position, rotation));
    }

    // Forces are shared by the points that stand for the loaded nodes.
    int32_t next = 0;
    for (int32_t i = 0; i < scene->load_count; i++) {
        const sn_picked *picked = &f->member->loads[i];
        double share[3];
        sn_store3(share, sn_scale(sn_curve_at(&scene->loads[i].scale, time) / picked->count,
                                  sn_variants_to_body(f->variants, scene->loads[i].vector)));

        for (int32_t k = 0; k < picked->count; k++) {
            SN_TRY(sinew_point_set_force(f->loaded[next++], share));
        }
    }

    return SINEW_OK;
}

static sinew_status step(void *self, double time) {
    frames *f = self;
    SN_TRY(apply(f, time));
    if (time == 0) {
        return sinew_world_solve_static(f->world, &f->variants->scene.static_def, NULL);
    }
    return sinew_world_step(f->world, NULL);
}

static sinew_status read(void *self, double *points) {
    frames *f = self;
    for (int32_t i = 0; i < f->variants->point_count; i++) {
        SN_TRY(sinew_point_get_position(f->read[i], points + 3 * (size_t)i));
    }

    sn_variants_to_world(f->variants, points);
    return SINEW_OK;
}

// Gives all held nodes that share an element one number, that of the first: sweeps until nothing
// changes.
static void join_nodes(const sinew_mesh *mesh, const uint8_t *held, int32_t *root) {
    int32_t width = sinew_element_node_count(mesh->element);
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t e = 0; e < mesh->element_count; e++) {
            const int32_t *nodes = mesh->indices + (size_t)width * (size_t)e;
            int32_t least = INT32_MAX;
            for (int32_t k = 0; k < width; k++) {
                if (held[nodes[k]] && root[nodes[k]] < least) {
                    least = root[nodes[k]];
                }
            }
            for (int32_t k = 0; k < width; k++) {
                if (held[nodes[k]] && root[nodes[k]] != least) {
                    root[nodes[k]] = least;
                    changed = true;
                }
            }
        }
    }
}

// Makes a patch of the nodes with the number of `node`, which lose their mark.
static sinew_status take_patch(frames *f, int32_t support, int32_t node, const int32_t *root,
                               uint8_t *held) {
    const sinew_mesh *mesh = f->member->mesh;
    if (f->patch_count == MOST_PATCHES) {
        return sn_fail(f->variants->context, SINEW_UNSUPPORTED,
                       "the body is held at more than %d separate regions", MOST_PATCHES);
    }

    sn_vec3 sum = {0, 0, 0};
    int32_t count = 0;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (!held[i] || root[i] != root[node]) {
            continue;
        }
        sum = sn_add(sum, sn_load3(mesh->points + 3 * (size_t)i));
        count++;
        held[i] = 0;
        f->patch_of[i] = f->patch_count;
    }

    f->patches[f->patch_count++] = (patch){support, sn_scale(1.0 / count, sum)};
    return SINEW_OK;
}

static sinew_status find_patches_of(frames *f, int32_t support, int32_t *root, uint8_t *held) {
    const sinew_mesh *mesh = f->member->mesh;
    const sn_picked *picked = &f->member->supports[support];
    memset(held, 0, (size_t)mesh->point_count);
    for (int32_t k = 0; k < picked->count; k++) {
        held[picked->nodes[k]] = 1;
    }
    for (int32_t i = 0; i < mesh->point_count; i++) {
        root[i] = i;
    }

    join_nodes(mesh, held, root);
    for (int32_t k = 0; k < picked->count; k++) {
        if (held[picked->nodes[k]]) {
            SN_TRY(take_patch(f, support, picked->nodes[k], root, held));
        }
    }
    return SINEW_OK;
}

static sinew_status find_patches(frames *f) {
    int32_t count = f->member->mesh->point_count;
    f->patch_of = SN_PUSH(&f->arena, int32_t, count);
    SN_TRY(sn_arena_status(&f->arena));
    for (int32_t i = 0; i < count; i++) {
        f->patch_of[i] = -1;
    }

    sn_arena scratch = sn_arena_create(f->variants->context);
    uint8_t *held = SN_PUSH(&scratch, uint8_t, count);
    int32_t *root = SN_PUSH(&scratch, int32_t, count);
    sinew_status status = sn_arena_status(&scratch);
    for (int32_t s = 0; status == SINEW_OK && s < f->member->scene->support_count; s++) {
        status = find_patches_of(f, s, root, held);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static int32_t material_count(const frames *f) {
    return f->member->scene->label_count > 0 ? f->member->scene->label_count : 1;
}

// The patch that a voxel belongs to, or -1. `held` is the share of held nodes interpolated at its
// centre: a voxel is held up to its own thickness.
static int32_t held_by(const frames *f, int32_t element, double held, double cell) {
    if (!(held > 1 - 0.75 * cell / f->edge)) {
        return -1;
    }

    int32_t width = sinew_element_node_count(f->member->mesh->element);
    const int32_t *nodes = f->member->mesh->indices + (size_t)width * (size_t)element;
    int32_t patch = -1;
    for (int32_t k = 0; k < width; k++) {
        if (f->patch_of[nodes[k]] >= 0) {
            patch = f->patch_of[nodes[k]];
        }
    }
    return patch;
}

// Label of a voxel: the place of its material in the body's table, plus one; held voxels have the
// labels behind those, since the patch's frame alone carries them.
static uint8_t label_of(const frames *f, int32_t element, double held, double cell) {
    int32_t patch = f->spectral ? -1 : held_by(f, element, held, cell);
    if (patch >= 0) {
        return (uint8_t)(material_count(f) + patch + 1);
    }

    const sn_scene_body *body = f->member->scene;
    if (!f->member->mesh->labels) {
        return 1;
    }
    for (int32_t k = 0; k < body->label_count; k++) {
        if (body->labels[k].label == f->member->mesh->labels[element]) {
            return (uint8_t)(k + 1);
        }
    }
    return 1;
}

// Cells that fill the mesh's bounding box exactly. Returns their edge.
static double fit_grid(const sinew_mesh *mesh, sinew_label_grid *grid) {
    sn_vec3 lower = sn_load3(mesh->points);
    sn_vec3 upper = lower;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        lower = sn_min3(lower, sn_load3(mesh->points + 3 * (size_t)i));
        upper = sn_max3(upper, sn_load3(mesh->points + 3 * (size_t)i));
    }

    double size[3];
    sn_store3(size, sn_sub(upper, lower));
    sn_store3(grid->lower, lower);
    double cell = cbrt(size[0] * size[1] * size[2] / VOXELS);
    for (int c = 0; c < 3; c++) {
        grid->cells[c] = (int32_t)fmax(1, round(size[c] / cell));
        grid->spacing[c] = size[c] / grid->cells[c];
    }
    return cell;
}

// The centres of all cells, embedded in the mesh; and whether each node is held, as vectors that an
// embedding interpolates.
static sinew_status embed_cells(frames *f, const sinew_label_grid *grid, sn_arena *scratch,
                                double **held, sinew_embedding **embedding) {
    const sinew_mesh *mesh = f->member->mesh;
    const int32_t *n = grid->cells;
    int32_t count = n[0] * n[1] * n[2];
    double *centers = SN_PUSH(scratch, double, 3 * (size_t)count);
    *held = SN_PUSH(scratch, double, 3 * (size_t)mesh->point_count);
    SN_TRY(sn_arena_status(scratch));

    for (int32_t i = 0; i < count; i++) {
        double *at = centers + 3 * (size_t)i;
        at[0] = grid->lower[0] + (i % n[0] + 0.5) * grid->spacing[0];
        at[1] = grid->lower[1] + (i / n[0] % n[1] + 0.5) * grid->spacing[1];
        at[2] = grid->lower[2] + (i / n[0] / n[1] + 0.5) * grid->spacing[2];
    }
    for (int32_t i = 0; i < mesh->point_count; i++) {
        (*held)[3 * (size_t)i] = f->patch_of[i] >= 0;
    }

    sinew_mesh cells = {.points = centers, .point_count = count, .element = SINEW_ELEMENT_TRIANGLE};
    return sinew_embedding_create(f->variants->context, &cells, mesh, embedding);
}

// Labels the cells with their centre in an element.
static sinew_status fill_labels(frames *f, sn_arena *scratch, sinew_label_grid *grid) {
    const sinew_mesh *mesh = f->member->mesh;
    double cell = fit_grid(mesh, grid);
    sinew_quality quality;
    SN_TRY(sinew_mesh_compute_quality(f->variants->context, mesh, &quality));
    f->edge = cbrt(5 * quality.volume / mesh->element_count);

    // Whether each node is held, interpolated to the centres of the cells.
    double *held = NULL;
    sinew_embedding *embedding = NULL;
    SN_TRY(embed_cells(f, grid, scratch, &held, &embedding));
    int32_t count = grid->cells[0] * grid->cells[1] * grid->cells[2];
    uint8_t *labels = SN_PUSH(scratch, uint8_t, count);
    double *share = SN_PUSH(scratch, double, 3 * (size_t)count);
    sinew_status status = sn_arena_status(scratch);

    if (status == SINEW_OK) {
        // Cells outside the mesh stay empty.
        const double *distances;
        const int32_t *elements = sinew_embedding_get_elements(embedding, &distances);
        sinew_embedding_compute_points(embedding, held, share);
        for (int32_t i = 0; i < count; i++) {
            if (distances[i] == 0) {
                labels[i] = label_of(f, elements[i], share[3 * (size_t)i], cell);
            }
        }
        grid->labels8 = labels;
    }

    sinew_embedding_destroy(embedding);
    return status;
}

static sinew_status make_voxels(frames *f) {
    sn_arena scratch = sn_arena_create(f->variants->context);
    sinew_label_grid grid = {0};
    sinew_status status = fill_labels(f, &scratch, &grid);

    if (status == SINEW_OK) {
        size_t limit = sinew_default_voxel_def().memory_limit;
        status = sinew_voxels_create_from_labels(f->variants->context, &grid, limit, &f->voxels);
    }

    sn_arena_destroy(&scratch);
    return status;
}

// A tissue for each material, and for each patch one that its frame carries; it is held and its
// stiffness does not matter.
static sinew_status set_tissues(frames *f, sinew_frame_body_def *def) {
    const sn_scene_body *body = f->member->scene;
    int32_t plain = material_count(f);
    int32_t count = plain + (f->spectral ? 0 : f->patch_count);
    sinew_tissue *tissues = SN_PUSH(&f->arena, sinew_tissue, count);
    sinew_material_def *materials = SN_PUSH(&f->arena, sinew_material_def, count);
    int32_t *labels = SN_PUSH(&f->arena, int32_t, count);

    SN_TRY(sn_arena_status(&f->arena));
    for (int32_t i = 0; i < count; i++) {
        // Patches take any material, since they do not deform.
        int32_t material =
            body->label_count ? body->labels[i < plain ? i : 0].material : body->material;

        materials[i] = f->variants->scene.materials[material].def;
        tissues[i] = sinew_default_tissue();
        tissues[i].label = labels[i] = i + 1;
        tissues[i].young = materials[i].young;
        tissues[i].density = materials[i].density;

        if (i >= plain) {
            tissues[i].node = i - plain;
        }
    }

    def->tissues = tissues;
    def->tissue_count = count;
    def->materials = materials;
    def->material_count = count;
    def->material_labels = labels;

    return SINEW_OK;
}

// Where spectral weights need the frames.
static sinew_status place_spectral(frames *f, int32_t count, double *positions,
                                   const sinew_frame_body_def *def) {
    sinew_placement_def placement = sinew_default_placement_def();
    placement.kind = SINEW_PLACEMENT_SPECTRAL;
    placement.count = count;
    return sinew_place_nodes(f->variants->context, f->voxels, def->tissues, def->tissue_count,
                             &placement, positions, NULL);
}

// The patches' frames first, moved into the nearest voxel where their middle is hollow.
static sinew_status place_local(frames *f, int32_t count, double *positions,
                                const sinew_frame_body_def *def) {
    double fixed[3 * MOST_PATCHES];

    // The frames of the patches.
    double spacing[3];

    sinew_voxels_get_grid(f->voxels, NULL, spacing, NULL);
    for (int32_t i = 0; i < f->patch_count; i++) {
        sn_store3(fixed + 3 * i, f->patches[i].middle);
        int32_t voxel = sinew_voxels_find_nearest(f->voxels, fixed + 3 * i, INFINITY);
        double center[3];
        sinew_voxels_get_center(f->voxels, voxel, center);

        if (sn_distance(sn_load3(center), f->patches[i].middle) > sn_length(sn_load3(spacing))) {
            memcpy(fixed + 3 * i, center, sizeof center);
            f->patches[i].middle = sn_load3(center);
        }
    }

    // The others are spread over the rest.
    sinew_placement_def placement = sinew_default_placement_def();
    placement.count = count;
    placement.fixed = fixed;
    placement.fixed_count = f->patch_count;
    return sinew_place_nodes(f->variants->context, f->voxels, def->tissues, def->tissue_count,
                             &placement, positions, NULL);
}

static sinew_status place(frames *f, sinew_node_kind kind, int32_t count,
                          sinew_frame_body_def *def) {
    double *positions = SN_PUSH(&f->arena, double, 3 * (size_t)count);
    sinew_frame_node *nodes = SN_PUSH(&f->arena, sinew_frame_node, count);
    SN_TRY(sn_arena_status(&f->arena));
    SN_TRY(f->spectral ? place_spectral(f, count, positions, def)
                       : place_local(f, count, positions, def));

    for (int32_t i = 0; i < count; i++) {
        nodes[i].kind = kind;
        memcpy(nodes[i].position, positions + 3 * (size_t)i, sizeof nodes[i].position);
    }

    def->nodes = nodes;
    def->node_count = count;

    return SINEW_OK;
}

// The points that loads act at, and those that are read.
static sinew_status make_points(frames *f) {
    const double *nodes = f->member->mesh->points;
    int32_t load_count = f->member->scene->load_count;
    int32_t count = 0;
    for (int32_t i = 0; i < load_count; i++) {
        count += f->member->loads[i].count;
    }
    f->loaded = SN_PUSH(&f->arena, sinew_point *, count);
    f->read = SN_PUSH(&f->arena, sinew_point *, f->variants->point_count);
    SN_TRY(sn_arena_status(&f->arena));

    int32_t next = 0;
    for (int32_t i = 0; i < load_count; i++) {
        const sn_picked *picked = &f->member->loads[i];
        for (int32_t k = 0; k < picked->count; k++) {
            const double *rest = nodes + 3 * (size_t)picked->nodes[k];
            SN_TRY(sinew_point_create(f->body, rest, &f->loaded[next++]));
        }
    }

    for (int32_t i = 0; i < f->variants->point_count; i++) {
        SN_TRY(sinew_point_create(f->body, f->variants->points + 3 * (size_t)i, &f->read[i]));
    }
    return SINEW_OK;
}

// Each patch by its own support.
static sinew_status hold_faces(frames *f, const int32_t *surface_nodes) {
    sn_arena scratch = sn_arena_create(f->variants->context);
    int32_t *vertices = SN_PUSH(&scratch, int32_t, f->surface->point_count);
    sinew_status status = sn_arena_status(&scratch);

    for (int32_t i = 0; status == SINEW_OK && i < f->patch_count; i++) {
        sinew_frame_support_def def = sinew_default_frame_support_def();
        def.vertices = vertices;
        for (int32_t v = 0; v < f->surface->point_count; v++) {
            if (f->patch_of[surface_nodes[v]] == i) {
                vertices[def.vertex_count++] = v;
            }
        }
        status = sinew_frame_body_add_support(f->body, &def, NULL);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status hold_frames(frames *f) {
    for (int32_t i = 0; i < f->patch_count; i++) {
        SN_TRY(sinew_frame_body_hold(f->body, i, SINEW_HOLD_ALL));
    }
    return SINEW_OK;
}

static sinew_status fill(frames *f, sinew_node_kind kind, int32_t count, bool springs) {
    sinew_variants *variants = f->variants;
    const sinew_body_def *scene = &f->member->scene->def;

    SN_TRY(sn_variants_check_plain(variants));
    SN_TRY(find_patches(f));
    if (!f->spectral && count <= f->patch_count) {
        return sn_fail(variants->context, SINEW_UNSUPPORTED, "%d frames are held and none is free",
                       f->patch_count);
    }

    // The world is in the coordinates of the body, before its placement.
    SN_TRY(make_voxels(f));
    sinew_world_def world = variants->scene.world;

    world.solver = SINEW_SOLVER_AUTO;
    sn_store3(world.gravity, sn_variants_to_body(variants, variants->scene.world.gravity));
    SN_TRY(sinew_world_create(variants->context, &world, &f->world));

    // The body; local weights have samples in proportion to the frames.
    sinew_frame_body_def def = sinew_default_frame_body_def();
    SN_TRY(set_tissues(f, &def));
    SN_TRY(place(f, kind, count, &def));
    def.voxels = f->voxels;
    def.springs = springs;
    def.mass_damping = scene->mass_damping;
    def.stiffness_damping = scene->stiffness_damping;
    sn_store3(def.velocity, sn_variants_to_body(variants, scene->velocity));
    sn_store3(def.angular_velocity, sn_variants_to_body(variants, scene->angular_velocity));
    def.weights.adopt_unreached = true;
    def.weights.adopt_outside = true;
    def.weights.levels = 1; // local: the more frames, the finer
    const int32_t *surface_nodes = NULL;
    if (f->spectral) {
        SN_TRY(sinew_mesh_create_surface(variants->context, f->member->mesh, &f->surface,
                                         &surface_nodes));
        def.weights.kind = SINEW_WEIGHTS_SPECTRAL;
        def.surface = f->surface;
    } else {
        def.sampling.count = SAMPLES_PER_NODE * count;
    }
    SN_TRY(sinew_frame_body_create(f->world, &def, &f->body));
    SN_TRY(f->spectral ? hold_faces(f, surface_nodes) : hold_frames(f));

    return make_points(f);
}

static const sn_variant_ops ops = {step, read, destroy};

sinew_status sn_variant_create_frames(sinew_variants *variants, const sinew_variant_def *def,
                                      sinew_variant *variant) {
    static const int32_t unknowns[] = {3, 6, 12, 30};
    sn_arena arena = sn_arena_create(variants->context);
    frames *f = SN_PUSH(&arena, frames, 1);
    SN_TRY(sn_arena_status(&arena));
    f->arena = arena;
    f->variants = variants;
    f->member = &variants->given->members[0];
    f->spectral = def->spectral;
    variant->ops = &ops;
    variant->self = f;
    variant->unknowns = unknowns[def->node_kind] * def->node_count;

    return fill(f, def->node_kind, def->node_count, def->springs);
}
