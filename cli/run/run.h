// What a run writes: frames of every format, the preview, the summary.
#ifndef CLI_RUN_RUN_H
#define CLI_RUN_RUN_H

#include "scene_file.h"

#include "io/bytes/buffer.h"
#include "io/mesh/write.h"
#include "io/picture/preview.h"
#include "io/public/scene.h"
#include "io/scene/build.h"

// What became of a body of frames as a skin. Lengths are the largest distance, over all points and
// outputs, between what was simulated and what the file replays.
typedef struct run_skin {
    double **poses;          // [output]: twelve numbers a frame, position and matrix
    int32_t joint_count;     // frames
    double fit_error;        // of the frames' poses alone, with all weights [m]
    double largest_error;    // of the file [m]
    double errors[2];        // of files with 4 and with 8 joints at a point [m]
    double truncated_weight; // largest sum of weights that a point lost [-]
} run_skin;

typedef struct run_state {
    sinew_context *context;
    cli_scene_file *file;
    const sn_scene *scene;
    sn_scene_world *world;
    const char *folder;
    sn_arena arena;
    sn_buffer buffer; // reused for every file
    bool film;
    bool quiet;

    int32_t frame_count, frame_capacity; // complete outputs so far, and how many there will be
    int32_t last_output;                 // the step of the last of them
    double *times;                       // of the frames
    double ***frame_points;              // [frame][body]: kept for GLB and PC2
    run_skin *skins;                     // one for each body, if they are asked for
    sn_preview *preview;
    double **values, **surfaces; // of each body, for the preview
    float **colors;              // of each body that is coloured by weights, or NULL
    int32_t frame_glyphs;        // coordinate frames of all bodies, drawn as axes
    int32_t *
        *field_triangles; // of each body: triangles of its surface at which material axes are drawn
    int32_t *field_counts;
    double *frame_points_now, *frame_matrices_now;
    int32_t moment_count, film_count;
    bool pictureless; // the preview was wanted, but this build cannot write it
    sn_buffer probes; // probes.csv so far

    int64_t steps, newton_iterations, solver_iterations, line_search_cuts, unconverged_steps;
    int64_t rescued_steps;
    double simulate_seconds, assemble_seconds, solve_seconds, output_seconds;
    double smallest_J, largest_J;
    const char *outcome;
    const char *reason; // why it is not "completed"; NULL otherwise
    bool static_solved;
    sinew_step_report static_report;
} run_state;

// From xx yy zz yz zx xy to VTK's XX YY ZZ XY YZ XZ, the shears multiplied by `shear`: 0.5 where
// they are doubled, 1 otherwise.
void run_store_tensor(double *to, const double *from, double shear);

// Writes "FOLDER/NAME" from the buffer and remembers it.
sinew_status run_write(run_state *run, const char *name, const sn_buffer *buffer);

// Everything due at this step.
sinew_status run_output(run_state *run, int32_t step, bool last);
// Caches, tables and the contact sheet, at the end or when the run stops early.
sinew_status run_finish(run_state *run);

// A body of frames as VTU: its surface, and its frames.
sinew_status run_write_frame_surface(run_state *run, const sn_scene_member *member,
                                     const char *name);
sinew_status run_write_frame_points(run_state *run, const sn_scene_member *member,
                                    const char *name);

// Where material axes are drawn; how many frames that makes is added up. The axes of a body now;
// returns how many. The fields that curves made, as files.
sinew_status run_begin_fields(run_state *run);
int32_t run_update_field(const run_state *run, int32_t body, double *points, double *matrices);
sinew_status run_write_fields(run_state *run);

// Material axes for VTU: at `place` of three arrays of `count` vectors each what F makes of the
// axes at rest, F a, as long as the material is stretched there; and the arrays by their names,
// axis 3 alone for fibres. Returns how many.
void run_deform_axes(const double F[9], const double rest[9], double *axes, size_t count,
                     size_t place);
int32_t run_name_axes(const sinew_field *field, const double *axes, size_t count, sn_field *named);

// Bodies of frames as skins: asked for in a scene that can have them, the present poses kept,
// written at the end.
sinew_status run_begin_skins(run_state *run);
sinew_status run_keep_poses(run_state *run, int32_t body, int32_t frame);
sinew_status run_write_skin(run_state *run, int32_t body);

// The contact sheet: made ready, given the present moment (or a picture of the film), written.
sinew_status run_begin_preview(run_state *run);
sinew_status run_add_moment(run_state *run, bool film);
sinew_status run_write_preview(run_state *run);
void run_write_summary(const run_state *run, sn_buffer *out);

#endif
