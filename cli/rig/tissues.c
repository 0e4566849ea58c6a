// The table of tissues: a JSON file in which each label has a name, a material as in scenes, and
// whether it is rigid.
#include "rig/rig.h"

#include "base/memory.h"
#include "io/scene/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig_table {
    sinew_bytes *bytes;
    sn_scene scene; // what the materials are read into
};

static void read_tissue(rig_run *rig, sn_scene_reader *reader, const sn_json *json, int32_t index) {
    sinew_autorig_tissue *tissue = &rig->tissues[index];
    *tissue = sinew_default_autorig_tissue();

    char *end;
    long label = strtol(json->key, &end, 10);
    if (*end || label < 1 || label > 65535) {
        sn_json_key_mistake(reader->mistakes, json, "labels are whole numbers from 1 to 65535");
    }

    tissue->label = (int32_t)label;
    snprintf(rig->tissue_names[index], RIG_NAME, "label %ld", label);
    if (!sn_scene_check_object(reader, json, SN_KEYS("name", "material", "rigid"))) {
        return;
    }

    const char *name = NULL;
    sn_json_string(reader->mistakes, sn_json_get(json, "name"), &name);
    if (name) {
        snprintf(rig->tissue_names[index], RIG_NAME, "%s", name);
    }

    for (int32_t i = 0; i < index; i++) {
        if (strcmp(rig->tissue_names[i], rig->tissue_names[index]) != 0) {
            continue;
        }
        sn_json_mistake(reader->mistakes, sn_json_get(json, "name"),
                        "two tissues have the name \"%s\"", name);
    }

    sn_json_boolean(reader->mistakes, sn_json_get(json, "rigid"), &tissue->rigid);
    rig->materials[index] = sn_json_get(json, "material");

    int32_t material = sn_scene_read_material(reader, rig->materials[index]);
    if (material >= 0) {
        tissue->material = reader->scene->materials[material].def;
    }
}

static void read_table(rig_run *rig, sn_scene_reader *reader, const sn_json *root) {
    if (!root || !sn_json_is(reader->mistakes, root, SN_JSON_OBJECT)) {
        return;
    }

    rig->tissue_count = 0;
    for (int32_t i = 0; i < root->count; i++) {
        const char *key = root->items[i].key;
        if (key[0] == '/' || key[0] == '$') {
            continue; // a remark
        }

        if (rig->tissue_count == RIG_TISSUES) {
            sn_json_key_mistake(reader->mistakes, &root->items[i], "more than %d tissues",
                                RIG_TISSUES);
            return;
        }

        read_tissue(rig, reader, &root->items[i], rig->tissue_count++);
    }

    if (rig->tissue_count == 0) {
        sn_json_mistake(reader->mistakes, root, "the table is empty");
    }
}

static int fail_with(const rig_run *rig, const char *path, sn_mistakes *mistakes) {
    if (mistakes->total == 0) {
        return rig_fail(rig);
    }

    sn_mistakes_sort(mistakes);
    sn_buffer text = sn_buffer_create(rig->context);

    sn_mistakes_print(mistakes, &text);
    fwrite(text.data, 1, text.size, stderr);
    sn_buffer_destroy(&text);

    return cli_fail(rig->command, CLI_BAD_INPUT, "%s: %lld mistake%s", path,
                    (long long)mistakes->total, mistakes->total == 1 ? "" : "s");
}

static sinew_status read_file(rig_run *rig, const char *path, sn_mistakes *mistakes) {
    struct rig_table *table = rig->table;
    SN_TRY(sinew_bytes_load(rig->context, path, (size_t)16 << 20, &table->bytes));
    sn_json_options options = {.name = path, .comments = true};
    SN_TRY(sn_json_parse(rig->context, sinew_bytes_get_data(table->bytes),
                         sinew_bytes_get_size(table->bytes), &options, mistakes,
                         &table->scene.document));
    sn_scene_reader reader = {&table->scene, mistakes};
    read_table(rig, &reader, table->scene.document.root);
    SN_TRY(sn_arena_status(&table->scene.arena));

    return sn_mistakes_status(mistakes);
}

int rig_read_tissues(rig_run *rig, const char *path) {
    rig->table = sn_allocate(rig->context, 1, sizeof *rig->table);
    if (!rig->table) {
        return rig_fail(rig);
    }

    rig->table->scene.arena = sn_arena_create(rig->context);
    rig->table->scene.document.arena = sn_arena_create(rig->context);
    rig->table->scene.unit = 1;

    sn_mistakes mistakes = sn_mistakes_create(rig->context);
    int status =
        read_file(rig, path, &mistakes) == SINEW_OK ? CLI_OK : fail_with(rig, path, &mistakes);

    sn_mistakes_destroy(&mistakes);
    return status;
}

void rig_free_tissues(rig_run *rig) {
    if (!rig->table) {
        return;
    }

    sn_json_document_destroy(&rig->table->scene.document);
    sn_arena_destroy(&rig->table->scene.arena);
    sinew_bytes_destroy(rig->table->bytes);
    sn_release(rig->context, rig->table, 1, sizeof *rig->table);
    rig->table = NULL;
}
