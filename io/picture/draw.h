// Flat drawing on an image: rectangles and the legend of a colour map. Positions are in pixels from
// the top left corner; edges are anti-aliased.
#ifndef SN_IO_PICTURE_DRAW_H
#define SN_IO_PICTURE_DRAW_H

#include "io/picture/colormap.h"
#include "io/picture/font.h"

void sn_draw_fill(sn_image image, sn_color color);
void sn_draw_rectangle(sn_image image, double left, double top, double right, double bottom,
                       sn_color color);

// Either a scale of numbers (`map`, `low`, `high`) or, without a map, names with the colours of the
// palette.
typedef struct sn_legend {
    const char *title; // e.g. "von Mises stress [kPa]"; NULL: none
    const sn_colormap *map;
    double low, high;
    const char *const *names;
    int32_t name_count;
    double text_size; // 0: 13 pixels
} sn_legend;

// The size of a legend in pixels. The width is that of names; a scale fits any width.
double sn_legend_width(const sn_legend *legend);
double sn_legend_height(const sn_legend *legend);

// Draws a legend in [left, left + width]: the title, the scale and its numbers, or the title and
// names in a row.
void sn_legend_draw(sn_image image, double left, double top, double width, const sn_legend *legend);

#endif
