// Flesh around a skeleton: the layered order on a jumping leg, two resolutions compared, the volume
// at joints, and stiffnesses and compliances on two meshes.
#include "validate/album.h"

#include "base/context.h"
#include "support/puppet.h"

#include <math.h>
#include <stdio.h>

enum { FRAMES = 30 };

static const double frame_time = 1.0 / 30;
static const double pi = 3.14159265358979323846;

// The positions of the skin and the residual at every image of a jump.
typedef struct take {
    int32_t tets;
    size_t size; // numbers per image
    double *points;
    double residuals[FRAMES], mean;
} take;

typedef struct take_def {
    int32_t tets;
    sinew_pbd_order order;
    int32_t iterations, consolidating, frames;
} take_def;

static sinew_status record_frames(sn_puppet *puppet, const sinew_embedding *embedding,
                                  int32_t frames, take *made) {
    for (int32_t frame = 0; frame < frames; frame++) {
        SN_TRY(sn_puppet_step(puppet, frame_time, 1, SINEW_MOTION_HOLD));
        sinew_embedding_compute_points(embedding, puppet->positions,
                                       made->points + (size_t)frame * made->size);
        sinew_pbd_report report;
        sinew_pbd_measure(puppet->pbd, &report);
        made->residuals[frame] = report.residual;
        made->mean += report.residual / frames;
    }

    return SINEW_OK;
}

static sinew_status record(sn_arena *arena, const take_def *def, take *made) {
    sn_character_def leg = sn_default_character_def();
    leg.kind = SN_CHARACTER_LEG;
    leg.tet_count = def->tets;

    sinew_pbd_def flesh = sinew_default_pbd_def();
    flesh.gravity[1] = -9.81;
    flesh.gravity[2] = 0;
    flesh.order = def->order;
    flesh.iterations = def->iterations;
    flesh.consolidating = def->consolidating;

    // The skin follows the flesh; its points are comparable between resolutions.
    sn_puppet puppet;
    SN_TRY(sn_puppet_create(arena->context, &leg, &flesh, &puppet));
    *made = (take){.tets = puppet.character.flesh->element_count,
                   .size = 3 * (size_t)puppet.character.skin->point_count};
    made->points = SN_PUSH(arena, double, made->size *(size_t)def->frames);

    sinew_embedding *embedding = NULL;
    sinew_status status = sn_arena_status(arena);
    if (status == SINEW_OK) {
        status = sinew_embedding_create(arena->context, puppet.character.skin,
                                        puppet.character.flesh, &embedding);
    }

    if (status == SINEW_OK) {
        status = record_frames(&puppet, embedding, def->frames, made);
    }

    sinew_embedding_destroy(embedding);
    sn_puppet_destroy(&puppet);

    return status;
}

// Root mean square distance of the skins [mm], per image and overall.
static double compare(const take *a, const take *b, int32_t frames, double *by_frame) {
    double total = 0;
    for (int32_t frame = 0; frame < frames; frame++) {
        const double *x = a->points + (size_t)frame * a->size;
        const double *y = b->points + (size_t)frame * b->size;
        double sum = 0;

        for (size_t i = 0; i < a->size; i++) {
            sum += (x[i] - y[i]) * (x[i] - y[i]);
        }

        sum *= 3 / (double)a->size;
        by_frame[frame] = 1e3 * sqrt(sum);
        total += sum / frames;
    }

    return 1e3 * sqrt(total);
}

static sinew_status draw_frames(validate_run *v, const char *name, const char *title,
                                const char *quantity, const double *const *values,
                                const char *const *labels, int32_t frames) {
    sinew_plot_series series[3];
    double times[FRAMES];
    for (int32_t i = 0; i < frames; i++) {
        times[i] = (i + 1) * frame_time;
    }

    // One curve for each way of iterating.
    for (int i = 0; i < 3; i++) {
        series[i] = sinew_default_plot_series();
        series[i].label = labels[i];
        series[i].x = times;
        series[i].y = values[i];
        series[i].count = frames;
        series[i].style = SINEW_PLOT_LINE;
    }

    sinew_plot_panel panel = {.title = title,
                              .x = {.label = "time [s]"},
                              .y = {.label = quantity},
                              .series = series,
                              .series_count = 3};

    return validate_draw(v, name, &(sinew_plot){.panels = &panel, .panel_count = 1});
}

static sinew_status layers_of_leg(validate_run *v, sn_arena *arena) {
    int32_t tets = v->quick ? 8000 : 24837;
    int32_t frames = v->quick ? 16 : FRAMES;
    const take_def defs[3] = {{tets, SINEW_PBD_LAYERED, 10, 6, frames},
                              {tets, SINEW_PBD_SEQUENCE, 50, 0, frames},
                              {tets, SINEW_PBD_SEQUENCE, 10, 0, frames}};
    take takes[3];

    for (int i = 0; i < 3; i++) {
        SN_TRY(record(arena, &defs[i], &takes[i]));
    }

    validate_at_most(v,
                     "jumping leg: mean residual of 10 layered iterations, 6 consolidating, "
                     "against 50 unordered ones",
                     takes[1].mean, takes[0].mean, "-");
    validate_note(v, "%d tets, %d frames; 10 unordered iterations leave %.3g", takes[0].tets,
                  frames, takes[2].mean);

    const double *values[3] = {takes[0].residuals, takes[1].residuals, takes[2].residuals};
    const char *const labels[3] = {"10 layered", "50 unordered", "10 unordered"};

    return draw_frames(v, "leg", "A leg jumps", "residual", values, labels, frames);
}

sinew_status validate_leg_layers(validate_run *v) {
    sn_arena arena = sn_arena_create(v->context);
    sinew_status status = layers_of_leg(v, &arena);
    sn_arena_destroy(&arena);
    return status;
}

static sinew_status resolutions_of_leg(validate_run *v, sn_arena *arena) {
    int32_t high = v->quick ? 8000 : 24837;
    int32_t low = v->quick ? 1500 : 3452;
    int32_t frames = v->quick ? 16 : FRAMES;
    const take_def defs[5] = {{high, SINEW_PBD_LAYERED, 10, 6, frames},
                              {low, SINEW_PBD_LAYERED, 10, 2, frames},
                              {low, SINEW_PBD_LAYERED, 10, 6, frames},
                              {high, SINEW_PBD_SEQUENCE, 10, 0, frames},
                              {low, SINEW_PBD_SEQUENCE, 10, 0, frames}};

    // Record the same motion at both resolutions.
    take takes[5];

    for (int i = 0; i < 5; i++) {
        SN_TRY(record(arena, &defs[i], &takes[i]));
    }

    // Distances of the skins, image by image.
    double two[FRAMES], six[FRAMES], plain[FRAMES];
    double with_two = compare(&takes[0], &takes[1], frames, two);
    double with_six = compare(&takes[0], &takes[2], frames, six);
    double unordered = compare(&takes[3], &takes[4], frames, plain);

    validate_at_most(v,
                     "leg of 1.1 m: skin of a coarse one with 2 consolidating iterations from that "
                     "of a fine one with 6",
                     15, with_two, "mm");
    validate_note(v, "%d and %d tets; coarse with 6 consolidating: %.3g mm", takes[1].tets,
                  takes[0].tets, with_six);
    validate_at_most(v, "the same over the difference of both resolutions without layers", 0.3,
                     with_two / unordered, "-");
    validate_note(v, "without: %.3g mm", unordered);

    // The same numbers as a picture.
    const double *values[3] = {two, six, plain};
    const char *const labels[3] = {"2 consolidating", "6 consolidating", "unordered"};

    return draw_frames(v, "resolutions", "Coarse against fine leg", "distance of the skins [mm]",
                       values, labels, frames);
}

sinew_status validate_resolutions(validate_run *v) {
    sn_arena arena = sn_arena_create(v->context);
    sinew_status status = resolutions_of_leg(v, &arena);
    sn_arena_destroy(&arena);
    return status;
}

enum { METHODS = 3 };

static const char *const methods[METHODS] = {"simulated", "linear blend", "dual quaternions"};

// Adds the skin at the positions of the nodes to the pictures, rotated so that y up becomes z up.
static sinew_status add_picture(album *pictures, const sn_puppet *puppet,
                                const sinew_embedding *embedding, const double *positions,
                                const char *caption) {
    const sinew_mesh *skin = puppet->character.skin;
    sn_arena scratch = sn_arena_create(pictures->run->context);
    double *rest = SN_PUSH(&scratch, double, 3 * (size_t)skin->point_count);
    double *points = SN_PUSH(&scratch, double, 3 * (size_t)skin->point_count);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        // The skin follows the tets.
        sinew_embedding_compute_points(embedding, positions, points);
        for (int32_t i = 0; i < skin->point_count; i++) {
            sn_vec3 X = sn_load3(skin->points + 3 * (size_t)i);
            sn_vec3 x = sn_load3(points + 3 * (size_t)i);
            sn_store3(rest + 3 * (size_t)i, sn_v3(X.x, -X.z, X.y));
            sn_store3(points + 3 * (size_t)i, sn_v3(x.x, -x.z, x.y));
        }

        sinew_mesh upright = *skin;
        upright.points = rest;
        album_add_surface(pictures, caption, &upright, points);
    }

    sn_arena_destroy(&scratch);
    return status;
}

// Volumes of the joint's region relative to that at rest: simulated, and with all nodes skinned by
// either method.
static sinew_status joint_volumes(validate_run *v, bool twisted, double *volumes, album *pictures) {
    sinew_pbd_material material = {{0.02, 0.02, 0.02}, {0.01, 0.01, 0.01}, 1, 1000};
    sinew_pbd_def flesh = sinew_default_pbd_def();

    flesh.gravity[2] = 0;
    flesh.materials = &material;
    flesh.material_count = 1;

    sn_character_def def = sn_default_character_def();
    def.kind = twisted ? SN_CHARACTER_TWISTING : SN_CHARACTER_BENDING;
    def.angle = twisted ? pi : 0.5 * pi;
    def.tet_count = v->quick ? 8000 : 25000;

    const sn_box region = {{-1, -0.15, -1}, {1, 0.15, 1}}; // one radius above and below the joint
    sn_puppet puppet;

    SN_TRY(sn_puppet_create(v->context, &def, &flesh, &puppet));

    // Run the motion to its end.
    const sinew_mesh *mesh = puppet.character.flesh;
    sinew_status status = SINEW_OK;

    for (int frame = 0; frame < 45 && status == SINEW_OK; frame++) {
        status = sn_puppet_step(&puppet, frame_time, 1, SINEW_MOTION_HOLD);
    }

    // The simulated volume.
    double rest = sn_region_volume(mesh, mesh->points, region);
    volumes[0] = sn_region_volume(mesh, puppet.positions, region) / rest;

    sinew_skin *skin = NULL;
    sinew_embedding *embedding = NULL;
    if (status == SINEW_OK) {
        status = sinew_embedding_create(v->context, puppet.character.skin, mesh, &embedding);
    }
    if (status == SINEW_OK) {
        status = add_picture(pictures, &puppet, embedding, puppet.positions, methods[0]);
    }

    if (status == SINEW_OK) {
        status = sinew_skin_create(v->context, puppet.character.skeleton, mesh->points,
                                   mesh->point_count, &skin);
    }

    // The volumes of both skinning methods.
    for (int method = 0; method < 2 && status == SINEW_OK; method++) {
        sinew_skin_compute(skin, puppet.world, (sinew_skin_method)method, puppet.targets);
        volumes[1 + method] = sn_region_volume(mesh, puppet.targets, region) / rest;
        status = add_picture(pictures, &puppet, embedding, puppet.targets, methods[1 + method]);
    }

    sinew_skin_destroy(skin);
    sinew_embedding_destroy(embedding);
    sn_puppet_destroy(&puppet);

    return status;
}

sinew_status validate_joints(validate_run *v) {
    // Bent, then twisted.
    double volumes[2][METHODS];
    album pictures;

    album_begin(v, &pictures);
    sinew_status status = SINEW_OK;
    for (int twisted = 0; twisted < 2 && status == SINEW_OK; twisted++) {
        status = joint_volumes(v, twisted, volumes[twisted], &pictures);
        if (status != SINEW_OK) {
            break;
        }

        char claim[160];
        snprintf(claim, sizeof claim, "joint %s: volume of its region over that at rest",
                 twisted ? "twisted by 180 degrees" : "bent by 90 degrees");
        validate_near(v, claim, 1, volumes[twisted][0], 0.03, "-");
        validate_note(v, "linear blend %.3f, dual quaternions %.3f", volumes[twisted][1],
                      volumes[twisted][2]);
    }

    album_look look = {
        .title = "A joint bent by 90 and twisted by 180 degrees", .azimuth = 0.4, .elevation = 0.3};

    SN_TRY(album_end(&pictures, "joints", &look, status));

    // The same numbers as a picture.
    sinew_plot_series series[2];
    for (int i = 0; i < 2; i++) {
        series[i] = sinew_default_plot_series();
        series[i].label = i ? "twisted by 180 degrees" : "bent by 90 degrees";
        series[i].y = volumes[i];
        series[i].count = METHODS;
        series[i].style = SINEW_PLOT_BARS;
    }

    sinew_plot_panel panel = {.title = "Volume at a joint",
                              .x = {.label = "", .names = methods, .name_count = METHODS},
                              .y = {.label = "volume over that at rest", .low = 0, .high = 1.2},
                              .series = series,
                              .series_count = 2};

    return validate_draw(v, "volume", &(sinew_plot){.panels = &panel, .panel_count = 1});
}

// A bar held at one end, of 5 x 3 cells^3 tets.
typedef struct sag_def {
    int32_t cells;
    sinew_pbd_mode mode;
    sinew_pbd_order order;
    int32_t iterations;
} sag_def;

// Sag of its free end after 1.2 s. [m]
static sinew_status measure_sag(const sinew_mesh *mesh, sn_arena *arena, const sag_def *sag,
                                double *sunk) {
    uint8_t *kinematic = SN_PUSH(arena, uint8_t, mesh->point_count);
    double *positions = SN_PUSH(arena, double, 3 * (size_t)mesh->point_count);

    SN_TRY(sn_arena_status(arena));

    // Held at one end.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        kinematic[i] = mesh->points[3 * i + 2] < -1.499;
    }

    // Stiffness of position dynamics is a number; compliance has units.
    bool compliant = sag->mode == SINEW_PBD_COMPLIANCE;
    sinew_pbd_material material =
        compliant ? sinew_isotropic_pbd_material(1e5, 0.3, 1000) : sinew_default_pbd_material();
    sinew_pbd_def def = sinew_default_pbd_def();
    def.gravity[2] = 0;

    def.mode = sag->mode;
    def.order = sag->order;
    def.iterations = sag->iterations;
    def.materials = &material;
    def.material_count = 1;
    def.kinematic = kinematic;
    def.gravity[1] = compliant ? -1 : -9.81;
    def.damping = 0;

    // Let it sag.
    sinew_pbd *pbd = NULL;
    sinew_status status = sinew_pbd_create(arena->context, mesh, &def, &pbd);
    for (int step = 0; step < 24 && status == SINEW_OK; step++) {
        status = sinew_pbd_step(pbd, 0.05, NULL, NULL);
    }

    if (status == SINEW_OK) {
        sinew_pbd_get_positions(pbd, positions);
    }

    // The mean over the free end.
    int32_t count = 0;
    *sunk = 0;
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < mesh->point_count; i++) {
            if (mesh->points[3 * i + 2] < 1.499) {
                continue;
            }
            *sunk += mesh->points[3 * i + 1] - positions[3 * i + 1];
            count++;
        }
    }

    *sunk /= count > 0 ? count : 1;
    sinew_pbd_destroy(pbd);

    return status;
}

static sinew_status sag_of(validate_run *v, const sag_def *sag, double *sunk) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[2] = 3;
    shape.cells[0] = shape.cells[1] = sag->cells;
    shape.cells[2] = 3 * sag->cells;

    sinew_mesh *mesh = NULL;
    SN_TRY(sinew_mesh_create_shape(v->context, &shape, &mesh));

    sn_arena arena = sn_arena_create(v->context);
    sinew_status status = measure_sag(mesh, &arena, sag, sunk);

    sn_arena_destroy(&arena);
    sinew_mesh_destroy(mesh);

    return status;
}

sinew_status validate_compliance(validate_run *v) {
    int32_t coarse = v->quick ? 4 : 6;
    int32_t fine = v->quick ? 8 : 12;
    const sag_def defs[6] = {{coarse, SINEW_PBD_COMPLIANCE, SINEW_PBD_COLORED, 60},
                             {fine, SINEW_PBD_COMPLIANCE, SINEW_PBD_COLORED, v->quick ? 60 : 160},
                             {coarse, SINEW_PBD_STIFFNESS, SINEW_PBD_LAYERED, 10},
                             {fine, SINEW_PBD_STIFFNESS, SINEW_PBD_LAYERED, 10},
                             {coarse, SINEW_PBD_STIFFNESS, SINEW_PBD_COLORED, 10},
                             {fine, SINEW_PBD_STIFFNESS, SINEW_PBD_COLORED, 10}};
    double sunk[6];

    for (int i = 0; i < 6; i++) {
        SN_TRY(sag_of(v, &defs[i], &sunk[i]));
    }

    validate_near(
        v, "compliances: sag of a bar on a coarse over that on a mesh of eight times as many tets",
        1, sunk[0] / sunk[1], 0.1, "-");
    validate_note(v, "stiffnesses instead: %.3g and %.3g m in layers, %.3g and %.3g m without",
                  sunk[2], sunk[3], sunk[4], sunk[5]);

    return SINEW_OK;
}
