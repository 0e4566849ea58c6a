// Which coefficient of friction acts between two things.
#ifndef SN_DYNAMICS_CONTACT_TABLE_H
#define SN_DYNAMICS_CONTACT_TABLE_H

#include "base/memory.h"

// What decides the friction of a body or an obstacle.
typedef struct sn_contact_grip {
    double friction;  // coefficient [-]; below 0: the world's
    int32_t material; // in the table of pairs; 0: none
} sn_contact_grip;

// The coefficient between two materials, which are in ascending order.
typedef struct sn_pair_friction {
    int32_t material[2];
    double friction; // [-]
} sn_pair_friction;

typedef struct sn_friction_table {
    sn_pair_friction *pairs;
    int32_t count;
    size_t capacity;
} sn_friction_table;

struct sn_contact;

// The coefficient of the table, or the geometric mean of both.
double sn_contact_mix_friction(const struct sn_contact *contact, sn_contact_grip a,
                               sn_contact_grip b);
void sn_friction_table_destroy(sinew_context *context, sn_friction_table *table);

#endif
