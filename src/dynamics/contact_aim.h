// What bends motions along the planes in their way (contact_aim.c has the method).
#ifndef SN_DYNAMICS_CONTACT_AIM_H
#define SN_DYNAMICS_CONTACT_AIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_aim_row sn_aim_row;
typedef struct sn_aim_term sn_aim_term;
typedef struct sn_aim_bar sn_aim_bar;
typedef struct sn_aim {
    double *surface; // [3 vertex] at aim_q
    bool used;       // what the commit moves towards is the aim
    sn_aim_row *rows;
    int32_t row_count;
    size_t row_capacity;
    sn_aim_term *terms;
    int32_t term_count;
    size_t term_capacity;
    sn_aim_bar *bars; // found in the way of earlier aims
    int32_t bar_count;
    size_t bar_capacity;
} sn_aim;

#endif
