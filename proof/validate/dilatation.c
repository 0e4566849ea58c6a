// Nearly incompressible solids: a cube between two plates that it sticks to, pressed by a
// thousandth of its height at a Poisson ratio of 0.4999, with standard elements and with averaged
// dilatation.
//
// References: CalculiX 2.20, force over Young's modulus, displacement and edge. With quadratic
// hexahedra of reduced integration (C3D20R) and 12 cells along an edge 1.2563, about 1 % above its
// limit as the strain is singular at the edges of the plates; with hexahedra of incompatible modes
// (C3D8I) and 8 cells 1.2785.

#include "validate/bar.h"
#include "validate/validate.h"

#include <math.h>

static const double young = 1e6, depth = 1e-3, quadratic = 1.2563, incompatible = 1.2785;

static sinew_status hold_ends(bar *b) {
    for (int end = 0; end < 2; end++) {
        int32_t count;
        int32_t *nodes = bar_pick(b, 0, end, &count);
        double *targets = SN_PUSH(&b->arena, double, 3 * (size_t)count);
        SN_TRY(sn_arena_status(&b->arena));

        const double *X = sinew_body_get_rest_positions(b->body);
        for (int32_t i = 0; i < 3 * count; i++) {
            double moved = i % 3 == 0 && end == 1 ? depth : 0;
            targets[i] = X[3 * nodes[i / 3] + i % 3] - moved;
        }
        SN_TRY(sinew_body_fix_nodes(b->body, nodes, count, SINEW_AXIS_ALL));
        SN_TRY(sinew_body_move_nodes(b->body, nodes, count, targets));
    }

    return SINEW_OK;
}

static sinew_status measure(bar *b, double *stiffness) {
    SN_TRY(hold_ends(b));
    SN_TRY(bar_solve(b, 1, 1e-8));

    int32_t count;
    int32_t *nodes = bar_pick(b, 0, 1, &count);
    double *reactions = SN_PUSH(&b->arena, double, 3 * (size_t)b->mesh->point_count);
    SN_TRY(sn_arena_status(&b->arena));

    sinew_body_compute_reactions(b->body, reactions);
    double force = 0;
    for (int32_t i = 0; i < count; i++) {
        force -= reactions[3 * nodes[i]];
    }
    *stiffness = force / (young * depth);

    return SINEW_OK;
}

static sinew_status press(validate_run *v, sinew_element element, sinew_volume volume,
                          double *stiffness) {
    bar_def def = bar_default_def();
    def.element = element;
    def.volume = volume;
    def.material.strain = SINEW_STRAIN_INFINITESIMAL;
    def.material.young = young;
    def.material.poisson = 0.4999;
    for (int k = 0; k < 3; k++) {
        def.size[k] = 1;
        def.cells[k] = 8;
    }

    bar b;
    SN_TRY(bar_create(v->context, &def, &b));
    sinew_status status = measure(&b, stiffness);
    bar_destroy(&b);

    return status;
}

sinew_status validate_dilatation(validate_run *v) {
    double standard, averaged;
    SN_TRY(press(v, SINEW_ELEMENT_HEX8, SINEW_VOLUME_STANDARD, &standard));
    SN_TRY(press(v, SINEW_ELEMENT_HEX8, SINEW_VOLUME_AVERAGED, &averaged));
    validate_near(v,
                  "bonded cube at Poisson ratio 0.4999, averaged hexahedra: stiffness, reference "
                  "C3D8I of CalculiX",
                  incompatible, averaged, 0.01 * incompatible, "-");
    validate_note(v, "standard hexahedra %.3f; quadratic ones of CalculiX %.3f", standard,
                  quadratic);

    SN_TRY(press(v, SINEW_ELEMENT_TET4, SINEW_VOLUME_STANDARD, &standard));
    SN_TRY(press(v, SINEW_ELEMENT_TET4, SINEW_VOLUME_AVERAGED, &averaged));
    validate_at_most(v,
                     "the same with linear tets: error with averaged dilatation over that of "
                     "standard elements",
                     0.5, (averaged - quadratic) / (standard - quadratic), "-");
    validate_note(v, "averaged %.3f, still %.0f %% too stiff; standard %.3f", averaged,
                  100 * (averaged / quadratic - 1), standard);

    return SINEW_OK;
}
