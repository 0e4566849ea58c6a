// A haptic loop: a device at 1 kHz presses, drags and throws a soft ball that lies on a floor.
//
// Each cycle reads the device, moves the hand, takes a step of a millisecond and hands the force
// back. The program prints how long the cycles took: mean, 99th percentile and the worst. The
// device is a script here, and the loop runs as fast as it can instead of waiting for the next
// millisecond.
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CYCLES = 3000, GRAB_AT = 500, RELEASE_AT = 1900 };

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

static double now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// A ball of 20 cm on four affine frames, whose surface has about a thousand vertices.
static sinew_status make_ball(sinew_context *context, sinew_world *world, sinew_voxels **voxels,
                              sinew_body **ball) {
    // The ball as voxels.
    sinew_solid_def solid = sinew_default_solid_def();
    solid.solid = SINEW_SOLID_SPHERE;
    solid.size[0] = solid.size[1] = solid.size[2] = 0.2;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.resolution = 14;
    sinew_status status = sinew_voxels_create_from_solids(context, &solid, 1, &grid, voxels);
    if (status) {
        return status;
    }

    // Frames, material and body.
    const sinew_frame_node nodes[] = {{SINEW_NODE_AFFINE, {0.05, 0.05, 0.05}},
                                      {SINEW_NODE_AFFINE, {-0.05, -0.05, 0.05}},
                                      {SINEW_NODE_AFFINE, {-0.05, 0.05, -0.05}},
                                      {SINEW_NODE_AFFINE, {0.05, -0.05, -0.05}}};
    sinew_material_def gel = sinew_default_material_def();
    gel.young = 2e4;    // Pa
    gel.density = 1000; // kg/m^3

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = *voxels;
    def.nodes = nodes;
    def.node_count = 4;
    def.materials = &gel;
    def.material_count = 1;
    def.stiffness_damping = 0.003; // s
    def.position[2] = 0.101;
    return sinew_frame_body_create(world, &def, ball);
}

static sinew_status make_world(sinew_context *context, sinew_world **world, sinew_voxels **voxels,
                               sinew_body **ball) {
    sinew_world_def def = sinew_default_world_def();
    def.step = 0.001; // s
    sinew_status status = sinew_world_create(context, &def, world);
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    if (!status) {
        status = sinew_obstacle_create(*world, &floor, NULL);
    }
    return status ? status : make_ball(context, *world, voxels, ball);
}

// The device: presses the ball down, lifts it, and swings it sideways. [m]
static void read_device(int cycle, const double start[3], double cursor[3]) {
    double t = 0.001 * (cycle - GRAB_AT);
    double pressed = 0.05 * (1 - cos(fmin(t / 0.5, 1) * 2 * 3.14159265358979)) / 2;
    double lifted = 0.3 * fmin(fmax(t - 0.5, 0), 0.6) / 0.6;
    double swung = 2.0 * pow(fmax(t - 1.1, 0), 2) / 0.3;
    cursor[0] = start[0] + swung;
    cursor[1] = start[1];
    cursor[2] = start[2] - pressed + lifted;
}

// Finds the top of the ball by a ray and takes hold of it.
static sinew_status grab_top(sinew_world *world, sinew_attachment **hand, double start[3]) {
    const double above[3] = {0, 0, 1}, down[3] = {0, 0, -1};
    sinew_surface_hit hit;
    sinew_status status = sinew_world_cast_ray(world, above, down, INFINITY, &hit);
    if (status || !hit.body) {
        return status ? status : SINEW_INVALID_DATA;
    }

    sinew_grab_def def = sinew_default_grab_def();
    def.stiffness = 2000;   // N/m
    def.largest_force = 80; // N, what the device can bear
    for (int k = 0; k < 3; k++) {
        start[k] = hit.position[k];
    }
    return sinew_surface_hit_grab(&hit, &def, hand);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// What the device felt.
typedef struct felt {
    double up, down; // the largest forces upwards and downwards on the ball [N]
    double largest;
} felt;

static sinew_status cycle(sinew_world *world, int number, sinew_attachment **hand, double start[3],
                          felt *f) {
    sinew_status status = SINEW_OK;
    if (number == GRAB_AT) {
        status = grab_top(world, hand, start);
    }
    if (number == RELEASE_AT) {
        sinew_attachment_destroy(*hand);
        *hand = NULL;
    }

    // Device, step, and the force that goes back to the device.
    double cursor[3], force[3] = {0, 0, 0};
    if (!status && *hand) {
        read_device(number, start, cursor);
        status = sinew_attachment_set_target(*hand, cursor);
    }
    if (!status) {
        status = sinew_world_step(world, NULL);
    }
    if (!status && *hand) {
        status = sinew_attachment_get_force(*hand, force);
    }

    f->up = fmax(f->up, force[2]);
    f->down = fmax(f->down, -force[2]);
    f->largest = fmax(f->largest, hypot(hypot(force[0], force[1]), force[2]));
    return status;
}

static void print_statistics(double *seconds, double processor) {
    double sum = 0;
    for (int i = 0; i < CYCLES; i++) {
        sum += seconds[i];
    }
    qsort(seconds, CYCLES, sizeof *seconds, compare);

    int late = 0;
    while (late < CYCLES && seconds[CYCLES - 1 - late] > 0.001) {
        late++;
    }
    printf("processor time of a cycle: mean %.3f ms\n", 1000 * processor / CYCLES);
    printf(
        "%d cycles of 1 ms: mean %.3f ms, 99th percentile %.3f ms, worst %.3f ms; %d were late\n",
        CYCLES, 1000 * sum / CYCLES, 1000 * seconds[CYCLES - 1 - CYCLES / 100],
        1000 * seconds[CYCLES - 1], late);
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    sinew_world *world = NULL;
    sinew_voxels *voxels = NULL;
    sinew_body *ball = NULL;
    if (!context || make_world(context, &world, &voxels, &ball)) {
        return context ? fail(context, "world") : 1;
    }

    // The loop.
    static double seconds[CYCLES];
    double start[3] = {0, 0, 0};
    felt f = {0, 0, 0};
    sinew_attachment *hand = NULL;
    sinew_measures released = {0}, end;
    clock_t first = clock();
    for (int i = 0; i < CYCLES; i++) {
        double begin = now();
        if (cycle(world, i, &hand, start, &f)) {
            return fail(context, "cycle");
        }
        seconds[i] = now() - begin;
        if (i == RELEASE_AT) {
            sinew_body_get_measures(ball, &released);
        }
    }

    double processor = (double)(clock() - first) / CLOCKS_PER_SEC;
    sinew_body_get_measures(ball, &end);
    double weight = 9.81 * end.mass, speed = released.momentum[0] / released.mass;
    print_statistics(seconds, processor);
    printf("%d vertices; pressed with %.1f N, lifted with %.1f N (weight %.1f N), thrown at %.1f "
           "m/s\n",
           sinew_body_get_surface(ball)->point_count, f.down, f.up, weight, speed);

    sinew_world_destroy(world);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);

    // Pressing and lifting were felt, the device was never overloaded, and the ball was thrown.
    return f.down > 1 && f.up > weight && f.largest < 80 * 1.01 && speed > 1 ? 0 : 1;
}
