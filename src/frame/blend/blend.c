// Samples as functions of control vectors, and the projection from controls to rows.
//
// At a sample X with weights w_i and gradients, control m of node i has g = m(d) grad w_i + w_i
// grad m(d), so that F = sum a (x) g (Gilles et al. 2013, 1.3). The sample groups give forces and
// stiffness of controls. A row sums over the controls it moves: the control itself, or, for the
// rotation of a rigid node, its three columns by da = w x a.
//
// Cost of a stiffness: 27 multiply-adds for each pair of controls at a sample.
#include "frame/blend/blend.h"

#include "frame/blend/transverse.h"

#include <string.h>

static int32_t sample_controls(const sn_nodes *nodes, const sn_frame_samples *samples, int32_t s) {
    int32_t count = 0;
    for (int32_t k = samples->start[s]; k < samples->start[s + 1]; k++) {
        count += nodes->items[samples->node[k]].control_count;
    }
    return count;
}

// Fills in the controls and gradients of entry k of a sample. Returns how many there are.
static int32_t fill_entry(const sn_nodes *nodes, const sn_frame_samples *samples, int32_t s,
                          int32_t k, int32_t *control, sn_vec3 *gradient) {
    const sn_node *node = &nodes->items[samples->node[k]];
    double m[SN_NODE_MAX_CONTROLS];
    double w = samples->weight[k];
    sn_vec3 dm[SN_NODE_MAX_CONTROLS];
    sn_vec3 dw = sn_load3(sn_at3(samples->gradient, k));
    sn_rest_point at = sn_rest_point_at(sn_load3(sn_at3(samples->position, s)));
    int32_t count = sn_node_monomials(node, &at, m, dm);

    for (int32_t c = 0; c < count; c++) {
        control[c] = node->control + c;
        gradient[c] = sn_add(sn_scale(m[c], dw), sn_scale(w, dm[c]));
    }

    return count;
}

// Fills in the controls and gradients of one sample.
static void fill_sample(const sn_nodes *nodes, const sn_frame_samples *samples, int32_t s,
                        int32_t *control, sn_vec3 *gradient) {
    int32_t next = 0;
    for (int32_t k = samples->start[s]; k < samples->start[s + 1]; k++) {
        next += fill_entry(nodes, samples, s, k, control + next, gradient + next);
    }
}

static int32_t material_of(int32_t label, const int32_t *labels, int32_t count) {
    if (labels) {
        for (int32_t i = 0; i < count; i++) {
            if (labels[i] == label) {
                return i;
            }
        }
    }
    return labels && count > 1 ? -1 : 0;
}

typedef struct grouping {
    int32_t *width, *material, *group; // of each sample
    int32_t *modes;                    // internal ones
    int32_t group_count;
} grouping;

// Puts samples of one material, one number of controls and one number of internal modes into the
// same group.
static sinew_status group_samples(sn_arena *scratch, const sn_nodes *nodes,
                                  const sn_frame_samples *samples,
                                  const sn_blend_materials *materials, bool rigid, grouping *g) {
    int32_t material_count = materials->count;
    const int32_t *labels = materials->labels;
    *g = (grouping){
        SN_PUSH(scratch, int32_t, samples->count), SN_PUSH(scratch, int32_t, samples->count),
        SN_PUSH(scratch, int32_t, samples->count), SN_PUSH(scratch, int32_t, samples->count), 0};

    int32_t *first = SN_PUSH(scratch, int32_t, samples->count);
    SN_TRY(sn_arena_status(scratch));
    for (int32_t s = 0; s < samples->count; s++) {
        // Width and material decide on the group.
        g->width[s] = sample_controls(nodes, samples, s);
        g->material[s] = material_of(samples->label[s], labels, material_count);
        g->modes[s] =
            materials->assumed && !rigid ? sn_transverse_mode_count(nodes, samples, s) : 0;
        if (g->material[s] < 0) {
            return sn_fail(scratch->context, SINEW_INVALID_DATA, "the label %d has no material",
                           samples->label[s]);
        }

        // Find the group by its first sample; there are few of them.
        int32_t k = 0;
        while (k < g->group_count &&
               (g->width[first[k]] != g->width[s] || g->material[first[k]] != g->material[s] ||
                g->modes[first[k]] != g->modes[s])) {
            k++;
        }

        if (k == g->group_count) {
            first[g->group_count++] = s;
        }

        g->group[s] = k;
    }

    return SINEW_OK;
}

sn_mat3 sn_field_frame_at(const sinew_field *field, sn_vec3 X) {
    double point[3], axes[9];
    sn_store3(point, X);
    sinew_field_compute_axes_at(field, point, axes);
    return sn_mat3_columns(sn_load3(axes), sn_load3(axes + 3), sn_load3(axes + 6));
}

// Finds the material axes at the samples of a list; NULL without a field.
static sinew_status push_frames(sn_arena *arena, const sinew_field *field,
                                const sn_frame_samples *samples, const int32_t *list, int32_t count,
                                sn_mat3 **frames) {
    *frames = NULL;
    if (!field) {
        return SINEW_OK;
    }

    *frames = SN_PUSH(arena, sn_mat3, count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < count; i++) {
        (*frames)[i] = sn_field_frame_at(field, sn_load3(sn_at3(samples->position, list[i])));
    }

    return SINEW_OK;
}

// Lists the samples of a group. With internal modes a region fills a block: its last point is
// repeated, which gets no volume. The list has room for `count_entries` numbers.
static int32_t list_group(const sn_frame_samples *samples, const grouping *g, int32_t index,
                          int32_t *list) {
    int32_t count = 0;
    for (int32_t s = 0; s < samples->count; s++) {
        if (g->group[s] != index) {
            continue;
        }

        list[count++] = s;
        if (!g->modes[s]) {
            continue;
        }

        bool last = s + 1 == samples->count || samples->region[s + 1] != samples->region[s];
        while (last && count % SN_BLOCK) {
            list[count++] = s;
        }
    }

    return count;
}

static int32_t count_entries(const sn_frame_samples *samples, const grouping *g, int32_t index) {
    int32_t count = 0;
    for (int32_t s = 0; s < samples->count; s++) {
        count += g->group[s] == index ? (g->modes[s] ? SN_BLOCK : 1) : 0;
    }
    return count;
}

static sinew_status push_modes(sn_arena *arena, const sn_frame_samples *samples,
                               const int32_t *list, int32_t count, int32_t modes,
                               sn_sample_group *group) {
    if (modes == 0) {
        return SINEW_OK;
    }

    size_t size = (size_t)modes * 3 * SN_BLOCK;
    sn_isa isa = arena->context->isa;
    group->modes = SN_PUSH(arena, sn_internal_modes, 1);
    double *gradient = SN_PUSH(arena, double, (size_t)(count / SN_BLOCK) * size);
    SN_TRY(sn_arena_status(arena));

    *group->modes = (sn_internal_modes){.count = modes,
                                        .gradient = gradient,
                                        .couple = SN_ISA_PICK(isa, sn_samples_couple),
                                        .solve = SN_ISA_PICK(isa, sn_internal_modes_solve),
                                        .subtract = SN_ISA_PICK(isa, sn_internal_modes_subtract),
                                        .follow = SN_ISA_PICK(isa, sn_internal_modes_follow)};
    for (int32_t block = 0; block < count / SN_BLOCK; block++) {
        sn_transverse_modes(samples, list + block * SN_BLOCK, modes,
                            gradient + (size_t)block * size);
    }

    return SINEW_OK;
}

static sinew_status fill_group(sn_arena *arena, sn_arena *scratch, const sn_nodes *nodes,
                               const sn_frame_samples *samples, const sinew_field *field,
                               const grouping *g, int32_t index, sn_blend *blend) {
    int32_t *list = SN_PUSH(scratch, int32_t, count_entries(samples, g, index));
    SN_TRY(sn_arena_status(scratch));
    int32_t count = list_group(samples, g, index, list);
    int32_t width = g->width[list[0]];
    int32_t modes = g->modes[list[0]];

    int32_t *control = SN_PUSH(scratch, int32_t, (size_t)count * (size_t)width);
    sn_vec3 *gradient = SN_PUSH(scratch, sn_vec3, (size_t)count * (size_t)width);
    double *volume = SN_PUSH(scratch, double, count);
    double *stiffness = SN_PUSH(arena, double, count);

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));

    // Samples without modes are listed by their nodes, so that blocks of eight share most of them.
    if (modes == 0) {
        SN_TRY(sn_samples_sort_by_nodes(samples, nodes->count, list, count));
    }

    SN_TRY(push_modes(arena, samples, list, count, modes, &blend->groups.items[index]));

    // Controls, gradients of w m, volumes and stiffness, in this order.
    bool varies = false;
    for (int32_t next = 0; next < count; next++) {
        int32_t s = list[next];
        bool repeated = next > 0 && list[next - 1] == s;
        fill_sample(nodes, samples, s, control + (size_t)next * (size_t)width,
                    gradient + (size_t)next * (size_t)width);
        volume[next] = repeated ? 0 : samples->volume[s];
        stiffness[next] = samples->stiffness[s];
        varies = varies || stiffness[next] != 1;
        blend->sample_group[s] = index;
        blend->sample_place[s] = repeated ? blend->sample_place[s] : next;
    }

    // Pack them in blocks.
    sn_samples_input input = {.count = count,
                              .width = width,
                              .control = control,
                              .gradient = gradient,
                              .volume = volume,
                              .control_count = nodes->control_count};
    sn_mat3 *frames;

    SN_TRY(push_frames(arena, field, samples, list, count, &frames));
    return sn_sample_group_fill(arena, &blend->groups.items[index], &input, &blend->pattern, frames,
                                varies ? stiffness : NULL);
}

// Whether sample s has the same nodes as the one before it, and so couples the same rows.
static bool repeats_nodes(const int32_t *start, const int32_t *list, int32_t s) {
    int32_t count = start[s + 1] - start[s];
    return s > 0 && start[s] - start[s - 1] == count &&
           memcmp(list + start[s], list + start[s - 1], (size_t)count * sizeof *list) == 0;
}

// Lists the controls (or rows) that each sample couples.
static sinew_status push_sets(sn_arena *arena, const sn_nodes *nodes, int32_t samples,
                              const int32_t *start, const int32_t *list, bool rows,
                              sn_bsr_sets *sets) {
    int32_t *offsets = SN_PUSH(arena, int32_t, samples + 1);
    SN_TRY(sn_arena_status(arena));

    // Count; a sample with the nodes of the one before adds nothing.
    for (int32_t s = 0; s < samples; s++) {
        int32_t count = 0;
        if (!repeats_nodes(start, list, s)) {
            for (int32_t k = start[s]; k < start[s + 1]; k++) {
                count +=
                    rows ? nodes->items[list[k]].row_count : nodes->items[list[k]].control_count;
            }
        }
        offsets[s + 1] = offsets[s] + count;
    }

    int32_t *members = SN_PUSH(arena, int32_t, offsets[samples]);
    SN_TRY(sn_arena_status(arena));

    // List the members.
    for (int32_t s = 0, next = 0; s < samples; s++) {
        for (int32_t k = start[s]; k < start[s + 1] && next < offsets[s + 1]; k++) {
            const sn_node *node = &nodes->items[list[k]];
            int32_t count = rows ? node->row_count : node->control_count;
            int32_t first = rows ? node->row : node->control;
            for (int32_t c = 0; c < count; c++) {
                members[next++] = first + c;
            }
        }
    }

    *sets = (sn_bsr_sets){.count = samples, .offsets = offsets, .members = members};
    return SINEW_OK;
}

sinew_status sn_blend_row_sets(sn_arena *arena, const sn_nodes *nodes, int32_t count,
                               const int32_t *start, const int32_t *node, sn_bsr_sets *sets) {
    return push_sets(arena, nodes, count, start, node, true, sets);
}

// Returns the row that moves a control.
static int32_t row_of(const sn_nodes *nodes, const sn_blend *blend, int32_t control) {
    const sn_node *node = &nodes->items[blend->node_of_control[control]];
    return node->row + sn_node_row_of_control(node, control - node->control);
}

static void find_targets(const sn_nodes *nodes, const sn_bsr *rows, const sn_blend *blend) {
    for (int32_t c = 0; c < blend->pattern.rows; c++) {
        for (int32_t k = blend->pattern.starts[c]; k <= blend->pattern.diagonal[c]; k++) {
            int32_t r = row_of(nodes, blend, c);
            int32_t s = row_of(nodes, blend, blend->pattern.columns[k]);
            int32_t slot = r >= s ? sn_bsr_find(rows, r, s) : sn_bsr_find(rows, s, r);
            SN_ASSERT(slot >= 0);
            blend->targets[k] = (sn_blend_target){slot, r < s};
        }
    }
}

static sinew_status map_blocks(sn_arena *arena, const sn_nodes *nodes, const sn_bsr *rows,
                               sn_blend *blend) {
    blend->node_of_control = SN_PUSH(arena, int32_t, nodes->control_count);
    blend->targets = SN_PUSH(arena, sn_blend_target, blend->pattern.blocks);
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < nodes->count; i++) {
        for (int32_t c = 0; c < nodes->items[i].control_count; c++) {
            blend->node_of_control[nodes->items[i].control + c] = i;
        }
    }

    find_targets(nodes, rows, blend);
    return SINEW_OK;
}

void sn_blend_remap(const sn_nodes *nodes, const sn_bsr *rows, sn_blend *blend) {
    if (blend->is_rigid) {
        for (int32_t i = 0; i < blend->groups.count; i++) {
            sn_rigid_group_remap(nodes, rows, &blend->rigid.items[i]);
        }
        return;
    }

    find_targets(nodes, rows, blend);
}

static bool are_rigid(const sn_nodes *nodes) {
    for (int32_t i = 0; i < nodes->count; i++) {
        if (nodes->items[i].kind != SINEW_NODE_RIGID) {
            return false;
        }
    }
    return true;
}

// Builds the groups of a body whose nodes are all rigid: four controls each.
static sinew_status build_rigid(sn_arena *arena, const sn_nodes *nodes,
                                const sn_frame_samples *samples, const sinew_field *field,
                                const grouping *g, const sn_bsr *rows, bool dual, sn_blend *blend) {
    SN_TRY(sn_rigid_blend_create(arena, nodes, g->group_count, dual, &blend->rigid));
    for (int32_t i = 0; i < g->group_count; i++) {
        sn_rigid_input input = {nodes, samples, g->group, i, 0, 0, rows};
        bool varies = false;
        for (int32_t s = 0; s < samples->count; s++) {
            if (g->group[s] != i) {
                continue;
            }
            input.count++;
            input.width = g->width[s] / 4;
            varies = varies || samples->stiffness[s] != 1;
        }

        sn_rigid_group *packed = &blend->rigid.items[i];
        SN_TRY(sn_rigid_group_pack(arena, &input, packed));

        int32_t lanes = packed->blocks * SN_BLOCK;
        // Downwards, so that the first of equal samples remains: the others are padding.
        for (int32_t lane = lanes - 1; lane >= 0; lane--) {
            blend->sample_group[packed->order[lane]] = i;
            blend->sample_place[packed->order[lane]] = lane;
        }

        double *stiffness = varies ? SN_PUSH(arena, double, lanes) : NULL;
        SN_TRY(sn_arena_status(arena));
        if (varies) {
            for (int32_t lane = 0; lane < lanes; lane++) {
                stiffness[lane] = samples->stiffness[packed->order[lane]];
            }
        }

        sn_mat3 *frames;
        SN_TRY(push_frames(arena, field, samples, packed->order, lanes, &frames));
        SN_TRY(sn_sample_group_fill_materials(arena, &blend->groups.items[i], lanes, frames,
                                              stiffness));
    }

    return SINEW_OK;
}

// Builds the groups of any kinds of nodes, by their controls.
static sinew_status build_controls(sn_arena *arena, sn_arena *scratch, const sn_nodes *nodes,
                                   const sn_frame_samples *samples, const sinew_field *field,
                                   const grouping *g, const sn_bsr *rows, sn_blend *blend) {
    sn_bsr_sets sets;
    SN_TRY(push_sets(scratch, nodes, samples->count, samples->start, samples->node, false, &sets));
    SN_TRY(sn_bsr_build(arena, nodes->control_count, &sets, 1, &blend->pattern));
    SN_TRY(map_blocks(arena, nodes, rows, blend));

    for (int32_t i = 0; i < g->group_count; i++) {
        sn_arena_mark mark = sn_arena_get_mark(scratch);
        SN_TRY(fill_group(arena, scratch, nodes, samples, field, g, i, blend));
        sn_arena_rewind(scratch, mark);
    }

    SN_TRY(sn_sample_groups_divide(arena, &blend->groups, nodes->control_count, &blend->pattern));
    blend->force = SN_PUSH(arena, double, 3 * (size_t)nodes->control_count);
    blend->matrix = sn_bsr_push_values(arena, &blend->pattern);

    return sn_arena_status(arena);
}

static sinew_status build(sn_arena *arena, sn_arena *scratch, const sn_nodes *nodes,
                          const sn_frame_samples *samples, const sn_blend_materials *materials,
                          const sn_bsr *rows, bool dual, sn_blend *blend) {
    // Groups of samples, and the material of each.
    grouping g;
    SN_TRY(group_samples(scratch, nodes, samples, materials, blend->is_rigid, &g));

    sinew_material_def *defs = SN_PUSH(scratch, sinew_material_def, g.group_count);
    blend->group_material = SN_PUSH(arena, int32_t, g.group_count);
    blend->sample_group = SN_PUSH(arena, int32_t, samples->count);
    blend->sample_place = SN_PUSH(arena, int32_t, samples->count);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));

    for (int32_t s = 0; s < samples->count; s++) {
        blend->group_material[g.group[s]] = g.material[s];
        defs[g.group[s]] =
            materials->count > 0 ? materials->defs[g.material[s]] : sinew_default_material_def();
    }

    SN_TRY(sn_sample_groups_create(arena, g.group_count, defs, SN_PLANE_NONE, &blend->groups));

    // Bodies of rigid frames only have kernels of their own.
    blend->controls = SN_PUSH(arena, double, 3 * (size_t)nodes->control_count);
    SN_TRY(sn_arena_status(arena));

    return blend->is_rigid
               ? build_rigid(arena, nodes, samples, materials->field, &g, rows, dual, blend)
               : build_controls(arena, scratch, nodes, samples, materials->field, &g, rows, blend);
}

sinew_status sn_blend_create(sn_arena *arena, const sn_nodes *nodes,
                             const sn_frame_samples *samples, const sn_blend_materials *materials,
                             const sn_bsr *rows, bool dual, sn_blend *blend) {
    *blend = (sn_blend){.is_rigid = are_rigid(nodes)};
    SN_ASSERT(blend->is_rigid || !dual);
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = build(arena, &scratch, nodes, samples, materials, rows, dual, blend);
    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sn_blend_create_pose(sn_arena *arena, const sn_nodes *nodes, bool dual,
                                  sn_blend *blend) {
    *blend = (sn_blend){.is_rigid = are_rigid(nodes)};
    blend->controls = SN_PUSH(arena, double, 3 * (size_t)nodes->control_count);
    if (blend->is_rigid) {
        SN_TRY(sn_rigid_blend_create(arena, nodes, 0, dual, &blend->rigid));
    }
    return sn_arena_status(arena);
}

void sn_blend_set_volume(const sn_blend *blend, int32_t sample, double volume) {
    int32_t group = blend->sample_group[sample];
    int32_t place = blend->sample_place[sample];
    double *volumes = blend->is_rigid ? blend->rigid.items[group].volume
                                      : blend->groups.items[group].samples.volume;
    volumes[place] = volume;
}

// Returns the gradients of a sample in its group: component k of control c is at [(3 c + k)
// SN_BLOCK].
static double *packed_gradient(const sn_blend *blend, int32_t sample, const int32_t **control,
                               int32_t *width) {
    const sn_samples *packed = &blend->groups.items[blend->sample_group[sample]].samples;
    int32_t place = blend->sample_place[sample];
    int32_t lane = place % SN_BLOCK;
    size_t first = (size_t)(place / SN_BLOCK) * (size_t)packed->width;
    *width = packed->width;
    *control = packed->control + first * SN_BLOCK + lane;

    return packed->gradient + first * 3 * SN_BLOCK + lane;
}

void sn_blend_fade_gradients(const sn_nodes *nodes, const sn_frame_samples *samples, int32_t sample,
                             sn_mat3 D, const sn_blend *blend) {
    SN_ASSERT(!blend->is_rigid);
    int32_t width, next = 0;
    const int32_t *control;
    double *packed = packed_gradient(blend, sample, &control, &width);

    for (int32_t k = samples->start[sample]; k < samples->start[sample + 1]; k++) {
        int32_t own[SN_NODE_MAX_CONTROLS];
        int32_t count = nodes->items[samples->node[k]].control_count;
        sn_vec3 gradient[SN_NODE_MAX_CONTROLS];

        fill_entry(nodes, samples, sample, k, own, gradient);
        for (int32_t c = 0; c < count; c++, next++) {
            double g[3];
            sn_store3(g, sn_mat3_apply_transposed(D, gradient[c]));
            SN_ASSERT(next < width && control[next * SN_BLOCK] == own[c]);
            for (int i = 0; i < 3; i++) {
                packed[(3 * next + i) * SN_BLOCK] = g[i];
            }
        }
    }
}

void sn_blend_project_force(const sn_nodes *nodes, const double *controls,
                            const double *control_force, double sign, double *out) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        for (int32_t c = 0; c < node->control_count; c++) {
            sn_vec3 f = sn_load3(control_force + 3 * (node->control + c));
            if (sn_node_control_turns(node, c)) {
                f = sn_cross(sn_load3(controls + 3 * (node->control + c)), f);
            }
            sn_add_to3(out + 3 * (node->row + sn_node_row_of_control(node, c)), sn_scale(sign, f));
        }
    }
}

// Returns J' K J for the pair of controls (c, d): J is the identity or -[a]x.
static sn_mat3 project_block(const sn_nodes *nodes, const sn_blend *blend, int32_t c, int32_t d,
                             const double *K) {
    const sn_node *row_node = &nodes->items[blend->node_of_control[c]];
    const sn_node *column_node = &nodes->items[blend->node_of_control[d]];
    sn_mat3 block;

    memcpy(block.m, K, sizeof block.m);
    if (sn_node_control_turns(row_node, c - row_node->control)) {
        block = sn_mat3_mul(sn_cross_matrix(sn_load3(blend->controls + 3 * c)),
                            block); // (-[a]x)' = [a]x
    }

    if (sn_node_control_turns(column_node, d - column_node->control)) {
        sn_mat3 J = sn_mat3_scale(-1, sn_cross_matrix(sn_load3(blend->controls + 3 * d)));
        block = sn_mat3_mul(block, J);
    }

    return block;
}

static void add_block(double *out, sn_mat3 block, bool transposed) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[3 * i + j] += transposed ? block.m[j][i] : block.m[i][j];
        }
    }
}

// Adds the block of a pair of controls to that of their rows.
static void project_pair(const sn_nodes *nodes, const sn_blend *blend, int32_t c, int32_t d,
                         const double *K, sn_blend_target target, double *matrix) {
    sn_mat3 block = project_block(nodes, blend, c, d, K);
    double *out = matrix + 9 * (size_t)target.slot;
    add_block(out, block, target.transposed);

    // Two controls of one row: the block above the diagonal goes to the same block of the matrix.
    bool same_row = c != d && row_of(nodes, blend, c) == row_of(nodes, blend, d);
    if (same_row) {
        add_block(out, block, !target.transposed);
    }
}

static void project_matrix(const sn_nodes *nodes, const sn_blend *blend, double *matrix) {
    for (int32_t c = 0; c < blend->pattern.rows; c++) {
        for (int32_t k = blend->pattern.starts[c]; k <= blend->pattern.diagonal[c]; k++) {
            const double *K = blend->matrix + 9 * (size_t)k;
            project_pair(nodes, blend, c, blend->pattern.columns[k], K, blend->targets[k], matrix);
        }
    }
}

// Projects the diagonal blocks of each node.
static void project_own(const sn_nodes *nodes, const sn_blend *blend, const sn_bsr *rows,
                        double *matrix) {
    const sn_bsr *own = &blend->products->own;
    for (int32_t c = 0; c < own->rows; c++) {
        for (int32_t k = own->starts[c]; k <= own->diagonal[c]; k++) {
            int32_t d = own->columns[k];
            int32_t r = row_of(nodes, blend, c);
            int32_t s = row_of(nodes, blend, d);
            sn_blend_target target = {r >= s ? sn_bsr_find(rows, r, s) : sn_bsr_find(rows, s, r),
                                      r < s};
            SN_ASSERT(target.slot >= 0);
            const double *K = blend->products->own_stiffness + 9 * (size_t)k;
            project_pair(nodes, blend, c, d, K, target, matrix);
        }
    }
}

// Adds -dtorque/dw at fixed control forces, symmetric part: (a.f) I - (a f' + f a') / 2 for each
// column of a rigid node.
static void add_geometric(const sn_nodes *nodes, const sn_blend *blend, const sn_bsr *rows,
                          double *matrix) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        if (node->kind == SINEW_NODE_RIGID) {
            for (int32_t c = 1; c < 4; c++) {
                sn_vec3 a = sn_load3(blend->controls + 3 * (node->control + c));
                sn_vec3 f = sn_load3(blend->force + 3 * (node->control + c));
                sn_mat3 af = sn_outer(a, f);
                sn_mat3 K = sn_mat3_sub(sn_mat3_scale(sn_dot(a, f), sn_mat3_identity()),
                                        sn_mat3_scale(0.5, sn_mat3_add(af, sn_mat3_transpose(af))));
                add_block(matrix + 9 * (size_t)rows->diagonal[node->row], K, false);
            }
        }
    }
}

void sn_blend_prepare(const sn_nodes *nodes, const sn_blend *blend, const double *q) {
    sn_nodes_compute_controls(nodes, q, blend->controls);
    if (blend->is_rigid) {
        sn_nodes_compute_table(nodes, q, blend->rigid.table);
    }
}

static double evaluate_controls(sinew_context *context, const sn_nodes *nodes,
                                const sn_blend *blend, const sn_bsr *rows,
                                const sn_blend_request *request) {
    bool geometric = request->matrix && request->geometric;
    bool want_force = request->force || geometric;

    // For products only the blocks of each node with itself are assembled.
    const sn_blend_products *products = request->local ? blend->products : NULL;
    const sn_bsr *pattern = products ? &products->own : &blend->pattern;
    double *matrix = products ? products->own_stiffness : blend->matrix;

    // Forces and stiffness of the controls.
    if (want_force) {
        memset(blend->force, 0, 3 * (size_t)nodes->control_count * sizeof(double));
    }
    if (request->matrix) {
        sn_bsr_set_zero(context, pattern, matrix);
    }

    sn_groups_request groups = {.controls = blend->controls,
                                .want_energy = request->want_energy,
                                .projected = request->projected,
                                .force = want_force ? blend->force : NULL,
                                .matrix = request->matrix ? matrix : NULL};
    sn_control_sets sets = {products ? products->own_first : NULL, pattern->starts};

    if (products) {
        groups.tangents = products->now.H;
        groups.sets = &sets;
        groups.own_count = sn_bsr_value_count(pattern);
    }

    double energy = sn_sample_groups_evaluate(context, &blend->groups, &groups);

    // From controls to rows: a row of rotation moves several controls.
    if (request->force) {
        sn_blend_project_force(nodes, blend->controls, blend->force, 1, request->force);
    }
    if (request->matrix && products) {
        project_own(nodes, blend, rows, request->matrix);
    }
    if (request->matrix && !products) {
        project_matrix(nodes, blend, request->matrix);
    }
    if (geometric) {
        add_geometric(nodes, blend, rows, request->matrix);
    }

    return energy;
}

double sn_blend_evaluate(sinew_context *context, const sn_nodes *nodes, const sn_blend *blend,
                         const sn_bsr *rows, const sn_blend_request *request) {
    sn_blend_request checked = *request;
    sn_blend_prepare(nodes, blend, request->q);
    checked.local = request->local && request->matrix;
    checked.geometric =
        request->geometric && !request->projected && !request->local; // it may be indefinite

    const sn_blend_tangent *tangent = checked.local ? &blend->products->now : NULL;
    if (tangent) {
        size_t count = blend->is_rigid ? SN_RIGID_TABLE * (size_t)nodes->count
                                       : 3 * (size_t)nodes->control_count;
        memcpy(tangent->place, blend->is_rigid ? blend->rigid.table : blend->controls,
               count * sizeof(double));
    }

    if (!blend->is_rigid) {
        return evaluate_controls(context, nodes, blend, rows, &checked);
    }

    return sn_rigid_blend_evaluate(context, nodes, &blend->groups, &blend->rigid, rows, &checked,
                                   tangent ? tangent->H : NULL);
}

void sn_blend_measure(const sn_nodes *nodes, const sn_blend *blend, const double *q,
                      double *smallest_J, double *largest_J, double *volume) {
    sn_blend_prepare(nodes, blend, q);
    if (blend->is_rigid) {
        sn_rigid_blend_measure(&blend->groups, &blend->rigid, smallest_J, largest_J, volume);
        return;
    }
    sn_sample_groups_measure(&blend->groups, blend->controls, smallest_J, largest_J, volume);
}
