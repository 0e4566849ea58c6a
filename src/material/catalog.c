// The public side of materials: defaults, checks, laws by name, and a table of common materials.
#include "material/anisotropic.h"
#include "material/stretch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sinew_material_def sinew_default_material_def(void) {
    return (sinew_material_def){
        .filled = SN_DEF_FILLED,
        .law = SINEW_MATERIAL_HOOKE,
        .strain = SINEW_STRAIN_COROTATIONAL,
        .density = 1000,
        .young = 1e6,
        .poisson = 0.45,
        .chain_length = 8,
        .orthotropic = {.young_1 = 1e6,
                        .young_2 = 1e6,
                        .young_3 = 1e6,
                        .four_parameters = true,
                        .poisson_12 = 0.3,
                        .poisson_23 = 0.3,
                        .poisson_31 = 0.3,
                        .shear_12 = 1e6 / 2.6,
                        .shear_23 = 1e6 / 2.6,
                        .shear_31 = 1e6 / 2.6},
        .transverse = {.young_fibre = 1e7,
                       .young_plane = 1e6,
                       .poisson_plane = 0.3,
                       .poisson_fibre = 0.3,
                       .shear_fibre = 4e5},
        .inversion = true,
        .exact_rotation = true,
    };
}

// ---- Checks -------------------------------------------------------------------------------------

static sinew_status check_common(sinew_context *context, const sinew_material_def *def) {
    if (def->strain < SINEW_STRAIN_INFINITESIMAL || def->strain > SINEW_STRAIN_COROTATIONAL) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material: strain is %d; valid: 0 to %d (see sinew_strain)",
                       (int)def->strain, (int)SINEW_STRAIN_COROTATIONAL);
    }

    if (!(def->density > 0 && isfinite(def->density))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material: density is %g kg/m^3; valid: a number > 0", def->density);
    }

    if (!(def->volume_stiffness >= 0 && isfinite(def->volume_stiffness))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material: volume_stiffness is %g Pa; valid: a number >= 0",
                       def->volume_stiffness);
    }

    if (!(def->fibre_stress >= 0 && isfinite(def->fibre_stress))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material: fibre_stress is %g Pa; valid: a number >= 0", def->fibre_stress);
    }

    return SINEW_OK;
}

static sinew_status check_young(sinew_context *context, const sinew_material_def *def) {
    if (def->young > 0 && isfinite(def->young)) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "material: young is %g Pa; valid: a number > 0",
                   def->young);
}

static sinew_status check_poisson(sinew_context *context, const sinew_material_def *def) {
    if (def->poisson > -1 && def->poisson < 0.5) {
        return SINEW_OK;
    }

    if (!isfinite(def->poisson)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material: poisson is %g; valid: above -1 and below 0.5", def->poisson);
    }

    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "material: poisson is %g; valid: above -1 and below 0.5 (the solid would not be "
                   "stable); nearest valid value: %g",
                   def->poisson, def->poisson < 0 ? -0.9999 : 0.4999);
}

sinew_status sinew_check_material(sinew_context *context, const sinew_material_def *def) {
    SN_NEED(NULL, context);
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_material_def"));
    SN_TRY(check_common(context, def));
    switch (def->law) {
    case SINEW_MATERIAL_CUSTOM:
        if (def->custom.evaluate) {
            return SINEW_OK;
        }
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material: custom.evaluate is NULL; the custom law needs it");
    case SINEW_MATERIAL_ORTHOTROPIC:
        if (def->orthotropic.four_parameters) {
            SN_TRY(check_poisson(context, def));
        }
        return sn_anisotropic_check(context, def);
    case SINEW_MATERIAL_TRANSVERSE: return sn_anisotropic_check(context, def);
    default: break;
    }

    // The isotropic laws have a row in the table.
    const sn_isotropic_law *law =
        SN_ISA_PICK(SN_ISA_BASE, sn_isotropic_law_find)(def->law, def->strain);
    if (!law) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material: law is %d; valid: 0 to %d (see sinew_material_law)",
                       (int)def->law, (int)SINEW_MATERIAL_CUSTOM);
    }

    SN_TRY(check_young(context, def));
    SN_TRY(check_poisson(context, def));

    return law->check ? law->check(context, def) : SINEW_OK;
}

// ---- Names --------------------------------------------------------------------------------------

static const struct {
    const char *name;
    sinew_material_law law;
} anisotropic_laws[] = {{"orthotropic", SINEW_MATERIAL_ORTHOTROPIC},
                        {"transverse", SINEW_MATERIAL_TRANSVERSE}};

enum { ANISOTROPIC_COUNT = sizeof anisotropic_laws / sizeof anisotropic_laws[0] };

int32_t sinew_material_law_count(void) {
    int count;
    SN_ISA_PICK(SN_ISA_BASE, sn_isotropic_laws)(&count);
    return count + ANISOTROPIC_COUNT;
}

double sinew_material_get_poisson(const sinew_material_def *def) {
    SN_NEED_OR(0, def);

    switch (def->law) {
    case SINEW_MATERIAL_ORTHOTROPIC:
    case SINEW_MATERIAL_TRANSVERSE:
    case SINEW_MATERIAL_CUSTOM: return 0;
    case SINEW_MATERIAL_MOONEY_RIVLIN:
    case SINEW_MATERIAL_ARRUDA_BOYCE: break;
    default: return def->poisson;
    }

    bool given = def->law == SINEW_MATERIAL_MOONEY_RIVLIN && def->c10 + def->c01 > 0;
    double shear = given ? 2 * (def->c10 + def->c01) : 0.5 * def->young / (1 + def->poisson);
    double K = def->bulk;
    return K > 0 ? (3 * K - 2 * shear) / (2 * (3 * K + shear)) : def->poisson;
}

double sinew_material_get_young(const sinew_material_def *def) {
    SN_NEED_OR(0, def);

    const sinew_orthotropic *o = &def->orthotropic;
    const sinew_transverse *t = &def->transverse;

    switch (def->law) {
    case SINEW_MATERIAL_ORTHOTROPIC: return cbrt(o->young_1) * cbrt(o->young_2) * cbrt(o->young_3);
    case SINEW_MATERIAL_TRANSVERSE:
        return cbrt(t->young_fibre) * cbrt(t->young_plane) * cbrt(t->young_plane);
    case SINEW_MATERIAL_MOONEY_RIVLIN:
        return def->c10 + def->c01 > 0 ? 6 * (def->c10 + def->c01) : def->young;
    default: return def->young;
    }
}

const char *sinew_material_law_name(int32_t index) {
    int count;
    const sn_isotropic_law *laws = SN_ISA_PICK(SN_ISA_BASE, sn_isotropic_laws)(&count);
    if (index < 0 || index >= count + ANISOTROPIC_COUNT) {
        return NULL;
    }
    return index < count ? laws[index].name : anisotropic_laws[index - count].name;
}

// Appends ", name", or the first name alone; a name that does not fit is left out.
static void append_name(char *list, size_t size, const char *name) {
    size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length ? ", " : "", name);
}

sinew_status sinew_material_set_law(sinew_context *context, const char *name,
                                    sinew_material_def *def) {
    SN_NEED(NULL, context);
    SN_NEED(context, name);

    int count;
    const sn_isotropic_law *laws = SN_ISA_PICK(SN_ISA_BASE, sn_isotropic_laws)(&count);
    for (int i = 0; i < count; i++) {
        if (strcmp(laws[i].name, name) != 0) {
            continue;
        }

        def->law = laws[i].law;
        if (laws[i].law == SINEW_MATERIAL_HOOKE) {
            def->strain = laws[i].strain;
        }

        return SINEW_OK;
    }

    for (int i = 0; i < ANISOTROPIC_COUNT; i++) {
        if (strcmp(anisotropic_laws[i].name, name) != 0) {
            continue;
        }
        def->law = anisotropic_laws[i].law;
        return SINEW_OK;
    }

    // Not found: list the valid names.
    char list[512] = "";
    for (int i = 0; i < count + ANISOTROPIC_COUNT; i++) {
        append_name(list, sizeof list, sinew_material_law_name(i));
    }

    return sn_fail(context, SINEW_NOT_FOUND, "material: there is no law named \"%s\"; valid: %s",
                   name, list);
}

// ---- Presets ------------------------------------------------------------------------------------

static const sinew_material_preset presets[] = {
    {"rubber", 1.5e6, 0.49, 1100, "Soft natural rubber"},
    {"silicone", 5e5, 0.48, 1080, "Casting silicone, Shore 20 A or so"},
    {"gelatine", 1e4, 0.47, 1030, "Ballistic gelatine is stiffer, dessert softer"},
    {"foam", 5e4, 0.2, 40, "Open-cell polyurethane foam"},
    {"muscle", 3e4, 0.47, 1060, "Relaxed skeletal muscle, across the fibres"},
    {"fat", 3e3, 0.48, 920, "Subcutaneous fat"},
    {"skin", 2e5, 0.48, 1100, "Human skin under small stretch"},
    {"liver", 6e3, 0.47, 1060, "Healthy liver"},
    {"heart", 3e4, 0.47, 1060, "Relaxed heart muscle"},
    {"cartilage", 8e6, 0.4, 1100, "Articular cartilage"},
    {"tendon", 1e9, 0.4, 1120, "Along the fibres"},
    {"bone", 1.5e10, 0.3, 1900, "Cortical bone"},
    {"cork", 2e7, 0.05, 180, "Nearly no lateral strain"},
    {"wood", 1e10, 0.35, 600, "Along the grain; see the orthotropic law for all directions"},
    {"leaf", 2e7, 0.3, 700, "Blade of a broad leaf"},
    {"plastic", 2e9, 0.38, 1050, "ABS"},
    {"aluminium", 7e10, 0.33, 2700, "Alloys vary little"},
    {"steel", 2.1e11, 0.3, 7850, "Structural steel"},
};

enum { PRESET_COUNT = sizeof presets / sizeof presets[0] };

const sinew_material_preset *sinew_material_presets(int32_t *count) {
    SN_NEED_OR(NULL, count);
    *count = PRESET_COUNT;
    return presets;
}

sinew_status sinew_material_set_preset(sinew_context *context, const char *name,
                                       sinew_material_def *def) {
    SN_NEED(NULL, context);
    SN_NEED(context, name);

    char list[512] = "";
    for (int i = 0; i < PRESET_COUNT; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            def->young = presets[i].young;
            def->poisson = presets[i].poisson;
            def->density = presets[i].density;
            return SINEW_OK;
        }

        append_name(list, sizeof list, presets[i].name);
    }

    return sn_fail(context, SINEW_NOT_FOUND, "material: there is no preset named \"%s\"; valid: %s",
                   name, list);
}
