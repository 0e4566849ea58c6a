// Grain: a curve drawn through a bar says where its fibres run. Pulled at its end, a bar with
// straight fibres only stretches, less than one without; with fibres that wind about its axis it
// twists as well.
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

// Eight curves on a cylinder of `radius` about the x axis, each wound by `turns` from one end of
// the bar to the other, guide a field of fibres.
enum { CURVES = 8, POINTS = 25 };

static sinew_status create_field(sinew_context *context, const sinew_mesh *mesh, double radius,
                                 double turns, sinew_field **field) {
    double points[CURVES][POINTS][3];
    sinew_curve_def curves[CURVES];

    // Helices around the axis of the bar.
    for (int c = 0; c < CURVES; c++) {
        for (int i = 0; i < POINTS; i++) {
            double t = (double)i / (POINTS - 1);
            double angle = 2 * 3.14159265358979 * (turns * t + (double)c / CURVES);
            points[c][i][0] = t - 0.5;
            points[c][i][1] = radius * cos(angle);
            points[c][i][2] = radius * sin(angle);
        }

        curves[c] = sinew_default_curve_def();
        curves[c].kind = SINEW_CURVE_STROKE;
        curves[c].points = points[c][0];
        curves[c].point_count = POINTS;
    }

    // A field of fibres that follows them.
    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.kind = SINEW_FIELD_FIBRES;
    def.curves = curves;
    def.curve_count = CURVES;

    return sinew_field_create(context, &def, field);
}

// The bar in static balance, held at one end and pulled at the other with 20 kPa; the mean
// extension and twist of that end.
static sinew_status pull(sinew_context *context, const sinew_mesh *mesh,
                         const sinew_material_def *material, const sinew_field *field,
                         double *extension, double *twist) {
    // The bar, with the axes of the field.
    sinew_world_def world_def = sinew_default_world_def();
    world_def.gravity[2] = 0;

    sinew_world *world = NULL;
    sinew_body_def def = sinew_default_body_def();

    def.mesh = mesh;
    def.materials = material;
    def.material_count = 1;
    def.material_axes = field ? sinew_field_get_axes(field) : NULL;

    sinew_body *body = NULL;
    sinew_status status = sinew_world_create(context, &world_def, &world);
    if (status == SINEW_OK) {
        status = sinew_body_create(world, &def, &body);
    }

    // Fix one end, and collect the nodes of the other.
    static int32_t end[4096];
    int32_t count = 0;
    for (int32_t i = 0; i < mesh->point_count && status == SINEW_OK; i++) {
        if (mesh->points[3 * i] < -0.499) {
            status = sinew_body_fix_nodes(body, &i, 1, SINEW_AXIS_ALL);
        }
        if (mesh->points[3 * i] > 0.499 && count < 4096) {
            end[count++] = i;
        }
    }

    // Pull.
    sinew_load_def load = sinew_default_load_def();
    load.nodes = end;
    load.node_count = count;
    load.traction[0] = 2e4; // Pa

    int32_t index;
    if (status == SINEW_OK) {
        status = sinew_body_add_load(body, &load, &index);
    }

    // Balance.
    sinew_static_def solve = sinew_default_static_def();
    if (status == SINEW_OK) {
        status = sinew_world_solve_static(world, &solve, NULL);
    }

    // Means over the end.
    *extension = *twist = 0;
    for (int32_t i = 0; i < count && status == SINEW_OK; i++) {
        const double *X = mesh->points + 3 * end[i];
        const double *x = sinew_body_get_positions(body) + 3 * end[i];
        *extension += (x[0] - X[0]) / count;
        *twist += atan2(X[1] * x[2] - X[2] * x[1], X[1] * x[1] + X[2] * x[2]) / count;
    }

    sinew_world_destroy(world);
    return status;
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    // The bar.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[1] = shape.size[2] = 0.2;
    shape.cell_size = 0.04;

    sinew_mesh *mesh = NULL;
    if (sinew_mesh_create_shape(context, &shape, &mesh)) {
        return fail(context, "mesh");
    }

    // Two materials and two fields of fibres.
    sinew_material_def plain = sinew_default_material_def(); // isotropic
    plain.young = 1e5;
    plain.poisson = 0.3;

    sinew_material_def fibrous = plain; // as stiff across its fibres, ten times stiffer along them
    fibrous.law = SINEW_MATERIAL_TRANSVERSE;
    fibrous.transverse = (sinew_transverse){.young_fibre = 1e6,
                                            .young_plane = 1e5,
                                            .poisson_plane = 0.3,
                                            .poisson_fibre = 0.3,
                                            .shear_fibre = 4e4};

    sinew_field *straight = NULL, *winding = NULL;
    if (create_field(context, mesh, 0.07, 0, &straight)) {
        return fail(context, "straight fibres");
    }
    if (create_field(context, mesh, 0.07, 0.5, &winding)) {
        return fail(context, "winding fibres");
    }

    // Pull all three.
    const struct {
        const char *name;
        const sinew_material_def *material;
        const sinew_field *field;
    } bars[] = {{"without fibres", &plain, NULL},
                {"straight fibres", &fibrous, straight},
                {"winding fibres", &fibrous, winding}};

    double extension[3], twist[3];
    for (int i = 0; i < 3; i++) {
        if (pull(context, mesh, bars[i].material, bars[i].field, &extension[i], &twist[i])) {
            return fail(context, bars[i].name);
        }
        printf("%-16s longer by %5.1f mm, twisted by %5.1f degrees\n", bars[i].name,
               1000 * extension[i], 180 / 3.14159265358979 * twist[i]);
    }

    sinew_field_destroy(straight);
    sinew_field_destroy(winding);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);

    return !(extension[1] < extension[2] && extension[2] < extension[0] &&
             fabs(twist[2]) > 10 * fabs(twist[1]));
}
