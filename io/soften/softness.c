// How soft each vertex is: rules about joints and materials, times a vertex attribute, times a
// texture.
#include "io/gltf/attribute.h"
#include "io/picture/read_png.h"
#include "io/soften/softener.h"

#include <math.h>
#include <string.h>

// Whether a name matches a pattern in which `*` stands for any text.
static bool matches(const char *pattern, const char *name) {
    const char *star = NULL, *resume = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            resume = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == 0;
}

// The softness that the rules give a name; counts in `used` which rules applied.
static double apply_rules(const sn_softener *s, sinew_soften_subject subject, const char *name,
                          bool *used) {
    double softness = 1;
    for (int32_t i = 0; i < s->def->rule_count && name; i++) {
        const sinew_soften_rule *rule = &s->def->rules[i];
        if (rule->subject == subject && rule->name && matches(rule->name, name)) {
            softness = rule->softness;
            used[i] = true;
        }
    }
    return softness;
}

static void scale_by_joints(sn_softener *s, const double *of_joint) {
    size_t joints = (size_t)s->skin->joint_count;
    for (size_t i = 0; i < (size_t)s->point_count; i++) {
        double sum = 0;
        for (size_t j = 0; j < joints; j++) {
            sum += s->weights[i * joints + j] * of_joint[j];
        }
        s->soft[i] = sum;
    }
}

static sinew_status scale_by_attribute(sn_softener *s) {
    bool found = false;
    for (int32_t k = 0; k < s->part_count; k++) {
        const sn_soft_part *part = &s->parts[k];
        int32_t count = s->file->meshes[part->mesh].primitives[part->primitive].point_count;

        // Meshes without the attribute keep their softness.
        const double *values;
        SN_TRY(sn_gltf_read_attribute(s->context, s->source, part->mesh, part->primitive,
                                      s->def->attribute, count, s->arena, &values));
        if (!values) {
            continue;
        }
        found = true;

        // Scale each vertex.
        for (int32_t i = 0; i < count; i++) {
            if (!(values[i] >= 0 && values[i] <= 1000)) {
                return sn_source_fail(s->context, s->source, SINEW_INVALID_DATA,
                                      "%s of vertex %d in mesh %d is %g; softness is between 0 and "
                                      "1000",
                                      s->def->attribute, (int)i, (int)part->mesh, values[i]);
            }
            s->soft[part->first + i] *= values[i];
        }
    }

    if (!found) {
        return sn_source_fail(s->context, s->source, SINEW_NOT_FOUND,
                              "none of its skinned meshes has the attribute \"%s\"",
                              s->def->attribute);
    }
    return SINEW_OK;
}

static sinew_status scale_by_texture(sn_softener *s) {
    sn_png_map map;
    SN_TRY(sn_png_read(s->context, s->def->texture, s->arena, &map));

    bool found = false;
    for (int32_t k = 0; k < s->part_count; k++) {
        const sn_soft_part *part = &s->parts[k];
        const sn_gltf_primitive *primitive =
            &s->file->meshes[part->mesh].primitives[part->primitive];
        if (!primitive->uvs) {
            continue;
        }
        found = true;
        for (int32_t i = 0; i < primitive->point_count; i++) {
            const double *uv = primitive->uvs + 2 * (size_t)i;
            s->soft[part->first + i] *= sn_png_sample(&map, uv[0], uv[1]);
        }
    }

    if (!found) {
        return sn_source_fail(s->context, s->source, SINEW_NOT_FOUND,
                              "none of its skinned meshes has texture coordinates (TEXCOORD_0)");
    }
    return SINEW_OK;
}

sinew_status sn_soft_find_softness(sn_softener *s) {
    int32_t joints = s->skin->joint_count;
    s->soft = SN_PUSH(s->arena, double, s->point_count);
    double *of_joint = SN_PUSH(s->arena, double, joints);
    bool *used = SN_PUSH(s->arena, bool, s->def->rule_count + 1);
    SN_TRY(sn_arena_status(s->arena));

    for (int32_t j = 0; j < joints; j++) {
        const char *name = s->file->nodes[s->skin->joints[j]].name;
        of_joint[j] = apply_rules(s, SINEW_SOFTEN_JOINT, name, used);
    }
    scale_by_joints(s, of_joint);

    for (int32_t k = 0; k < s->part_count; k++) {
        const sn_soft_part *part = &s->parts[k];
        const sn_gltf_primitive *primitive =
            &s->file->meshes[part->mesh].primitives[part->primitive];
        const char *name =
            primitive->material < 0 ? NULL : s->file->materials[primitive->material].name;
        double softness = apply_rules(s, SINEW_SOFTEN_MATERIAL, name, used);
        for (int32_t i = 0; i < primitive->point_count; i++) {
            s->soft[part->first + i] *= softness;
        }
    }

    // A rule without effect is a name that was misspelt.
    for (int32_t i = 0; i < s->def->rule_count; i++) {
        if (!used[i]) {
            const sinew_soften_rule *rule = &s->def->rules[i];
            return sn_source_fail(s->context, s->source, SINEW_NOT_FOUND,
                                  "no %s of its skin is called \"%s\"",
                                  rule->subject == SINEW_SOFTEN_JOINT ? "joint" : "material",
                                  rule->name ? rule->name : "");
        }
    }

    if (s->def->attribute) {
        SN_TRY(scale_by_attribute(s));
    }
    return s->def->texture ? scale_by_texture(s) : SINEW_OK;
}
