// What the page of the studio calls in WebAssembly: one scene that is loaded from bytes in memory,
// stepped, drawn, touched and changed. A client of the public headers.
//
// Calls that can fail return a sinew_status as a number; studio_get_message then has the reason.
// Texts that are returned live until the next call with the same studio.
#ifndef STUDIO_STUDIO_H
#define STUDIO_STUDIO_H

#include "sinew/sinew.h"

typedef struct studio studio;

// A studio without a scene; NULL if memory is short.
studio *studio_create(int32_t threads);
// NULL is allowed.
void studio_destroy(studio *s);

// Why the last call failed.
const char *studio_get_message(const studio *s);

// Files that scenes may reference. The bytes are copied; a file of the same name is replaced.
int32_t studio_add_file(studio *s, const char *name, const void *data, size_t size);
// The file that the last load needed and that had not been added; "" if there was none.
const char *studio_get_missing_file(const studio *s);

// The lower and upper corner of a mesh file that has been added, with z up, in its own unit; six
// numbers, or NULL if it cannot be read.
const double *studio_measure_mesh(studio *s, const char *name);

// Reads and builds the scene in the file `name`, which has been added. `settings` are changes such
// as "bodies[0].material.young=2e5", one on each line. If it fails, the scene before it stays.
// `carry`: bodies go on from where those of the same name were, in whatever model.
int32_t studio_load(studio *s, const char *name, const char *settings, int32_t carry);
// The loaded scene as JSON: title, step, duration, bodies with their materials, obstacles.
const char *studio_describe(studio *s);
// The state as JSON: time, energies, momentum, hash, contacts, and the report of the last step.
const char *studio_report(studio *s);
double studio_get_time(const studio *s);

// Advances by one step.
int32_t studio_step(studio *s);

// What a vertex is coloured by.
typedef enum studio_color {
    STUDIO_COLOR_BODY,
    STUDIO_COLOR_STRAIN,   // norm of the Green-Lagrange strain [-]
    STUDIO_COLOR_STRESS,   // von Mises [Pa]
    STUDIO_COLOR_SPEED,    // [m/s]
    STUDIO_COLOR_PRESSURE, // of contact [Pa]
    STUDIO_COLOR_WEIGHTS,  // a hue for each frame, blended by the weights: tints
    STUDIO_COLOR_LABELS,   // a hue for each tissue or layer: tints
} studio_color;

// Computes the vertices of all bodies: positions [m], three numbers each, and one value each, body
// after body. Views of them live until the bodies change.
int32_t studio_update(studio *s, int32_t color);
int32_t studio_get_vertex_count(const studio *s);
const float *studio_get_positions(const studio *s);
const float *studio_get_values(const studio *s);
// Red, green and blue of each vertex in [0, 1], of the colours that are tints.
const float *studio_get_tints(const studio *s);
// The triangles of a body, as numbers of its own vertices.
int32_t studio_get_body_count(const studio *s);
int32_t studio_get_body_vertex_count(const studio *s, int32_t body);
int32_t studio_get_body_triangle_count(const studio *s, int32_t body);
const int32_t *studio_get_body_triangles(const studio *s, int32_t body);
// The frames of all bodies: four columns of three numbers each, axes and position; their number.
int32_t studio_compute_frames(studio *s);
const float *studio_get_frames(const studio *s);
// Contacts of the last step: position and force, six numbers each; their number.
int32_t studio_compute_contacts(studio *s);
const float *studio_get_contacts(const studio *s);
// The surface of an obstacle that is a mesh: vertices [m] and triangles; counts are 0 for others.
int32_t studio_get_obstacle_vertex_count(const studio *s, int32_t obstacle);
int32_t studio_get_obstacle_triangle_count(const studio *s, int32_t obstacle);
const double *studio_get_obstacle_vertices(const studio *s, int32_t obstacle);
const int32_t *studio_get_obstacle_triangles(const studio *s, int32_t obstacle);
// Obstacles now: position and quaternion, seven numbers each; their number.
int32_t studio_compute_obstacles(studio *s);
const float *studio_get_obstacles(const studio *s);

// The hand: takes hold of the surface where a ray meets it, by a spring. [N/m] `stiffness` 0:
// chosen from the body. Returns the number of the body; -1 if the ray meets none, -2 if it failed.
int32_t studio_grab(studio *s, double ox, double oy, double oz, double dx, double dy, double dz,
                    double stiffness);
// Takes hold of a point by its rest position. [m]
int32_t studio_grab_at(studio *s, int32_t body, double x, double y, double z, double stiffness);
// The rest position of the point that is held; three numbers. [m]
const double *studio_get_hand_rest(const studio *s);
int32_t studio_drag(studio *s, double x, double y, double z);
void studio_release(studio *s);
int32_t studio_set_hand_stiffness(studio *s, double stiffness);
// The tied point, the position it is pulled to, the force on it, and the stiffness: ten numbers.
// All are zero if nothing is held.
const double *studio_get_hand(studio *s);

// Sets of material points that the page follows.
enum {
    STUDIO_POINTS_COMPARED, // where models are compared
    STUDIO_POINTS_DRAWN,    // control points of curves
    STUDIO_POINTS_FIELD,    // both ends of the axes of fields; tags are axes
    STUDIO_POINTS_SAMPLES,  // voxels of frame bodies; tags are samples
    STUDIO_POINT_SETS
};
// Replaces a set by `count` rest positions in a body. [m] If one fails, the set is empty.
int32_t studio_set_points(studio *s, int32_t set, int32_t body, const double *rest, int32_t count);
void studio_show_fields(studio *s, int32_t on);
void studio_show_samples(studio *s, int32_t on);
// Where the points of a set are now, three numbers each; their number.
int32_t studio_compute_points(studio *s, int32_t set);
const float *studio_get_points(const studio *s, int32_t set);
const int32_t *studio_get_point_tags(const studio *s, int32_t set);
// The rest position of the point of a body's surface that a ray meets [m], and its normal there;
// six numbers, or NULL if the ray meets no body. `body` receives which.
const double *studio_pick(studio *s, double ox, double oy, double oz, double dx, double dy,
                          double dz, int32_t *body);

// Frames that join while the body moves, where a ray of the page met it.
int32_t studio_insert_frame(studio *s, int32_t body, double x, double y, double z, double range);
// Takes away the frame that joined last.
int32_t studio_remove_frame(studio *s, int32_t body);

// Grain: begin, add the curves, make the field. Then curves rotate [rad] and move [m], the field is
// solved again, and the body goes on with it. The points of added curves must stay until
// studio_make_field returns.
int32_t studio_begin_field(studio *s, int32_t body, int32_t fibres);
int32_t studio_add_curve(studio *s, int32_t stroke, const double *points, int32_t count,
                         const double *normal, double turn);
int32_t studio_make_field(studio *s);
int32_t studio_turn_curve(studio *s, int32_t curve, double turn);
int32_t studio_move_curve(studio *s, int32_t curve, const double *points, int32_t count);

// Files: begin with a format of scenes ("glb", "skin"), add states in the order of time, finish.
int32_t studio_begin_export(studio *s, const char *format);
int32_t studio_add_to_export(studio *s);
int32_t studio_finish_export(studio *s);
int32_t studio_get_export_count(const studio *s);
const char *studio_get_export_name(const studio *s, int32_t index);
const void *studio_get_export_data(const studio *s, int32_t index, size_t *size);

// Snapshots: the whole state, to come back to. A hand that held the body then lets go.
size_t studio_get_snapshot_size(const studio *s);
int32_t studio_take_snapshot(studio *s, void *bytes);
int32_t studio_restore_snapshot(studio *s, const void *bytes, size_t size);

// Changes while it runs.
int32_t studio_set_gravity(studio *s, double x, double y, double z);
int32_t studio_set_step(studio *s, double seconds);
int32_t studio_set_integrator(studio *s, const char *word);
// A constant of a material: "young", "poisson", "density"; or its "law", by word.
int32_t studio_set_material(studio *s, int32_t body, int32_t number, const char *constant,
                            double value, const char *word);
int32_t studio_set_damping(studio *s, int32_t body, double mass, double stiffness);
// A level floor at this height; off: takes it away.
int32_t studio_set_floor(studio *s, int32_t on, double height);
// Drops a soft solid: "cube" or "ball", `size` across, centred at a position.
int32_t studio_add_solid(studio *s, const char *kind, double size, double x, double y, double z);
// Takes away the solid that was dropped last.
int32_t studio_remove_solid(studio *s);

#endif
