// What is due in a run, when, and in which format; and the files that are complete only at its end.
#include "io/recording/recording.h"

#include "sinew/io/output.h"

#include "base/clock.h"
#include "io/gltf/gltf.h"
#include "io/picture/colormap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ALL_FORMATS = 2 * SINEW_FORMAT_SKIN - 1, FIRST_CAPACITY = 64, MEASURE_EVERY = 16 };

sinew_recording_def sinew_default_recording_def(const sinew_scene *scene) {
    SN_NEED_OR(((sinew_recording_def){0}), scene);

    const sn_scene *s = &scene->scene;
    sinew_recording_def def = {.folder = "out",
                               .formats = s->output.formats,
                               .every = s->output.every,
                               .steps = s->steps,
                               .skin_joints = s->output.skin_joints,
                               .color = s->preview.color,
                               .largest = s->preview.largest,
                               .pictures = s->preview.count,
                               .width = s->preview.width,
                               .height = s->preview.height,
                               .ground = s->preview.ground,
                               .ghost = s->preview.ghost,
                               .field = s->preview.field,
                               .frames = s->preview.frames,
                               .contacts = s->preview.contacts,
                               .filled = SN_DEF_FILLED};
    memcpy(def.direction, s->preview.direction, sizeof def.direction);
    return def;
}

static sinew_status fail_range(sinew_context *context, const char *field, double value,
                               const char *valid) {
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "recording: %s is %g; %s", field, value, valid);
}

static sinew_status check_def(sinew_context *context, const sinew_recording_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_recording_def"));

    // What is written, and when.
    if (def->formats < 0 || def->formats > ALL_FORMATS) {
        return fail_range(context, "formats", def->formats, "it is a sum of SINEW_FORMAT_...");
    }
    if (def->every < 1) {
        return fail_range(context, "every", def->every, "it must be at least 1");
    }
    if (def->steps < 0) {
        return fail_range(context, "steps", def->steps, "it must be at least 0");
    }
    if (def->skin_joints != 4 && def->skin_joints != 8) {
        return fail_range(context, "skin_joints", def->skin_joints, "valid are 4 and 8");
    }

    // What pictures look like.
    if ((int)def->color < 0 || def->color > SINEW_SCENE_COLOR_WEIGHTS) {
        return fail_range(context, "color", def->color, "there is no such colour");
    }
    if (!(def->largest >= 0 && isfinite(def->largest))) {
        return fail_range(context, "largest", def->largest, "it must be at least 0");
    }
    if (def->pictures < 1 || def->pictures > 100) {
        return fail_range(context, "pictures", def->pictures, "it must be in [1, 100]");
    }
    if (def->width < 16 || def->width > 4096 || def->height < 16 || def->height > 4096) {
        return fail_range(context, "width or height", fmin(def->width, def->height),
                          "both must be in [16, 4096]");
    }

    const double *d = def->direction;
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (!(fabs(length - 1) < 0.01)) {
        return fail_range(context, "the length of direction", length, "it must be 1");
    }

    return SINEW_OK;
}

// --- Writing files

sinew_status sn_recording_write(sinew_recording *recording, const char *name,
                                const sn_buffer *buffer) {
    const sinew_recording_def *def = &recording->def;
    SN_TRY(sn_buffer_status(buffer));
    if (def->write) {
        return def->write(def->write_user, name, buffer->data, buffer->size);
    }

    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", def->folder, name) >= (int)sizeof path) {
        return sn_fail(recording->context, SINEW_INVALID_ARGUMENT, "%s/%s: the name is too long",
                       def->folder, name);
    }

    sinew_output *output = NULL;
    SN_TRY(sinew_output_create(recording->context, path, 0, &output));
    sinew_status status = sinew_output_write_part(output, buffer->data, buffer->size);
    sinew_output_destroy(output);
    return status;
}

static sinew_status write_surface(sinew_recording *recording, const sn_scene_member *member,
                                  const char *name) {
    sinew_mesh now = *member->surface.mesh;
    now.points = member->surface.points;
    now.labels = NULL;
    sn_mesh_view view = sn_mesh_view_of(&now);
    sn_buffer_clear(&recording->buffer);
    SN_TRY(sn_write_mesh(&view, name, &recording->buffer));

    return sn_recording_write(recording, name, &recording->buffer);
}

// --- Beginning

static sinew_status prepare(sinew_recording *recording) {
    if (!recording->def.write) {
        SN_TRY(sinew_folder_create(recording->context, recording->def.folder));
    }
    SN_TRY(sn_recording_begin_skins(recording));
    SN_TRY(sn_recording_write_fields(recording));
    return sn_recording_begin_preview(recording);
}

sinew_status sinew_recording_create(sinew_scene *scene, const sinew_recording_def *def,
                                    sinew_recording **recording) {
    SN_NEED(NULL, scene);

    SN_TRY(sn_scene_check_built(scene));
    sinew_recording_def usual = sinew_default_recording_def(scene);
    def = def ? def : &usual;
    SN_TRY(check_def(scene->context, def));

    // Everything in one arena, which the recording owns.
    const char *folder = def->folder ? def->folder : usual.folder;
    sn_arena arena = sn_arena_create(scene->context);
    sinew_recording *made = SN_PUSH(&arena, sinew_recording, 1);
    char *copy = SN_PUSH(&arena, char, strlen(folder) + 1);
    if (!made || !copy) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sinew_recording){.arena = arena,
                              .context = scene->context,
                              .scene = &scene->scene,
                              .world = scene->world,
                              .def = *def,
                              .buffer = sn_buffer_create(scene->context),
                              .probes = sn_buffer_create(scene->context),
                              .contacts = sn_buffer_create(scene->context),
                              .last_step = -1,
                              .last_image = -1,
                              .smallest_J = INFINITY,
                              .largest_J = -INFINITY,
                              .contact = {.on = scene->scene.contact.on, .smallest_gap = INFINITY}};

    // Start tables, animations and the preview.
    made->def.folder = strcpy(copy, folder);

    sinew_status status = prepare(made);
    if (status != SINEW_OK) {
        sinew_recording_destroy(made);
        return status;
    }

    *recording = made;
    return SINEW_OK;
}

void sinew_recording_destroy(sinew_recording *recording) {
    if (!recording) {
        return;
    }
    sn_preview_destroy(recording->preview);
    sn_buffer_destroy(&recording->buffer);
    sn_buffer_destroy(&recording->probes);
    sn_buffer_destroy(&recording->contacts);
    sn_arena arena = recording->arena; // a copy: the arena holds the struct
    sn_arena_destroy(&arena);
}

// --- Probes

static void add_probe_names(sinew_recording *recording) {
    static const char *const parts[] = {
        "x",         "y",         "z",         "ux",        "uy",        "uz",        "strain_xx",
        "strain_yy", "strain_zz", "strain_yz", "strain_zx", "strain_xy", "stress_xx", "stress_yy",
        "stress_zz", "stress_yz", "stress_zx", "stress_xy", "von_mises"};
    sn_buffer_add_text(&recording->probes, "time");

    for (int32_t i = 0; i < recording->scene->probe_count; i++) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            sn_buffer_print(&recording->probes, ",%s_%s", recording->scene->probes[i].name,
                            parts[k]);
        }
    }

    sn_buffer_add_text(&recording->probes, "\n");
}

static void add_probe_row(sinew_recording *recording) {
    if (recording->scene->probe_count == 0) {
        return;
    }

    // The first row is preceded by the names of the columns.
    if (recording->probes.size == 0) {
        add_probe_names(recording);
    }

    sn_buffer_add_double(&recording->probes, sinew_world_get_time(recording->world->world));
    for (int32_t i = 0; i < recording->scene->probe_count; i++) {
        sn_probe_state state;
        sn_scene_world_read_probe(recording->world, i, &state);

        const double *groups[] = {state.position, state.displacement, state.element.strain,
                                  state.element.stress, &state.element.von_mises};
        const int counts[] = {3, 3, 6, 6, 1};

        for (int g = 0; g < 5; g++) {
            for (int k = 0; k < counts[g]; k++) {
                sn_buffer_add_text(&recording->probes, ",");
                sn_buffer_add_double(&recording->probes, groups[g][k]);
            }
        }
    }

    sn_buffer_add_text(&recording->probes, "\n");
}

// --- Images

// Room for one more image behind those that are complete.
static sinew_status begin_image(sinew_recording *recording, sn_recorded_image **image) {
    if (recording->image_count == recording->image_capacity) {
        int32_t capacity =
            recording->image_capacity ? 2 * recording->image_capacity : FIRST_CAPACITY;
        sn_recorded_image *images = SN_PUSH(&recording->arena, sn_recorded_image, capacity);
        SN_TRY(sn_arena_status(&recording->arena));
        if (recording->image_count > 0) {
            memcpy(images, recording->images, (size_t)recording->image_count * sizeof *images);
        }
        recording->images = images;
        recording->image_capacity = capacity;
    }

    int32_t bodies = recording->scene->body_count;
    sn_recorded_image *next = &recording->images[recording->image_count];
    *next = (sn_recorded_image){.time = sinew_world_get_time(recording->world->world),
                                .points = SN_PUSH(&recording->arena, double *, bodies),
                                .poses = SN_PUSH(&recording->arena, double *, bodies)};
    *image = next;

    return sn_arena_status(&recording->arena);
}

// Keeps the surface for the formats that hold all images.
static sinew_status keep_surface(sinew_recording *recording, int32_t body,
                                 sn_recorded_image *image) {
    const sn_scene_surface *surface = &recording->world->members[body].surface;
    size_t count = 3 * (size_t)surface->mesh->point_count;
    double *copy = SN_PUSH(&recording->arena, double, count);
    SN_TRY(sn_arena_status(&recording->arena));
    memcpy(copy, surface->points, count * sizeof *copy);
    image->points[body] = copy;
    return SINEW_OK;
}

// Whether contact acts on a surface that is not the boundary of the elements.
static bool has_contact_surface(const sinew_recording *recording, const sn_scene_member *member) {
    return recording->contact.on && member->mesh && !sinew_body_get_surface_nodes(member->body);
}

static sinew_status write_image(sinew_recording *recording, int32_t body,
                                sn_recorded_image *image) {
    const sn_scene_member *member = &recording->world->members[body];
    int32_t formats = recording->def.formats;
    int number = recording->image_count;
    char name[256];

    // Files of this image.
    if (formats & SINEW_FORMAT_VTU) {
        snprintf(name, sizeof name, "%s_%05d.vtu", member->scene->name, number);
        SN_TRY(sn_recording_write_vtu(recording, member, name));
    }
    if (formats & SINEW_FORMAT_VTU && member->frame_count > 0) {
        snprintf(name, sizeof name, "%s_frames_%05d.vtu", member->scene->name, number);
        SN_TRY(sn_recording_write_frames(recording, member, name));
    }
    if (formats & SINEW_FORMAT_VTU && has_contact_surface(recording, member)) {
        snprintf(name, sizeof name, "%s_surface_%05d.vtu", member->scene->name, number);
        SN_TRY(sn_recording_write_contacts(recording, member, name));
    }
    if (formats & SINEW_FORMAT_PLY) {
        snprintf(name, sizeof name, "%s_%05d.ply", member->scene->name, number);
        SN_TRY(write_surface(recording, member, name));
    }
    if (formats & SINEW_FORMAT_OBJ) {
        snprintf(name, sizeof name, "%s_%05d.obj", member->scene->name, number);
        SN_TRY(write_surface(recording, member, name));
    }

    // What animations need at the end.
    bool skin = formats & SINEW_FORMAT_SKIN && member->frame_count > 0;
    if (skin) {
        SN_TRY(sn_recording_keep_poses(recording, body, image));
    }
    if (formats & (SINEW_FORMAT_GLB | SINEW_FORMAT_PC2) || skin) {
        SN_TRY(keep_surface(recording, body, image));
    }

    return SINEW_OK;
}

// An image counts when all of its files are written.
static sinew_status add_image(sinew_recording *recording, int64_t step) {
    sn_recorded_image *image = NULL;
    SN_TRY(begin_image(recording, &image));
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        SN_TRY(write_image(recording, i, image));
    }

    recording->image_count++;
    recording->last_image = step;
    return SINEW_OK;
}

// The moments of the preview: the start, the end, and evenly between.
static bool is_moment(const sinew_recording *recording, int64_t step, bool last) {
    int32_t count = recording->def.pictures;
    int32_t steps = recording->def.steps;
    if (!(recording->def.formats & SINEW_FORMAT_PNG) || recording->moment_count >= count) {
        return false;
    }
    if (count == 1 || steps == 0) {
        return last;
    }
    return last || step * (count - 1) >= (int64_t)recording->moment_count * steps;
}

static void count_report(sinew_recording *recording, const sinew_step_report *report) {
    recording->newton_iterations += report->newton_iterations;
    recording->solver_iterations += report->solver_iterations;
    recording->line_search_cuts += report->line_search_cuts;
    recording->rescued_steps += report->rescued > 0;
    recording->unconverged_steps +=
        report->outcome != SINEW_OUTCOME_CONVERGED || !report->solver_converged;
    recording->simulate_seconds += report->total_seconds;
    recording->assemble_seconds += report->assemble_seconds;
    recording->solve_seconds += report->solve_seconds;
}

static void take_measures(sinew_recording *recording) {
    sinew_measures measures;
    double residual = 0;
    if (recording->steps > 0 &&
        sinew_world_compute_residual(recording->world->world, &residual) == SINEW_OK) {
        recording->largest_residual = fmax(recording->largest_residual, residual);
    }

    sinew_world_get_measures(recording->world->world, &measures);
    recording->smallest_J = fmin(recording->smallest_J, measures.smallest_J);
    recording->largest_J = fmax(recording->largest_J, measures.largest_J);
}

static sinew_status write_due(sinew_recording *recording, int64_t step, bool last) {
    if (step < recording->last_step) {
        return sn_fail(recording->context, SINEW_INVALID_ARGUMENT,
                       "recording: step %lld comes after step %lld: time must not run backwards",
                       (long long)step, (long long)recording->last_step);
    }

    // Images at regular steps and at the end; moments for the preview.
    bool again = step == recording->last_image;
    bool due = (step % recording->def.every == 0 || last) && !again;
    bool moment = is_moment(recording, step, last);

    // Probes and contact are noted once for each step.
    if (step > recording->last_step) {
        add_probe_row(recording);
        SN_TRY(sn_recording_note_contact(recording));
    }
    recording->last_step = step;

    // Everything else shows the surfaces.
    if (due || moment) {
        sn_scene_world_update_surfaces(recording->world);
    }

    if (moment) {
        SN_TRY(sn_recording_add_moment(recording, false));
        recording->moment_count++;
    }
    if (recording->def.film && due) {
        SN_TRY(sn_recording_add_moment(recording, true));
    }

    return due ? add_image(recording, step) : SINEW_OK;
}

sinew_status sinew_recording_add(sinew_recording *recording, const sinew_step_report *report,
                                 bool last) {
    SN_NEED(NULL, recording);

    const sinew_world *world = recording->world->world;
    int64_t step = llround(sinew_world_get_time(world) / recording->scene->world.step);
    if (report) {
        count_report(recording, report);
        recording->steps++;
    }
    if (!report || step % MEASURE_EVERY == 0 || last) {
        take_measures(recording);
    }

    double begin = sn_seconds();
    sinew_status status = write_due(recording, step, last);
    recording->output_seconds += sn_seconds() - begin;
    return status;
}

void sinew_recording_note_static(sinew_recording *recording, const sinew_step_report *report) {
    SN_NEED_OR(, recording && report);
    count_report(recording, report);
    recording->static_report = *report;
    recording->static_solved = true;
}

// --- Ending

static sinew_status write_pvd(sinew_recording *recording, const char *body, const char *part) {
    sn_arena scratch = sn_arena_create(recording->context);
    size_t count = (size_t)recording->image_count;
    char(*names)[256] = sn_arena_push(&scratch, count, sizeof *names);
    const char **list = SN_PUSH(&scratch, const char *, count);
    double *times = SN_PUSH(&scratch, double, count);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        // The names follow from the numbers of the images.
        for (size_t i = 0; i < count; i++) {
            snprintf(names[i], sizeof *names, "%s%s_%05d.vtu", body, part, (int)i);
            list[i] = names[i];
            times[i] = recording->images[i].time;
        }

        // Written through the buffer that all files share.
        char name[256];
        snprintf(name, sizeof name, "%s%s.pvd", body, part);
        sn_buffer_clear(&recording->buffer);
        status = sn_write_pvd(list, times, recording->image_count, &recording->buffer);
        if (status == SINEW_OK) {
            status = sn_recording_write(recording, name, &recording->buffer);
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

// All bodies in one file, a node for each.
static sinew_status write_glb(sinew_recording *recording) {
    sn_arena scratch = sn_arena_create(recording->context);
    size_t bodies = (size_t)recording->scene->body_count, images = (size_t)recording->image_count;
    sn_glb_frames *surfaces = SN_PUSH(&scratch, sn_glb_frames, bodies);
    const double **points = SN_PUSH(&scratch, const double *, bodies *images);
    double *times = SN_PUSH(&scratch, double, images);
    sinew_status status = sn_arena_status(&scratch);

    for (size_t body = 0; status == SINEW_OK && body < bodies; body++) {
        const sn_scene_member *member = &recording->world->members[body];

        // The surfaces that were kept for each image.
        const double **own = points + body * images;
        for (size_t i = 0; i < images; i++) {
            own[i] = recording->images[i].points[body];
            times[i] = recording->images[i].time;
        }

        // One colour per body, as in the pictures.
        sn_color color = sn_palette((int32_t)body);
        surfaces[body] = (sn_glb_frames){
            .name = member->scene->name,
            .point_count = member->surface.mesh->point_count,
            .index_count = 3 * member->surface.mesh->element_count,
            .frame_count = recording->image_count,
            .indices = member->surface.mesh->indices,
            .frames = own,
            .times = times,
            .z_up = true,
            .material = {.name = member->scene->name,
                         .color = {(double)color.r, (double)color.g, (double)color.b, 1},
                         .roughness = 0.6}};
    }

    if (status == SINEW_OK) {
        sn_buffer_clear(&recording->buffer);
        status = sn_write_glb_frames(surfaces, (int32_t)bodies, &recording->buffer);
    }
    if (status == SINEW_OK) {
        status = sn_recording_write(recording, "scene.glb", &recording->buffer);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status write_pc2(sinew_recording *recording, int32_t body) {
    const sn_scene_member *member = &recording->world->members[body];
    int32_t count = member->surface.mesh->point_count;
    char name[256];

    snprintf(name, sizeof name, "%s.pc2", member->scene->name);
    sn_buffer_clear(&recording->buffer);
    sn_write_pc2_header(count, recording->image_count, 0, 1, &recording->buffer);
    for (int32_t i = 0; i < recording->image_count; i++) {
        sn_write_pc2_frame(recording->images[i].points[body], count, true, &recording->buffer);
    }
    SN_TRY(sn_recording_write(recording, name, &recording->buffer));

    // The mesh that the cache moves.
    sinew_mesh rest = *member->surface.mesh;
    rest.labels = NULL;
    sn_mesh_view view = sn_mesh_view_of(&rest);
    snprintf(name, sizeof name, "%s.obj", member->scene->name);
    sn_buffer_clear(&recording->buffer);
    SN_TRY(sn_write_obj(&view, true, &recording->buffer));

    return sn_recording_write(recording, name, &recording->buffer);
}

// The context has the message of the last failure, which says as much as the first: the same disk
// is full.
static void keep_first(sinew_status *status, sinew_status next) {
    if (*status == SINEW_OK) {
        *status = next;
    }
}

// The files of one body that are complete only at the end.
static sinew_status finish_body(sinew_recording *recording, int32_t body) {
    const char *name = recording->scene->bodies[body].name;
    bool frames = recording->world->members[body].frame_count > 0;
    int32_t formats = recording->def.formats;
    sinew_status status = SINEW_OK;

    // Every file is attempted; the first failure is returned.
    if (formats & SINEW_FORMAT_VTU) {
        keep_first(&status, write_pvd(recording, name, ""));
    }
    if (formats & SINEW_FORMAT_VTU && frames) {
        keep_first(&status, write_pvd(recording, name, "_frames"));
    }
    if (formats & SINEW_FORMAT_VTU &&
        has_contact_surface(recording, &recording->world->members[body])) {
        keep_first(&status, write_pvd(recording, name, "_surface"));
    }
    if (formats & SINEW_FORMAT_PC2) {
        keep_first(&status, write_pc2(recording, body));
    }
    if (formats & SINEW_FORMAT_SKIN && frames) {
        keep_first(&status, sn_recording_write_skin(recording, body));
    }

    return status;
}

// A build without libpng draws no pictures; the recording is complete without them. The context
// then has the message about that, and gets back the one of an earlier failure.
static sinew_status finish_preview(sinew_recording *recording, sinew_status earlier) {
    char message[512];
    snprintf(message, sizeof message, "%s", sinew_context_message(recording->context));

    sinew_status drawn = sn_recording_write_preview(recording);
    recording->pictureless = drawn == SINEW_UNSUPPORTED;
    if (recording->pictureless && earlier != SINEW_OK) {
        return sn_fail(recording->context, earlier, "%s", message);
    }
    return recording->pictureless ? SINEW_OK : drawn;
}

sinew_status sinew_recording_finish(sinew_recording *recording) {
    SN_NEED(NULL, recording);

    double begin = sn_seconds();
    int32_t formats = recording->def.formats;
    int32_t bodies = recording->image_count > 0 ? recording->scene->body_count : 0;
    sinew_status status = SINEW_OK;

    if (recording->probes.size > 0 && formats & SINEW_FORMAT_CSV) {
        keep_first(&status, sn_recording_write(recording, "probes.csv", &recording->probes));
    }
    if (recording->contacts.size > 0) {
        keep_first(&status, sn_recording_write(recording, "contact.csv", &recording->contacts));
    }
    for (int32_t i = 0; i < bodies; i++) {
        keep_first(&status, finish_body(recording, i));
    }
    if (bodies > 0 && formats & SINEW_FORMAT_GLB) {
        keep_first(&status, write_glb(recording));
    }

    if (formats & SINEW_FORMAT_PNG && recording->moment_count > 0) {
        keep_first(&status, finish_preview(recording, status));
    }

    if (!recording->def.write) {
        keep_first(&status, sinew_folder_flush(recording->context, recording->def.folder));
    }
    recording->output_seconds += sn_seconds() - begin;
    return status;
}

// --- Reports

void sinew_recording_get_info(const sinew_recording *recording, sinew_recording_info *info) {
    SN_NEED_OR(, recording && info);
    *info = (sinew_recording_info){.image_count = recording->image_count,
                                   .last_image = recording->last_image,
                                   .step_count = recording->steps,
                                   .unconverged_count = recording->unconverged_steps,
                                   .rescued_count = recording->rescued_steps,
                                   .largest_residual = recording->largest_residual,
                                   .simulate_seconds = recording->simulate_seconds,
                                   .output_seconds = recording->output_seconds,
                                   .pictureless = recording->pictureless,
                                   .contact = recording->contact};
}

bool sinew_recording_get_skin(const sinew_recording *recording, int32_t body,
                              sinew_recorded_skin *skin) {
    SN_NEED_OR(false, recording && skin);
    bool exists = recording->skins && body >= 0 && body < recording->scene->body_count &&
                  recording->world->members[body].frame_count > 0;
    if (exists) {
        *skin = recording->skins[body];
    }
    return exists;
}
