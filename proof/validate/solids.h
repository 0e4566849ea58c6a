// Solids of one or several materials, as frames and as ten-node tets of the same voxels: statics
// and free frequencies of both.
#ifndef SN_PROOF_VALIDATE_SOLIDS_H
#define SN_PROOF_VALIDATE_SOLIDS_H

#include "sinew/sinew.h"

typedef enum solid_kind {
    SOLID_BAR,   // 5 : 1 : 1
    SOLID_SLAB,  // 7 : 7 : 1
    SOLID_TEE,   // two bars that meet
    SOLID_STEAK, // a slab around a T that is 10 000 times stiffer
    SOLID_CORE,  // a bar around a stiff one
    SOLID_KINDS
} solid_kind;

extern const char *const solid_names[SOLID_KINDS];

// One end is held. Forces at the other end: across, along and about the long axis;
// weight acts across.
typedef enum solid_load {
    SOLID_TIP,
    SOLID_WEIGHT,
    SOLID_PULL,
    SOLID_TWIST,
    SOLID_LOADS
} solid_load;

enum { SOLID_MODES = 6 };

// The displacement that each load does work on, relative to the load, and the lowest elastic
// eigenvalues of the free body.
typedef struct solid_response {
    double compliance[SOLID_LOADS];
    double eigenvalue[SOLID_MODES]; // [1/s2]
    int32_t samples;                // of frames
    double seconds;                 // to create the body
} solid_response;

// How the end of the tets is held: fixed, or by springs like those that hold the frames.
typedef enum solid_hold { SOLID_FIXED, SOLID_SPRINGS } solid_hold;

// The answer of ten-node tets, two voxels of the frames long each.
sinew_status solid_measure_tets(sinew_context *context, solid_kind kind, double poisson,
                                solid_hold hold, solid_response *response);

// The answer of frames. `def` has the frames, weights and samples; voxels, tissues and surface are
// filled in.
sinew_status solid_measure_frames(sinew_context *context, solid_kind kind, double poisson,
                                  const sinew_autorig_def *def, solid_response *response);

// What sinew_autorig_estimate_error expects of those frames.
sinew_status solid_estimate_error(sinew_context *context, solid_kind kind, double poisson,
                                  const sinew_autorig_def *def, double *error);

// The error in a load, and the largest error of a frequency. [-]
double solid_load_error(const solid_response *response, const solid_response *truth,
                        solid_load load);
double solid_frequency_error(const solid_response *response, const solid_response *truth);

#endif
