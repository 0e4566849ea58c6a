// The inside of a field: its mesh as a graph, its curves, the frames that guide it, the smoothing
// system, the result.
#ifndef SN_FIELD_FIELD_H
#define SN_FIELD_FIELD_H

#include "sinew/field.h"

#include "field/curve.h"
#include "field/matching.h"
#include "field/smoothing.h"
#include "geom/search/search.h"
#include "math/quat.h"

// Components of what is smoothed, padded: a quaternion, or xx yy yz zx xy of the tensor d d' of a
// direction (its trace is 1).
enum { SN_FIELD_MOST_COMPONENTS = 8 };

// Of so many curves is kept what each gives alone.
enum { SN_FIELD_RESPONSES = 16 };

// The field of one curve's frames, not turned, and none from the others.
typedef struct sn_response {
    int32_t curve; // -1: none
    double *x;     // unknown_count x components; NULL until it is needed
} sn_response;

// A curve with memory of its own, so that it can be moved.
typedef struct sn_field_curve {
    sn_arena arena;
    sn_curve curve;
} sn_field_curve;

// The nearest places of two curves on either side of a border between what they reach first
// (align.c).
typedef struct sn_meeting {
    int32_t guide[2];
} sn_meeting;

// Frames along the curves and the constraints they make. Rebuilt when a curve moves.
typedef struct sn_guides {
    sn_arena arena;
    int32_t count;    // frames of curves; constraints of lonely parts come after them
    int32_t ignored;  // frames too far outside
    int32_t *curves;  // of each frame
    sn_vec3 *points;  // where it is
    sn_quat *frames;  // unturned, signs continuous along each curve
    int32_t *sources; // of each constraint: the frame whose value it takes
    sn_constraints constraints;
    int32_t meeting_count;
    sn_meeting *meetings; // a tree over the curves of each part: those nearest in the mesh first
    int32_t pair_count;
    sn_meeting *pairs; // all guides that are neighbours in the mesh, but for those next to one
                       // another on a curve
    sinew_lonely_part *lonely;
    int32_t lonely_count;
    double *shown_points, *shown_axes; // for sinew_field_get_guides
} sn_guides;

struct sinew_field {
    sinew_context *context;
    sn_arena arena;
    sinew_mesh *mesh;
    sinew_field_kind kind;
    sinew_field_unknowns unknowns;
    int32_t unknown_count;
    sn_vec3 *positions; // of the unknowns
    sn_adjacency neighbours;
    int32_t *parts; // connected part of each unknown
    int32_t part_count;
    sn_element_tree tree;
    double spacing, reach;
    int32_t curve_count;
    sn_field_curve *curves;
    sn_guides guides;
    sn_smoothing smoothing;
    int32_t components;
    double *x;           // unknown_count x components: the smoothed functions
    double *history;     // of the smoothing's passes; NULL: solved by a factor
    double *axes;        // 9 for each element
    double *certainties; // of the axes of each element
    sn_quat *rotation;   // of each unknown
    sn_quat *factors; // of each curve: what its frames were multiplied by in the last solve (frames
                      // only)
    sn_response responses[SN_FIELD_RESPONSES]; // of a curve: that of its number modulo their count
    bool prepare_turns, history_known, moved, turned;
    int32_t seam_count; // neighbours with half turns between them in the last solve
    sinew_field_report report;
};

// Frames, constraints, fallbacks and meetings of the present curves. The guides are empty if it
// fails.
sinew_status sn_guides_build(const sinew_field *field, sn_guides *guides);

// The tree of meetings; part of sn_guides_build.
sinew_status sn_find_meetings(const sinew_field *field, sn_guides *guides);

// What each guide asks for: frames turned, with the sign and, of the four frames that mean the
// same, the one that agree best with the next curves'. `cluster` and `sums` are scratch, one for
// each curve; `aligned` has one quaternion for each guide.
void sn_align_guides(const sinew_field *field, const sn_guides *guides, int32_t *cluster,
                     sn_quat *sums, sn_quat *aligned);

// Whether frames that are neighbours contradict each other as they are aligned, though half turned
// they would not, and the field smoothed as it is, field->x, has suffered.
bool sn_has_seam(const sinew_field *field, const sn_guides *guides, const sn_quat *aligned);

// Smooths frames with half turns between neighbours, and replaces field->x if that gives a smoother
// field. field->seam_count tells how many neighbours then need one.
sinew_status sn_solve_seam(sinew_field *field, const sn_guides *guides, const sn_quat *aligned,
                           sn_solve_report *report);

// Axes and quaternions from the smoothed functions, and how certain they are.
void sn_field_finish(sinew_field *field);

static inline void sn_store_axes(double *axes, sn_mat3 Q) {
    for (int j = 0; j < 3; j++) {
        sn_store3(axes + 3 * j, sn_mat3_column(Q, j));
    }
}

#endif
