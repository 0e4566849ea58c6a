// Speed of position dynamics on characters of the sizes of Cai 2016, table 6.1: seven constraints a tet, without and with a
// field of material frames, on one thread and on more.
//
//   pbd [threads]
//
// Times are the best of several steps, so that other work on the machine counts little. The residual and a hash of the final
// state stand beside them: faster with a larger residual is not faster, and the hash is the same for every number of threads.
#include "sinew/character.h"
#include "sinew/pbd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct row {
    const char *name;
    sinew_character_kind kind;
    int32_t tets, iterations, consolidating;
    double paper[2]; // ms without and with a field
} row;

static const row rows[] = {
    {"cylinder", SINEW_CHARACTER_BENDING, 2214, 3, 1, {2.3, 2.8}},
    {"leg, coarse", SINEW_CHARACTER_LEG, 3452, 10, 2, {11.6, 14.6}},
    {"arm", SINEW_CHARACTER_ARM, 10760, 6, 2, {21.5, 27.1}},
    {"leg, fine", SINEW_CHARACTER_LEG, 24837, 10, 6, {87.5, 108.5}},
    {"fat, coarse", SINEW_CHARACTER_FAT, 27350, 4, 1, {37.8, 48.3}},
    {"biped", SINEW_CHARACTER_BIPED, 74288, 10, 1, {258.5, 335.1}},
    {"fat, fine", SINEW_CHARACTER_FAT, 89876, 10, 2, {317.7, 408.5}},
};

enum { STEPS = 20 };

// A character with everything that its steps need.
typedef struct stage {
    sinew_character character;
    sinew_rig *rig;
    sinew_pbd *pbd;
    uint8_t *kinematic;
    double *positions, *frames;
    sinew_transform *world;
} stage;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned long long hash_of(const double *values, size_t count) {
    unsigned long long hash = 14695981039346656037ull;
    const unsigned char *bytes = (const unsigned char *)values;
    for (size_t i = 0; i < count * sizeof *values; i++) hash = (hash ^ bytes[i]) * 1099511628211ull;
    return hash;
}

static void close_stage(stage *made) {
    sinew_pbd_destroy(made->pbd);
    sinew_rig_destroy(made->rig);
    sinew_character_destroy(&made->character);
    free(made->kinematic);
    free(made->positions);
    free(made->frames);
    free(made->world);
}

// Frames that turn from tet to tet about z.
static void fill_frames(double *frames, int32_t tets) {
    for (int32_t t = 0; t < tets; t++) {
        double angle = 1e-4 * t, *Q = frames + 9 * (size_t)t;
        Q[0] = Q[4] = cos(angle);
        Q[1] = -sin(angle);
        Q[3] = sin(angle);
        Q[8] = 1;
    }
}

static sinew_status open_stage(sinew_context *context, const row *what, bool with_field, stage *made) {
    sinew_character_def character = sinew_default_character_def();
    character.kind = what->kind;
    character.tet_count = what->tets;
    sinew_status status = sinew_character_create(context, &character, &made->character);
    if (status != SINEW_OK) return status;
    const sinew_mesh *mesh = made->character.flesh;
    status = sinew_rig_create(context, made->character.skeleton, mesh, NULL, &made->rig);
    if (status != SINEW_OK) return status;
    size_t nodes = (size_t)mesh->point_count;
    made->kinematic = calloc(nodes, 1);
    made->positions = malloc(3 * nodes * sizeof *made->positions);
    made->frames = calloc((size_t)mesh->element_count, 9 * sizeof *made->frames);
    made->world = calloc((size_t)sinew_skeleton_joint_count(made->character.skeleton), sizeof *made->world);
    if (!made->kinematic || !made->positions || !made->frames || !made->world) return SINEW_OUT_OF_MEMORY;
    memcpy(made->positions, mesh->points, 3 * nodes * sizeof *made->positions);
    for (size_t i = 0; i < nodes; i++) made->kinematic[i] = sinew_rig_node_joints(made->rig)[i] >= 0;
    fill_frames(made->frames, mesh->element_count);
    sinew_pbd_material material = {{0.8, 0.8, 0.8}, {0.5, 0.5, 0.5}, 0.5, 1000};
    if (with_field) material = (sinew_pbd_material){{0.9, 0.8, 0.7}, {0.6, 0.5, 0.4}, 0.5, 1000};
    sinew_pbd_def flesh = sinew_default_pbd_def();
    flesh.iterations = what->iterations;
    flesh.consolidating = what->consolidating;
    flesh.materials = &material;
    flesh.material_count = 1;
    flesh.frames = with_field ? made->frames : NULL;
    flesh.kinematic = made->kinematic;
    return sinew_pbd_create(context, mesh, &flesh, &made->pbd);
}

// One frame of the motion at a third of its speed; the time of the step alone.
static sinew_status advance(stage *made, int step, double *best) {
    const double h = 1.0 / 30;
    sinew_motion_sample(made->character.motion, 0.3 * h * (step + 1), SINEW_MOTION_HOLD, made->world);
    sinew_status status = sinew_skeleton_compute_world(made->character.skeleton, made->world, made->world);
    if (status != SINEW_OK) return status;
    sinew_rig_move_nodes(made->rig, made->world, made->positions);
    double begin = seconds();
    status = sinew_pbd_step(made->pbd, h, made->positions, NULL);
    *best = fmin(*best, seconds() - begin);
    return status;
}

static int measure(sinew_context *context, const row *what, int32_t threads, bool with_field) {
    stage made = {0};
    sinew_status status = open_stage(context, what, with_field, &made);
    double best = INFINITY;
    for (int step = 0; step < STEPS && status == SINEW_OK; step++) status = advance(&made, step, &best);
    if (status == SINEW_OK) {
        sinew_pbd_report report;
        sinew_pbd_measure(made.pbd, &report);
        sinew_pbd_get_positions(made.pbd, made.positions);
        int32_t tets = made.character.flesh->element_count;
        printf("%-12s %6d x %2d, %s, %d thread%s %8.3f ms, %5.1f ns a tet and iteration (paper %5.1f ms), residual %.4f, "
               "%016llx\n",
               what->name, tets, what->iterations, with_field ? "field   " : "no field", threads, threads > 1 ? "s," : ", ",
               1e3 * best, 1e9 * best / tets / what->iterations, what->paper[with_field], report.residual,
               hash_of(made.positions, 3 * (size_t)made.character.flesh->point_count));
    } else {
        fprintf(stderr, "%s: %s\n", what->name, sinew_context_message(context));
    }
    close_stage(&made);
    return status != SINEW_OK;
}

int main(int argc, char **argv) {
    int32_t most = argc > 1 ? atoi(argv[1]) : 2;
    int failures = 0;
    for (int32_t threads = 1; threads <= most; threads *= 2) {
        sinew_context_def def = sinew_default_context_def();
        def.threads = threads;
        sinew_context *context = sinew_context_create(&def);
        if (!context) return 1;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            for (int with_field = 0; with_field < 2; with_field++) failures += measure(context, &rows[i], threads, with_field);
        }
        sinew_context_destroy(context);
    }
    return failures > 0;
}
