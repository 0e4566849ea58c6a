// Plots as SVG text: lines, markers, error bars and bars over linear or logarithmic axes, several
// panels on one sheet. The text is the same for the same plot, on every machine and in every
// locale.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_PLOT_H
#define SINEW_IO_PLOT_H

#include "sinew/io/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Bits for the style of a series.
typedef enum sinew_plot_style {
    SINEW_PLOT_LINE = 1,
    SINEW_PLOT_MARKERS = 2,
    SINEW_PLOT_BARS = 4, ///< From zero (or the axis' low end) to y; series of bars stand side by
                         ///< side.
    SINEW_PLOT_DASHED = 8,
} sinew_plot_style;

/// One curve. Points that are not finite, or not positive on a logarithmic axis, are left out and
/// break the line. Everything is borrowed during the call.
typedef struct sinew_plot_series {
    const char *label;   ///< In the legend. Default NULL: none.
    const double *x;     ///< Default NULL: 0, 1, 2, ...
    const double *y;     ///< Required.
    const double *error; ///< y +- error. Default NULL: none.
    int32_t count;       ///< Points. [count] Default 0.
    unsigned style;      ///< Of sinew_plot_style. Default lines.
    int32_t color; ///< Index in the palette. Default -1: the index of the series in the panel.
} sinew_plot_series;

/// A series with every field at its default.
SINEW_API sinew_plot_series sinew_default_plot_series(void);

/// An axis; zeros are its defaults.
typedef struct sinew_plot_axis {
    const char *label; ///< NULL: none.
    bool logarithmic;
    double low, high;         ///< Equal: from the data, rounded outwards.
    const char *const *names; ///< At 0, 1, 2, ... instead of numbers; for bars.
    int32_t name_count;       ///< [count]
} sinew_plot_axis;

typedef struct sinew_plot_panel {
    const char *title; ///< NULL: none.
    sinew_plot_axis x, y;
    const sinew_plot_series *series;
    int32_t series_count; ///< [count]
} sinew_plot_panel;

/// A sheet; zeros are its defaults.
typedef struct sinew_plot {
    const char *title; ///< NULL: none.
    const sinew_plot_panel *panels;
    int32_t panel_count;               ///< [count] At least 1.
    int32_t columns;                   ///< 0: at most three.
    int32_t panel_width, panel_height; ///< With labels. [pixel] 0: 460 x 340.
} sinew_plot;

/// Writes the plot as an SVG document to the end of `out`.
SINEW_API sinew_status sinew_plot_write(sinew_context *context, const sinew_plot *plot,
                                        sinew_bytes *out);

#ifdef __cplusplus
}
#endif

#endif
