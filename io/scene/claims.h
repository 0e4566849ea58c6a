// Which entry of a scene decides each direction of a node or frame, where several entries hold the
// same one. Entries add up: each holds its own directions. Where two of them share a direction, a
// motion takes precedence over a plain hold and a later motion over an earlier one, and both
// entries are named in a warning.
#ifndef SN_IO_SCENE_CLAIMS_H
#define SN_IO_SCENE_CLAIMS_H

#include "io/scene/scene.h"

#include "base/memory.h"

enum { SN_CLAIM_NONE = -1, SN_CLAIM_MOST_DIRECTIONS = 4 };

// What one entry found claimed by an earlier one.
typedef struct sn_claim_conflict {
    int32_t count;       // nodes or frames
    int32_t first, last; // of them
    int32_t directions;  // bits
} sn_claim_conflict;

typedef struct sn_claims {
    const sn_scene_body *body;
    const char *item;             // "node" or "frame", for messages
    const char *own;              // who holds what no entry of `fixed` and `scripted` does
    int32_t width;                // directions of an item: x, y, z and perhaps rotation
    int32_t *owner;               // [item][direction]: an entry, one of the two below, or none
    int32_t own_held, own_moved;  // in place of an entry: held by `own`, or moved by it
    sn_claim_conflict *conflicts; // [entry] of the entry that is being added
} sn_claims;

// A table without claims, in the arena.
sinew_status sn_claims_create(sn_arena *arena, const sn_scene_body *body, int32_t items,
                              int32_t width, sn_claims *claims);

// Claims directions (bits) of an item for an entry, or for own_held or own_moved.
void sn_claims_add(sn_claims *claims, int32_t entry, int32_t item, int32_t directions);

// Warns of what was claimed twice since the last call, for an entry that has been added completely.
void sn_claims_report(sinew_context *context, sn_claims *claims, int32_t entry);

// The directions of an item that an entry decides, and those that anything does.
int32_t sn_claims_get(const sn_claims *claims, int32_t entry, int32_t item);
int32_t sn_claims_get_all(const sn_claims *claims, int32_t item);

#endif
