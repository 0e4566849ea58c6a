// Which entry of a scene holds or moves each direction of a node or frame. Entries may overlap
// where all of them hold; where one of them moves, the overlap is a conflict that is reported once
// for each entry it overlaps.
#include "io/scene/claims.h"

#include "base/context.h"
#include "io/scene/report.h"

#include <stdio.h>
#include <string.h>

sinew_status sn_claims_create(sn_arena *arena, const sn_scene_body *body, int32_t items,
                              int32_t width, sn_claims *claims) {
    SN_ASSERT(width <= SN_CLAIM_MOST_DIRECTIONS);
    int32_t entries = body->support_count;
    size_t count = (size_t)items * (size_t)width;
    claims->body = body;
    claims->width = width;
    claims->own_held = entries;
    claims->own_moved = entries + 1;
    claims->owner = SN_PUSH(arena, int32_t, count);
    claims->conflicts = SN_PUSH(arena, sn_claim_conflict, entries + 2);
    SN_TRY(sn_arena_status(arena));

    for (size_t i = 0; i < count; i++) {
        claims->owner[i] = SN_CLAIM_NONE;
    }

    return SINEW_OK;
}

static bool moves(const sn_claims *claims, int32_t entry) {
    if (entry >= claims->own_held) {
        return entry == claims->own_moved;
    }
    return claims->body->supports[entry].scripted;
}

void sn_claims_add(sn_claims *claims, int32_t entry, int32_t item, int32_t directions) {
    for (int32_t d = 0; d < claims->width; d++) {
        if (!(directions >> d & 1)) {
            continue;
        }

        // An entry that moves takes precedence over one that only holds.
        int32_t *owner = &claims->owner[(size_t)item * (size_t)claims->width + (size_t)d];
        int32_t before = *owner;
        if (before == SN_CLAIM_NONE || moves(claims, entry)) {
            *owner = entry;
        }

        bool conflict = before != SN_CLAIM_NONE && before != entry &&
                        (moves(claims, before) || moves(claims, entry));
        if (!conflict) {
            continue;
        }

        // Count each item once.
        sn_claim_conflict *found = &claims->conflicts[before];
        if (found->count == 0) {
            found->first = item;
        }
        if (found->count == 0 || found->last != item) {
            found->count++;
        }
        found->last = item;
        found->directions |= 1 << d;
    }
}

static void name_entry(const sn_claims *claims, int32_t entry, char *out, size_t size) {
    if (entry >= claims->own_held) {
        snprintf(out, size, "%s", claims->own);
        return;
    }

    char name[SN_SUPPORT_NAME_SIZE];
    sn_scene_support_name(claims->body, entry, name);
    snprintf(out, size, "%s", name);
}

static void name_directions(int32_t directions, char *out, size_t size) {
    static const char *const names[SN_CLAIM_MOST_DIRECTIONS] = {"x", "y", "z", "rotation"};
    out[0] = '\0';
    for (int d = 0; d < SN_CLAIM_MOST_DIRECTIONS; d++) {
        if (!(directions >> d & 1)) {
            continue;
        }
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", names[d]);
    }
}

void sn_claims_report(sinew_context *context, sn_claims *claims, int32_t entry) {
    for (int32_t i = 0; i <= claims->own_moved; i++) {
        sn_claim_conflict found = claims->conflicts[i];
        if (found.count == 0) {
            continue;
        }
        claims->conflicts[i] = (sn_claim_conflict){0};

        // The entry that decides comes first in the message.
        bool decides = moves(claims, entry);
        char winner[64], loser[64], directions[32];
        name_entry(claims, decides ? entry : i, winner, sizeof winner);
        name_entry(claims, decides ? i : entry, loser, sizeof loser);
        name_directions(found.directions, directions, sizeof directions);

        sn_log(context, SINEW_LOG_WARNING,
               "body \"%s\": %s replaces %s of %s (%s) at %d %s%s, the first of them %s %d",
               claims->body->name, winner,
               moves(claims, decides ? i : entry) ? "the motion" : "the support", loser, directions,
               (int)found.count, claims->item, found.count == 1 ? "" : "s", claims->item,
               (int)found.first);
    }
}

int32_t sn_claims_get(const sn_claims *claims, int32_t entry, int32_t item) {
    int32_t directions = 0;
    for (int32_t d = 0; d < claims->width; d++) {
        int32_t owner = claims->owner[(size_t)item * (size_t)claims->width + (size_t)d];
        directions |= (owner == entry) << d;
    }
    return directions;
}

int32_t sn_claims_get_all(const sn_claims *claims, int32_t item) {
    int32_t directions = 0;
    for (int32_t d = 0; d < claims->width; d++) {
        int32_t owner = claims->owner[(size_t)item * (size_t)claims->width + (size_t)d];
        directions |= (owner != SN_CLAIM_NONE) << d;
    }
    return directions;
}
