// The table of tissues: a JSON file in which each label, each range of labels, or all others have a
// name, a material as in scenes, and whether they are rigid.
#include "io/rig/rig.h"

#include "io/public/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "7", "3-17" or "default".
static void read_labels(sn_scene_reader *reader, const sn_json *json, sn_tissue_entry *entry) {
    if (strcmp(json->key, "default") == 0) {
        return;
    }

    char *end;
    long first = strtol(json->key, &end, 10);
    long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
    if (*end || first < 1 || last < first || last > 65535) {
        sn_json_key_mistake(reader->mistakes, json,
                            "labels are whole numbers from 1 to 65535, ranges such as \"3-17\", or "
                            "\"default\" for all others");
        return;
    }
    entry->first = (int32_t)first;
    entry->last = (int32_t)last;
}

// Names become those of the scene's materials, so that no two may be equal.
static void read_name(sn_scene_reader *reader, const sinew_tissue_table *table, const sn_json *json,
                      int32_t index) {
    sn_tissue_entry *entry = &table->entries[index];
    sn_json_string(reader->mistakes, sn_json_get(json, "name"), &entry->name);

    // Without a name, one that says which labels it has.
    if (!entry->name && entry->first == 0) {
        entry->name = "other labels";
    } else if (!entry->name) {
        enum { SIZE = 32 };
        char *name = SN_PUSH(&reader->scene->arena, char, SIZE);
        if (name) {
            snprintf(name, SIZE, "label %s", json->key);
        }
        entry->name = name;
    }

    if (!entry->name) {
        return; // out of memory, which the arena reports
    }

    // No two may be equal.
    for (int32_t i = 0; i < index; i++) {
        if (table->entries[i].name && strcmp(table->entries[i].name, entry->name) == 0) {
            const sn_json *own = sn_json_get(json, "name");
            sn_json_mistake(reader->mistakes, own ? own : json, "two tissues have the name \"%s\"",
                            entry->name);
        }
    }
}

static void read_entry(sinew_tissue_table *table, sn_scene_reader *reader, const sn_json *json,
                       int32_t index) {
    sn_tissue_entry *entry = &table->entries[index];
    *entry = (sn_tissue_entry){.at = json, .tissue = sinew_default_autorig_tissue()};
    read_labels(reader, json, entry);
    if (!sn_scene_check_object(reader, json, SN_KEYS("name", "material", "rigid"))) {
        return;
    }

    read_name(reader, table, json, index);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "rigid"), &entry->tissue.rigid);
    entry->source = sn_json_get(json, "material");
    int32_t material = sn_scene_read_material(reader, entry->source);
    if (material >= 0) {
        entry->tissue.material = reader->scene->materials[material].def;
    }
}

static sinew_status read_entries(sinew_tissue_table *table, sn_scene_reader *reader,
                                 const sn_json *root) {
    if (!root || !sn_json_is(reader->mistakes, root, SN_JSON_OBJECT)) {
        return SINEW_OK;
    }

    table->entries = SN_PUSH(&table->scene.arena, sn_tissue_entry, root->count);
    SN_TRY(sn_arena_status(&table->scene.arena));
    for (int32_t i = 0; i < root->count; i++) {
        const char *key = root->items[i].key;
        if (key[0] != '/' && key[0] != '$') { // a remark
            read_entry(table, reader, &root->items[i], table->entry_count++);
        }
    }

    if (table->entry_count == 0) {
        sn_json_mistake(reader->mistakes, root, "the table is empty");
    }
    return SINEW_OK;
}

// --- one tissue for each label

enum { LABELS = 65536 };

// Labels that the entries name one by one, and the solid's labels that are in a range or left to
// the default.
static void find_owners(const sinew_tissue_table *table, const sinew_voxels *voxels,
                        sn_mistakes *mistakes, bool *used, int32_t *owner) {
    int32_t fallback = -1;
    for (int32_t i = 0; i < LABELS; i++) {
        owner[i] = -1;
    }

    // Each label belongs to one entry.
    for (int32_t i = 0; i < table->entry_count; i++) {
        const sn_tissue_entry *entry = &table->entries[i];
        if (entry->first == 0) {
            fallback = i;
            continue;
        }
        for (int32_t label = entry->first; label <= entry->last; label++) {
            if (owner[label] >= 0 && mistakes) {
                sn_json_key_mistake(mistakes, entry->at, "label %d is in \"%s\" already",
                                    (int)label, table->entries[owner[label]].at->key);
                break;
            }
            owner[label] = i;
        }
    }

    // The labels that the solid has.
    int32_t count = voxels ? sinew_voxels_get_count(voxels) : 0;
    const uint16_t *labels = voxels ? sinew_voxels_get_labels(voxels) : NULL;
    for (int32_t v = 0; v < count; v++) {
        used[labels[v]] = true;
    }

    // Ranges and the default apply only to labels that occur.
    for (int32_t label = 1; label < LABELS; label++) {
        bool alone = owner[label] >= 0 &&
                     table->entries[owner[label]].first == table->entries[owner[label]].last;
        if (used[label] && owner[label] < 0) {
            owner[label] = fallback;
        } else if (!used[label] && !alone) {
            owner[label] = -1;
        }
    }
}

static sinew_status take_apart(sinew_tissue_table *table, const sinew_voxels *voxels,
                               sn_mistakes *mistakes) {
    sn_arena *arena = &table->scene.arena;
    sn_arena scratch = sn_arena_create(table->context);
    int32_t *owner = SN_PUSH(&scratch, int32_t, LABELS);
    bool *used = SN_PUSH(&scratch, bool, LABELS);

    // One tissue for each label that has an entry.
    if (sn_arena_status(&scratch) == SINEW_OK) {
        find_owners(table, voxels, mistakes, used, owner);
        for (int32_t label = 1; label < LABELS; label++) {
            table->count += owner[label] >= 0;
        }
    }

    table->tissues = SN_PUSH(arena, sinew_autorig_tissue, table->count);
    table->entry = SN_PUSH(arena, int32_t, table->count);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        status = sn_arena_status(arena);
    }
    for (int32_t label = 1, i = 0; status == SINEW_OK && label < LABELS; label++) {
        if (owner[label] >= 0) {
            table->tissues[i] = table->entries[owner[label]].tissue;
            table->tissues[i].label = label;
            table->entry[i++] = owner[label];
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status read(sinew_tissue_table *table, const sinew_source *source,
                         const sinew_voxels *voxels, sn_mistakes *mistakes) {
    sn_json_options options = {.name = source->name, .comments = true};
    SN_TRY(sn_json_parse(table->context, source->data, source->size, &options, mistakes,
                         &table->scene.document));
    sn_scene_reader reader = {&table->scene, mistakes};
    SN_TRY(read_entries(table, &reader, table->scene.document.root));
    SN_TRY(take_apart(table, voxels, mistakes));

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
                                     const sinew_voxels *voxels, sinew_scene_mistakes *mistakes,
                                     sinew_tissue_table **table) {
    SN_NEED(NULL, context);
    SN_NEED(context, source);

    sinew_tissue_table *made = create(context);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_mistakes found = sn_mistakes_create(context);
    sinew_status status = read(made, source, voxels, &found);

    // Mistakes are handed over in any case.
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
    SN_NEED(NULL, context);
    SN_NEED(context, table);

    int32_t count;
    const sinew_specimen_tissue *from = sinew_specimen_tissues(specimen, &count);
    sinew_tissue_table *made = create(context);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->entries = SN_PUSH(&made->scene.arena, sn_tissue_entry, count);
    sinew_status status = sn_arena_status(&made->scene.arena);

    // An entry for each tissue, as if read from a file.
    for (int32_t i = 0; status == SINEW_OK && i < count; i++) {
        sinew_autorig_tissue tissue = sinew_default_autorig_tissue();
        tissue.rigid = from[i].rigid;
        tissue.material.young = from[i].young;
        tissue.material.poisson = from[i].poisson;
        tissue.material.density = from[i].density;
        made->entries[made->entry_count++] = (sn_tissue_entry){
            .first = from[i].label, .last = from[i].label, .name = from[i].name, .tissue = tissue};
    }
    if (status == SINEW_OK) {
        status = take_apart(made, NULL, NULL);
    }
    if (status != SINEW_OK) {
        sinew_tissue_table_destroy(made);
        return status;
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
    SN_NEED_OR(NULL, table && count);
    *count = table->count;
    return table->tissues;
}

const char *sinew_tissue_table_get_name(const sinew_tissue_table *table, int32_t index) {
    SN_NEED_OR(NULL, table);
    return index >= 0 && index < table->count ? table->entries[table->entry[index]].name : NULL;
}
