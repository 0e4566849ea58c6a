// Contact: C1 the slope, C3 free collisions, C5 a fast cube and a thin plate, C6 stack and common
// fall, C8 squeezing.
#include "validate/validate.h"

#include "base/context.h"
#include "math/vec.h"

#include <math.h>
#include <stdio.h>

enum { MOST_BODIES = 8 };
static const double thickness = 2e-4; // [m]

typedef struct scene {
    sinew_world *world;
    sinew_body *bodies[MOST_BODIES];
    int32_t count;
} scene;

static sinew_status make_world(validate_run *v, sinew_contact_mode mode, double step,
                               const double gravity[3], scene *s) {
    sinew_world_def def = sinew_default_world_def();
    def.step = step;
    for (int k = 0; k < 3; k++) {
        def.gravity[k] = gravity[k];
    }
    SN_TRY(sinew_world_create(v->context, &def, &s->world));

    sinew_contact_def contact = sinew_default_contact_def();
    contact.mode = mode;
    contact.thickness = thickness;
    return sinew_world_set_contact(s->world, &contact);
}

static sinew_status add_floor(scene *s) {
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    return sinew_obstacle_create(s->world, &floor, NULL);
}

// A box of tetrahedra.
typedef struct box {
    double size[3], position[3], velocity[3];
    int32_t cells[3];
    double young, damping; // [Pa], [s]
} box;

static sinew_status add_box(validate_run *v, scene *s, const box *b) {
    // Mesh.
    sinew_shape_def shape = sinew_default_shape_def();
    for (int k = 0; k < 3; k++) {
        shape.size[k] = b->size[k];
        shape.cells[k] = b->cells[k];
    }
    sinew_mesh *mesh = NULL;
    SN_TRY(sinew_mesh_create_shape(v->context, &shape, &mesh));

    // Material and body.
    sinew_material_def material = sinew_default_material_def();
    material.law = SINEW_MATERIAL_STABLE_NEO_HOOKEAN;
    material.young = b->young;
    material.poisson = 0.3;
    material.density = 1000;

    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.materials = &material;
    def.material_count = 1;
    def.stiffness_damping = b->damping;
    for (int k = 0; k < 3; k++) {
        def.position[k] = b->position[k];
        def.velocity[k] = b->velocity[k];
    }
    sinew_status status = sinew_body_create(s->world, &def, &s->bodies[s->count]);
    s->count += status == SINEW_OK;
    sinew_mesh_destroy(mesh);
    return status;
}

static sinew_status take_steps(scene *s, int count) {
    for (int i = 0; i < count; i++) {
        SN_TRY(sinew_world_step(s->world, NULL));
    }
    return SINEW_OK;
}

static const double down[3] = {0, 0, -9.81};

// --- C1

// A block on a slope of `ratio` times the tangent of friction, as a rotated gravity: its speed
// after a second and after two.
static sinew_status slide(validate_run *v, sinew_contact_mode mode, double ratio, double speed[2]) {
    double angle = atan(0.5 * ratio);
    const double gravity[3] = {9.81 * sin(angle), 0, -9.81 * cos(angle)};
    const box block = {.size = {0.4, 0.4, 0.1},
                       .position = {0, 0, 0.0505},
                       .cells = {4, 4, 1},
                       .young = 1e6,
                       .damping = 0.002};
    scene s = {.count = 0};
    sinew_status status = make_world(v, mode, 0.01, gravity, &s);
    if (status == SINEW_OK) {
        status = add_floor(&s);
    }
    if (status == SINEW_OK) {
        status = add_box(v, &s, &block);
    }
    for (int i = 0; i < 2 && status == SINEW_OK; i++) {
        sinew_measures measures;
        status = take_steps(&s, 100);
        sinew_body_get_measures(s.bodies[0], &measures);
        speed[i] = measures.momentum[0] / measures.mass;
    }
    sinew_world_destroy(s.world);
    return status;
}

sinew_status validate_slope(validate_run *v) {
    for (int mode = 0; mode < 2; mode++) {
        bool reliable = mode == 1;
        const char *name = reliable ? "reliable" : "interactive";
        double margin = reliable ? 0.01 : 0.02;
        double below[2], above[2], steep[2];
        char claim[120];

        // A little less steep than friction holds, a little steeper, and much steeper.
        SN_TRY(slide(v, (sinew_contact_mode)mode, 1 - margin, below));
        SN_TRY(slide(v, (sinew_contact_mode)mode, 1 + margin, above));
        SN_TRY(slide(v, (sinew_contact_mode)mode, 1.2, steep));

        // It stays where it is.
        snprintf(claim, sizeof claim, "%s: speed on %g of the slope that friction holds", name,
                 1 - margin);
        validate_at_most(v, claim, 1e-3, fabs(below[1]), "m/s");
        validate_note(v, "what sticks creeps slowly");

        // It accelerates by g (sin a - mu cos a).
        double angle = atan(0.5 * (1 + margin));
        double expected = 9.81 * (sin(angle) - 0.5 * cos(angle));
        snprintf(claim, sizeof claim, "%s: acceleration on %g of that slope", name, 1 + margin);
        validate_near(v, claim, expected, above[1] - above[0], 0.1 * expected, "m/s^2");

        angle = atan(0.6);
        expected = 9.81 * (sin(angle) - 0.5 * cos(angle));
        snprintf(claim, sizeof claim, "%s: acceleration on 1.2 of that slope", name);
        validate_near(v, claim, expected, steep[1] - steep[0], 0.02 * expected, "m/s^2");
    }
    return SINEW_OK;
}

// --- C3

static void add_measures(const scene *s, double momentum[3], double *energy) {
    momentum[0] = momentum[1] = momentum[2] = *energy = 0;
    for (int32_t i = 0; i < s->count; i++) {
        sinew_measures measures;
        sinew_body_get_measures(s->bodies[i], &measures);
        for (int k = 0; k < 3; k++) {
            momentum[k] += measures.momentum[k];
        }
        *energy += measures.kinetic_energy + measures.elastic_energy;
    }
}

sinew_status validate_collision(validate_run *v) {
    for (int mode = 0; mode < 2; mode++) {
        const double none[3] = {0, 0, 0};
        const box first = {.size = {0.2, 0.2, 0.2},
                           .position = {-0.15, 0, 0},
                           .velocity = {2, 0, 0},
                           .cells = {3, 3, 3},
                           .young = 1e5};
        box second = first;
        second.position[0] = 0.15;
        second.position[1] = 0.05;
        second.position[2] = 0.03;
        second.velocity[0] = -1;

        scene s = {.count = 0};
        sinew_status status = make_world(v, (sinew_contact_mode)mode, 0.002, none, &s);
        if (status == SINEW_OK) {
            status = add_box(v, &s, &first);
        }
        if (status == SINEW_OK) {
            status = add_box(v, &s, &second);
        }

        double start[3], momentum[3], begin = 0, energy = 0, most = 0, drift = 0;
        if (status == SINEW_OK) {
            add_measures(&s, start, &begin);
        }
        for (int i = 0; i < 200 && status == SINEW_OK; i++) {
            status = sinew_world_step(s.world, NULL);
            add_measures(&s, momentum, &energy);
            most = fmax(most, energy / begin);
            drift = fmax(drift, fabs(momentum[0] / start[0] - 1));
        }
        sinew_world_destroy(s.world);
        SN_TRY(status);

        validate_at_most(v,
                         mode ? "reliable: relative change of momentum in a free collision"
                              : "interactive: relative change of momentum in a free collision",
                         1e-7, drift, "");
        // Rounding aside, contact gives no energy.
        validate_at_most(v,
                         mode ? "reliable: largest gain of energy over that at the start"
                              : "interactive: largest gain of energy over that at the start",
                         mode ? 1e-9 : 0.05, most - 1, "");
    }
    return SINEW_OK;
}

// --- C5

// A cube of 100 m/s and a plate of 1 mm, fixed at its edge: does any of the cube come through?
sinew_status validate_tunnelling(validate_run *v) {
    const double none[3] = {0, 0, 0};
    scene s = {.count = 0};
    const box cube = {.size = {0.1, 0.1, 0.1},
                      .position = {0, 0, 0.2},
                      .velocity = {0, 0, -100},
                      .cells = {3, 3, 3},
                      .young = 1e6,
                      .damping = 1e-4};

    // The plate.
    sinew_obstacle_def plate = sinew_default_obstacle_def();
    plate.kind = SINEW_OBSTACLE_BOX;
    plate.size[0] = plate.size[1] = 1;
    plate.size[2] = 0.001;

    sinew_status status = make_world(v, SINEW_CONTACT_INTERACTIVE, 0.01, none, &s);
    if (status == SINEW_OK) {
        status = sinew_obstacle_create(s.world, &plate, NULL);
    }
    if (status == SINEW_OK) {
        status = add_box(v, &s, &cube);
    }

    // The lowest node of all steps.
    double lowest = INFINITY;
    for (int i = 0; i < 50 && status == SINEW_OK; i++) {
        status = sinew_world_step(s.world, NULL);
        const double *x = sinew_body_get_positions(s.bodies[0]);
        for (int32_t n = 0; n < sinew_body_get_node_count(s.bodies[0]); n++) {
            lowest = fmin(lowest, x[3 * n + 2]);
        }
    }
    sinew_world_destroy(s.world);
    SN_TRY(status);

    validate_at_least(v, "100 m/s onto a plate of 1 mm, 1 m a step: lowest node", 0.0005, lowest,
                      "m");
    validate_note(v, "the plate is a fixed box");
    return SINEW_OK;
}

// --- C6

sinew_status validate_stack(validate_run *v) {
    scene s = {.count = 0};
    sinew_status status = make_world(v, SINEW_CONTACT_RELIABLE, 0.01, down, &s);
    if (status == SINEW_OK) {
        status = add_floor(&s);
    }
    for (int i = 0; i < 5 && status == SINEW_OK; i++) {
        const box b = {.size = {0.2, 0.2, 0.2},
                       .position = {0.013 * (i % 2), 0.017 * (i % 3), 0.102 + 0.203 * i},
                       .cells = {2, 2, 2},
                       .young = 1e6,
                       .damping = 0.005};
        status = add_box(v, &s, &b);
    }
    if (status == SINEW_OK) {
        status = take_steps(&s, 100);
    }

    // Solves and gap at rest.
    int most = 0;
    double smallest = INFINITY;
    for (int i = 0; i < 50 && status == SINEW_OK; i++) {
        status = sinew_world_step(s.world, NULL);
        sinew_contact_report report = sinew_world_get_contact_report(s.world);
        most = report.solves > most ? report.solves : most;
        smallest = fmin(smallest, report.smallest_gap);
    }
    double carried = 0, weight = 0;
    for (int32_t i = 0; i < s.count && status == SINEW_OK; i++) {
        sinew_measures measures;
        sinew_body_get_measures(s.bodies[i], &measures);
        weight += 9.81 * measures.mass;
    }
    if (status == SINEW_OK) {
        double force[3];
        sinew_obstacle_get_force(sinew_world_get_obstacle(s.world, 0), force, NULL);
        carried = -force[2];
    }
    sinew_world_destroy(s.world);
    SN_TRY(status);

    validate_at_most(v, "stack of five, reliable: linear solves of a step at rest", 5, most, "");
    validate_near(v, "stack of five: weight that the floor carries", weight, carried, 0.01 * weight,
                  "N");
    validate_at_least(v, "stack of five: smallest gap, that to the floor", 0.95 * thickness,
                      smallest, "m");
    return SINEW_OK;
}

// Three cubes fall 1 mm apart at 5 m/s: they must not brake each other.
sinew_status validate_common_fall(validate_run *v) {
    scene s = {.count = 0};
    sinew_status status = make_world(v, SINEW_CONTACT_INTERACTIVE, 0.01, down, &s);
    for (int i = 0; i < 3 && status == SINEW_OK; i++) {
        const box b = {.size = {0.2, 0.2, 0.2},
                       .position = {0, 0, 0.201 * i},
                       .velocity = {0, 0, -5},
                       .cells = {2, 2, 2},
                       .young = 1e5};
        status = add_box(v, &s, &b);
    }

    // Fall, and note how far contact holds anything back.
    double lag = 0;
    for (int i = 0; i < 50 && status == SINEW_OK; i++) {
        status = sinew_world_step(s.world, NULL);
        lag = fmax(lag, sinew_world_get_contact_report(s.world).lag);
    }

    // The speed of free fall.
    double momentum[3] = {0, 0, 0}, energy = 0, mass = 3 * 8;
    if (status == SINEW_OK) {
        add_measures(&s, momentum, &energy);
    }
    sinew_world_destroy(s.world);
    SN_TRY(status);

    validate_near(v, "three cubes falling together: speed after 0.5 s", -5 - 9.81 * 0.5,
                  momentum[2] / mass, 1e-6, "m/s");
    validate_at_most(v, "three cubes falling together: longest lag", 1e-6, lag, "m");
    return SINEW_OK;
}

// --- C8

// A plate presses a cube to a fifth of its height and leaves again.
sinew_status validate_squeeze(validate_run *v) {
    scene s = {.count = 0};
    const box cube = {.size = {0.2, 0.2, 0.2},
                      .position = {0, 0, 0.101},
                      .cells = {4, 4, 4},
                      .young = 1e4,
                      .damping = 0.01};
    sinew_obstacle_def plate = sinew_default_obstacle_def();
    plate.kind = SINEW_OBSTACLE_BOX;
    plate.size[0] = plate.size[1] = 2;
    plate.size[2] = 0.1;
    plate.position[2] = 0.26;

    sinew_obstacle *press = NULL;
    sinew_status status = make_world(v, SINEW_CONTACT_RELIABLE, 0.01, down, &s);
    if (status == SINEW_OK) {
        status = add_floor(&s);
    }
    if (status == SINEW_OK) {
        status = sinew_obstacle_create(s.world, &plate, &press);
    }
    if (status == SINEW_OK) {
        status = add_box(v, &s, &cube);
    }

    // At rest under its weight.
    sinew_measures before = {0};
    if (status == SINEW_OK) {
        status = take_steps(&s, 200);
    }
    if (status == SINEW_OK) {
        sinew_body_get_measures(s.bodies[0], &before);
    }

    // Down in a second, a second there, up, and three seconds of rest.
    double lowest = INFINITY;
    for (int i = 1; i <= 600 && status == SINEW_OK; i++) {
        double t = 0.01 * i;
        double share = fmax(0, fmin(fmin(t, 1), 3 - t));
        const double at[3] = {0, 0, 0.26 - 0.17 * share};
        status = sinew_obstacle_move(press, at, plate.rotation);
        if (status == SINEW_OK) {
            status = sinew_world_step(s.world, NULL);
        }
        double now[3];
        sinew_obstacle_get_pose(press, now, NULL);
        lowest = fmin(lowest, now[2] - 0.05);
    }
    sinew_measures measures = {0};
    if (status == SINEW_OK) {
        sinew_body_get_measures(s.bodies[0], &measures);
    }
    sinew_world_destroy(s.world);
    SN_TRY(status);

    validate_at_most(v, "height of a cube of 0.2 m that is squeezed to a fifth", 0.042, lowest,
                     "m");
    validate_near(v, "... its volume over that before, 3 s after the plate left", 1,
                  measures.volume / before.volume, 0.02, "");
    validate_note(v, "friction holds its foot somewhat wider than before");
    validate_at_most(v, "... and its kinetic energy", 1e-4, measures.kinetic_energy, "J");
    return SINEW_OK;
}
