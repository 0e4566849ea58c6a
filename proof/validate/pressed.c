// C7: two boxes of ten-node tets that press on each other, in Sinew and in CalculiX on the same
// meshes; and a patch test: two boxes whose meshes do not match carry a uniform pressure.
//
// In Sinew bodies keep a gap; the deck has the upper box moved down by it. Where an edge presses,
// CalculiX takes nodes against faces: surface to surface has no point of integration on the edge
// and lets it sink in (0.7 % less force here).
//
// CalculiX (the program ccx) is optional: without it, its claims are reported as skipped. The quick
// form has none of this.
#include "validate/validate.h"
#include "files.h"
#include "folder.h"

#include "base/context.h"
#include "base/memory.h"
#include "io/bytes/buffer.h"
#include "math/vec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double young = 1e6;
static const double thickness = 1e-3; // [m]

// One of the boxes: which of its nodes are held, and along which axes.
typedef struct side {
    double center[3], size[3];
    int32_t cells[3];
    struct {
        int axis, axes;
        double at;    // coordinate of the held nodes along `axis`
        double moved; // along z [m]
    } held[4];
    int held_count;
} side;

typedef struct pair {
    const char *name;
    side sides[2]; // upper, lower
    double poisson;
    const char *type; // of CalculiX's contact
} pair;

typedef struct solved {
    sinew_world *world;
    sinew_mesh *meshes[2];
    sinew_body *bodies[2];
} solved;

static bool is_on(double x, double at) {
    return fabs(x - at) < 1e-9;
}

static sinew_status hold(const side *s, sinew_body *body, const sinew_mesh *mesh) {
    for (int h = 0; h < s->held_count; h++) {
        for (int32_t i = 0; i < mesh->point_count; i++) {
            const double *X = mesh->points + 3 * (size_t)i;
            if (!is_on(X[s->held[h].axis], s->held[h].at)) {
                continue;
            }

            // What other rules hold stays held.
            int32_t axes = 0;
            for (int k = 0; k < s->held_count; k++) {
                axes |= is_on(X[s->held[k].axis], s->held[k].at) ? s->held[k].axes : 0;
            }
            SN_TRY(sinew_body_fix_nodes(body, &i, 1, axes));
            if (s->held[h].moved != 0) {
                double target[3] = {X[0], X[1], X[2] + s->held[h].moved};
                SN_TRY(sinew_body_move_nodes(body, &i, 1, target));
            }
        }
    }
    return SINEW_OK;
}

static sinew_status solve(validate_run *v, const pair *p, solved *out, sinew_step_report *report) {
    sinew_world_def world = sinew_default_world_def();
    sinew_contact_def contact = sinew_default_contact_def();
    memset(world.gravity, 0, sizeof world.gravity);
    contact.friction = 0;
    contact.thickness = thickness;
    SN_TRY(sinew_world_create(v->context, &world, &out->world));
    SN_TRY(sinew_world_set_contact(out->world, &contact));

    for (int i = 0; i < 2; i++) {
        const side *s = &p->sides[i];
        sinew_shape_def shape = sinew_default_shape_def();
        shape.element = SINEW_ELEMENT_TET10;
        memcpy(shape.center, s->center, sizeof shape.center);
        memcpy(shape.size, s->size, sizeof shape.size);
        memcpy(shape.cells, s->cells, sizeof shape.cells);
        SN_TRY(sinew_mesh_create_shape(v->context, &shape, &out->meshes[i]));

        sinew_material_def material = sinew_default_material_def();
        material.strain = SINEW_STRAIN_INFINITESIMAL;
        material.young = young;
        material.poisson = p->poisson;
        sinew_body_def def = sinew_default_body_def();
        def.mesh = out->meshes[i];
        def.materials = &material;
        def.material_count = 1;
        SN_TRY(sinew_body_create(out->world, &def, &out->bodies[i]));
        SN_TRY(hold(s, out->bodies[i], out->meshes[i]));
    }

    sinew_static_def def = sinew_default_static_def();
    return sinew_world_solve_static(out->world, &def, report);
}

static void release(solved *s) {
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->meshes[0]);
    sinew_mesh_destroy(s->meshes[1]);
}

// What the upper box exerts on the lower one. [N]
static double force_of(const solved *s) {
    const sinew_contact *contacts;
    int32_t count = sinew_world_get_contacts(s->world, &contacts);
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += contacts[i].body == s->bodies[0] ? contacts[i].force[2] : -contacts[i].force[2];
    }
    return sum;
}

// --- The deck

static void add_mesh(sn_buffer *deck, const sinew_mesh *mesh, int which, double lift,
                     int32_t first_node, int32_t first_element) {
    sn_buffer_print(deck, "*NODE, NSET=N%d\n", which);
    for (int32_t i = 0; i < mesh->point_count; i++) {
        sn_buffer_print(deck, "%d", first_node + i);
        for (int c = 0; c < 3; c++) {
            // It reads at most twenty characters of a number.
            sn_buffer_print(deck, ", %.12g",
                            mesh->points[3 * (size_t)i + (size_t)c] + (c == 2 ? lift : 0));
        }
        sn_buffer_add_text(deck, "\n");
    }

    sn_buffer_print(deck, "*ELEMENT, TYPE=C3D10, ELSET=E%d\n", which);
    for (int32_t i = 0; i < mesh->element_count; i++) {
        sn_buffer_print(deck, "%d", first_element + i);
        for (int k = 0; k < 10; k++) {
            sn_buffer_print(deck, ", %d", first_node + mesh->indices[10 * (size_t)i + (size_t)k]);
        }
        sn_buffer_add_text(deck, "\n");
    }
    sn_buffer_print(deck, "*SOLID SECTION, ELSET=E%d, MATERIAL=M\n", which);
}

// The faces in the plane z = at, as CalculiX numbers them.
static void add_surface(sn_buffer *deck, const sinew_mesh *mesh, int which, int32_t first_element,
                        double at) {
    static const int faces[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    sn_buffer_print(deck, "*SURFACE, NAME=S%d\n", which);
    for (int32_t i = 0; i < mesh->element_count; i++) {
        for (int f = 0; f < 4; f++) {
            bool all = true;
            for (int k = 0; k < 3; k++) {
                int32_t node = mesh->indices[10 * (size_t)i + (size_t)faces[f][k]];
                all = all && is_on(mesh->points[3 * (size_t)node + 2], at);
            }
            if (all) {
                sn_buffer_print(deck, "%d, S%d\n", first_element + i, f + 1);
            }
        }
    }
}

static void add_boundaries(sn_buffer *deck, const side *s, const sinew_mesh *mesh,
                           int32_t first_node) {
    for (int h = 0; h < s->held_count; h++) {
        for (int32_t i = 0; i < mesh->point_count; i++) {
            if (!is_on(mesh->points[3 * (size_t)i + (size_t)s->held[h].axis], s->held[h].at)) {
                continue;
            }
            for (int k = 0; k < 3; k++) {
                if (s->held[h].axes >> k & 1) {
                    sn_buffer_print(deck, "%d, %d, %d, %.12g\n", first_node + i, k + 1, k + 1,
                                    k == 2 ? s->held[h].moved : 0);
                }
            }
        }
    }
}

static void add_deck(sn_buffer *deck, const pair *p, const solved *ours) {
    int32_t nodes[2] = {1, 1 + ours->meshes[0]->point_count};
    int32_t elements[2] = {1, 1 + ours->meshes[0]->element_count};
    for (int i = 0; i < 2; i++) {
        add_mesh(deck, ours->meshes[i], i, i == 0 ? -2 * thickness : 0, nodes[i], elements[i]);
        double sign = i == 0 ? -0.5 : 0.5;
        add_surface(deck, ours->meshes[i], i, elements[i],
                    p->sides[i].center[2] + sign * p->sides[i].size[2]);
    }

    sn_buffer_print(deck, "*MATERIAL, NAME=M\n*ELASTIC\n1e6, %g\n", p->poisson);
    sn_buffer_print(deck,
                    "*SURFACE INTERACTION, NAME=I\n"
                    "*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=LINEAR\n1e10\n"
                    "*CONTACT PAIR, INTERACTION=I, TYPE=%s TO SURFACE\nS0, S1\n",
                    p->type);
    sn_buffer_add_text(deck, "*STEP, INC=100\n*STATIC\n0.25, 1\n*BOUNDARY\n");
    for (int i = 0; i < 2; i++) {
        add_boundaries(deck, &p->sides[i], ours->meshes[i], nodes[i]);
    }
    sn_buffer_add_text(deck, "*NODE PRINT, NSET=N1, TOTALS=ONLY\nRF\n*END STEP\n");
}

// The last total force of the file. [N]
static bool read_force(const char *text, double *force) {
    bool found = false;
    for (const char *at = text; (at = strstr(at, "total force")); at++) {
        const char *line = strchr(at, '\n');
        double values[3] = {0};
        char *end = (char *)line;
        for (int k = 0; line && k < 3; k++) {
            values[k] = strtod(end, &end);
        }
        *force = values[2];
        found = line != NULL;
    }
    return found;
}

static sinew_status run_calculix(sinew_context *context, const sn_buffer *deck, double *force) {
    char folder[2048], path[2100], command[2200];
    SN_TRY(proof_make_folder(context, folder, sizeof folder));
    snprintf(path, sizeof path, "%s/press.inp", folder);
    sinew_status status = cli_write_file(context, path, deck->data, deck->size);
    snprintf(command, sizeof command,
             "cd '%s' && OMP_NUM_THREADS=1 ccx -i press >log 2>&1; cp press.inp "
             "/tmp/tr_press_$(date +%%s).inp",
             folder);
    if (status == SINEW_OK && system(command) != 0) {
        status = sn_fail(context, SINEW_INVALID_DATA, "ccx ended with an error");
    }

    sinew_bytes *bytes = NULL;
    snprintf(path, sizeof path, "%s/press.dat", folder);
    if (status == SINEW_OK) {
        status = sinew_bytes_load(context, path, 0, &bytes);
    }
    if (status == SINEW_OK && !read_force(sinew_bytes_get_data(bytes), force)) {
        status = sn_fail(context, SINEW_INVALID_DATA, "ccx printed no total force");
    }
    sinew_bytes_destroy(bytes);

    sinew_status removed = proof_remove_folder(context, folder);
    return status == SINEW_OK ? removed : status;
}

static sinew_status compare(validate_run *v, const pair *p) {
    solved ours = {.world = NULL};
    sinew_step_report report;
    double force = 0;
    sinew_status status = solve(v, p, &ours, &report);
    sn_buffer deck = sn_buffer_create(v->context);
    if (status == SINEW_OK) {
        add_deck(&deck, p, &ours);
        status = sn_buffer_status(&deck);
    }
    if (status == SINEW_OK) {
        status = run_calculix(v->context, &deck, &force);
    }

    if (status == SINEW_OK) {
        double measured = force_of(&ours);
        validate_near(v, p->name, force, measured, 0.01 * force, "N");
        validate_note(v, "%s after %d iterations", sinew_outcome_name(report.outcome),
                      report.newton_iterations);
    }
    sn_buffer_destroy(&deck);
    release(&ours);
    return status;
}

sinew_status validate_pressed(validate_run *v) {
    if (v->quick) {
        return SINEW_OK;
    }

    // The gap that both keep is left between them.
    const double gap = 2 * thickness;
    const pair pairs[] = {
        {.name = "cantilever that bends down onto another one: force between them",
         .poisson = 0.3,
         .type = "NODE",
         .sides = {{.center = {0.5, 0, 0.05 + gap},
                    .size = {1, 0.1, 0.1},
                    .cells = {12, 2, 2},
                    .held = {{0, SINEW_AXIS_ALL, 0, 0}, {0, SINEW_AXIS_Z, 1, -0.03}},
                    .held_count = 2},
                   {.center = {1.1, 0, -0.05},
                    .size = {1, 0.14, 0.1},
                    .cells = {11, 3, 2},
                    .held = {{0, SINEW_AXIS_ALL, 1.6, 0}},
                    .held_count = 1}}},
        {.name = "block pressed onto a wider one: force between them",
         .poisson = 0.3,
         .type = "SURFACE",
         .sides = {{.center = {0, 0, 0.1 + gap},
                    .size = {0.2, 0.2, 0.2},
                    .cells = {4, 4, 4},
                    .held = {{2, SINEW_AXIS_ALL, 0.2 + gap, -0.01}},
                    .held_count = 1},
                   {.center = {0, 0, -0.1},
                    .size = {0.5, 0.5, 0.2},
                    .cells = {9, 9, 4},
                    .held = {{2, SINEW_AXIS_ALL, -0.2, 0}},
                    .held_count = 1}}},
    };
    bool installed = system("command -v ccx >/dev/null 2>&1") == 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!installed) {
            validate_skip(v, pairs[i].name, "ccx is not installed (Debian's calculix-ccx)");
            continue;
        }
        SN_TRY(compare(v, &pairs[i]));
    }
    return SINEW_OK;
}

// --- The patch test

// The largest error of the vertical stress in either box, in terms of the true one.
static sinew_status worst_stress(const solved *s, double exact, double *worst) {
    *worst = 0;
    for (int i = 0; i < 2; i++) {
        for (int32_t e = 0; e < s->meshes[i]->element_count; e++) {
            sinew_element_state state;
            SN_TRY(sinew_body_get_element_state(s->bodies[i], e, &state));
            *worst = fmax(*worst, fabs(state.stress[2] / exact - 1));
        }
    }
    return SINEW_OK;
}

// A vertex against a triangle does not pass the patch test: what neighbouring vertices carry
// depends on which triangles are below them. The error stays near the interface.
sinew_status validate_patch(validate_run *v) {
    if (v->quick) {
        return SINEW_OK;
    }

    const double gap = 2 * thickness;
    const double moved = 0.004;
    const pair stack = {
        .name = "patch",
        .poisson = 0,
        .sides = {{.center = {0, 0, 0.1 + gap},
                   .size = {0.4, 0.4, 0.2},
                   .cells = {3, 3, 2},
                   .held = {{2, SINEW_AXIS_ALL, 0.2 + gap, -moved}},
                   .held_count = 1},
                  {.center = {0, 0, -0.1},
                   .size = {0.4, 0.4, 0.2},
                   .cells = {4, 5, 2},
                   .held = {{2, SINEW_AXIS_ALL, -0.2, 0}},
                   .held_count = 1}},
    };
    double exact = -young * moved / 0.4;
    solved s = {.world = NULL};
    sinew_step_report report;
    double worst = 0;
    sinew_status status = solve(v, &stack, &s, &report);
    if (status == SINEW_OK) {
        status = worst_stress(&s, exact, &worst);
    }
    if (status == SINEW_OK) {
        double force = -exact * 0.16;
        validate_near(v, "patch test across meshes that do not match: force", force, force_of(&s),
                      0.01 * force, "N");
        validate_at_most(v, "... worst error of the stress in an element, over the stress", 0.2,
                         worst, "-");
        validate_note(v, "%s after %d iterations", sinew_outcome_name(report.outcome),
                      report.newton_iterations);
    }
    release(&s);
    return status;
}
