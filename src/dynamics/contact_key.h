// What a touch is known by from step to step, the bodies or obstacle and the features, and what is
// kept of it.
#ifndef SN_DYNAMICS_CONTACT_KEY_H
#define SN_DYNAMICS_CONTACT_KEY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sn_touch_key {
    uint64_t who;  // body and obstacle or other body, kind
    uint64_t what; // features
} sn_touch_key;

// Kinds of touches: a vertex or a point inside a triangle against an obstacle, a vertex against a
// triangle of a body, two edges of bodies; a vertex, triangle or edge against a triangle, vertex or
// edge of a mesh obstacle.
typedef enum sn_touch_kind {
    SN_TOUCH_VERTEX,
    SN_TOUCH_TRIANGLE,
    SN_TOUCH_VERTEX_TRIANGLE,
    SN_TOUCH_EDGES,
    SN_TOUCH_MESH_VERTEX,
    SN_TOUCH_MESH_TRIANGLE,
    SN_TOUCH_MESH_EDGES,
} sn_touch_kind;

enum { SN_TOUCH_KIND_SHIFT = 60, SN_TOUCH_BODY_SHIFT = 30, SN_TOUCH_NUMBER_MASK = (1 << 30) - 1 };

// `a` is the index of a body, `b` that of another or the number of an obstacle; features are those
// of the bodies' surfaces.
static inline sn_touch_key sn_touch_make_key(sn_touch_kind kind, int32_t a, uint32_t b,
                                             int32_t first, int32_t second) {
    return (sn_touch_key){(uint64_t)kind << SN_TOUCH_KIND_SHIFT |
                              (uint64_t)a << SN_TOUCH_BODY_SHIFT | (uint64_t)b,
                          (uint64_t)(uint32_t)first << 32 | (uint64_t)(uint32_t)second};
}

static inline sn_touch_kind sn_touch_key_kind(sn_touch_key key) {
    return (sn_touch_kind)(key.who >> SN_TOUCH_KIND_SHIFT);
}

// Whether the touch is between bodies.
static inline bool sn_touch_key_is_of_bodies(sn_touch_key key) {
    sn_touch_kind kind = sn_touch_key_kind(key);
    return kind == SN_TOUCH_VERTEX_TRIANGLE || kind == SN_TOUCH_EDGES;
}

static inline int32_t sn_touch_key_a(sn_touch_key key) {
    return (int32_t)(key.who >> SN_TOUCH_BODY_SHIFT & SN_TOUCH_NUMBER_MASK);
}

static inline int32_t sn_touch_key_b(sn_touch_key key) {
    return (int32_t)(key.who & SN_TOUCH_NUMBER_MASK);
}

static inline int sn_touch_key_compare(sn_touch_key a, sn_touch_key b) {
    if (a.who != b.who) {
        return a.who < b.who ? -1 : 1;
    }
    return a.what < b.what ? -1 : a.what > b.what;
}

// What is kept of a touch with a force.
typedef struct sn_touch_memory {
    sn_touch_key key;
    double multiplier; // [N]
    double force;      // normal, in the last step [N]
    double slip;       // tangential motion in the last step [m]
} sn_touch_memory;

enum { SN_TOUCH_VERTICES = 4 };

// The vertices that share the force of a contact: weights sum to 1 on the first feature and to -1
// on the second.
typedef struct sn_touch_shares {
    int32_t count;
    int32_t body[SN_TOUCH_VERTICES];   // index
    int32_t vertex[SN_TOUCH_VERTICES]; // of its surface
    double b[SN_TOUCH_VERTICES];
} sn_touch_shares;

#endif
