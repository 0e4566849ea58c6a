// What a game or a robot does around the library: its own memory, log and tasks; a surface to draw
// in every frame; a material that changes while the world runs; a snapshot to go back to. A soft
// ball hangs on a soft rod.
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

// Memory: the host counts. The library asks on the calling thread only, so a counter needs no lock.
typedef struct memory {
    size_t bytes, calls;
} memory;

static void *allocate(void *user, size_t size, size_t alignment) {
    memory *m = user;
    void *p = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (p) {
        m->bytes += size;
        m->calls++;
    }

    return p;
}

static void release(void *user, void *p, size_t size) {
    ((memory *)user)->bytes -= size;
    free(p);
}

// Log: one line at a time, without a line break.
static void write_line(void *user, sinew_log_level level, const char *line) {
    (void)user;
    fprintf(stderr, "%s%s\n", level == SINEW_LOG_WARNING ? "warning: " : "", line);
}

// Tasks: a host with workers shares the indices among them and returns when all are done. Any
// thread may run any of them in any order, and results stay the same to the last bit; so here the
// calling thread runs them all, the last one first.
static void run_tasks(void *user, void (*task)(void *data, int32_t index), void *data,
                      int32_t count) {
    *(size_t *)user += (size_t)count;
    while (count-- > 0) {
        task(data, count);
    }
}

// What a renderer needs of a body of elements: the outer triangles once, positions and normals in
// every frame.
typedef struct drawing {
    sinew_mesh *surface;
    const int32_t *nodes; // of the body, one for each point of the surface
    double *points, *normals;
} drawing;

static bool create_drawing(sinew_context *context, const sinew_mesh *mesh, drawing *d) {
    if (sinew_mesh_create_surface(context, mesh, &d->surface, &d->nodes)) {
        return false;
    }

    size_t size = 3 * (size_t)d->surface->point_count * sizeof(double);
    d->points = malloc(size);
    d->normals = malloc(size);

    return d->points && d->normals;
}

static void update_drawing(drawing *d, const sinew_body *body) {
    const double *positions =
        sinew_body_get_positions(body); // a view: read it again after each step
    for (int32_t i = 0; i < d->surface->point_count; i++) {
        memcpy(d->points + 3 * i, positions + 3 * d->nodes[i], 3 * sizeof(double));
    }
    sinew_mesh_compute_normals(d->surface, d->points, d->normals);
}

static void destroy_drawing(drawing *d) {
    sinew_mesh_destroy(d->surface);
    free(d->points);
    free(d->normals);
}

typedef struct scene {
    sinew_mesh *rod_mesh, *ball_mesh;
    sinew_world *world;
    sinew_material_def silicone;
    sinew_body *rod, *ball;
} scene;

static sinew_status create_bodies(sinew_context *context, scene *s) {
    // Meshes.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = 0.1;
    shape.size[2] = 0.6;
    shape.cell_size = 0.05;

    sinew_status status = sinew_mesh_create_shape(context, &shape, &s->rod_mesh);
    shape.shape = SINEW_SHAPE_SPHERE;
    shape.size[0] = shape.size[1] = shape.size[2] = 0.4;
    shape.center[2] = -0.5;

    if (!status) {
        status = sinew_mesh_create_shape(context, &shape, &s->ball_mesh);
    }

    // The world and the material.
    sinew_world_def world_def = sinew_default_world_def();
    world_def.step = 1.0 / 60;
    if (!status) {
        status = sinew_world_create(context, &world_def, &s->world);
    }

    s->silicone = sinew_default_material_def();
    if (!status) {
        status = sinew_material_set_preset(context, "silicone", &s->silicone);
    }

    // Bodies: one def serves both.
    sinew_body_def body_def = sinew_default_body_def();
    body_def.materials = &s->silicone;
    body_def.material_count = 1;
    body_def.stiffness_damping = 0.01; // s
    body_def.name = "rod";
    body_def.mesh = s->rod_mesh;

    if (!status) {
        status = sinew_body_create(s->world, &body_def, &s->rod);
    }

    body_def.name = "ball";
    body_def.mesh = s->ball_mesh;
    body_def.velocity[0] = 1; // m/s
    if (!status) {
        status = sinew_body_create(s->world, &body_def, &s->ball);
    }

    return status;
}

// The rod is held at its top; the nodes of the ball that lie inside its lower end are tied to it.
static sinew_status connect_bodies(scene *s) {
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < s->rod_mesh->point_count && !status; i++) {
        if (s->rod_mesh->points[3 * i + 2] > 0.299) {
            status = sinew_body_fix_nodes(s->rod, &i, 1, SINEW_AXIS_ALL);
        }
    }

    sinew_attachment_def tie = sinew_default_attachment_def();
    tie.body = s->ball;
    tie.target = s->rod;

    for (tie.node = 0; tie.node < s->ball_mesh->point_count && !status; tie.node++) {
        const double *x = s->ball_mesh->points + 3 * tie.node;
        bool inside = fabs(x[0]) < 0.05 && fabs(x[1]) < 0.05 && x[2] > -0.301;
        if (inside) {
            status = sinew_world_attach(s->world, &tie, NULL);
        }
    }

    return status;
}

// Half a second, sixty frames a second. In the middle of it the rod hardens.
static sinew_status run(scene *s, drawing *d, double *slowest) {
    sinew_material_def material = s->silicone;
    sinew_status status = sinew_body_set_material(s->rod, 0, &material);

    *slowest = 0;
    for (int frame = 0; frame < 30 && !status; frame++) {
        if (frame == 15) {
            material.young *= 10;
            status = sinew_body_set_material(s->rod, 0, &material);
        }

        sinew_step_report report;
        if (!status) {
            status = sinew_world_step(s->world, &report);
        }
        if (status) {
            break;
        }

        update_drawing(d, s->ball);
        *slowest = fmax(*slowest, report.total_seconds);
    }

    return status;
}

int main(void) {
    memory heap = {0};
    size_t task_count = 0;
    sinew_context_def context_def = sinew_default_context_def();

    context_def.allocator = (sinew_allocator){allocate, release, &heap};
    context_def.logger.write = write_line;
    context_def.tasks = (sinew_tasks){run_tasks, &task_count};

    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    scene s = {0};
    drawing d = {0};
    if (create_bodies(context, &s) || connect_bodies(&s)) {
        return fail(context, "scene");
    }
    if (!create_drawing(context, s.ball_mesh, &d)) {
        return fail(context, "surface");
    }

    // The first step makes what all later ones use. From then on nothing is allocated.
    if (sinew_world_step(s.world, NULL)) {
        return fail(context, "step");
    }

    size_t calls = heap.calls;
    size_t size = sinew_world_get_snapshot_size(s.world);
    void *snapshot = malloc(size);
    if (!snapshot || sinew_world_take_snapshot(s.world, snapshot, size)) {
        return fail(context, "snapshot");
    }

    double slowest;
    if (run(&s, &d, &slowest)) {
        return fail(context, "run");
    }

    calls = heap.calls - calls;
    printf("%d + %d tets, %zu kB; the slowest of 30 steps took %.1f ms; %zu allocations in them\n",
           sinew_body_get_element_count(s.rod), sinew_body_get_element_count(s.ball),
           heap.bytes / 1024, 1000 * slowest, calls);
    printf("first of %d points to draw: (%.3f, %.3f, %.3f), normal (%.2f, %.2f, %.2f)\n",
           d.surface->point_count, d.points[0], d.points[1], d.points[2], d.normals[0],
           d.normals[1], d.normals[2]);

    // The same half second again, from the snapshot. It holds the state; materials are no part of
    // it: `run` sets them again.
    uint64_t hash = sinew_world_get_hash(s.world);
    if (sinew_world_restore_snapshot(s.world, snapshot, size)) {
        return fail(context, "restore");
    }
    if (run(&s, &d, &slowest)) {
        return fail(context, "run again");
    }

    bool same = sinew_world_get_hash(s.world) == hash;
    printf("gone back and run again, the state is %s\n",
           same ? "the same bit for bit" : "DIFFERENT");

    free(snapshot);
    destroy_drawing(&d);
    sinew_world_destroy(s.world);
    sinew_mesh_destroy(s.rod_mesh);
    sinew_mesh_destroy(s.ball_mesh);
    sinew_context_destroy(context);
    printf("%zu tasks were run; %zu bytes are left\n", task_count, heap.bytes);

    return !(same && calls == 0 && heap.bytes == 0);
}
