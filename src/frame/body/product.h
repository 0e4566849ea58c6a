// Products with the stiffness of a frame body: what its operations of that name do (body/body.h).
#ifndef SN_FRAME_BODY_PRODUCT_H
#define SN_FRAME_BODY_PRODUCT_H

#include "frame/body/frame_body.h"

struct sn_frame_products {
    sn_local_part local; // the rows of each node
    double *now, *kept;  // what evaluations put there, both triangles; kept is NULL until wanted
    double *whole, *covered; // products, three numbers a row
};

bool sn_frame_prefers_products(const sinew_body *body);
sinew_status sn_frame_prepare_products(sinew_body *body, bool kept, const sn_local_part **local);

// The pattern of the rows of each node, once prepared.
const sn_bsr *sn_frame_local_pattern(const sn_frame_model *model);

// Remembers the blocks on it that an evaluation has found, lower triangle: products give the rest.
void sn_frame_take_local(sinew_body *body, const double *matrix);

void sn_frame_keep_tangent(sinew_body *body);
void sn_frame_add_remote_product(sinew_body *body, double s, bool kept, double *y, const double *x);

#endif
