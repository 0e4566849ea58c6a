// From a solid of several tissues to a model that runs, in one call: a tail of muscle with a bone
// in its root and a tendon along one side. The frames are placed, their reach follows the
// stiffness, and the report says what came out and which step to take.
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

enum { MUSCLE = 1, TENDON, BONE };

// A cylinder along z: added, or painted over what is there already. A label volume of a scan would
// go through sinew_voxels_create_from_labels, closed surfaces through
// sinew_voxels_create_from_surfaces.
static sinew_solid_def cylinder(int32_t label, double diameter, double length, double x, double z) {
    sinew_solid_def def = sinew_default_solid_def();
    def.solid = SINEW_SOLID_CYLINDER;
    def.operation = label == MUSCLE ? SINEW_SOLID_ADD : SINEW_SOLID_PAINT;
    def.label = label;
    def.size[0] = def.size[1] = diameter;
    def.size[2] = length;
    def.center[0] = x;
    def.center[2] = z;

    return def;
}

static sinew_autorig_tissue tissue(int32_t label, double young, double density, bool rigid) {
    sinew_autorig_tissue t = sinew_default_autorig_tissue();
    t.label = label;
    t.rigid = rigid;
    t.material.young = young;
    t.material.density = density; // Pa, kg/m^3
    return t;
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    const sinew_solid_def solids[] = {cylinder(MUSCLE, 0.1, 0.4, 0, -0.2),
                                      cylinder(TENDON, 0.02, 0.4, 0.03, -0.2),
                                      cylinder(BONE, 0.06, 0.1, 0, -0.05)};
    sinew_voxel_def grid = sinew_default_voxel_def();
    sinew_voxels *voxels = NULL;

    if (sinew_voxels_create_from_solids(context, solids, 3, &grid, &voxels)) {
        return fail(context, "voxels");
    }

    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    if (sinew_world_create(context, &world_def, &world)) {
        return fail(context, "world");
    }

    const sinew_autorig_tissue tissues[] = {tissue(MUSCLE, 3e4, 1060, false),
                                            tissue(TENDON, 3e5, 1100, false),
                                            tissue(BONE, 1e9, 1900, true)};
    sinew_autorig_def def = sinew_default_autorig_def();

    def.name = "tail";
    def.voxels = voxels;
    def.tissues = tissues;
    def.tissue_count = 3;
    def.stiffness_damping = 0.005; // s

    sinew_autorig_report report;
    sinew_body *tail = NULL;
    if (sinew_autorig_create(world, &def, &report, &tail)) {
        return fail(context, "rig");
    }

    printf("%d voxels, %.2f kg, on %d frames (%d in bone): %d unknowns, %d samples\n",
           report.voxel_count, report.mass, sinew_frame_body_get_node_count(tail),
           report.rigid_node_count, report.unknown_count, report.sampling.sample_count);
    printf("a frame holds %.0f to %.0f %% of the volume; lowest frequency %.1f Hz; advised step "
           "%.1f ms\n",
           100 * report.coverage[0], 100 * report.coverage[1], report.frequency[0],
           1000 * report.advised_step);

    world_def.step = report.advised_step;
    if (sinew_world_set_def(world, &world_def)) {
        return fail(context, "step");
    }

    // The first frame is that of the bone. It swings to and fro by 20 mm, twice a second, and the
    // tail follows.
    const double tip[3] = {0, 0, -0.4};
    sinew_point *point = NULL;
    double bone[3], at[3], leftmost = 0, rightmost = 0;

    if (sinew_frame_body_hold(tail, 0, SINEW_HOLD_ALL)) {
        return fail(context, "hold");
    }
    if (sinew_frame_body_get_node(tail, 0, bone, NULL)) {
        return fail(context, "bone");
    }
    if (sinew_point_create(tail, tip, &point)) {
        return fail(context, "tip");
    }

    double x = bone[0];
    while (sinew_world_get_time(world) < 1) {
        double t = sinew_world_get_time(world) + report.advised_step;
        bone[0] = x + 0.02 * sin(2 * 3.14159265358979 * 2 * t);
        if (sinew_frame_body_move(tail, 0, bone, NULL) || sinew_world_step(world, NULL)) {
            return fail(context, "step");
        }
        if (sinew_point_get_position(point, at)) {
            return fail(context, "tip");
        }

        leftmost = fmin(leftmost, at[0]);
        rightmost = fmax(rightmost, at[0]);
    }

    sinew_measures measures;
    sinew_world_get_measures(world, &measures);
    printf("while the bone swings by 20 mm the tip swings from %.0f to %.0f mm; volume %.1f %%\n",
           1000 * leftmost, 1000 * rightmost, 100 * measures.volume / measures.rest_volume);
    sinew_world_destroy(world);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);

    return !(leftmost < -0.01 && rightmost > 0.01);
}
