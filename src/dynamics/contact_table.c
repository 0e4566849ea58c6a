// The table of friction: coefficients of pairs of materials that are not the mean of both.
#include "dynamics/contact_touch.h"

#include <math.h>

// The entry of two materials, or -1. Tables are short.
static int32_t find_entry(const sn_friction_table *table, int32_t a, int32_t b) {
    int32_t low = a < b ? a : b;
    int32_t high = a < b ? b : a;
    for (int32_t i = 0; i < table->count; i++) {
        const int32_t *material = table->pairs[i].material;
        if (material[0] == low && material[1] == high) {
            return i;
        }
    }
    return -1;
}

static sinew_status add_entry(sinew_context *context, sn_friction_table *table, int32_t a,
                              int32_t b, double friction) {
    void *pairs = table->pairs;
    SN_TRY(sn_grow(context, &pairs, &table->capacity, (size_t)table->count,
                   (size_t)table->count + 1, sizeof *table->pairs));
    table->pairs = pairs;
    table->pairs[table->count++] = (sn_pair_friction){{a < b ? a : b, a < b ? b : a}, friction};
    return SINEW_OK;
}

sinew_status sinew_world_set_friction(sinew_world *world, int32_t material, int32_t other,
                                      double friction) {
    SN_NEED(NULL, world);

    if (material < 1 || other < 1) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "friction between materials %d and %d: materials are numbers from 1",
                       (int)material, (int)other);
    }
    if (!isfinite(friction)) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "friction between materials %d and %d is %g; it must be finite and at "
                       "least 0, or below 0 to remove the entry",
                       (int)material, (int)other, friction);
    }

    // Remove, add or change the entry.
    sn_contact *contact;
    SN_TRY(sn_contact_get(world, &contact));
    sn_friction_table *table = &contact->table;
    int32_t entry = find_entry(table, material, other);
    if (friction < 0) {
        if (entry >= 0) {
            table->pairs[entry] = table->pairs[--table->count];
        }
        return SINEW_OK;
    }
    if (entry < 0) {
        return add_entry(world->context, table, material, other, friction);
    }

    table->pairs[entry].friction = friction;
    return SINEW_OK;
}

double sinew_world_get_friction(const sinew_world *world, int32_t material, int32_t other) {
    SN_NEED_OR(0, world);
    if (!world->contact) {
        return -1;
    }
    const sn_friction_table *table = &world->contact->table;
    int32_t entry = find_entry(table, material, other);
    return entry < 0 ? -1 : table->pairs[entry].friction;
}

double sn_contact_mix_friction(const sn_contact *contact, sn_contact_grip a, sn_contact_grip b) {
    const sn_friction_table *table = &contact->table;
    if (a.material > 0 && b.material > 0) {
        int32_t entry = find_entry(table, a.material, b.material);
        if (entry >= 0) {
            return table->pairs[entry].friction;
        }
    }

    double world = contact->def.friction;
    return sqrt((a.friction < 0 ? world : a.friction) * (b.friction < 0 ? world : b.friction));
}

void sn_friction_table_destroy(sinew_context *context, sn_friction_table *table) {
    sn_release(context, table->pairs, table->capacity, sizeof *table->pairs);
}
