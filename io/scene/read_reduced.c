// "reduced" of a body.
#include "io/scene/read.h"

static const char *const kinds[] = {"derivatives", "linear", "warped"};

// What a body without nodes has no use for.
static void refuse_keys(const sn_scene_reader *reader, const sn_json *json) {
    static const char *const keys[] = {"scripted", "loads", "skeleton", "binding"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const sn_json *value = sn_json_get(json, keys[i]);
        if (value) {
            sn_json_key_mistake(reader->mistakes, value,
                                "a reduced body has no nodes that this could act on");
        }
    }
}

void sn_scene_read_reduced(const sn_scene_reader *reader, const sn_json *body_json, bool elastic,
                           sn_scene_body *body) {
    const sn_json *json = sn_json_get(body_json, "reduced");
    body->reduction = sinew_default_reduction_def();
    if (!json) {
        return;
    }
    if (!elastic) {
        sn_json_key_mistake(reader->mistakes, json, "this belongs to \"model\": \"elastic\"");
        return;
    }
    if (!sn_scene_check_object(
            reader, json,
            SN_KEYS("kind", "modes", "size", "extent", "poses", "points", "tolerance"))) {
        return;
    }
    refuse_keys(reader, body_json);

    sinew_reduction_def *def = &body->reduction;
    int32_t kind = 0;
    int64_t modes = def->modes, size = 0, poses = def->poses, points = 0;
    sn_json_word(reader->mistakes, sn_json_get(json, "kind"), kinds, 3, &kind);
    sn_json_integer(reader->mistakes, sn_json_get(json, "modes"), 3, 200, &modes);
    sn_json_integer(reader->mistakes, sn_json_get(json, "size"), 0, 300, &size);
    sn_json_integer(reader->mistakes, sn_json_get(json, "poses"), 1, 1000, &poses);
    sn_json_integer(reader->mistakes, sn_json_get(json, "points"), 0, 100000, &points);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "extent"), 0, 2, "", &def->extent);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "tolerance"), 0, 1, "",
                          &def->tolerance);

    body->reduced = true;
    def->kind = (sinew_reduction_kind)kind;
    def->modes = (int32_t)modes;
    def->size = (int32_t)size;
    def->poses = (int32_t)poses;
    def->points = (int32_t)points;
}
