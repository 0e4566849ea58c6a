// The inside of sinew_recording, shared by the files of this folder: recording.c decides what is
// due and writes the simple formats, vtu.c writes meshes for ParaView, skin.c joints and weights,
// preview.c, field.c and obstacles.c draw, contact.c notes what touched, summary.c sums up.
#ifndef SN_IO_RECORDING_RECORDING_H
#define SN_IO_RECORDING_RECORDING_H

#include "sinew/io/recording.h"

#include "io/mesh/write.h"
#include "io/picture/preview.h"
#include "io/public/scene.h"
#include "io/text/json_write.h"

// One moment of the motion that was written.
typedef struct sn_recorded_image {
    double time;     // [s]
    double **points; // of each body's surface, where a format needs them later; or NULL
    double **poses;  // of each frame body with a skin: twelve numbers a frame, position and matrix
} sn_recorded_image;

// An obstacle as a mesh.
typedef struct sn_obstacle_look {
    const sinew_obstacle *obstacle;
    sn_picture_mesh mesh; // its positions are `points`
    double *own, *points; // vertices in its own axes and in the world
} sn_obstacle_look;

enum { SN_MOST_DOTS = 512 }; // contacts drawn in a picture

struct sinew_recording {
    sn_arena arena; // holds this struct too
    sinew_context *context;
    const sn_scene *scene;
    sn_scene_world *world;
    sinew_recording_def def;
    sn_buffer buffer;   // reused for every file
    sn_buffer probes;   // probes.csv so far
    sn_buffer contacts; // contact.csv so far
    int64_t last_step;  // that was recorded; -1: none

    sn_recorded_image *images;
    int32_t image_count, image_capacity;
    int64_t last_image;         // the step of the last of them; -1: there is none
    sinew_recorded_skin *skins; // one for each body, if they are requested

    // Pictures.
    sn_preview *preview;
    double **values, **surfaces; // of each body
    float **colors;              // of each body that is coloured by weights, or NULL
    int32_t glyph_count;         // coordinate frames and material axes that are drawn
    double *glyph_points, *glyph_matrices;
    int32_t **field_triangles; // of each body: where on its surface material axes are drawn
    int32_t *field_counts;
    sn_obstacle_look *obstacles; // in the order in which they are drawn
    int32_t obstacle_count, backdrop_count;
    double *dots; // where contact forces act
    int32_t moment_count, film_images;
    bool pictureless; // the preview was requested, but this build cannot write it

    // For the summary.
    int64_t steps, newton_iterations, solver_iterations, line_search_cuts, unconverged_steps;
    int64_t rescued_steps;
    double simulate_seconds, assemble_seconds, solve_seconds, output_seconds;
    double smallest_J, largest_J;
    double largest_residual; // of the nonlinear equations, relative, where it was measured
    bool static_solved;
    sinew_step_report static_report;
    sinew_recorded_contact contact;
};

// Hands a file to the host, or writes it into the folder.
sinew_status sn_recording_write(sinew_recording *recording, const char *name,
                                const sn_buffer *buffer);

// Writes a body as VTU: its elements, or the surface of a frame body; and frames as points.
sinew_status sn_recording_write_vtu(sinew_recording *recording, const sn_scene_member *member,
                                    const char *name);
// ... and the surface of a body of elements whose surface is not its boundary, with contact.
sinew_status sn_recording_write_contacts(sinew_recording *recording, const sn_scene_member *member,
                                         const char *name);
sinew_status sn_recording_write_frames(sinew_recording *recording, const sn_scene_member *member,
                                       const char *name);

// Chooses where material axes are drawn, and adds up how many. Computes the axes of a body now;
// returns how many. Writes the fields that curves made.
sinew_status sn_recording_begin_fields(sinew_recording *recording);
int32_t sn_recording_update_field(const sinew_recording *recording, int32_t body, double *points,
                                  double *matrices);
sinew_status sn_recording_write_fields(sinew_recording *recording);

// Frame bodies as skins: checks that the scene can have them, keeps the present poses, writes them
// at the end.
sinew_status sn_recording_begin_skins(sinew_recording *recording);
sinew_status sn_recording_keep_poses(sinew_recording *recording, int32_t body,
                                     sn_recorded_image *image);
sinew_status sn_recording_write_skin(sinew_recording *recording, int32_t body);

// Contact: notes the last step, for the table and the summary; writes its part of the summary.
sinew_status sn_recording_note_contact(sinew_recording *recording);
void sn_recording_write_contact(const sinew_recording *recording, sn_json_writer *json);

// Obstacles and contacts in pictures: their meshes, large ones last, and where they are now.
sinew_status sn_recording_begin_obstacles(sinew_recording *recording);
void sn_recording_update_obstacles(sinew_recording *recording);
void sn_recording_update_dots(sinew_recording *recording);

// The preview: prepared, given the present moment (or one picture of a film), written.
sinew_status sn_recording_begin_preview(sinew_recording *recording);
sinew_status sn_recording_add_moment(sinew_recording *recording, bool film);
sinew_status sn_recording_write_preview(sinew_recording *recording);

#endif
