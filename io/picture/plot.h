// Plots as SVG text: lines, markers, error bars and bars on linear or logarithmic axes, several
// panels on one sheet.
//
// Everything is borrowed while writing. The text depends only on the plot, not on the machine or
// locale.
#ifndef SN_IO_PICTURE_PLOT_H
#define SN_IO_PICTURE_PLOT_H

#include "io/bytes/buffer.h"

typedef enum sn_plot_style {
    SN_PLOT_LINE = 1,
    SN_PLOT_MARKERS = 2,
    SN_PLOT_BARS = 4, // from zero (or the low end of the axis) to y; series are drawn side by side
    SN_PLOT_DASHED = 8,
} sn_plot_style;

// One curve. Points that are not finite, or not positive on a logarithmic axis, are omitted and
// interrupt the line.
typedef struct sn_plot_series {
    const char *label; // in the legend; NULL: none
    const double *x;   // NULL: 0, 1, 2, ...
    const double *y;
    const double *error; // y +- error; NULL: none
    int32_t count;
    unsigned style; // combination of sn_plot_style
    int32_t color;  // index in the palette; -1: by the position of the series in the panel
} sn_plot_series;

typedef struct sn_plot_axis {
    const char *label;
    bool logarithmic;
    double low, high;         // equal: from the data, rounded outwards
    const char *const *names; // names at 0, 1, 2, ... instead of numbers; for bars
    int32_t name_count;
} sn_plot_axis;

typedef struct sn_plot_panel {
    const char *title;
    sn_plot_axis x, y;
    const sn_plot_series *series;
    int32_t series_count;
} sn_plot_panel;

typedef struct sn_plot {
    const char *title;
    const sn_plot_panel *panels;
    int32_t panel_count;
    int32_t columns;                   // 0: at most three
    int32_t panel_width, panel_height; // pixels with labels; 0: 460 x 340
} sn_plot;

sn_plot_series sn_plot_series_default(void);

// Appends an SVG document. On failure the buffer keeps its size.
sinew_status sn_plot_write(sinew_context *context, const sn_plot *plot, sn_buffer *buffer);

#endif
