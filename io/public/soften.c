// Soft characters, for users of the library: see sinew/io/soften.h.
#include "sinew/io/soften.h"

#include "io/public/bytes.h"
#include "io/soften/softener.h"

sinew_soften_def sinew_default_soften_def(void) {
    return (sinew_soften_def){.frames = 40,
                              .tets = 20000,
                              .young = 5e4,
                              .poisson = 0.45,
                              .density = 1000,
                              .damping = 3,
                              .core = 0.6,
                              .gravity = {0, -9.81, 0},
                              .limit = 50,
                              .unit = 1,
                              .rate = 30,
                              .preroll = 1,
                              .targets = 48,
                              .normals = true,
                              .joints = 32,
                              .filled = SN_DEF_FILLED};
}

static sinew_status check_range(sinew_context *context, const char *name, double value, double low,
                                double high) {
    if (value >= low && value <= high) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is %g; it must lie between %g and %g", name,
                   value, low, high);
}

static sinew_status check_def(sinew_context *context, const sinew_soften_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_soften_def"));
    SN_TRY(check_range(context, "model", def->model, 0, SINEW_SOFTEN_FRAMES));
    SN_TRY(check_range(context, "frames", def->frames, 1, 1000));
    SN_TRY(check_range(context, "tets", def->tets, 100, 1e7));
    SN_TRY(check_range(context, "young", def->young, 1e-6, 1e15));
    SN_TRY(check_range(context, "poisson", def->poisson, 0, 0.4999));
    SN_TRY(check_range(context, "density", def->density, 1e-6, 1e9));
    SN_TRY(check_range(context, "damping", def->damping, 0, 1e9));
    SN_TRY(check_range(context, "core", def->core, 0, 1));
    SN_TRY(check_range(context, "limit", def->limit, 1e-3, 1e9));
    SN_TRY(check_range(context, "unit", def->unit, 1e-9, 1e9));
    SN_TRY(check_range(context, "rate", def->rate, 1, 240));
    SN_TRY(check_range(context, "preroll", def->preroll, 0, 60));
    SN_TRY(check_range(context, "tolerance", def->tolerance, 0, 1e9));
    SN_TRY(check_range(context, "targets", def->targets, 1, 1000));
    SN_TRY(check_range(context, "scale", def->scale, 0, 1e9));
    SN_TRY(check_range(context, "floor_height", def->floor_height, -1e9, 1e9));
    SN_TRY(check_range(context, "joints", def->joints, 1, 1000));
    SN_TRY(check_range(context, "output", def->output, SINEW_SOFTEN_TARGETS, SINEW_SOFTEN_JOINTS));
    SN_TRY(check_range(context, "pair_count", def->pair_count, 0, def->pairs ? 1e6 : 0));
    SN_TRY(check_range(context, "rule_count", def->rule_count, 0, def->rules ? 1e6 : 0));
    for (int32_t i = 0; i < def->rule_count; i++) {
        SN_TRY(check_range(context, "softness", def->rules[i].softness, 0, 1000));
    }
    for (int k = 0; k < 3; k++) {
        SN_TRY(check_range(context, "gravity", def->gravity[k], -1e6, 1e6));
    }
    return SINEW_OK;
}

static sinew_status soften(sn_softener *s, sn_buffer *out) {
    if (s->gltf->skin_count == 0 || s->gltf->skins[0].joint_count == 0) {
        return sn_source_fail(s->context, s->source, SINEW_NOT_FOUND,
                              "it has no skin; `sinew rig` makes a mesh soft that has none");
    }
    s->skin = &s->gltf->skins[0];
    s->nodes = SN_PUSH(s->arena, sn_gltf_node, s->gltf->node_count);
    SN_TRY(sn_arena_status(s->arena));

    SN_TRY(sn_soft_collect_surface(s));
    SN_TRY(sn_soft_choose_animation(s));
    SN_TRY(sn_soft_find_softness(s));
    SN_TRY(sn_soft_build_flesh(s));
    SN_TRY(sn_soft_simulate(s));
    return sn_soft_write(s, out);
}

sinew_status sinew_soften(sinew_context *context, const sinew_source *source,
                          const sinew_soften_def *def, sinew_bytes *out,
                          sinew_soften_report *report) {
    SN_NEED(NULL, context);

    SN_TRY(check_def(context, def));
    if (!source || !out) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is NULL", source ? "out" : "source");
    }

    sinew_soften_report own;
    sn_arena arena = sn_arena_create(context);
    sn_gltf_file file;
    sn_softener s = {.context = context,
                     .source = source,
                     .def = def,
                     .arena = &arena,
                     .report = report ? report : &own};
    *s.report = (sinew_soften_report){0};

    // A failure leaves the output as it was.
    size_t size = out->buffer.size;
    sinew_status status = sn_gltf_read(context, source, &file);
    if (status == SINEW_OK) {
        s.file = &file.view;
        s.view = file.view;
        s.gltf = &s.view;
        status = soften(&s, &out->buffer);
    }
    if (status != SINEW_OK) {
        out->buffer.size = size;
    }

    sn_soft_model_destroy(&s);
    sn_gltf_file_destroy(&file);
    sn_arena_destroy(&arena);

    return status;
}
