// Fields of the nodes: a number on each voxel that a node reaches. They are made by fronts, side by
// side.
#ifndef SN_FRAME_WEIGHTS_NODE_FIELDS_H
#define SN_FRAME_WEIGHTS_NODE_FIELDS_H

#include "frame/weights/weights.h"

// Voxels ascending.
typedef struct sn_node_field {
    int32_t count;
    int32_t *voxel;
    double *value;
} sn_node_field;

// Place in the field of the first voxel that is not below `voxel`.
int32_t sn_field_begin(const sn_node_field *field, int32_t voxel);

// A set of voxels, to list them in ascending order.
typedef struct sn_voxel_set {
    uint64_t *words;
    int32_t word_count;
} sn_voxel_set;

sn_voxel_set sn_voxel_set_push(sn_arena *arena, int32_t voxel_count);

static inline void sn_voxel_set_add(sn_voxel_set *set, int32_t voxel) {
    set->words[voxel >> 6] |= (uint64_t)1 << (voxel & 63);
}

// Writes the voxels in ascending order, empties the set, returns how many there were.
int32_t sn_voxel_set_drain(sn_voxel_set *set, int32_t *voxels);

// Starts a front at a node; the node's place has been checked.
void sn_seed_node(const sn_shape *shape, sn_front *front, int32_t node, int32_t source);

// What a front has reached, as a field; `set` is empty before and after.
void sn_store_front(const sn_front *front, sn_voxel_set *set, int32_t *voxels, double *distances);

// Makes fields, several at a time, each in a slot: a workspace that holds what one field needs
// while it is made.
typedef struct sn_field_maker {
    // Computes the field of a node in a slot; returns on how many voxels it is.
    int32_t (*compute)(void *data, int32_t node, int32_t slot);
    // Writes the field that was computed last in a slot.
    void (*store)(void *data, int32_t slot, int32_t *voxels, double *values);
    void *data;
    int32_t slots;
} sn_field_maker;

enum { SN_FIELD_SLOTS = 8 };

// How many fields to make at a time: no more than threads and nodes, and few on large grids, whose
// workspaces are large.
int32_t sn_field_slots(const sinew_context *context, int32_t voxel_count, int32_t node_count);

// The fields of `count` nodes, taken up in the given order (NULL: by number); their arrays go into
// the arena. The result depends on neither order nor slots.
sinew_status sn_make_fields(const sn_shape *shape, const sn_field_maker *maker,
                            const int32_t *order, int32_t count, sn_arena *arena,
                            sn_node_field *fields);

// Nodes by the number of voxels their fields have, most first: long ones are taken up early, so
// that all threads end together.
sinew_status sn_order_fields(const sn_node_field *fields, int32_t count, sn_arena *arena,
                             int32_t **order);

// The same by voxel: compressed rows of (node, value), nodes ascending.
sinew_status sn_transpose_fields(sinew_context *context, sn_arena *arena,
                                 const sn_node_field *fields, int32_t node_count,
                                 int32_t voxel_count, sn_weight_table *table);

#endif
