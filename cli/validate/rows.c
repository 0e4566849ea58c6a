// All rows, in the order in which they run: the engine's own, then the papers'.
#include "validate/validate.h"

// What the rows that cannot be computed wait for.
static const char no_fields[] = "frame fields along curves do not exist yet";

const validate_row validate_rows[] = {
    {"cantilever", NULL, validate_cantilever, NULL},
    {"order", NULL, validate_convergence, NULL},
    {"elastica", NULL, validate_elastica, NULL},
    {"uniaxial", NULL, validate_uniaxial, NULL},
    {"integrators", NULL, validate_integrators, NULL},
    {"momentum", NULL, validate_momentum, NULL},
    {"spin", NULL, validate_spin, NULL},
    {"threads", NULL, validate_threads, NULL},
    {"frequencies", NULL, validate_frequencies, NULL},
    {"calculix", NULL, validate_calculix, NULL},
    {"compliance", NULL, validate_compliance, NULL},
    {"recovery", NULL, validate_recovery, NULL},
    {"steak", NULL, validate_steak, NULL},
    {"A1", NULL, validate_axis_frames, NULL},
    {"A2", NULL, validate_dual_beam, NULL},
    {"A3", NULL, validate_coarse_beams, NULL},
    {"A4", NULL, validate_frame_cantilever, NULL},
    {"A5", NULL, validate_plates, NULL},
    {"A6", NULL, validate_line_weights, NULL},
    {"A7", NULL, validate_region_fit, NULL},
    {"A8", NULL, validate_springs, NULL},
    {"A9", NULL, validate_inverse_skinning, NULL},
    {"A10", NULL, validate_volume, NULL},
    {"A11", NULL, validate_stable_steps, NULL},
    {"A12", NULL, validate_isotropic_limit, NULL},
    {"A13", NULL, validate_orthotropic, NULL},
    {"A14", "double reflection is of fourth order", NULL, no_fields},
    {"A15", NULL, validate_layers, NULL},
    {"A15", NULL, validate_leg_layers, NULL},
    {"A16", NULL, validate_joints, NULL},
    {"A17", NULL, validate_stress, NULL},
    {"A18", NULL, validate_u_weights, NULL},
    {"A19", NULL, validate_frame_mass, NULL},
    {"A20", NULL, validate_few_frames, NULL},
    {"A21", NULL, validate_reach, NULL},
    {"A22", NULL, validate_sampling, NULL},
    {"A23", NULL, validate_iterations, NULL},
    {"A23", NULL, validate_frame_iterations, NULL},
    {"A24", NULL, validate_resolutions, NULL},
    {"A25", NULL, validate_two_frames, NULL},
};

const int32_t validate_row_count = sizeof validate_rows / sizeof *validate_rows;
