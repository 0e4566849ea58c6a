// The table of tissues: a JSON file in which each label has a name, a material as in scenes, and
// whether it is rigid.
#include "io/rig/rig.h"

#include "io/public/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_label(sn_scene_reader *reader, const sn_json *json, int32_t *label) {
    char *end;
    long value = strtol(json->key, &end, 10);
    if (*end || value < 1 || value > 65535) {
        sn_json_key_mistake(reader->mistakes, json, "labels are whole numbers from 1 to 65535");
        value = 0;
    }
    *label = (int32_t)value;
}

static void read_tissue(sinew_tissue_table *table, sn_scene_reader *reader, const sn_json *json,
                        int32_t index) {
    sinew_autorig_tissue *tissue = &table->tissues[index];
    *tissue = sinew_default_autorig_tissue();
    read_label(reader, json, &tissue->label);
    snprintf(table->names[index], SN_TISSUE_NAME, "label %d", (int)tissue->label);
    if (!sn_scene_check_object(reader, json, SN_KEYS("name", "material", "rigid"))) {
        return;
    }

    // Names become those of the scene's materials, so that no two may be equal.
    const char *name = NULL;
    sn_json_string(reader->mistakes, sn_json_get(json, "name"), &name);
    if (name) {
        snprintf(table->names[index], SN_TISSUE_NAME, "%s", name);
    }
    for (int32_t i = 0; i < index; i++) {
        if (strcmp(table->names[i], table->names[index]) == 0) {
            sn_json_mistake(reader->mistakes, sn_json_get(json, "name"),
                            "two tissues have the name \"%s\"", name);
        }
    }

    sn_json_boolean(reader->mistakes, sn_json_get(json, "rigid"), &tissue->rigid);
    table->materials[index] = sn_json_get(json, "material");
    int32_t material = sn_scene_read_material(reader, table->materials[index]);
    if (material >= 0) {
        tissue->material = reader->scene->materials[material].def;
    }
}

static void read_tissues(sinew_tissue_table *table, sn_scene_reader *reader, const sn_json *root) {
    if (!root || !sn_json_is(reader->mistakes, root, SN_JSON_OBJECT)) {
        return;
    }

    for (int32_t i = 0; i < root->count; i++) {
        const char *key = root->items[i].key;
        if (key[0] == '/' || key[0] == '$') {
            continue; // a remark
        }
        if (table->count == SN_MOST_TISSUES) {
            sn_json_key_mistake(reader->mistakes, &root->items[i], "more than %d tissues",
                                SN_MOST_TISSUES);
            return;
        }
        read_tissue(table, reader, &root->items[i], table->count++);
    }

    if (table->count == 0) {
        sn_json_mistake(reader->mistakes, root, "the table is empty");
    }
}

static sinew_status read(sinew_tissue_table *table, const sinew_source *source,
                         sn_mistakes *mistakes) {
    sn_json_options options = {.name = source->name, .comments = true};
    SN_TRY(sn_json_parse(table->context, source->data, source->size, &options, mistakes,
                         &table->scene.document));
    sn_scene_reader reader = {&table->scene, mistakes};
    read_tissues(table, &reader, table->scene.document.root);
    SN_TRY(sn_arena_status(&table->scene.arena));

    sn_mistakes_sort(mistakes);
    return sn_mistakes_status(mistakes);
}

static sinew_tissue_table *create(sinew_context *context) {
    sinew_tissue_table *made = sn_allocate(context, 1, sizeof *made);
    if (made) {
        made->context = context;
        made->scene.arena = sn_arena_create(context);
        made->scene.document.arena = sn_arena_create(context);
        made->scene.unit = 1;
    }
    return made;
}

sinew_status sinew_tissue_table_read(sinew_context *context, const sinew_source *source,
                                     sinew_scene_mistakes *mistakes, sinew_tissue_table **table) {
    sinew_tissue_table *made = create(context);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_mistakes found = sn_mistakes_create(context);
    sinew_status status = read(made, source, &found);
    if (mistakes) {
        mistakes->count = found.total;
        if (mistakes->text) {
            sn_mistakes_print(&found, &mistakes->text->buffer);
        }
    }

    sn_mistakes_destroy(&found);
    if (status != SINEW_OK) {
        sinew_tissue_table_destroy(made);
        return status;
    }

    *table = made;
    return SINEW_OK;
}

sinew_status sinew_tissue_table_create_specimen(sinew_context *context, sinew_specimen specimen,
                                                sinew_tissue_table **table) {
    int32_t count;
    const sinew_specimen_tissue *from = sinew_specimen_tissues(specimen, &count);
    sinew_tissue_table *made = create(context);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    SN_ASSERT(count <= SN_MOST_TISSUES);
    made->count = count;
    for (int32_t i = 0; i < count; i++) {
        sinew_autorig_tissue *tissue = &made->tissues[i];
        *tissue = sinew_default_autorig_tissue();
        tissue->label = from[i].label;
        tissue->rigid = from[i].rigid;
        tissue->material.young = from[i].young;
        tissue->material.poisson = from[i].poisson;
        tissue->material.density = from[i].density;
        snprintf(made->names[i], SN_TISSUE_NAME, "%s", from[i].name);
    }

    *table = made;
    return SINEW_OK;
}

void sinew_tissue_table_destroy(sinew_tissue_table *table) {
    if (!table) {
        return;
    }
    sn_json_document_destroy(&table->scene.document);
    sn_arena_destroy(&table->scene.arena);
    sn_release(table->context, table, 1, sizeof *table);
}

const sinew_autorig_tissue *sinew_tissue_table_get(const sinew_tissue_table *table,
                                                   int32_t *count) {
    *count = table->count;
    return table->tissues;
}

const char *sinew_tissue_table_get_name(const sinew_tissue_table *table, int32_t index) {
    return index >= 0 && index < table->count ? table->names[index] : NULL;
}
