// Runs every rung beside the reference: steps are timed one by one, points compared at the same
// moments.
#include "ladder/ladder.h"
#include "machine.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sn_vec3 ladder_to_body(const ladder_object *object, const double vector[3]) {
    return sn_quat_rotate(sn_quat_conjugate(object->rotation), sn_load3(vector));
}

void ladder_to_world(const ladder_object *object, double *points, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        double *p = points + 3 * (size_t)i;
        sn_store3(p, sn_add(object->position, sn_quat_rotate(object->rotation, sn_load3(p))));
    }
}

sinew_status ladder_check_plain(const ladder_object *object) {
    for (int32_t i = 0; i < object->body.load_count; i++) {
        if (object->body.loads[i].kind == SN_LOAD_FORCE && !object->body.loads[i].at_point) {
            continue;
        }
        return sn_fail(object->context, SINEW_UNSUPPORTED,
                       "this model does not support tractions or pressures");
    }

    for (int32_t i = 0; i < object->body.support_count; i++) {
        if (object->body.supports[i].axes == SINEW_AXIS_ALL) {
            continue;
        }
        return sn_fail(object->context, SINEW_UNSUPPORTED,
                       "this model cannot hold nodes along single axes");
    }

    for (int32_t i = 0; i < object->scene.material_count; i++) {
        sinew_material_law law = object->scene.materials[i].def.law;
        if (law != SINEW_MATERIAL_ORTHOTROPIC && law != SINEW_MATERIAL_TRANSVERSE &&
            law != SINEW_MATERIAL_CUSTOM) {
            continue;
        }

        return sn_fail(object->context, SINEW_UNSUPPORTED,
                       "this model needs an isotropic material");
    }

    return SINEW_OK;
}

// --- One rung

// Sums over the points of a record: squared distance from the reference, and of the reference from
// its place at rest.
static void compare(const ladder_object *object, int32_t record, double *distance, double *motion) {
    const double *there = object->reference + 3 * (size_t)object->point_count * (size_t)record;
    for (int32_t i = 0; i < object->point_count; i++) {
        size_t at = 3 * (size_t)i;
        double rest[3];
        memcpy(rest, object->points + at, sizeof rest);
        ladder_to_world(object, rest, 1);
        sn_vec3 off = sn_sub(sn_load3(object->now + at), sn_load3(there + at));
        sn_vec3 way = sn_sub(sn_load3(there + at), sn_load3(rest));
        *distance += sn_dot(off, off);
        *motion += sn_dot(way, way);
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct rung_run {
    ladder_object *object;
    const ladder_rung *rung;
    bool is_reference;
    double *seconds; // of each step
    int32_t count;   // of them
    int64_t bytes;   // in use before the rung was made
    int64_t most;    // used by it
    double distance, motion, last_distance, last_motion;
} rung_run;

static sinew_status timed_step(rung_run *run, double time) {
    double start = cli_measured_seconds(run->object->context);
    sinew_status status = run->rung->step(run->rung->self, time);
    run->seconds[run->count++] = cli_measured_seconds(run->object->context) - start;
    int64_t used = run->object->context->bytes_in_use - run->bytes;
    run->most = used > run->most ? used : run->most;
    return status;
}

static sinew_status take_record(rung_run *run, int32_t record) {
    ladder_object *object = run->object;
    SN_TRY(run->rung->read(run->rung->self, object->now));
    if (run->is_reference) {
        size_t size = 3 * (size_t)object->point_count;
        memcpy(object->reference + size * (size_t)record, object->now, size * sizeof(double));
    }

    run->last_distance = run->last_motion = 0;
    compare(object, record, &run->last_distance, &run->last_motion);
    run->distance += run->last_distance;
    run->motion += run->last_motion;

    return SINEW_OK;
}

static sinew_status step_rung(rung_run *run) {
    ladder_object *object = run->object;
    int32_t record = 0;
    if (object->scene.statics) {
        SN_TRY(timed_step(run, 0));
        if (object->steps > 0) {
            run->count = 0; // the steps are what is compared
        }
        SN_TRY(take_record(run, record++));
    }

    for (int32_t i = 1; i <= object->steps; i++) {
        SN_TRY(timed_step(run, i * object->scene.world.step));
        if (i % object->every == 0 || i == object->steps) {
            SN_TRY(take_record(run, record++));
        }
    }

    SN_ASSERT(record == object->record_count);
    return SINEW_OK;
}

static sinew_status measure(ladder *l, const ladder_rung *rung, bool is_reference, int64_t bytes,
                            ladder_result *result) {
    ladder_object *object = &l->object;
    rung_run run = {.object = object, .rung = rung, .is_reference = is_reference, .bytes = bytes};

    run.most = object->context->bytes_in_use - bytes;
    size_t capacity = (size_t)object->steps + 1;

    run.seconds = sn_allocate(object->context, capacity, sizeof(double));
    if (!run.seconds) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_status status = step_rung(&run);
    if (status == SINEW_OK) {
        qsort(run.seconds, (size_t)run.count, sizeof(double), by_size);
        result->seconds = run.seconds[run.count / 2];
        result->error = sqrt(run.distance / run.motion);
        result->last_error = sqrt(run.last_distance / run.last_motion);
        result->bytes = (double)run.most;
        result->unknowns = rung->unknowns;
        result->available = true;

        if (is_reference) {
            object->motion = sqrt(run.motion / object->record_count / object->point_count);
        }
    }

    sn_release(object->context, run.seconds, capacity, sizeof(double));
    return status;
}

// Runs a rung that was made with `status`; one that cannot run stays in the table with the reason.
static sinew_status climb(ladder *l, const char *family, const char *name, ladder_rung *rung,
                          sinew_status status, int64_t bytes) {
    if (l->count == LADDER_CAPACITY) {
        status = SINEW_OUT_OF_MEMORY;
    }

    if (status == SINEW_OUT_OF_MEMORY) {
        if (rung->self) {
            rung->destroy(rung->self);
        }
        return status;
    }

    ladder_result *result = &l->results[l->count++];
    *result = (ladder_result){
        .family = family, .error = NAN, .last_error = NAN, .seconds = NAN, .bytes = NAN};
    snprintf(result->name, sizeof result->name, "%s", name);

    if (status == SINEW_OK) {
        status = measure(l, rung, l->count == 1, bytes, result);
    }
    if (status != SINEW_OK) {
        snprintf(result->note, sizeof result->note, "%s", sinew_context_message(l->object.context));
    }
    if (rung->self) {
        rung->destroy(rung->self);
    }
    if (l->tell) {
        l->tell(result);
    }

    return status == SINEW_OUT_OF_MEMORY ? status : SINEW_OK;
}

// --- All rungs

static sinew_status climb_elements(ladder *l, const char *family, const char *name,
                                   const ladder_elements_def *def) {
    ladder_rung rung = {0};
    int64_t bytes = l->object.context->bytes_in_use;
    sinew_status status = ladder_elements_create(&l->object, def, &rung);
    return climb(l, family, name, &rung, status, bytes);
}

static sinew_status climb_all_elements(ladder *l) {
    static const struct {
        const char *family, *name;
        ladder_elements_def def;
    } rungs[] = {
        {"scene's law",
         "tets, the scene's law, half the cells",
         {0.5, false, SINEW_MODEL_ELASTIC, NULL}},
        {"scene's law", "tets, the scene's law", {1, false, SINEW_MODEL_ELASTIC, NULL}},
        {"scene's law",
         "tets, the scene's law, 1.5 times the cells",
         {1.5, false, SINEW_MODEL_ELASTIC, NULL}},
        {"ten-node tets", "ten-node tets, half the cells", {0.5, true, SINEW_MODEL_ELASTIC, NULL}},
        {"ten-node tets", "ten-node tets", {1, true, SINEW_MODEL_ELASTIC, NULL}},
        {"linear tets", "tets, linear", {1, false, SINEW_MODEL_ELASTIC, "linear"}},
        {"warped tets", "tets, warped", {1, false, SINEW_MODEL_WARPED, "corotational"}},
        {"corotational tets",
         "tets, corotational",
         {1, false, SINEW_MODEL_ELASTIC, "corotational"}},
        {"neo-Hookean tets",
         "tets, stable neo-Hookean",
         {1, false, SINEW_MODEL_ELASTIC, "stable-neo-hookean"}},
    };

    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
        SN_TRY(climb_elements(l, rungs[i].family, rungs[i].name, &rungs[i].def));
    }

    return SINEW_OK;
}

static sinew_status climb_frames(ladder *l) {
    static const int32_t counts[] = {3, 5, 9, 17};
    static const struct {
        const char *family;
        sinew_node_kind kind;
        bool springs;
    } kinds[] = {{"rigid frames", SINEW_NODE_RIGID, false},
                 {"affine frames", SINEW_NODE_AFFINE, false},
                 {"quadratic frames", SINEW_NODE_QUADRATIC, false},
                 {"frames with springs", SINEW_NODE_RIGID, true}};

    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 4; i++) {
            char name[80];
            snprintf(name, sizeof name, "%d %s", counts[i], kinds[k].family);
            ladder_rung rung = {0};
            int64_t bytes = l->object.context->bytes_in_use;
            sinew_status status =
                ladder_frames_create(&l->object, kinds[k].kind, counts[i], kinds[k].springs, &rung);
            SN_TRY(climb(l, kinds[k].family, name, &rung, status, bytes));
        }
    }

    return SINEW_OK;
}

static sinew_status climb_positions(ladder *l) {
    static const int32_t iterations[] = {5, 20, 80};
    for (int i = 0; i < 3; i++) {
        char name[80];
        snprintf(name, sizeof name, "position dynamics, %d iterations", iterations[i]);
        ladder_rung rung = {0};
        int64_t bytes = l->object.context->bytes_in_use;
        sinew_status status = ladder_positions_create(&l->object, iterations[i], &rung);
        SN_TRY(climb(l, "position dynamics", name, &rung, status, bytes));
    }

    return SINEW_OK;
}

// The points that are compared: boundary nodes of the scene's mesh, evenly left out if there are
// many.
static sinew_status choose_points(ladder_object *object) {
    const sinew_mesh *surface = object->given->members[0].surface.mesh;
    int32_t stride = (surface->point_count + LADDER_POINTS - 1) / LADDER_POINTS;

    object->point_count = (surface->point_count + stride - 1) / stride;
    size_t size = 3 * (size_t)object->point_count;

    object->points = SN_PUSH(&object->arena, double, size);
    object->now = SN_PUSH(&object->arena, double, size);
    object->reference = SN_PUSH(&object->arena, double, size *(size_t)object->record_count);
    SN_TRY(sn_arena_status(&object->arena));

    for (int32_t i = 0; i < object->point_count; i++) {
        memcpy(object->points + 3 * (size_t)i, surface->points + 3 * (size_t)(i * stride),
               3 * sizeof(double));
    }

    return SINEW_OK;
}

static sinew_status build_object(ladder_object *object, int32_t body, int32_t steps) {
    object->scene = object->file->scene->scene;
    object->body = object->scene.bodies[body];
    if (object->body.frames || object->body.skeleton >= 0) {
        return sn_fail(
            object->context, SINEW_UNSUPPORTED,
            "the body \"%s\" %s; the ladder needs one of elements, held and loaded at its nodes",
            object->body.name, object->body.frames ? "is one of frames" : "follows a skeleton");
    }

    object->body.positions.used = false;
    object->body.surface = NULL;
    object->scene.bodies = &object->body;
    object->scene.body_count = 1;
    object->scene.attachment_count = object->scene.probe_count = 0;
    object->steps = steps >= 0 ? steps : object->scene.steps;

    if (object->steps == 0 && !object->scene.statics) {
        return sn_fail(object->context, SINEW_INVALID_ARGUMENT,
                       "the scene has no steps and no static solve to compare");
    }

    object->every = (object->steps + LADDER_RECORDS - 1) / LADDER_RECORDS;
    object->every = object->every > 0 ? object->every : 1;
    object->record_count =
        (object->steps + object->every - 1) / object->every + object->scene.statics;

    const double *r = object->body.def.rotation;
    object->rotation = sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]});
    object->position = sn_load3(object->body.def.position);
    SN_TRY(sn_scene_build(object->context, &object->scene, object->file->scene->source.fetch,
                          object->file->scene->source.fetch_user, &object->mistakes,
                          &object->given));

    return choose_points(object);
}

sinew_status ladder_run(ladder *l, sinew_context *context, cli_scene_file *file, int32_t body,
                        int32_t steps) {
    l->object.context = context;
    l->object.file = file;
    l->object.arena = sn_arena_create(context);
    l->object.mistakes = sn_mistakes_create(context);
    SN_TRY(build_object(&l->object, body, steps));

    double refine = ladder_reference_refinement(&l->object);
    char name[80];

    snprintf(name, sizeof name, "reference: ten-node tets, %.3g times the cells", refine);
    SN_TRY(climb_elements(l, "reference", name,
                          &(ladder_elements_def){.refine = refine, .quadratic = true}));

    if (!l->results[0].available) {
        return sn_fail(context, SINEW_UNSUPPORTED, "the reference cannot be computed: %s",
                       l->results[0].note);
    }

    SN_TRY(climb_all_elements(l));
    SN_TRY(climb_frames(l));

    return climb_positions(l);
}

void ladder_destroy(ladder *l) {
    sn_scene_world_destroy(l->object.given);
    sn_mistakes_destroy(&l->object.mistakes);
    sn_arena_destroy(&l->object.arena);
}
