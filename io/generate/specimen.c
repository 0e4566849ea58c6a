// Specimens: lists of solids, added and painted in order. The grid spacing for a requested number
// of voxels is found by voxelising on a coarse grid first.
#include "sinew/io/specimen.h"

#include "base/context.h"
#include "math/quat.h"

#include <string.h>

enum { MOST_SOLIDS = 64, COARSE_CELLS = 96 };

typedef struct solid_list {
    sinew_solid_def solids[MOST_SOLIDS];
    int32_t count;
} solid_list;

static sinew_solid_def *add_solid(solid_list *list, sinew_solid kind,
                                  sinew_solid_operation operation, int32_t label, sn_vec3 center,
                                  sn_vec3 size) {
    SN_ASSERT(list->count < MOST_SOLIDS);
    sinew_solid_def *solid = &list->solids[list->count++];
    *solid = sinew_default_solid_def();
    solid->solid = kind;
    solid->operation = operation;
    solid->label = label;
    sn_store3(solid->center, center);
    sn_store3(solid->size, size);

    return solid;
}

// A capsule from a to b, ends included.
static void add_limb(solid_list *list, sinew_solid_operation operation, int32_t label, sn_vec3 a,
                     sn_vec3 b, double diameter) {
    sn_vec3 d = sn_sub(b, a);
    double length = sn_length(d);
    sn_vec3 size = sn_v3(diameter, diameter, length + diameter);
    sinew_solid_def *solid =
        add_solid(list, SINEW_SOLID_CAPSULE, operation, label, sn_scale(0.5, sn_add(a, b)), size);

    // The turn that takes z to d: half-way between them.
    sn_vec3 z = sn_v3(0, 0, 1);
    sn_vec3 u = sn_scale(1 / length, d);
    sn_vec3 axis = sn_cross(z, u);
    double w = 1 + u.z;

    if (w < 1e-9) {
        axis = sn_v3(1, 0, 0);
        w = 0;
    }

    solid->rotation[0] = axis.x;
    solid->rotation[1] = axis.y;
    solid->rotation[2] = axis.z;
    solid->rotation[3] = w;
}

// ---- The steak. The stem of the T extends from edge to edge, so that only the bone joins the two
// sides.

static void make_steak(solid_list *list) {
    const double thickness = 0.024;
    sn_vec3 middle = sn_v3(0, 0, 0);
    add_solid(list, SINEW_SOLID_CYLINDER, SINEW_SOLID_ADD, 2, middle, sn_v3(0.24, 0.16, thickness));
    add_solid(list, SINEW_SOLID_CYLINDER, SINEW_SOLID_PAINT, 1, middle,
              sn_v3(0.212, 0.136, thickness));
    add_solid(list, SINEW_SOLID_BOX, SINEW_SOLID_PAINT, 3, middle, sn_v3(0.014, 0.17, thickness));
    add_solid(list, SINEW_SOLID_BOX, SINEW_SOLID_PAINT, 3, sn_v3(0, 0.06, 0),
              sn_v3(0.11, 0.014, thickness));
}

// ---- the plates ---------------------------------------------------------------------------------

static const double plate[3] = {1, 0.4, 0.02};

static void make_plate(solid_list *list) {
    add_solid(list, SINEW_SOLID_BOX, SINEW_SOLID_ADD, 1, sn_v3(0, 0, 0), sn_load3(plate));
}

static void make_inclusion(solid_list *list) {
    make_plate(list);
    add_solid(list, SINEW_SOLID_CYLINDER, SINEW_SOLID_PAINT, 2, sn_v3(0, 0, 0),
              sn_v3(0.24, 0.24, plate[2]));
}

static void make_ribbon(solid_list *list) {
    add_solid(list, SINEW_SOLID_BOX, SINEW_SOLID_ADD, 1, sn_v3(0, 0, 0), sn_v3(1, 0.1, 0.01));
}

// ---- The knee: bones in fat; a muscle on the thigh ends in a ligament over the knee cap, down to
// the shin. The thigh is along x and the shin hangs down at an angle, so that stretching the knee
// lifts the foot.

// A point of the lower leg: `along` the shin from the joint, and `front` of its middle.
static sn_vec3 shin(double front, double along) {
    const double c = 0.70710678118654752440;
    return sn_v3(c * (front + along), 0, c * (front - along));
}

static void make_knee(solid_list *list) {
    enum { BONE = 1, MUSCLE = 2, LIGAMENT = 3, FAT = 4 };
    sn_vec3 hip = sn_v3(-0.3, 0, 0);
    sn_vec3 joint = sn_v3(0, 0, 0);
    sn_vec3 ankle = shin(0, 0.3);
    sn_vec3 cap = sn_v3(0.017, 0, 0.045);

    add_limb(list, SINEW_SOLID_ADD, FAT, hip, joint, 0.13);
    add_limb(list, SINEW_SOLID_ADD, FAT, joint, ankle, 0.1);
    add_limb(list, SINEW_SOLID_PAINT, MUSCLE, sn_v3(-0.29, 0, 0.042), sn_v3(-0.06, 0, 0.042),
             0.045); // quadriceps
    add_limb(list, SINEW_SOLID_PAINT, MUSCLE, shin(-0.045, 0.09), shin(-0.028, 0.22), 0.04); // calf
    add_limb(list, SINEW_SOLID_PAINT, LIGAMENT, joint, shin(0, 0.05), 0.014);
    add_limb(list, SINEW_SOLID_PAINT, LIGAMENT, sn_v3(-0.06, 0, 0.042), cap, 0.018);
    add_limb(list, SINEW_SOLID_PAINT, LIGAMENT, cap, shin(0.022, 0.085), 0.014);
    add_limb(list, SINEW_SOLID_PAINT, BONE, hip, joint, 0.032);
    add_limb(list, SINEW_SOLID_PAINT, BONE, shin(0.004, 0.062), ankle, 0.034);
    add_solid(list, SINEW_SOLID_SPHERE, SINEW_SOLID_PAINT, BONE, cap, sn_v3(0.036, 0.034, 0.02));
}

// ---- The animal: bones in head, back (three) and legs (four); the tail has none -----------------

static void make_animal(solid_list *list) {
    enum { FLESH = 1, BONE = 2 };
    add_solid(list, SINEW_SOLID_SPHERE, SINEW_SOLID_ADD, FLESH, sn_v3(0, 0, 0.06),
              sn_v3(0.18, 0.075, 0.075));
    add_solid(list, SINEW_SOLID_SPHERE, SINEW_SOLID_ADD, FLESH, sn_v3(0.105, 0, 0.068),
              sn_v3(0.075, 0.045, 0.045));

    // Legs and ears.
    for (int side = -1; side <= 1; side += 2) {
        add_limb(list, SINEW_SOLID_ADD, FLESH, sn_v3(0.05, 0.022 * side, 0.05),
                 sn_v3(0.055, 0.03 * side, 0.01), 0.02);
        add_limb(list, SINEW_SOLID_ADD, FLESH, sn_v3(-0.055, 0.024 * side, 0.05),
                 sn_v3(-0.045, 0.034 * side, 0.01), 0.024);
        add_solid(list, SINEW_SOLID_SPHERE, SINEW_SOLID_ADD, FLESH, sn_v3(0.1, 0.014 * side, 0.086),
                  sn_v3(0.012, 0.02, 0.02)); // ears
    }

    // The tail.
    const double tail[6][3] = {{-0.075, 0, 0.058},   {-0.12, 0, 0.05},      {-0.16, 0.006, 0.044},
                               {-0.2, 0.012, 0.042}, {-0.24, 0.012, 0.044}, {-0.28, 0.004, 0.05}};
    for (int i = 0; i < 5; i++) {
        add_limb(list, SINEW_SOLID_ADD, FLESH, sn_load3(tail[i]), sn_load3(tail[i + 1]),
                 0.016 - 0.0015 * i);
    }

    // Bones of the head, the back and the legs.
    add_solid(list, SINEW_SOLID_SPHERE, SINEW_SOLID_PAINT, BONE, sn_v3(0.1, 0, 0.07),
              sn_v3(0.045, 0.024, 0.024));
    for (int i = 0; i < 3; i++) {
        add_limb(list, SINEW_SOLID_PAINT, BONE, sn_v3(0.04 - 0.045 * i, 0, 0.075),
                 sn_v3(0.02 - 0.045 * i, 0, 0.075), 0.012);
    }

    for (int side = -1; side <= 1; side += 2) {
        add_limb(list, SINEW_SOLID_PAINT, BONE, sn_v3(0.051, 0.024 * side, 0.04),
                 sn_v3(0.054, 0.029 * side, 0.016), 0.009);
        add_limb(list, SINEW_SOLID_PAINT, BONE, sn_v3(-0.053, 0.026 * side, 0.04),
                 sn_v3(-0.047, 0.032 * side, 0.016), 0.01);
    }
}

// ---- the dragon ---------------------------------------------------------------------------------

static void make_dragon(solid_list *list) {
    enum { SEGMENTS = 20 };
    sn_vec3 before = sn_v3(0, 0, 0);
    // The body, from the tip of the tail to the head.
    for (int i = 0; i <= SEGMENTS; i++) {
        double s = (double)i / SEGMENTS;

        double angle = 6.5 * s;
        sn_vec3 p = sn_v3(1.6 * s - 0.8, 0.22 * sin(angle), 0.35 + 0.16 * sin(1.7 * angle + 0.4));
        double diameter = 0.04 + 0.22 * sin(3.0 * s) * (0.4 + 0.6 * s);
        if (i > 0) {
            add_limb(list, SINEW_SOLID_ADD, 1, before, p, diameter);
        }
        before = p;
    }

    // Head and horns.
    sinew_solid_def head =
        *add_solid(list, SINEW_SOLID_SPHERE, SINEW_SOLID_ADD, 1, before, sn_v3(0.3, 0.16, 0.15));

    add_limb(list, SINEW_SOLID_ADD, 1, sn_load3(head.center),
             sn_add(sn_load3(head.center), sn_v3(-0.1, 0.06, 0.14)), 0.03);
    add_limb(list, SINEW_SOLID_ADD, 1, sn_load3(head.center),
             sn_add(sn_load3(head.center), sn_v3(-0.1, -0.06, 0.14)), 0.03);

    // Wings and legs.
    for (int side = -1; side <= 1; side += 2) {
        sinew_solid_def *wing =
            add_solid(list, SINEW_SOLID_SPHERE, SINEW_SOLID_ADD, 1,
                      sn_v3(0.1, -0.11 + 0.36 * side, 0.5), sn_v3(0.36, 0.8, 0.05));

        wing->rotation[0] = 0.25 * side;
        wing->rotation[3] = 1;
        for (int end = 0; end < 2; end++) {
            double x = end ? 0.42 : -0.22;
            double y = 0.22 * sin(6.5 * (x + 0.8) / 1.6);
            add_limb(list, SINEW_SOLID_ADD, 1, sn_v3(x, y, 0.4),
                     sn_v3(x + 0.06, y + 0.2 * side, 0.12), 0.09);
            add_limb(list, SINEW_SOLID_ADD, 1, sn_v3(x + 0.06, y + 0.2 * side, 0.12),
                     sn_v3(x + 0.14, y + 0.2 * side, 0.08), 0.06);
        }
    }
}

// ---- the table ----------------------------------------------------------------------------------

static const sinew_specimen_tissue steak_tissues[] = {{1, "muscle", 6e4, 0.45, 1060, false},
                                                      {2, "fat", 1.2e4, 0.45, 920, false},
                                                      {3, "bone", 1e9, 0.3, 1800, true}};
static const sinew_specimen_tissue plate_tissues[] = {{1, "rubber", 1e5, 0.3, 1000, false}};
static const sinew_specimen_tissue inclusion_tissues[] = {{1, "rubber", 1e5, 0.3, 1000, false},
                                                          {2, "steel", 2e11, 0.3, 7800, true}};
static const sinew_specimen_tissue ribbon_tissues[] = {{1, "foam", 2e5, 0.3, 200, false}};
static const sinew_specimen_tissue knee_tissues[] = {{1, "bone", 1e9, 0.3, 1800, true},
                                                     {2, "muscle", 2e5, 0.4, 1060, false},
                                                     {3, "ligament", 1e7, 0.4, 1100, false},
                                                     {4, "fat", 1e4, 0.4, 920, false}};
static const sinew_specimen_tissue animal_tissues[] = {{1, "flesh", 4e4, 0.4, 1050, false},
                                                       {2, "bone", 1e9, 0.3, 1800, true}};
static const sinew_specimen_tissue dragon_tissues[] = {{1, "rubber", 2e5, 0.4, 1000, false}};

typedef struct recipe {
    const char *name;
    void (*make)(solid_list *list);
    const sinew_specimen_tissue *tissues;
    int32_t tissue_count;
    int32_t voxel_count; // of the papers
    bool flat;           // one voxel thick
} recipe;

#define TISSUES(table) table, (int32_t)(sizeof table / sizeof *table)

static const recipe recipes[] = {
    [SINEW_SPECIMEN_STEAK] = {"steak", make_steak, TISSUES(steak_tissues), 67000, false},
    [SINEW_SPECIMEN_GRADIENT] = {"gradient", make_plate, TISSUES(plate_tissues), 100000, true},
    [SINEW_SPECIMEN_INCLUSION] = {"inclusion", make_inclusion, TISSUES(inclusion_tissues), 4000,
                                  true},
    [SINEW_SPECIMEN_RIBBON] = {"ribbon", make_ribbon, TISSUES(ribbon_tissues), 60000, false},
    [SINEW_SPECIMEN_KNEE] = {"knee", make_knee, TISSUES(knee_tissues), 500000, false},
    [SINEW_SPECIMEN_ANIMAL] = {"animal", make_animal, TISSUES(animal_tissues), 1500000, false},
    [SINEW_SPECIMEN_DRAGON] = {"dragon", make_dragon, TISSUES(dragon_tissues), 7000000, false},
};

enum { RECIPES = sizeof recipes / sizeof *recipes };

static const recipe *recipe_of(sinew_specimen specimen) {
    SN_ASSERT((int)specimen >= 0 && (int)specimen < RECIPES);
    return &recipes[specimen];
}

int32_t sinew_specimen_count(void) {
    return RECIPES;
}

const char *sinew_specimen_name(sinew_specimen specimen) {
    return recipe_of(specimen)->name;
}

int32_t sinew_specimen_find(const char *name) {
    SN_NEED_OR(-1, name);
    for (int32_t i = 0; i < RECIPES; i++) {
        if (strcmp(recipes[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

const sinew_specimen_tissue *sinew_specimen_tissues(sinew_specimen specimen, int32_t *count) {
    SN_NEED_OR(NULL, count);
    *count = recipe_of(specimen)->tissue_count;
    return recipe_of(specimen)->tissues;
}

int32_t sinew_specimen_voxel_count(sinew_specimen specimen) {
    return recipe_of(specimen)->voxel_count;
}

// The number of voxels of a solid that fills a share of its bounding box, at some resolution.
static double predict_count(const double size[3], double longest, double share,
                            int32_t resolution) {
    double count = share;
    for (int a = 0; a < 3; a++) {
        count *= ceil(size[a] / longest * resolution - 1e-6);
    }
    return count;
}

// The resolution of nearly cubic voxels that gives about as many as requested; a flat specimen has
// one layer.
static sinew_status find_grid(sinew_context *context, const recipe *recipe, const solid_list *list,
                              int32_t requested, sinew_voxel_def *grid) {
    if (recipe->flat) {
        grid->spacing[0] = grid->spacing[1] = sqrt(plate[0] * plate[1] / requested);
        grid->spacing[2] = plate[2];
        return SINEW_OK;
    }

    sinew_voxel_def coarse = sinew_default_voxel_def();
    coarse.resolution = COARSE_CELLS;

    sinew_voxels *voxels;
    SN_TRY(sinew_voxels_create_from_solids(context, list->solids, list->count, &coarse, &voxels));

    double size[3];
    int32_t cells[3];
    sinew_voxels_get_grid(voxels, cells, size, NULL);
    for (int a = 0; a < 3; a++) {
        size[a] *= cells[a];
    }

    double volume = sinew_voxels_get_volume(voxels, NULL);
    double longest = fmax(size[0], fmax(size[1], size[2]));
    double share = volume / (size[0] * size[1] * size[2]);
    sinew_voxels_destroy(voxels);

    // Whole layers make more voxels than requested in thin directions.
    grid->resolution = (int32_t)fmax(1, ceil(longest * cbrt(requested / volume)));
    while (grid->resolution > 1 &&
           predict_count(size, longest, share, grid->resolution) > 1.1 * requested) {
        grid->resolution--;
    }

    return SINEW_OK;
}

sinew_status sinew_voxels_create_specimen(sinew_context *context, sinew_specimen specimen,
                                          int32_t voxel_count, size_t memory_limit,
                                          sinew_voxels **voxels) {
    SN_NEED(NULL, context);

    if ((int)specimen < 0 || (int)specimen >= RECIPES || voxel_count < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "specimen %d (0 to %d) of %d voxels (at least 1)", (int)specimen,
                       RECIPES - 1, voxel_count);
    }

    const recipe *recipe = recipe_of(specimen);
    solid_list list = {.count = 0};

    recipe->make(&list);
    sinew_voxel_def grid = sinew_default_voxel_def();

    grid.memory_limit = memory_limit;
    SN_TRY(find_grid(context, recipe, &list, voxel_count, &grid));

    // The gradient specimen also varies its stiffness.
    SN_TRY(sinew_voxels_create_from_solids(context, list.solids, list.count, &grid, voxels));
    if (specimen != SINEW_SPECIMEN_GRADIENT) {
        return SINEW_OK;
    }

    sinew_gradient_def gradient = {
        .start = {-0.5 * plate[0], 0, 0}, .end = {0.5 * plate[0], 0, 0}, .first = 1, .last = 10};

    gradient.geometric = true;
    sinew_status status = sinew_voxels_apply_gradient(*voxels, &gradient);
    if (status != SINEW_OK) {
        sinew_voxels_destroy(*voxels);
        *voxels = NULL;
    }

    return status;
}
