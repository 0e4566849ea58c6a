// The report of a rig: the model in words, and as JSON.
#include "rig/rig.h"

#include "sinew/io/json.h"
#include "sinew/io/words.h"

#include <math.h>
#include <stdio.h>

// The part of a weight that a skin may lose before its motion differs visibly.
static const double POOR_SKIN = 0.1;

static void number(sinew_json_writer *w, const char *key, double value) {
    sinew_json_write_key(w, key);
    sinew_json_write_number(w, value);
}

static void integer(sinew_json_writer *w, const char *key, int64_t value) {
    sinew_json_write_key(w, key);
    sinew_json_write_integer(w, value);
}

static void pair(sinew_json_writer *w, const char *key, const double value[2]) {
    sinew_json_write_key(w, key);
    sinew_json_write_numbers(w, value, 2);
}

// The volume of the surface, 0 if it is not known, and that of the voxels as labels.nrrd stores
// them, without their filled parts.
typedef struct volumes {
    double shape, labels;
} volumes;

static volumes measure_volumes(const rig_run *rig) {
    volumes result;
    double spacing[3];
    sinew_voxels_get_volume(rig->voxels, &result.shape);
    sinew_voxels_get_grid(rig->voxels, NULL, spacing, NULL);
    result.labels = sinew_voxels_get_count(rig->voxels) * spacing[0] * spacing[1] * spacing[2];
    return result;
}

// What is expected of the chosen number of frames, and of the others.
static void write_estimate(const rig_estimate *estimate, sinew_json_writer *w) {
    if (estimate->count == 0) {
        return;
    }

    number(w, "expected_error", estimate->error[estimate->chosen]);
    sinew_json_write_key(w, "expected_errors");
    sinew_json_begin_array(w);
    for (int32_t i = 0; i < estimate->count; i++) {
        if (!isfinite(estimate->error[i])) {
            continue;
        }
        sinew_json_begin_object(w);
        integer(w, "nodes", estimate->frames[i]);
        number(w, "error", estimate->error[i]);
        sinew_json_end_object(w);
    }
    sinew_json_end_array(w);
}

static void write_facts(const rig_run *rig, sinew_json_writer *w) {
    const sinew_autorig_report *r = &rig->report;
    volumes volume = measure_volumes(rig);

    sinew_json_begin_object(w);
    sinew_json_write_key(w, "name");
    sinew_json_write_string(w, rig->name);
    sinew_json_write_key(w, "folder");
    sinew_json_write_string(w, rig->folder);

    // The model.
    integer(w, "voxels", r->voxel_count);
    integer(w, "nodes", sinew_frame_body_get_node_count(rig->body));
    integer(w, "rigid_nodes", r->rigid_node_count);
    sinew_json_write_key(w, "weights");
    sinew_json_write_string(w, sinew_words_get(SINEW_WORDS_WEIGHTS, (int32_t)r->chosen.weights));
    sinew_json_write_key(w, "kind");
    sinew_json_write_string(w, sinew_words_get(SINEW_WORDS_NODE_KINDS, (int32_t)r->chosen.kind));
    integer(w, "samples", r->sampling.sample_count);
    integer(w, "unknowns", r->unknown_count);
    number(w, "volume", r->volume);
    number(w, "label_volume", volume.labels);
    if (volume.shape > 0) {
        number(w, "shape_volume", volume.shape);
    }
    number(w, "mass", r->mass);
    pair(w, "young", r->young);

    // How well the frames cover it.
    pair(w, "coverage", r->coverage);
    number(w, "reach", r->reach);
    number(w, "mean_fit_error", r->sampling.mean_fit_error);
    number(w, "largest_fit_error", r->sampling.largest_fit_error);
    integer(w, "free_motions", r->sampling.free_motions);
    number(w, "nodes_per_voxel", r->weights.mean_nodes);
    number(w, "weight_lost", r->weights.largest_loss);
    integer(w, "adopted_voxels", r->weights.unreached_voxels);

    write_estimate(&rig->estimate, w);

    // How it moves.
    pair(w, "frequency", r->frequency);
    number(w, "condition", r->condition);
    number(w, "stable_step", r->stable_step);
    number(w, "advised_step", r->advised_step);
    number(w, "step_seconds", rig->step_seconds);
    number(w, "skin_weight_lost", rig->skin_loss);

    integer(w, "specks", rig->speck_report.count);
    integer(w, "speck_voxels", rig->speck_report.voxels);
    if (rig->from_surfaces) {
        integer(w, "open_edges", rig->voxel_report.open_edges);
        integer(w, "disputed_cells", rig->voxel_report.disputed_cells);
        integer(w, "refined_points", rig->refined_points);
    }

    sinew_json_end_object(w);
}

sinew_status rig_write_report(const rig_run *rig, sinew_bytes *out) {
    sinew_json_writer *w = NULL;
    CLI_TRY(sinew_json_writer_create(out, false, &w));
    write_facts(rig, w);
    sinew_json_writer_destroy(w);
    sinew_bytes_add_text(out, "\n");
    return sinew_bytes_get_status(out);
}

static const char *plural(int32_t count) {
    return count == 1 ? "" : "s";
}

// Labels of the table that no voxel has.
static void print_absent_tissues(const rig_run *rig) {
    int32_t count = 0;
    const sinew_autorig_tissue *tissues =
        rig->tissues ? sinew_tissue_table_get(rig->tissues, &count) : NULL;
    const uint16_t *labels = sinew_voxels_get_labels(rig->voxels);

    for (int32_t i = 0; i < count; i++) {
        bool found = false;
        for (int32_t v = 0; v < sinew_voxels_get_count(rig->voxels) && !found; v++) {
            found = labels[v] == tissues[i].label;
        }
        if (!found) {
            printf("no voxel has the label %d (%s)\n", (int)tissues[i].label,
                   sinew_tissue_table_get_name(rig->tissues, i));
        }
    }
}

// Bodies a hundred times the size of a person, or smaller than a grain of sand, are mostly files in
// another unit.
static void print_unit_hint(const rig_run *rig) {
    int32_t cells[3];
    double spacing[3];
    sinew_voxels_get_grid(rig->voxels, cells, spacing, NULL);
    double size = 0;
    for (int k = 0; k < 3; k++) {
        size = fmax(size, cells[k] * spacing[k]);
    }

    if (size > 100 || size < 1e-3) {
        printf("the body is %.4g m long; if the file is in another unit, use --unit (%s)\n", size,
               size > 100 ? "mm or cm, for example" : "m, for example");
    }
}

// The scene reads whole voxels from labels.nrrd, so its mass and volume differ from the model's.
static void print_volume_errors(const rig_run *rig) {
    volumes volume = measure_volumes(rig);
    if (volume.shape > 0) {
        printf("volume and mass are %.2f %% off the surface, in scene.json %.2f %%\n",
               100 * fabs(rig->report.volume / volume.shape - 1),
               100 * fabs(volume.labels / volume.shape - 1));
    }
}

static void print_estimate(const rig_estimate *estimate) {
    if (estimate->count == 0) {
        return;
    }

    int32_t chosen = estimate->chosen;
    printf("expected error of the six lowest natural frequencies: %.2g %%",
           100 * estimate->error[chosen]);
    if (chosen + 1 < estimate->count) {
        printf("; with %d frames %.2g %%", estimate->frames[chosen + 1],
               100 * estimate->error[chosen + 1]);
    }
    printf("\n");
}

// What was chosen, or given.
static void print_choice(const rig_run *rig) {
    const sinew_frame_choice *chosen = &rig->report.chosen;
    printf("%s weights, %s frames\n",
           sinew_words_get(SINEW_WORDS_WEIGHTS, (int32_t)chosen->weights),
           sinew_words_get(SINEW_WORDS_NODE_KINDS, (int32_t)chosen->kind));
}

void rig_print_report(const rig_run *rig) {
    const sinew_autorig_report *r = &rig->report;
    int32_t nodes = sinew_frame_body_get_node_count(rig->body);

    // The solid, and what had to be repaired.
    printf("%s: %d voxel%s, %.4g m3, %.4g kg\n", rig->name, r->voxel_count, plural(r->voxel_count),
           r->volume, r->mass);
    print_volume_errors(rig);
    if (rig->voxel_report.open_edges > 0) {
        printf("the surface has %d open edges around %d holes, the largest %.3g m wide; they were "
               "bridged\n",
               rig->voxel_report.open_edges, rig->voxel_report.hole_count,
               rig->voxel_report.largest_hole);
    }

    if (rig->speck_report.count > 0) {
        const sinew_speck_report *specks = &rig->speck_report;
        printf("%d disconnected speck%s of %d voxel%s %s (--specks)\n", specks->count,
               plural(specks->count), specks->voxels, plural(specks->voxels),
               rig->specks_joined ? "joined to the rest" : "dropped");
    }

    if (rig->refined_points > 0) {
        printf("%d point%s added to the surface, whose triangles were too large to bend\n",
               rig->refined_points, plural(rig->refined_points));
    }

    print_unit_hint(rig);
    print_absent_tissues(rig);

    if (rig->askew) {
        printf("the volume is rotated in the scanner; the model keeps the axes of the volume\n");
    }

    // The frames and their weights.
    print_choice(rig);
    printf("%d node%s (%d in rigid parts), %d unknowns; each dominates %.3g to %.3g %% of the "
           "volume (%.3g %% if even), a "
           "voxel is %.3g m from its node on average\n",
           nodes, plural(nodes), r->rigid_node_count, r->unknown_count, 100 * r->coverage[0],
           100 * r->coverage[1], 100 * r->coverage_mean, r->reach);
    printf("weights: %.1f nodes per voxel on average, %d at most; at most %.2g of a weight was "
           "dropped\n",
           r->weights.mean_nodes, r->weights.most_nodes, r->weights.largest_loss);

    if (r->weights.unreached_voxels > 0) {
        printf("%d voxels that no kernel reaches follow the nearest node; use more levels or nodes "
               "to reach them\n",
               r->weights.unreached_voxels);
    }

    // Where strain is measured.
    printf("%d sample%s; the weights differ from their linear fits by %.3f on average, by %.3f in "
           "the worst region\n",
           r->sampling.sample_count, plural(r->sampling.sample_count), r->sampling.mean_fit_error,
           r->sampling.largest_fit_error);

    if (r->young[1] > 0) {
        printf("stiffness of the soft parts: %.3g to %.3g Pa\n", r->young[0], r->young[1]);
    }

    print_estimate(&rig->estimate);

    // How stiff the model is for an integrator.
    if (r->condition > 0) {
        printf("natural frequencies, free in space: %.3g to %.3g Hz; condition about %.2g\n",
               r->frequency[0], r->frequency[1], r->condition);
    } else if (r->frequency[1] > 0) {
        printf("some motions meet no strain, the others have frequencies up to %.3g Hz: take more "
               "samples\n",
               r->frequency[1]);
    } else {
        printf("natural frequencies: none, the body has too few unknowns\n");
    }

    printf("recommended step %.2g s (implicit)", r->advised_step);
    if (r->stable_step > 0) {
        printf("; the explicit integrator needs steps below %.2g s", r->stable_step);
    }

    printf("\n");

    // What it costs, and what was written.
    printf("a step takes %.3g ms: %.0f per second\n", 1e3 * rig->step_seconds,
           1 / rig->step_seconds);
    printf(
        "in %s: scene.json (sinew run), labels.nrrd%s, rig.png, skin.glb (eight joints per vertex, "
        "%.2g of a weight lost), "
        "report.json\n",
        rig->folder, rig->surface ? ", surface.ply" : "", rig->skin_loss);
    if (rig->skin_loss > POOR_SKIN) {
        printf("skin.glb does not move as the model does, because skins have no negative weights; "
               "for a rig to animate by hand, use --weights voronoi --kind rigid\n");
    }
}
