// What came of a run, in words.
#include "run/run.h"

#include "scene_file.h"

#include <math.h>
#include <stdio.h>

static void print_file(const char *file, const char *what) {
    printf("  %-20s  %s\n", file, what);
}

// Prints a file that `count` bodies have one of: that of body `first` is named, the others are
// counted.
static void print_body_files(const run_state *run, int32_t first, int32_t count, const char *ending,
                             const char *what) {
    char file[256];
    const char *name = sinew_scene_get_body_name(run->scene, first);
    if (count > 1) {
        snprintf(file, sizeof file, "%.200s%s and %d more", name, ending, (int)count - 1);
    } else {
        snprintf(file, sizeof file, "%.200s%s", name, ending);
    }
    print_file(file, what);
}

// How the bodies were bound to their skeletons.
static void print_bindings(const run_state *run) {
    for (int32_t i = 0; i < sinew_scene_get_body_count(run->scene); i++) {
        sinew_rig_report report;
        if (!sinew_scene_get_body_binding(run->scene, i, &report)) {
            continue;
        }
        printf("%s: %d elements follow bones, %d at joints do not; %d bones cut no element\n",
               sinew_scene_get_body_name(run->scene, i), report.bound_elements,
               report.shared_elements, report.idle_bones);
    }
}

// What a skin loses, and what would lose less: more joints at a point, or a format that keeps every
// position.
static void describe_skin(const sinew_recorded_skin *skin, int32_t joints, char *what,
                          size_t size) {
    double other = skin->errors[joints == 4 ? 1 : 0];
    int length = snprintf(what, size, "joints and weights: replays the surface within %.2g m",
                          skin->largest_error);

    if (fabs(other - skin->largest_error) > 0.1 * skin->largest_error) {
        length += snprintf(what + length, size - (size_t)length,
                           "; with %d joints at a point %.2g m", joints == 4 ? 8 : 4, other);
    }
    if (skin->fit_error > 0.1 * skin->largest_error) {
        snprintf(what + length, size - (size_t)length,
                 "; joints cannot shear or bend (%.2g m): glb and pc2 are exact", skin->fit_error);
    }
}

static void print_skins(const run_state *run) {
    for (int32_t i = 0; i < sinew_scene_get_body_count(run->scene); i++) {
        sinew_recorded_skin skin;
        if (!sinew_recording_get_skin(run->recording, i, &skin)) {
            continue;
        }

        char file[256], what[256];
        snprintf(file, sizeof file, "%.200s_skin.glb", sinew_scene_get_body_name(run->scene, i));
        describe_skin(&skin, run->def.skin_joints, what, sizeof what);
        print_file(file, what);
    }
}

// The fields that were made from curves.
static void print_fields(const run_state *run) {
    int32_t first = 0, count = 0;
    for (int32_t i = 0; i < sinew_scene_get_body_count(run->scene); i++) {
        const sinew_field *field = sinew_scene_get_body_field(run->scene, i);
        if (!field || sinew_field_get_curve_count(field) == 0) {
            continue;
        }
        if (count++ == 0) {
            first = i;
        }
    }

    if (count > 0) {
        print_body_files(run, first, count, ".field",
                         "the axes of each element: a scene takes them as the \"file\" of a field");
    }
}

static void print_files(const run_state *run, bool pictureless, bool contact) {
    int32_t formats = run->def.formats;
    int32_t bodies = sinew_scene_get_body_count(run->scene);
    printf("in %s:\n", run->def.folder);

    // Pictures.
    if (run->def.film) {
        print_file("film_*.png", "the motion, picture by picture");
    }
    if (pictureless) {
        printf("  no preview.png: this build has no libpng\n");
    } else if (formats & SINEW_FORMAT_PNG) {
        print_file("preview.png", "the motion at a glance: open with any viewer");
    }

    // Meshes and animations.
    if (formats & SINEW_FORMAT_GLB) {
        print_file("scene.glb", "the motion: open with Blender or any glTF viewer");
    }
    if (formats & SINEW_FORMAT_VTU) {
        print_body_files(run, 0, bodies, ".pvd", "strain, stress, energy: open with ParaView");
    }
    print_fields(run);
    print_skins(run);
    if (formats & SINEW_FORMAT_PC2) {
        print_body_files(run, 0, bodies, ".pc2, .obj",
                         "a mesh and its cache: Blender's Mesh Cache");
    }

    if (formats & SINEW_FORMAT_CSV && sinew_scene_get_probe_count(run->scene) > 0) {
        print_file("probes.csv", "the probes over time");
    }
    if (formats & SINEW_FORMAT_CSV && contact) {
        print_file("contact.csv", "contact over time: forces, areas, gaps");
    }
}

// What contact did, and whether something asks for attention.
static void print_contact(const sinew_recorded_contact *contact) {
    if (!contact->on) {
        return;
    }
    if (contact->touching_count == 0) {
        printf("contact: nothing touched\n");
        return;
    }

    // What touched.
    printf("contact: forces in %lld steps, at most %d of %d pairs; largest force %.3g N, smallest "
           "gap %.2g m",
           (long long)contact->touching_count, contact->most_active, contact->most_pairs,
           contact->largest_force, contact->smallest_gap);

    // What did not go as it should.
    if (contact->truncated_count > 0) {
        printf("; vertices stopped short in %lld steps, by at most %.2g m",
               (long long)contact->truncated_count, contact->largest_lag);
    }
    if (contact->held_count > 0) {
        printf("; pairs without a proof in %lld steps", (long long)contact->held_count);
    }
    if (contact->most_overlapping > 0) {
        printf("; %d pairs of bodies overlapped", contact->most_overlapping);
    }
    if (contact->most_overlaps > 0) {
        printf("; %d vertices overlapped, by at most %.2g m", contact->most_overlaps,
               contact->deepest);
    }
    printf("\n");
}

void run_print_closing(const run_state *run, const char *outcome) {
    sinew_recording_info info;
    sinew_recording_get_info(run->recording, &info);
    printf("%s: %lld steps to %g s, %.2f s simulating, %.2f s writing", outcome,
           (long long)info.step_count, sinew_world_get_time(sinew_scene_get_world(run->scene)),
           info.simulate_seconds, info.output_seconds);

    if (run->static_iterations > 0) {
        printf("; equilibrium after %d iterations, relative residual %.2g", run->static_iterations,
               run->static_residual);
    }

    // The residual; a large one gets a line of its own.
    bool unbalanced = info.largest_residual > 0.01;
    if (info.step_count > 0 && !unbalanced) {
        printf("; residual at most %.2g", info.largest_residual);
    }
    if (info.unconverged_count > 0) {
        printf("; %lld steps did not converge fully", (long long)info.unconverged_count);
    }
    if (info.rescued_count > 0) {
        printf("; %lld steps were rescued by smaller ones", (long long)info.rescued_count);
    }
    printf("\n");

    if (unbalanced) {
        printf("at worst %.0f %% of the largest force was unbalanced: implicit-euler solves once a "
               "step%s; smaller steps or newton-euler leave less\n",
               100 * info.largest_residual,
               info.contact.truncated_count > 0 ? ", and contact stops vertices short" : "");
    }

    // Details, where there are any.
    print_contact(&info.contact);
    print_bindings(run);
    cli_scene_print_loads(run->scene);
    cli_scene_print_supports(run->scene);
    cli_scene_print_fields(run->scene);
    print_files(run, info.pictureless, info.contact.on);
}
