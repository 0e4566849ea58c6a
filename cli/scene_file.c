#define _XOPEN_SOURCE 700 // realpath

#include "scene_file.h"
#include "progress.h"

#include "base/context.h"
#include "io/scene/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CERTAIN = 0.5; // a field below it is uncertain somewhere worth looking at

bool cli_allow_outside = false;

void cli_fetcher_create(sinew_context *context, const char *path, cli_fetcher *fetcher) {
    memset(fetcher, 0, sizeof *fetcher);
    fetcher->context = context;
    const char *slash = strrchr(path, '/');
    snprintf(fetcher->folder, sizeof fetcher->folder, "%.*s", slash ? (int)(slash - path + 1) : 0,
             path);
}

static bool has_parent_part(const char *name) {
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) {
            return true;
        }
    }

    return false;
}

// Whether links lead out of the folder. What does not exist leads nowhere.
static bool leads_outside(const char *folder, const char *path) {
    char *root = realpath(*folder ? folder : ".", NULL);
    char *target = realpath(path, NULL);
    size_t length = root ? strlen(root) : 0;
    bool inside = !root || !target || strcmp(root, "/") == 0 ||
                  (strncmp(root, target, length) == 0 && target[length] == '/');

    free(root);
    free(target);
    return !inside;
}

static sinew_status check_reach(const cli_fetcher *fetcher, const char *name, const char *path) {
    if (cli_allow_outside) {
        return SINEW_OK;
    }

    const char *folder = fetcher->folder[0] ? fetcher->folder : ".";
    if (name[0] == '/' || has_parent_part(name) || leads_outside(fetcher->folder, path)) {
        return sn_fail(fetcher->context, SINEW_INVALID_DATA,
                       "it is outside the folder %s; --allow-outside permits that", folder);
    }

    return SINEW_OK;
}

static sinew_status fetch(cli_fetcher *fetcher, const char *name, cli_fetched **out) {
    char path[8192];
    snprintf(path, sizeof path, "%s%s", name[0] == '/' ? "" : fetcher->folder, name);
    for (int32_t i = 0; i < fetcher->count; i++) {
        if (strcmp(fetcher->files[i].name, name) == 0) {
            *out = &fetcher->files[i];
            return SINEW_OK;
        }
    }

    size_t length = strlen(name);
    if (fetcher->count == CLI_FETCHES || length >= sizeof fetcher->files[0].name) {
        return sn_fail(fetcher->context, SINEW_UNSUPPORTED,
                       "at most %d files are read, with names of at most %zu bytes", CLI_FETCHES,
                       sizeof fetcher->files[0].name - 1);
    }

    cli_fetched *file = &fetcher->files[fetcher->count];
    SN_TRY(check_reach(fetcher, name, path));
    SN_TRY(cli_read_file(fetcher->context, path, 0, &file->bytes));
    memcpy(file->name, name, length + 1);
    fetcher->count++;
    *out = file;

    return SINEW_OK;
}

bool cli_fetch(void *user, const char *name, const void **data, size_t *size) {
    cli_fetched *file;
    cli_fetcher *fetcher = user;
    sinew_status status = fetch(fetcher, name, &file);
    if (status != SINEW_OK) {
        fetcher->io_failed = fetcher->io_failed || status == SINEW_IO_FAILED;
        return false;
    }

    *data = file->bytes.data;
    *size = file->bytes.size;
    return true;
}

void cli_fetcher_destroy(cli_fetcher *fetcher) {
    for (int32_t i = 0; i < fetcher->count; i++) {
        cli_free_bytes(fetcher->context, &fetcher->files[i].bytes);
    }
    fetcher->count = 0;
}

static void print_mistakes(sinew_context *context, const sn_mistakes *mistakes) {
    sn_buffer text = sn_buffer_create(context);
    sn_mistakes_print(mistakes, &text);
    fwrite(text.data, 1, text.size, stderr);
    sn_buffer_destroy(&text);
}

static int fail_with_mistakes(sinew_context *context, const cli_command *command,
                              const cli_scene_file *file, const char *path) {
    if (file->mistakes.total == 0) {
        return cli_fail_call(command, context);
    }
    print_mistakes(context, &file->mistakes);
    return cli_fail(command, file->fetcher.io_failed ? CLI_IO_FAILED : CLI_BAD_INPUT,
                    "%s: %lld mistake%s", path, (long long)file->mistakes.total,
                    file->mistakes.total == 1 ? "" : "s");
}

int cli_scene_open(sinew_context *context, const cli_command *command, const char *path,
                   const cli_list *settings, cli_scene_file *file) {
    memset(file, 0, sizeof *file);
    file->mistakes = sn_mistakes_create(context);
    cli_fetcher_create(context, path, &file->fetcher);
    if (cli_read_file(context, path, (size_t)64 << 20, &file->bytes) != SINEW_OK) {
        return cli_fail_call(command, context);
    }

    file->read = true;
    if (sn_scene_read(context, path, file->bytes.data, file->bytes.size, settings->items,
                      settings->count, &file->mistakes, &file->scene) != SINEW_OK) {
        return fail_with_mistakes(context, command, file, path);
    }

    return CLI_OK;
}

int cli_scene_build(sinew_context *context, const cli_command *command, cli_scene_file *file,
                    sn_scene_world **world) {
    cli_activity activity;
    cli_activity_begin(&activity, "building the scene");
    sinew_status status =
        sn_scene_build(context, &file->scene, cli_fetch, &file->fetcher, &file->mistakes, world);
    cli_activity_end(&activity);
    if (status != SINEW_OK) {
        return fail_with_mistakes(context, command, file, file->scene.name);
    }
    return CLI_OK;
}

void cli_scene_close(sinew_context *context, cli_scene_file *file) {
    if (file->read) {
        sn_scene_destroy(&file->scene);
    }
    cli_fetcher_destroy(&file->fetcher);
    sn_mistakes_destroy(&file->mistakes);
    cli_free_bytes(context, &file->bytes);
}

void cli_scene_print_loads(const sn_scene *scene, const sn_scene_world *world, double time) {
    static const char *const kinds[] = {"force", "traction", "pressure"};
    for (int32_t i = 0; i < scene->body_count; i++) {
        sn_scene_member *member = &world->members[i];
        for (int32_t k = 0; k < member->scene->load_count; k++) {
            sn_load_report report;
            if (sn_scene_member_get_load(member, k, time, &report) != SINEW_OK) {
                continue;
            }

            const double *f = report.force;
            printf("%s: loads[%d], %s", member->scene->name, (int)k,
                   kinds[member->scene->loads[k].kind]);
            if (report.area > 0) {
                printf(" on %.4g m^2", report.area);
            }
            printf(", in all (%.4g, %.4g, %.4g) N at %g s\n", f[0], f[1], f[2], time);
        }
    }
}

static void print_member_supports(sn_scene_member *member, const sn_support_report *reports) {
    for (int32_t k = 0; k < member->scene->support_count; k++) {
        char name[SN_SUPPORT_NAME_SIZE];
        const double *f = reports[k].force;
        const double *t = reports[k].torque;
        sn_scene_support_name(member->scene, k, name);
        printf("%s: %s, reactions (%.4g, %.4g, %.4g) N, (%.4g, %.4g, %.4g) Nm about the origin\n",
               member->scene->name, name, f[0], f[1], f[2], t[0], t[1], t[2]);
    }
}

void cli_scene_print_supports(sinew_context *context, const sn_scene *scene,
                              const sn_scene_world *world) {
    for (int32_t i = 0; i < scene->body_count; i++) {
        sn_scene_member *member = &world->members[i];
        if (member->scene->support_count == 0 || member->scene->positions.used) {
            continue;
        }

        sn_arena scratch = sn_arena_create(context);
        sn_support_report *reports =
            SN_PUSH(&scratch, sn_support_report, member->scene->support_count + 1);
        if (sn_arena_status(&scratch) == SINEW_OK &&
            sn_scene_member_compute_supports(member, reports) == SINEW_OK) {
            print_member_supports(member, reports);
        }
        sn_arena_destroy(&scratch);
    }
}

void cli_scene_print_fields(const sn_scene *scene, const sn_scene_world *world) {
    for (int32_t i = 0; i < scene->body_count; i++) {
        const sn_scene_member *member = &world->members[i];
        if (!member->field || sinew_field_get_curve_count(member->field) == 0) {
            continue;
        }

        sinew_field_report report;
        sinew_field_get_report(member->field, &report);

        int32_t curves = sinew_field_get_curve_count(member->field);
        const double *at = report.least_certain_at;

        printf("%s: %s from %d curve%s; certainty (0 to 1) at least %.2g", member->scene->name,
               sinew_field_get_kind(member->field) == SINEW_FIELD_FIBRES ? "fibres" : "frames",
               (int)curves, curves == 1 ? "" : "s", report.least_certainty);
        if (report.least_certainty < CERTAIN) {
            printf(", least near [%.3g, %.3g, %.3g] m", at[0], at[1], at[2]);
        }

        printf("\n");
    }
}
