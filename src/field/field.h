// The internals of a field: its mesh as a graph, its curves, the frames that guide it, the
// smoothing system, the result.
#ifndef SN_FIELD_FIELD_H
#define SN_FIELD_FIELD_H

#include "sinew/field.h"

#include "field/curve.h"
#include "field/matching.h"
#include "field/smoothing.h"
#include "geom/search/search.h"
#include "math/quat.h"

// Components of the smoothed functions, padded: a quaternion, or xx yy yz zx xy of the tensor d d'
// of a direction (its trace is 1).
enum { SN_FIELD_MAX_COMPONENTS = 8 };

// Responses are cached per curve, for up to 16 curves. SN_FIELD_BATCH of them are computed side by
// side by one solve.
enum { SN_FIELD_RESPONSES = 16, SN_FIELD_BATCH = SN_SMOOTHING_MAX_WIDTH / SN_SMOOTHING_WIDTH };

// The response of the field to the unrotated frames of one curve, without the others.
typedef struct sn_response {
    int32_t curve; // -1: none
    double *x;     // unknown_count x components; NULL until it is needed
} sn_response;

// A curve with memory of its own, so that it can be moved.
typedef struct sn_field_curve {
    sn_arena arena;
    sn_curve curve;
} sn_field_curve;

// A pair of neighbouring curves: the guides closest to the border between their floods (align.c).
typedef struct sn_meeting {
    int32_t guide[2];
} sn_meeting;

// Frames along the curves, and the constraints they impose. Rebuilt when a curve moves.
typedef struct sn_guides {
    sn_arena arena;
    int32_t count;    // frames of curves; constraints of isolated parts come after them
    int32_t ignored;  // frames too far outside the solid
    int32_t *curves;  // of each frame
    sn_vec3 *points;  // the position of each frame
    sn_quat *frames;  // before the curve's turn; signs are continuous along each curve
    int32_t *sources; // of each constraint: the frame whose value it takes
    sn_constraints constraints;
    int32_t meeting_count;
    sn_meeting *meetings; // a spanning tree of the curves of each part, closest neighbours first
    int32_t pair_count;
    sn_meeting *pairs; // all pairs of guides that are neighbours in the mesh, except those that
                       // follow one another on a curve
    sinew_isolated_part *isolated;
    int32_t isolated_count;
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
    sn_adjacency neighbors;
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
    sn_quat *factors;    // of each curve: the factor of its frames in the last solve (frames only)
    sn_response responses[SN_FIELD_RESPONSES]; // of a curve: that of its number modulo their count
    bool prepare_turns, history_known, moved, turned;
    int32_t seam_count; // neighbours with half turns between them in the last solve
    sinew_field_report report;
};

// Frames, constraints, fallbacks and meetings of the current curves. The guides are empty if it
// fails.
sinew_status sn_guides_build(const sinew_field *field, sn_guides *guides);

// The tree of meetings; part of sn_guides_build.
sinew_status sn_find_meetings(const sinew_field *field, sn_guides *guides);

// The target frame of each guide: rotated by the curve's turn, and of the eight equivalent
// quaternions the one that agrees best with neighbouring curves. `cluster` and `sums` are scratch,
// one per curve; `aligned` has one quaternion per guide.
void sn_align_guides(const sinew_field *field, const sn_guides *guides, int32_t *cluster,
                     sn_quat *sums, sn_quat *aligned);

// Whether neighbouring frames contradict each other as they are aligned although a half turn would
// make them agree, and the smoothed field field->x has suffered from it.
bool sn_has_seam(const sinew_field *field, const sn_guides *guides, const sn_quat *aligned);

// Smooths frames with half turns between neighbours, and replaces field->x if that gives a smoother
// field. field->seam_count is the number of neighbours that then need a half turn.
sinew_status sn_solve_seam(sinew_field *field, const sn_guides *guides, const sn_quat *aligned,
                           sn_solve_report *report);

// Axes and quaternions from the smoothed functions, and their certainties.
void sn_field_finish(sinew_field *field);

static inline void sn_store_axes(double *axes, sn_mat3 Q) {
    for (int j = 0; j < 3; j++) {
        sn_store3(axes + 3 * j, sn_mat3_column(Q, j));
    }
}

#endif
