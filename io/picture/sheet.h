// A contact sheet: several pictures of a motion in a grid, each with a caption, and one title and
// legend for all.
//
// Create the sheet, render into its cells, then write the image. Captions, title and legend are
// drawn at creation.
#ifndef SN_IO_PICTURE_SHEET_H
#define SN_IO_PICTURE_SHEET_H

#include "io/picture/draw.h"

typedef struct sn_sheet_def {
    int32_t count;                   // pictures, in [1, 1000]
    int32_t columns;                 // 0: as many as make the sheet about as wide as a screen
    int32_t cell_width, cell_height; // pixels; default 400 x 300
    const char *title;               // NULL: none
    const char *const *captions;     // one per picture; NULL: none
    const sn_legend *legend;         // NULL: none
    double text_size;                // pixels; default 14
} sn_sheet_def;

sn_sheet_def sn_sheet_def_default(void);

typedef struct sn_sheet {
    sn_image image;
    int32_t count, columns, cell_width, cell_height;
    int32_t left, top, step_x, step_y; // of the first cell, and between cells
} sn_sheet;

sinew_status sn_sheet_create(sinew_context *context, const sn_sheet_def *def, sn_sheet *sheet);
void sn_sheet_destroy(sinew_context *context, sn_sheet *sheet);

// The part of the image for picture i, in rows from the top left.
sn_image sn_sheet_cell(const sn_sheet *sheet, int32_t i);

// The caption of a moment, e.g. "t = 0.25 s", with enough digits for pictures `interval` apart.
enum { SN_SHEET_CAPTION_SIZE = 80 };
void sn_sheet_time_caption(char caption[SN_SHEET_CAPTION_SIZE], double seconds, double interval);

#endif
