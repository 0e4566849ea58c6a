// The vocabulary tables that the reader, the help, the completion, the schema and the bindings
// share (sinew/io/words.h).
#include "io/scene/words.h"

#include "base/context.h"

#include "sinew/io/specimen.h"
#include "sinew/material.h"

#include "io/generate/organism.h"
#include "io/text/suggest.h"
#include "io/text/units.h"

#include <string.h>

static const char *const models[] = {"elastic", "warped",    "warped-edges",
                                     "frames",  "positions", "rigid"};
static const char *const shapes[] = {"rectangle", "box", "cylinder", "sphere",
                                     "tube",      "l",   "t",        "u"};
static const char *const solids[] = {"box",   "sphere", "cylinder", "capsule",
                                     "torus", "l",      "t",        "u"};
static const char *const elements[] = {"triangle", "tet4", "tet10", "hex8"};
static const char *const integrators[] = {"implicit-euler", "newton-euler", "symplectic-euler",
                                          "newmark",        "midpoint",     "bdf2"};
static const char *const solvers[] = {"auto",   "jacobi", "incomplete-cholesky", "multigrid",
                                      "direct", "dense",  "matrix-free"};
static const char *const formats[] = {"vtu", "ply", "obj", "glb", "pc2", "csv", "png", "skin"};
static const char *const colors[] = {"strain", "stress", "displacement",
                                     "speed",  "none",   "weights"};
static const char *const weights[] = {"voronoi", "harmonic",   "geodesic", "radial",
                                      "axis",    "axis-cubic", "spectral"};
static const char *const metrics[] = {"euclidean", "compliance"};
static const char *const blends[] = {"linear", "dual-quaternion"};
static const char *const node_kinds[] = {"point", "rigid", "affine", "quadratic", "compliant"};
static const char *const characters[] = {
    "bending-cylinder", "twisting-cylinder", "leg", "arm", "biped", "fat-biped"};

#define TABLE(title, list)                                                                         \
    { title, list, (int32_t)(sizeof(list) / sizeof *(list)) }

const sn_word_table sn_word_tables[SINEW_WORD_LISTS] = {
    [SINEW_WORDS_LAWS] = {"laws", NULL, 0},
    [SINEW_WORDS_PRESETS] = {"presets", NULL, 0},
    [SINEW_WORDS_MODELS] = TABLE("models", models),
    [SINEW_WORDS_SHAPES] = TABLE("shapes", shapes),
    [SINEW_WORDS_SOLIDS] = TABLE("solids", solids),
    [SINEW_WORDS_ELEMENTS] = TABLE("elements", elements),
    [SINEW_WORDS_INTEGRATORS] = TABLE("integrators", integrators),
    [SINEW_WORDS_SOLVERS] = TABLE("solvers", solvers),
    [SINEW_WORDS_FORMATS] = TABLE("formats", formats),
    [SINEW_WORDS_COLORS] = TABLE("colors", colors),
    [SINEW_WORDS_WEIGHTS] = TABLE("weights", weights),
    [SINEW_WORDS_METRICS] = TABLE("metrics", metrics),
    [SINEW_WORDS_BLENDS] = TABLE("blends", blends),
    [SINEW_WORDS_NODE_KINDS] = TABLE("node-kinds", node_kinds),
    [SINEW_WORDS_SPECIMENS] = {"specimens", NULL, 0},
    [SINEW_WORDS_ORGANISMS] = {"organisms", NULL, 0},
    [SINEW_WORDS_CHARACTERS] = TABLE("characters", characters),
    [SINEW_WORDS_UNITS] = {"units", sn_unit_names, SN_UNIT_COUNT},
};

static bool exists(sinew_word_list list) {
    return (int)list >= 0 && list < SINEW_WORD_LISTS;
}

const char *sinew_words_get_name(sinew_word_list list) {
    return exists(list) ? sn_word_tables[list].name : NULL;
}

int32_t sinew_words_get_count(sinew_word_list list) {
    int32_t count = 0;
    switch (list) {
    case SINEW_WORDS_LAWS: return sinew_material_law_count();
    case SINEW_WORDS_PRESETS: sinew_material_presets(&count); return count;
    case SINEW_WORDS_SPECIMENS: return sinew_specimen_count();
    case SINEW_WORDS_ORGANISMS: return sn_organism_count();
    default: return exists(list) ? sn_word_tables[list].count : 0;
    }
}

const char *sinew_words_get(sinew_word_list list, int32_t index) {
    if (index < 0 || index >= sinew_words_get_count(list)) {
        return NULL;
    }

    int32_t count;
    switch (list) {
    case SINEW_WORDS_LAWS: return sinew_material_law_name(index);
    case SINEW_WORDS_PRESETS: return sinew_material_presets(&count)[index].name;
    case SINEW_WORDS_SPECIMENS: return sinew_specimen_name((sinew_specimen)index);
    case SINEW_WORDS_ORGANISMS: return sn_organism_name((sn_organism_kind)index);
    default: return sn_word_tables[list].words[index];
    }
}

int32_t sinew_words_find(sinew_word_list list, const char *word) {
    SN_NEED_OR(-1, word);
    for (int32_t i = 0; i < sinew_words_get_count(list); i++) {
        if (strcmp(sinew_words_get(list, i), word) == 0) {
            return i;
        }
    }
    return -1;
}

int32_t sinew_words_suggest(const char *word, const char *const *words, int32_t count) {
    SN_NEED_OR(-1, word);
    return sn_suggest(word, words, count);
}
