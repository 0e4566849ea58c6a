// Organisms: made from tables of rounded limbs, as tets with labels and guiding curves.
//
// A limb is a closed tube about a quadratic arc. Its cross-section is an ellipse that narrows
// towards both ends. Limbs overlap; the solid is where the winding number is above one half
// (src/geom/tetrahedralize/tetrahedralize.c), so a limb turned inside out is a chamber. A tet takes
// the label of the limb whose centre line is nearest in units of its thickness.
#include "io/generate/organism.h"

#include "io/generate/triangles.h"
#include "math/quat.h"

enum {
    RINGS = 24,
    SECTORS = 20,
    LIMB_POINTS = (RINGS - 1) * SECTORS + 2,
    LIMB_TRIANGLES = 2 * (RINGS - 1) * SECTORS
};
enum { STROKES = 10, STROKE_POINTS = 16 };
static const double PI = 3.14159265358979323846;

typedef struct limb {
    double from[3], by[3], to[3]; // the control points of the arc [m]
    double side, up;              // half widths across it [m]
    double normal[3];             // the direction of `up`
    double fullness;              // along the arc; 2: an ellipsoid; more: a bar with rounded ends
    double roundness;             // of the cross-section; 2: an ellipse; more: a rounded rectangle
    int32_t label;
    bool chamber, guide; // a hollow; carries a curve along its arc
} limb;

static const limb fish_limbs[] = {
    {{-0.50, 0, 0},
     {-0.05, 0, 0.01},
     {0.42, 0, 0},
     0.085,
     0.15,
     {0, 0, 1},
     2,
     2,
     1,
     false,
     true}, // trunk
    {{0.25, 0, 0},
     {0.38, 0, 0},
     {0.52, 0, 0},
     0.035,
     0.05,
     {0, 0, 1},
     4,
     2,
     1,
     false,
     true}, // stalk
    {{0.44, 0, -0.01},
     {0.52, 0, 0.08},
     {0.62, 0, 0.20},
     0.035,
     0.055,
     {-1, 0, 1},
     3,
     2,
     1,
     false,
     true}, // tail
    {{0.44, 0, 0.01},
     {0.52, 0, -0.08},
     {0.62, 0, -0.20},
     0.035,
     0.055,
     {1, 0, 1},
     3,
     2,
     1,
     false,
     true},
    {{-0.12, 0, 0.10},
     {0.00, 0, 0.18},
     {0.16, 0, 0.22},
     0.035,
     0.06,
     {-1, 0, 1},
     3,
     2,
     1,
     false,
     true}, // back fin
};

static const limb heart_limbs[] = {
    {{0, 0, -0.058}, {0, 0, 0}, {0, 0, 0.052}, 0.044, 0.038, {0, 1, 0}, 2.2, 2, 1, false, false},
    {{-0.012, 0, -0.036},
     {-0.015, 0, 0},
     {-0.014, 0, 0.030},
     0.014,
     0.021,
     {0, 1, 0},
     2.2,
     2,
     1,
     true,
     false},
    {{0.015, 0, -0.028},
     {0.020, 0, 0},
     {0.016, 0, 0.026},
     0.010,
     0.018,
     {0, 1, 0},
     2.2,
     2,
     1,
     true,
     false},
};

// Five stems and leaves, rotated about z by 72 degrees each.
static const limb plant_limbs[] = {
    {{0, 0, 0}, {0.02, 0, 0.22}, {0.15, 0, 0.36}, 0.030, 0.030, {0, 1, 0}, 8, 2, 1, false, true},
    {{0.07, 0, 0.27},
     {0.20, 0, 0.50},
     {0.42, 0, 0.37},
     0.09,
     0.024,
     {-0.4, 0, 1},
     2.4,
     3,
     2,
     false,
     true},
};

typedef struct plan {
    const char *name;
    const limb *limbs;
    int32_t limb_count, copies; // copies about z
    sinew_field_kind kind;
    int32_t fewest; // the smallest number of tets for which it is connected
} plan;

static const plan plans[] = {
    {"fish", fish_limbs, sizeof fish_limbs / sizeof *fish_limbs, 1, SINEW_FIELD_FRAMES, 500},
    {"heart", heart_limbs, sizeof heart_limbs / sizeof *heart_limbs, 1, SINEW_FIELD_FIBRES, 500},
    {"plant", plant_limbs, sizeof plant_limbs / sizeof *plant_limbs, 5, SINEW_FIELD_FRAMES, 3000},
};

enum { KINDS = sizeof plans / sizeof *plans };

struct sn_organism {
    sn_arena arena;
    const plan *plan;
    sinew_mesh *skin; // the surfaces of all limbs
    sinew_mesh *tets; // without labels
    sinew_mesh mesh;  // the same with labels
    sinew_curve_def *curves;
    int32_t curve_count;
};

// ---- Limbs --------------------------------------------------------------------------------------

// Every copy is rotated further about z, and every second one is raised a little.
static limb transform_limb(const plan *plan, int32_t copy, int32_t index) {
    limb placed = plan->limbs[index];
    if (plan->copies == 1) {
        return placed;
    }

    sn_quat turn = sn_quat_exp(sn_v3(0, 0, 2 * PI * copy / plan->copies));
    double *vectors[4] = {placed.from, placed.by, placed.to, placed.normal};
    for (int k = 0; k < 4; k++) {
        sn_vec3 v = sn_load3(vectors[k]);
        if (k < 3) {
            v.z *= copy % 2 == 0 ? 1 : 1.18;
        }
        sn_store3(vectors[k], sn_quat_rotate(turn, v));
    }

    return placed;
}

static sn_vec3 arc_point(const limb *limb, double s) {
    sn_vec3 a = sn_load3(limb->from);
    sn_vec3 b = sn_load3(limb->by);
    sn_vec3 c = sn_load3(limb->to);
    return sn_add(sn_scale((1 - s) * (1 - s), a),
                  sn_add(sn_scale(2 * s * (1 - s), b), sn_scale(s * s, c)));
}

static sn_vec3 arc_tangent(const limb *limb, double s) {
    sn_vec3 a = sn_load3(limb->from);
    sn_vec3 b = sn_load3(limb->by);
    sn_vec3 c = sn_load3(limb->to);
    return sn_normalize(sn_add(sn_scale(1 - s, sn_sub(b, a)), sn_scale(s, sn_sub(c, b))));
}

// The width of the cross-section at a fraction of the arc, relative to its full width.
static double swelling(const limb *limb, double s) {
    return pow(fmax(0, 1 - pow(fabs(2 * s - 1), limb->fullness)), 1 / limb->fullness);
}

// A coordinate of a circle, moved to a superellipse.
static double round_off(const limb *limb, double x) {
    return copysign(pow(fabs(x), 2 / limb->roundness), x);
}

static void add_limb(const sn_triangles *mesh, int32_t number, const limb *limb) {
    int32_t base = number * LIMB_POINTS;
    int32_t first_ring = base + 1;
    int32_t top = base + LIMB_POINTS - 1;
    int32_t *triangle = mesh->indices + 3 * (size_t)number * LIMB_TRIANGLES;

    // Points: an end, rings that are closer together towards the ends, the other end.
    sn_store3(mesh->points + 3 * (size_t)base, arc_point(limb, 0));
    sn_store3(mesh->points + 3 * (size_t)top, arc_point(limb, 1));
    for (int32_t r = 0; r < RINGS - 1; r++) {
        double s = 0.5 - 0.5 * cos(PI * (r + 1) / RINGS);
        double wide = swelling(limb, s);
        sn_vec3 t = arc_tangent(limb, s);
        sn_vec3 n = sn_load3(limb->normal);
        sn_vec3 up = sn_normalize(sn_madd(n, -sn_dot(n, t), t));
        sn_vec3 side = sn_cross(up, t);

        for (int32_t k = 0; k < SECTORS; k++) {
            double angle = 2 * PI * k / SECTORS;
            double u = limb->up * round_off(limb, sin(angle));
            double v = limb->side * round_off(limb, cos(angle));
            sn_vec3 across = sn_add(sn_scale(wide * v, side), sn_scale(wide * u, up));
            sn_store3(mesh->points + 3 * (size_t)(first_ring + r * SECTORS + k),
                      sn_add(arc_point(limb, s), across));
        }
    }

    // Triangles: fans at the ends, quadrilaterals in between.
    for (int32_t k = 0; k < SECTORS; k++) {
        int32_t next = (k + 1) % SECTORS;
        int32_t last = first_ring + (RINGS - 2) * SECTORS;
        int32_t ends[6] = {base, first_ring + k, first_ring + next, top, last + next, last + k};

        for (int c = 0; c < 6; c++) {
            *triangle++ = ends[c];
        }

        for (int32_t r = 0; r < RINGS - 2; r++) {
            int32_t a = first_ring + r * SECTORS + k;
            int32_t b = first_ring + r * SECTORS + next;
            int32_t quad[6] = {a, a + SECTORS, b, b, a + SECTORS, b + SECTORS};
            for (int c = 0; c < 6; c++) {
                *triangle++ = quad[c];
            }
        }
    }

    if (limb->chamber) {
        return;
    }

    // The axes side, up and tangent are left-handed: reverse the triangles to face outwards.
    triangle = mesh->indices + 3 * (size_t)number * LIMB_TRIANGLES;
    for (int32_t k = 0; k < LIMB_TRIANGLES; k++, triangle += 3) {
        int32_t second = triangle[1];
        triangle[1] = triangle[2];
        triangle[2] = second;
    }
}

static sinew_status make_surface(sinew_context *context, const plan *plan, sinew_mesh **surface) {
    int32_t count = plan->limb_count * plan->copies;
    sn_arena scratch = sn_arena_create(context);
    sn_triangles mesh;
    sinew_status status =
        sn_triangles_create(&scratch, count * LIMB_POINTS, count * LIMB_TRIANGLES, &mesh);

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < count; i++) {
            limb placed = transform_limb(plan, i / plan->limb_count, i % plan->limb_count);
            add_limb(&mesh, i, &placed);
        }
        status = sn_triangles_finish(context, &mesh, surface);
    }

    sn_arena_destroy(&scratch);
    return status;
}

// ---- Labels -------------------------------------------------------------------------------------

// The distance from the centre line of a limb, in units of its width there.
static double limb_distance(const limb *limb, sn_vec3 p) {
    double nearest = INFINITY;
    for (int32_t i = 0; i <= RINGS; i++) {
        double s = (double)i / RINGS;
        double wide = fmax(swelling(limb, s), 0.1);
        sn_vec3 t = arc_tangent(limb, s);
        sn_vec3 n = sn_load3(limb->normal);
        sn_vec3 d = sn_sub(p, arc_point(limb, s));
        sn_vec3 up = sn_normalize(sn_madd(n, -sn_dot(n, t), t));
        sn_vec3 side = sn_cross(up, t);
        double u = sn_dot(d, up) / (wide * limb->up);
        double v = sn_dot(d, side) / (wide * limb->side);
        double w = sn_dot(d, t) / limb->up;

        nearest = fmin(nearest, u * u + v * v + w * w);
    }

    return nearest;
}

static int32_t label_at(const plan *plan, sn_vec3 p) {
    double nearest = INFINITY;
    int32_t label = 1;
    for (int32_t i = 0; i < plan->limb_count * plan->copies; i++) {
        limb placed = transform_limb(plan, i / plan->limb_count, i % plan->limb_count);
        double distance = placed.chamber ? INFINITY : limb_distance(&placed, p);
        if (distance < nearest) {
            nearest = distance;
            label = placed.label;
        }
    }

    return label;
}

static sinew_status make_mesh(sn_organism *organism, int32_t tet_count) {
    sinew_context *context = organism->arena.context;
    sinew_tetrahedralize_def def = sinew_default_tetrahedralize_def();

    def.tet_count = tet_count;
    def.largest_component = true;
    SN_TRY(sinew_tetrahedralize(context, organism->skin, &def, &organism->tets, NULL));

    // Each tet gets the label of the part that contains its centre.
    const sinew_mesh *tets = organism->tets;
    int32_t *labels = SN_PUSH(&organism->arena, int32_t, tets->element_count);

    SN_TRY(sn_arena_status(&organism->arena));
    for (int32_t e = 0; e < tets->element_count; e++) {
        sn_vec3 c = {0};
        for (int k = 0; k < 4; k++) {
            int32_t node = tets->indices[4 * (size_t)e + (size_t)k];
            c = sn_madd(c, 0.25, sn_load3(tets->points + 3 * (size_t)node));
        }
        labels[e] = label_at(organism->plan, c);
    }

    organism->mesh = *tets;
    organism->mesh.labels = labels;

    return SINEW_OK;
}

// ---- Curves -------------------------------------------------------------------------------------

// A quadratic arc is a curve of three points; its first axis is across the limb's thickness.
static void guide_limb(const limb *limb, double *points, sinew_curve_def *curve) {
    sn_store3(points, sn_load3(limb->from));
    sn_store3(points + 3, sn_load3(limb->by));
    sn_store3(points + 6, sn_load3(limb->to));
    *curve = sinew_default_curve_def();
    curve->points = points;
    curve->point_count = 3;

    for (int k = 0; k < 3; k++) {
        curve->normal[k] = limb->normal[k];
    }
}

// From the apex to the base, half a turn about the axis, in the middle of the outer wall.
static void guide_heart(int32_t number, double *points, sinew_curve_def *curve) {
    const limb *wall = &heart_limbs[0];
    for (int32_t i = 0; i < STROKE_POINTS; i++) {
        double s = 0.1 + 0.8 * i / (STROKE_POINTS - 1);
        double wide = 0.85 * swelling(wall, s);
        double angle = 2 * PI * number / STROKES + PI * s;
        sn_vec3 p = sn_add(arc_point(wall, s),
                           sn_v3(wide * wall->side * cos(angle), wide * wall->up * sin(angle), 0));
        sn_store3(points + 3 * (size_t)i, p);
    }

    *curve = sinew_default_curve_def();
    curve->kind = SINEW_CURVE_STROKE;
    curve->points = points;
    curve->point_count = STROKE_POINTS;
}

static sinew_status make_curves(sn_organism *organism) {
    const plan *plan = organism->plan;
    bool heart = plan->kind == SINEW_FIELD_FIBRES;
    int32_t limbs = plan->limb_count * plan->copies;
    int32_t most = heart ? STROKES : limbs;

    organism->curves = SN_PUSH(&organism->arena, sinew_curve_def, most);
    double *points = SN_PUSH(&organism->arena, double, 3 * (size_t)most * STROKE_POINTS);

    SN_TRY(sn_arena_status(&organism->arena));
    for (int32_t i = 0; i < most; i++) {
        double *own = points + 3 * (size_t)i * STROKE_POINTS;
        if (heart) {
            guide_heart(i, own, &organism->curves[organism->curve_count++]);
            continue;
        }

        limb placed = transform_limb(plan, i / plan->limb_count, i % plan->limb_count);
        if (placed.guide) {
            guide_limb(&placed, own, &organism->curves[organism->curve_count++]);
        }
    }

    return SINEW_OK;
}

// ---- Public -------------------------------------------------------------------------------------

int32_t sn_organism_count(void) {
    return KINDS;
}

const char *sn_organism_name(sn_organism_kind kind) {
    return plans[kind].name;
}

sinew_status sn_organism_create(sinew_context *context, sn_organism_kind kind, int32_t tet_count,
                                sn_organism **organism) {
    if ((int32_t)kind < 0 || (int32_t)kind >= KINDS) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "organism %d: there are %d", (int)kind,
                       KINDS);
    }

    if (tet_count != 0 && tet_count < plans[kind].fewest) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a %s of %d tets; it takes at least %d, or 0 for its curves",
                       plans[kind].name, (int)tet_count, (int)plans[kind].fewest);
    }

    // The organism lives in its own arena.
    sn_arena arena = sn_arena_create(context);
    sn_organism *made = SN_PUSH(&arena, sn_organism, 1);
    if (made == NULL) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    made->arena = arena;
    made->plan = &plans[kind];

    // Curves, surface and tets; all are freed if one fails.
    sinew_status status = make_curves(made);
    if (status == SINEW_OK) {
        status = make_surface(context, made->plan, &made->skin);
    }
    if (status == SINEW_OK && tet_count > 0) {
        status = make_mesh(made, tet_count);
    }

    if (status == SINEW_OK) {
        *organism = made;
    } else {
        sn_organism_destroy(made);
    }

    return status;
}

void sn_organism_destroy(sn_organism *organism) {
    if (organism == NULL) {
        return;
    }

    sinew_mesh_destroy(organism->tets);
    sinew_mesh_destroy(organism->skin);
    sn_arena arena = organism->arena; // it holds the organism
    sn_arena_destroy(&arena);
}

const sinew_mesh *sn_organism_get_mesh(const sn_organism *organism) {
    return organism->tets != NULL ? &organism->mesh : NULL;
}

const sinew_mesh *sn_organism_get_skin(const sn_organism *organism) {
    return organism->skin;
}

const sinew_curve_def *sn_organism_get_curves(const sn_organism *organism, int32_t *count) {
    *count = organism->curve_count;
    return organism->curves;
}

sinew_field_kind sn_organism_get_field_kind(const sn_organism *organism) {
    return organism->plan->kind;
}
