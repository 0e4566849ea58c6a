// The meaning of a joint's name: a part of the body, and a side.
//
// A name is split into words at capitals, digits and signs. "left", "right", "l", "r" are sides.
// The remaining words, joined, are looked up in a table of the names that motion capture, Mixamo,
// Rigify, Unreal and VRM use. What is not in the table pairs by equal names only.
#include "io/motion/pair_names.h"

#include <ctype.h>
#include <string.h>

enum { NAME_SIZE = SINEW_JOINT_NAME_SIZE + 1, SIDES = 3 };

typedef struct known_name {
    const char *text;
    int32_t part;
} known_name;

enum part {
    NO_PART,
    HIPS,
    SPINE,
    CHEST,
    NECK,
    HEAD,
    SHOULDER,
    UPPER_ARM,
    LOWER_ARM,
    HAND,
    UPPER_LEG,
    LOWER_LEG,
    FOOT,
    TOES,
    PARTS
};

static const known_name known[] = {
    {"hips", HIPS},          {"hip", HIPS},           {"pelvis", HIPS},
    {"spine", SPINE},        {"lowerback", SPINE},    {"abdomen", SPINE},
    {"chest", CHEST},        {"spine1", CHEST},       {"upperchest", CHEST},
    {"thorax", CHEST},       {"neck", NECK},          {"head", HEAD},
    {"shoulder", SHOULDER},  {"clavicle", SHOULDER},  {"collar", SHOULDER},
    {"arm", UPPER_ARM},      {"upperarm", UPPER_ARM}, {"uparm", UPPER_ARM},
    {"forearm", LOWER_ARM},  {"lowerarm", LOWER_ARM}, {"elbow", LOWER_ARM},
    {"hand", HAND},          {"wrist", HAND},         {"upleg", UPPER_LEG},
    {"upperleg", UPPER_LEG}, {"thigh", UPPER_LEG},    {"leg", LOWER_LEG},
    {"lowerleg", LOWER_LEG}, {"calf", LOWER_LEG},     {"shin", LOWER_LEG},
    {"knee", LOWER_LEG},     {"foot", FOOT},          {"ankle", FOOT},
    {"toes", TOES},          {"toe", TOES},           {"toebase", TOES},
    {"ball", TOES},
};

static bool is_side(const char *word, size_t length, int32_t *side) {
    static const char *const sides[SIDES][2] = {{"", ""}, {"left", "l"}, {"right", "r"}};
    for (int32_t i = 1; i < SIDES; i++) {
        for (int k = 0; k < 2; k++) {
            if (strlen(sides[i][k]) == length && strncmp(word, sides[i][k], length) == 0) {
                *side = i;
                return true;
            }
        }
    }
    return false;
}

// The part and side that a name means, as one number; 0 if it is not known.
static int32_t find_meaning(const char *name) {
    const char *colon = strrchr(name, ':'); // of a prefix such as "mixamorig:"
    name = colon ? colon + 1 : name;

    // Join the words that are not sides, in lower case.
    char joined[NAME_SIZE];
    size_t used = 0;
    int32_t side = 0;
    while (*name && used + 1 < sizeof joined) {
        if (!isalnum((unsigned char)*name)) {
            name++;
            continue;
        }

        char word[NAME_SIZE];
        size_t length = 0;
        do {
            word[length++] = (char)tolower((unsigned char)*name++);
        } while (length + 1 < sizeof word && isalnum((unsigned char)*name) &&
                 !isupper((unsigned char)*name));
        if (is_side(word, length, &side) || used + length >= sizeof joined) {
            continue;
        }
        memcpy(joined + used, word, length);
        used += length;
    }
    joined[used] = 0;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].text, joined) == 0) {
            return SIDES * known[i].part + side;
        }
    }
    return 0;
}

// The first joint of each meaning, or -1; given pairs and equal names are left to others.
static void find_meanings(const sinew_skeleton *skeleton, const sinew_skeleton *other,
                          const sinew_name_pair *given, int32_t given_count, bool is_source,
                          int32_t first[SIDES * PARTS]) {
    for (int32_t i = 0; i < SIDES * PARTS; i++) {
        first[i] = -1;
    }

    for (int32_t j = 0; j < sinew_skeleton_joint_count(skeleton); j++) {
        const char *name = sinew_skeleton_joint_name(skeleton, j);
        bool paired = sinew_skeleton_find(other, name) >= 0;
        for (int32_t i = 0; i < given_count; i++) {
            paired = paired || strcmp(is_source ? given[i].source : given[i].target, name) == 0;
        }
        int32_t meaning = find_meaning(name);
        if (meaning > 0 && !paired && first[meaning] < 0) {
            first[meaning] = j;
        }
    }
}

sinew_status sn_motion_pair_names(sn_arena *arena, const sinew_skeleton *source,
                                  const sinew_skeleton *target, const sinew_name_pair *given,
                                  int32_t given_count, sinew_name_pair **pairs, int32_t *count) {
    int32_t from[SIDES * PARTS], to[SIDES * PARTS];
    *pairs = SN_PUSH(arena, sinew_name_pair, given_count + SIDES * PARTS);
    SN_TRY(sn_arena_status(arena));

    *count = given_count;
    for (int32_t i = 0; i < given_count; i++) {
        (*pairs)[i] = given[i];
    }

    find_meanings(source, target, given, given_count, true, from);
    find_meanings(target, source, given, given_count, false, to);
    for (int32_t i = 0; i < SIDES * PARTS; i++) {
        if (from[i] >= 0 && to[i] >= 0) {
            (*pairs)[(*count)++] = (sinew_name_pair){sinew_skeleton_joint_name(source, from[i]),
                                                     sinew_skeleton_joint_name(target, to[i])};
        }
    }

    return SINEW_OK;
}
