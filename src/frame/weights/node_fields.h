// Node fields: a number on each voxel that a node reaches, computed by fronts, several nodes in
// parallel. What enters is a shape and a function that computes one field; what leaves is the
// fields by node, or by voxel as compressed rows.
#ifndef SN_FRAME_WEIGHTS_NODE_FIELDS_H
#define SN_FRAME_WEIGHTS_NODE_FIELDS_H

#include "frame/weights/weights.h"

// A field. Voxels are in ascending order.
typedef struct sn_node_field {
    int32_t count;
    int32_t *voxel;
    double *value;
} sn_node_field;

// Returns the index in the field of the first voxel that is not below `voxel`.
int32_t sn_field_begin(const sn_node_field *field, int32_t voxel);

// A set of voxels that can list its members in ascending order.
typedef struct sn_voxel_set {
    uint64_t *words;
    int32_t word_count;
} sn_voxel_set;

sn_voxel_set sn_voxel_set_push(sn_arena *arena, int32_t voxel_count);

static inline void sn_voxel_set_add(sn_voxel_set *set, int32_t voxel) {
    set->words[voxel >> 6] |= (uint64_t)1 << (voxel & 63);
}

// Writes the members in ascending order, empties the set and returns how many there were.
int32_t sn_voxel_set_drain(sn_voxel_set *set, int32_t *voxels);

// Starts a front at a node, whose position has been checked.
void sn_seed_node(const sn_shape *shape, sn_front *front, int32_t node, int32_t source);

// Stores what a front has reached as a field; `set` is empty before and after.
void sn_store_front(const sn_front *front, sn_voxel_set *set, int32_t *voxels, double *distances);

// How to compute fields, several at a time. Each uses a slot, the workspace of one field.
typedef struct sn_field_maker {
    // Computes the field of a node in a slot; returns its number of voxels.
    int32_t (*compute)(void *data, int32_t node, int32_t slot);
    // Writes the field that the slot computed last.
    void (*store)(void *data, int32_t slot, int32_t *voxels, double *values);
    void *data;
    int32_t slots;
} sn_field_maker;

enum { SN_FIELD_SLOTS = 8 };

// Returns how many fields to compute at a time: at most as many as threads and nodes, and fewer on
// large grids, whose workspaces are large.
int32_t sn_field_slots(const sinew_context *context, int32_t voxel_count, int32_t node_count);

// Computes the fields of `count` nodes, starting them in the given order (NULL: by number). Their
// arrays go into the arena. The result depends on neither the order nor the slots.
sinew_status sn_make_fields(const sn_shape *shape, const sn_field_maker *maker,
                            const int32_t *order, int32_t count, sn_arena *arena,
                            sn_node_field *fields);

// Sorts nodes by the size of their fields, largest first. Starting the long ones early lets all
// threads end at about the same time.
sinew_status sn_order_fields(const sn_node_field *fields, int32_t count, sn_arena *arena,
                             int32_t **order);

// Transposes fields into compressed rows of (node, value) for each voxel, nodes ascending.
sinew_status sn_transpose_fields(sinew_context *context, sn_arena *arena,
                                 const sn_node_field *fields, int32_t node_count,
                                 int32_t voxel_count, sn_weight_table *table);

#endif
