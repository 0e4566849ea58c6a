// Rows of the validation: each recomputes claims and compares them with reference numbers.
//
// A row is a function that measures, and reports each claim through validate_near and its siblings.
// Rows that this build cannot compute are listed in the table with the reason, and count as failed,
// never as absent.
#ifndef SN_PROOF_VALIDATE_VALIDATE_H
#define SN_PROOF_VALIDATE_VALIDATE_H

#include "io/picture/plot.h"
#include "sinew/sinew.h"

typedef enum validate_verdict {
    VALIDATE_PASS,
    VALIDATE_FAIL,
    VALIDATE_UNAVAILABLE, // not computed by this version; counts as failed
    VALIDATE_SKIPPED,     // a foreign program is missing; neither passes nor fails
} validate_verdict;

// The required relation of `measured` to `reference`, up to `tolerance`.
typedef enum validate_relation {
    VALIDATE_NEAR,
    VALIDATE_AT_MOST,
    VALIDATE_AT_LEAST
} validate_relation;

typedef struct validate_result {
    const char *id;
    char claim[160];
    double reference, measured, tolerance; // NaN where there is none
    validate_relation relation;
    const char *unit;
    validate_verdict verdict;
    char note[400]; // why it is unavailable, skipped or broken, or further observations
} validate_result;

enum { VALIDATE_CAPACITY = 512, VALIDATE_PLOT_CAPACITY = 64 };

typedef struct validate_plot {
    const char *id;
    char name[64]; // of the file, in the folder of the report
} validate_plot;

typedef struct validate_run {
    sinew_context *context;
    bool quick;         // the shorter form of the rows that have one
    bool whole;         // C4 with all steps and scenes
    const char *folder; // for plots; NULL: none
    bool silent;        // standard output is taken by the JSON
    const char *id;     // of the row that runs
    validate_result results[VALIDATE_CAPACITY];
    int32_t count;
    validate_plot plots[VALIDATE_PLOT_CAPACITY];
    int32_t plot_count;
} validate_run;

typedef struct validate_row {
    const char *id;
    const char *claim;                    // for rows that cannot run or that the library may refuse
    sinew_status (*run)(validate_run *v); // NULL: not available
    const char *reason;                   // why not
} validate_row;

extern const validate_row validate_rows[];
extern const int32_t validate_row_count;

// Each reports one claim. `tolerance` is absolute, in `unit`; `unit` is static text.
void validate_near(validate_run *v, const char *claim, double reference, double measured,
                   double tolerance, const char *unit);
void validate_at_most(validate_run *v, const char *claim, double limit, double measured,
                      const char *unit);
void validate_at_least(validate_run *v, const char *claim, double limit, double measured,
                       const char *unit);
void validate_unavailable(validate_run *v, const char *claim, const char *reason);
void validate_skip(validate_run *v, const char *claim, const char *reason);

// Adds to the note of the last result.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void validate_note(validate_run *v, const char *format, ...);

// Writes validation/ID-NAME.svg into the folder of the report, if there is one.
sinew_status validate_draw(validate_run *v, const char *name, const sinew_plot *plot);

// The same for a finished file, validation/ID-NAME.ENDING. For pictures of bodies side by side see
// validate/album.h.
sinew_status validate_keep_picture(validate_run *v, const char *name, const char *ending,
                                   const sn_buffer *content);

// Prints a result as one line.
void validate_print(const validate_result *result);

// Writes the results as JSON and as a page of Markdown.
void validate_write_json(const validate_run *v, sn_buffer *out);
void validate_write_page(const validate_run *v, sn_buffer *out);

// The uniform state of a cube pulled along x with free sides, its material rotated by `angle` about
// z.
sinew_status validate_off_axis_state(validate_run *v, const sinew_material_def *material,
                                     double angle, double pull, sinew_element_state *state);

// The rows, by topic.
sinew_status validate_cantilever(validate_run *v);
sinew_status validate_convergence(validate_run *v);
sinew_status validate_elastica(validate_run *v);
sinew_status validate_frequencies(validate_run *v);
sinew_status validate_calculix(validate_run *v);
sinew_status validate_dilatation(validate_run *v);
sinew_status validate_reduced(validate_run *v);                 // R1
sinew_status validate_warped(validate_run *v);                  // R2
sinew_status validate_incompressible_defaults(validate_run *v); // L1
sinew_status validate_supports(validate_run *v);                // L2
sinew_status validate_uniaxial(validate_run *v);
sinew_status validate_integrators(validate_run *v);
sinew_status validate_momentum(validate_run *v);
sinew_status validate_threads(validate_run *v);
sinew_status validate_spin(validate_run *v);
sinew_status validate_axis_frames(validate_run *v);      // A1
sinew_status validate_dual_beam(validate_run *v);        // A2
sinew_status validate_coarse_beams(validate_run *v);     // A3
sinew_status validate_frame_cantilever(validate_run *v); // A4
sinew_status validate_line_weights(validate_run *v);     // A6
sinew_status validate_steak(validate_run *v);
sinew_status validate_slope(validate_run *v);         // C1
sinew_status validate_hertz(validate_run *v);         // C2
sinew_status validate_patch(validate_run *v);         // C2
sinew_status validate_collision(validate_run *v);     // C3
sinew_status validate_intersections(validate_run *v); // C4
sinew_status validate_tunnelling(validate_run *v);    // C5
sinew_status validate_stack(validate_run *v);         // C6
sinew_status validate_common_fall(validate_run *v);   // C6
sinew_status validate_pressed(validate_run *v);       // C7
sinew_status validate_squeeze(validate_run *v);       // C8
sinew_status validate_rates(validate_run *v);         // C9
sinew_status validate_plates(validate_run *v);        // A5
sinew_status validate_sampling(validate_run *v);      // A22
sinew_status validate_iterations(validate_run *v);    // A23
sinew_status validate_region_fit(validate_run *v);    // A7
sinew_status validate_layers(validate_run *v);        // A15
sinew_status validate_leg_layers(validate_run *v);    // A15
sinew_status validate_joints(validate_run *v);        // A16
sinew_status validate_resolutions(validate_run *v);   // A24
sinew_status validate_compliance(validate_run *v);
sinew_status validate_recovery(validate_run *v);
sinew_status validate_u_weights(validate_run *v);       // A18
sinew_status validate_reach(validate_run *v);           // A21
sinew_status validate_few_frames(validate_run *v);      // A20
sinew_status validate_two_frames(validate_run *v);      // A25
sinew_status validate_transverse(validate_run *v);      // W3
sinew_status validate_voxel_size(validate_run *v);      // W5
sinew_status validate_volume(validate_run *v);          // A10
sinew_status validate_stable_steps(validate_run *v);    // A11
sinew_status validate_isotropic_limit(validate_run *v); // A12
sinew_status validate_orthotropic(validate_run *v);     // A13
sinew_status validate_reflection(validate_run *v);      // A14
sinew_status validate_fields(validate_run *v);
sinew_status validate_off_axis(validate_run *v);
sinew_status validate_free_grain(validate_run *v);
sinew_status validate_stress(validate_run *v);               // A17
sinew_status validate_springs(validate_run *v);              // A8
sinew_status validate_inverse_skinning(validate_run *v);     // A9
sinew_status validate_frame_iterations(validate_run *v);     // A23
sinew_status validate_frame_mass(validate_run *v);           // A19
sinew_status validate_spectral_statics(validate_run *v);     // W1
sinew_status validate_spectral_frequencies(validate_run *v); // W2
sinew_status validate_elastic_constants(validate_run *v);    // W4
sinew_status validate_expected_error(validate_run *v);       // W6: estimates against true errors

#endif
