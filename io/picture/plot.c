// SVG plots. The layout of a panel is computed first (ranges, ticks, a free corner for the legend);
// then it is written back to front: grid, bars, lines, markers, frame, labels, legend.
#include "io/picture/plot.h"

#include "io/picture/colormap.h"
#include "io/picture/font.h"
#include "io/picture/ticks.h"
#include "io/public/bytes.h"

#include <math.h>
#include <stdio.h>

enum { MOST_PANELS = 64, MARKER_SHAPES = 4 };

static const double margin_left = 62, margin_right = 16, margin_top = 34, margin_bottom = 48,
                    title_height = 44;
static const double font_size = 12, small_size = 11, title_size = 17;

typedef struct axis_scale {
    bool logarithmic;
    double low, high;  // of the axis, as data
    double begin, end; // of the axis, in pixels
    sn_ticks ticks;
} axis_scale;

typedef struct panel_layout {
    const sinew_plot_panel *panel;
    axis_scale x, y;
    int32_t bar_series; // how many series are bars
    int32_t number;
} panel_layout;

sinew_plot_series sinew_default_plot_series(void) {
    return (sinew_plot_series){.style = SINEW_PLOT_LINE, .color = -1};
}

// ---- layout ----

static double series_x(const sinew_plot_series *series, int32_t i) {
    SN_ASSERT(i >= 0 && i < series->count);
    return series->x ? series->x[i] : i;
}

// Numbers close to the limits of doubles cannot be drawn, because axes need room beyond them.
static bool is_shown(const axis_scale *scale, double value) {
    return fabs(value) < 1e290 && (!scale->logarithmic || value > 1e-290);
}

static double to_pixel(const axis_scale *scale, double value) {
    SN_ASSERT(scale->low < scale->high && (!scale->logarithmic || scale->low > 0));
    double low = scale->low;
    double high = scale->high;

    if (scale->logarithmic) {
        low = log10(low);
        high = log10(high);
        value = log10(fmax(value, 1e-300));
    }

    return scale->begin + (scale->end - scale->begin) * (value - low) / (high - low);
}

static void widen(axis_scale *scale, double value) {
    if (!is_shown(scale, value)) {
        return;
    }
    scale->low = fmin(scale->low, value);
    scale->high = fmax(scale->high, value);
}

static void widen_by_series(panel_layout *layout, const sinew_plot_series *series) {
    for (int32_t i = 0; i < series->count; i++) {
        double x = series_x(series, i);
        double y = series->y[i];
        double error = series->error ? series->error[i] : 0;
        if (!is_shown(&layout->x, x) || !is_shown(&layout->y, y)) {
            continue;
        }

        bool bar = series->style & SINEW_PLOT_BARS;
        widen(&layout->x, bar ? x - 0.5 : x);
        widen(&layout->x, bar ? x + 0.5 : x);
        widen(&layout->y, y);

        if (isfinite(error)) {
            widen(&layout->y, y - error);
            widen(&layout->y, y + error);
        }

        if (bar && !layout->y.logarithmic) {
            widen(&layout->y, 0);
        }
    }
}

// The requested range, or that of the data, which the y axis rounds outwards to ticks; never empty.
static void set_range(axis_scale *scale, const sinew_plot_axis *axis, bool outwards) {
    bool given =
        axis->low < axis->high && is_shown(scale, axis->low) && is_shown(scale, axis->high);
    if (given) {
        scale->low = axis->low;
        scale->high = axis->high;
    }

    // Without data, show the unit interval.
    if (!(scale->low <= scale->high)) {
        scale->low = axis->logarithmic ? 0.1 : 0;
        scale->high = 1;
    }

    // Logarithmic axes: never empty, and with room at both ends.
    if (scale->logarithmic) {
        if (scale->high < 1.001 * scale->low) {
            scale->low /= 2;
            scale->high *= 2;
        }

        scale->ticks = sn_ticks_logarithmic(scale->low, scale->high, 8);
        if (given) {
            return;
        }

        double room = pow(scale->high / scale->low, 0.06);
        scale->low /= room;
        scale->high *= room;
        scale->ticks = sn_ticks_logarithmic(scale->low, scale->high, 8);

        return;
    }

    // Linear axes: never empty, rounded outwards to ticks.
    double least = fmax(1e-9 * fmax(fabs(scale->low), fabs(scale->high)), 1e-300);
    if (!(scale->high - scale->low > least)) {
        double room = scale->low != 0 ? 0.5 * fabs(scale->low) : 0.5;
        scale->low -= room;
        scale->high += room;
    }

    sn_ticks ticks = sn_ticks_linear(scale->low, scale->high, 6);
    if (!given && outwards && ticks.step > 0) {
        scale->low = floor(scale->low / ticks.step + 1e-9) * ticks.step;
        scale->high = ceil(scale->high / ticks.step - 1e-9) * ticks.step;
    }

    scale->ticks = sn_ticks_linear(scale->low, scale->high, 6);
}

static panel_layout lay_out(const sinew_plot_panel *panel, double left, double top, double width,
                            double height, int32_t number) {
    panel_layout layout = {.panel = panel, .number = number};
    layout.x = (axis_scale){panel->x.logarithmic,        INFINITY, -INFINITY, left + margin_left,
                            left + width - margin_right, {0}};
    layout.y = (axis_scale){panel->y.logarithmic,         INFINITY,         -INFINITY,
                            top + height - margin_bottom, top + margin_top, {0}};

    for (int32_t i = 0; i < panel->series_count; i++) {
        widen_by_series(&layout, &panel->series[i]);
        layout.bar_series += (panel->series[i].style & SINEW_PLOT_BARS) != 0;
    }

    set_range(&layout.x, &panel->x, false);
    set_range(&layout.y, &panel->y, true);

    return layout;
}

// ---- pieces of SVG ----

static void add_number(sn_buffer *svg, double value) {
    sn_buffer_add_fixed(svg, value, 2);
}

// An attribute: name="number".
static void add_attribute(sn_buffer *svg, const char *name, double value) {
    sn_buffer_print(svg, " %s=\"", name);
    add_number(svg, value);
    sn_buffer_add_text(svg, "\"");
}

static void add_escaped(sn_buffer *svg, const char *text) {
    for (; *text; text++) {
        switch (*text) {
        case '<': sn_buffer_add_text(svg, "&lt;"); break;
        case '>': sn_buffer_add_text(svg, "&gt;"); break;
        case '&': sn_buffer_add_text(svg, "&amp;"); break;
        case '"': sn_buffer_add_text(svg, "&quot;"); break;
        default:
            // XML does not allow control characters.
            sn_buffer_add(svg, (unsigned char)*text < 0x20 ? " " : text, 1);
        }
    }
}

static void begin_text(sn_buffer *svg, double x, double y, double size, const char *attributes) {
    sn_buffer_add_text(svg, "<text");
    add_attribute(svg, "x", x);
    add_attribute(svg, "y", y);
    add_attribute(svg, "font-size", size);
    sn_buffer_print(svg, "%s>", attributes);
}

static void add_text(sn_buffer *svg, double x, double y, double size, const char *attributes,
                     const char *text) {
    begin_text(svg, x, y, size, attributes);
    add_escaped(svg, text);
    sn_buffer_add_text(svg, "</text>\n");
}

static void add_line(sn_buffer *svg, double x1, double y1, double x2, double y2,
                     const char *attributes) {
    sn_buffer_add_text(svg, "<path d=\"M");
    add_number(svg, x1);
    sn_buffer_add_text(svg, " ");
    add_number(svg, y1);
    sn_buffer_add_text(svg, "L");
    add_number(svg, x2);
    sn_buffer_add_text(svg, " ");
    add_number(svg, y2);
    sn_buffer_print(svg, "\"%s/>\n", attributes);
}

static void add_rectangle(sn_buffer *svg, double x, double y, double width, double height,
                          const char *attributes) {
    sn_buffer_add_text(svg, "<rect");
    add_attribute(svg, "x", x);
    add_attribute(svg, "y", y);
    add_attribute(svg, "width", fmax(width, 0));
    add_attribute(svg, "height", fmax(height, 0));
    sn_buffer_print(svg, "%s/>\n", attributes);
}

// One of four shapes of similar area, centred at a point.
static void add_marker(sn_buffer *svg, double x, double y, int shape, const char *attributes) {
    static const double corners[MARKER_SHAPES - 1][4][2] = {
        {{-3, -3}, {3, -3}, {3, 3}, {-3, 3}},
        {{0, -4.2}, {4.2, 0}, {0, 4.2}, {-4.2, 0}},
        {{0, -4.2}, {3.9, 2.8}, {-3.9, 2.8}, {0, -4.2}}};

    SN_ASSERT(shape >= 0 && shape < MARKER_SHAPES);
    if (shape == 0) {
        sn_buffer_add_text(svg, "<circle");
        add_attribute(svg, "cx", x);
        add_attribute(svg, "cy", y);
        sn_buffer_print(svg, " r=\"3.4\"%s/>\n", attributes);
        return;
    }

    sn_buffer_add_text(svg, "<path d=\"");
    for (int i = 0; i < 4; i++) {
        sn_buffer_add_text(svg, i ? "L" : "M");
        add_number(svg, x + corners[shape - 1][i][0]);
        sn_buffer_add_text(svg, " ");
        add_number(svg, y + corners[shape - 1][i][1]);
    }

    sn_buffer_print(svg, "Z\"%s/>\n", attributes);
}

// ---- axes ----

static const char grid_style[] = " stroke=\"#e4e7eb\" stroke-width=\"1\"";
static const char minor_style[] = " stroke=\"#f1f3f5\" stroke-width=\"1\"";
static const char frame_style[] = " stroke=\"#59616b\" stroke-width=\"1\"";

// On a logarithmic axis over many decades, 10 with a raised exponent; plain numbers otherwise.
static void add_tick_label(sn_buffer *svg, const axis_scale *scale, double x, double y,
                           const char *attributes, double value) {
    char label[SN_TICK_LABEL_SIZE];
    bool far = scale->low < 0.9e-3 || scale->high > 1.1e4;
    if (scale->logarithmic && scale->ticks.step > 0 && far) {
        sn_tick_label(label, floor(log10(value) + 0.5), 1);
        begin_text(svg, x, y, small_size, attributes);
        sn_buffer_print(svg, "10<tspan dy=\"-4\" font-size=\"8.5\">%s</tspan></text>\n", label);
        return;
    }

    sn_tick_label(label, value, scale->logarithmic ? fmin(value, 1) : scale->ticks.step);
    add_text(svg, x, y, small_size, attributes, label);
}

// Lines at 2, 3, ... 9 times each power of ten.
static void add_minor_grid(sn_buffer *svg, const panel_layout *layout, bool vertical) {
    const axis_scale *scale = vertical ? &layout->x : &layout->y;
    const axis_scale *other = vertical ? &layout->y : &layout->x;
    if (!scale->logarithmic || scale->ticks.step > 1 || scale->ticks.count > 7) {
        return;
    }

    for (int e = (int)floor(log10(scale->low)); e <= (int)floor(log10(scale->high)); e++) {
        for (int digit = 2; digit < 10; digit++) {
            double value = digit * pow(10, e);
            if (value <= scale->low || value >= scale->high) {
                continue;
            }

            double at = to_pixel(scale, value);
            if (vertical) {
                add_line(svg, at, other->begin, at, other->end, minor_style);
            } else {
                add_line(svg, other->begin, at, other->end, at, minor_style);
            }
        }
    }
}

static void add_names(sn_buffer *svg, const panel_layout *layout) {
    const sinew_plot_axis *axis = &layout->panel->x;
    for (int32_t i = 0; i < axis->name_count; i++) {
        double x = to_pixel(&layout->x, i);
        if (i < layout->x.low || i > layout->x.high) {
            continue;
        }
        add_text(svg, x, layout->y.begin + 17, small_size,
                 " text-anchor=\"middle\" fill=\"#3c444d\"", axis->names[i]);
    }
}

static void add_axes(sn_buffer *svg, const panel_layout *layout) {
    const axis_scale *x = &layout->x;
    const axis_scale *y = &layout->y;
    bool named = layout->panel->x.names != NULL;

    add_minor_grid(svg, layout, true);
    add_minor_grid(svg, layout, false);
    if (!named) {
        for (int32_t i = 0; i < x->ticks.count; i++) {
            double at = to_pixel(x, x->ticks.values[i]);
            add_line(svg, at, y->begin, at, y->end, grid_style);
            add_tick_label(svg, x, at, y->begin + 17, " text-anchor=\"middle\" fill=\"#3c444d\"",
                           x->ticks.values[i]);
        }
    }

    for (int32_t i = 0; i < y->ticks.count; i++) {
        double at = to_pixel(y, y->ticks.values[i]);
        add_line(svg, x->begin, at, x->end, at, grid_style);
        add_tick_label(svg, y, x->begin - 8, at + 4, " text-anchor=\"end\" fill=\"#3c444d\"",
                       y->ticks.values[i]);
    }

    if (named) {
        add_names(svg, layout);
    }

    // The zero line.
    if (!y->logarithmic && y->low < 0 && y->high > 0) {
        add_line(svg, x->begin, to_pixel(y, 0), x->end, to_pixel(y, 0),
                 " stroke=\"#b4bbc3\" stroke-width=\"1\"");
    }
}

static void add_frame(sn_buffer *svg, const panel_layout *layout) {
    const axis_scale *x = &layout->x;
    const axis_scale *y = &layout->y;
    const sinew_plot_panel *panel = layout->panel;

    add_line(svg, x->begin, y->begin, x->end, y->begin, frame_style);
    add_line(svg, x->begin, y->begin, x->begin, y->end, frame_style);

    double middle_x = 0.5 * (x->begin + x->end);
    double middle_y = 0.5 * (y->begin + y->end);
    double label_x = x->begin - margin_left + 14;
    if (panel->title) {
        add_text(svg, x->begin, y->end - 12, font_size + 1, " font-weight=\"600\"", panel->title);
    }

    if (panel->x.label) {
        add_text(svg, middle_x, y->begin + 37, font_size, " text-anchor=\"middle\"",
                 panel->x.label);
    }

    if (!panel->y.label) {
        return;
    }

    // The label of the y axis is rotated.
    sn_buffer_add_text(svg, "<g transform=\"translate(");
    add_number(svg, label_x);
    sn_buffer_add_text(svg, " ");
    add_number(svg, middle_y);
    sn_buffer_add_text(svg, ") rotate(-90)\">");
    add_text(svg, 0, 0, font_size, " text-anchor=\"middle\"", panel->y.label);
    sn_buffer_add_text(svg, "</g>\n");
}

// ---- series ----

typedef struct series_look {
    uint32_t color;
    int shape;
    char stroke[96], fill[96];
} series_look;

static series_look look_of(const sinew_plot_panel *panel, int32_t index) {
    SN_ASSERT(index >= 0 && index < panel->series_count);
    const sinew_plot_series *series = &panel->series[index];
    series_look look = {.color = sn_palette_hex(series->color >= 0 ? series->color : index),
                        .shape = index % MARKER_SHAPES};
    const char *dashes = series->style & SINEW_PLOT_DASHED ? " stroke-dasharray=\"6 4\"" : "";

    snprintf(look.stroke, sizeof look.stroke,
             " fill=\"none\" stroke=\"#%06x\" stroke-width=\"1.8\"%s", look.color, dashes);
    snprintf(look.fill, sizeof look.fill, " fill=\"#%06x\" stroke=\"#ffffff\" stroke-width=\"0.8\"",
             look.color);

    return look;
}

static bool point_of(const panel_layout *layout, const sinew_plot_series *series, int32_t i,
                     double *x, double *y) {
    double dx = series_x(series, i);
    double dy = series->y[i];
    if (!is_shown(&layout->x, dx) || !is_shown(&layout->y, dy)) {
        return false;
    }

    *x = to_pixel(&layout->x, dx);
    *y = to_pixel(&layout->y, dy);

    return isfinite(*x) && isfinite(*y);
}

static void add_curve(sn_buffer *svg, const panel_layout *layout, const sinew_plot_series *series,
                      const series_look *look) {
    bool open = false, any = false;
    for (int32_t i = 0; i < series->count; i++) {
        // A missing value interrupts the line.
        double x, y;
        if (!point_of(layout, series, i, &x, &y)) {
            open = false;
            continue;
        }

        if (!any) {
            sn_buffer_add_text(svg, "<path d=\"");
        }

        sn_buffer_add_text(svg, open ? "L" : "M");
        add_number(svg, x);
        sn_buffer_add_text(svg, " ");
        add_number(svg, y);
        open = any = true;
    }

    if (any) {
        sn_buffer_print(svg, "\"%s stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n",
                        look->stroke);
    }
}

// The error bar from y - error to y + error of point i, at the pixel column x.
static void add_error(sn_buffer *svg, const panel_layout *layout, const sinew_plot_series *series,
                      int32_t i, double x, const char *stroke) {
    SN_ASSERT(i >= 0 && i < series->count);
    double error = series->error ? fabs(series->error[i]) : NAN;
    if (!isfinite(error)) {
        return;
    }

    double low = series->y[i] - error;
    double high = series->y[i] + error;
    if (layout->y.logarithmic) {
        low = fmax(low, layout->y.low);
    }

    double bottom = to_pixel(&layout->y, low);
    double top = to_pixel(&layout->y, high);

    add_line(svg, x, bottom, x, top, stroke);
    add_line(svg, x - 3.5, bottom, x + 3.5, bottom, stroke);
    add_line(svg, x - 3.5, top, x + 3.5, top, stroke);
}

// The bars of all series share 0.8 of the unit around x.
static void add_bars(sn_buffer *svg, const panel_layout *layout, const sinew_plot_series *series,
                     int32_t position, const series_look *look) {
    SN_ASSERT(position < layout->bar_series);
    double base =
        layout->y.logarithmic || layout->y.low > 0 ? layout->y.low : fmin(0, layout->y.high);
    double width = 0.8 / layout->bar_series;
    double zero = to_pixel(&layout->y, base);

    for (int32_t i = 0; i < series->count; i++) {
        double x, y;
        if (!point_of(layout, series, i, &x, &y)) {
            continue;
        }

        double from = series_x(series, i) - 0.4 + position * width;
        double left = to_pixel(&layout->x, from);
        double right = to_pixel(&layout->x, from + width);

        add_rectangle(svg, left + 0.5, fmin(y, zero), right - left - 1, fabs(y - zero), look->fill);
        add_error(svg, layout, series, i, 0.5 * (left + right),
                  " stroke=\"#3c444d\" stroke-width=\"1.2\"");
    }
}

static void add_series(sn_buffer *svg, const panel_layout *layout) {
    const sinew_plot_panel *panel = layout->panel;
    for (int32_t i = 0, position = 0; i < panel->series_count; i++) {
        series_look look = look_of(panel, i);
        if (panel->series[i].style & SINEW_PLOT_BARS) {
            add_bars(svg, layout, &panel->series[i], position++, &look);
        }
    }

    // Lines and markers go over the bars.
    for (int32_t i = 0; i < panel->series_count; i++) {
        const sinew_plot_series *series = &panel->series[i];
        series_look look = look_of(panel, i);
        if (series->style & SINEW_PLOT_LINE) {
            add_curve(svg, layout, series, &look);
        }

        for (int32_t k = 0; k < series->count; k++) {
            double x, y;
            if (!point_of(layout, series, k, &x, &y)) {
                continue;
            }
            if (!(series->style & SINEW_PLOT_BARS)) {
                add_error(svg, layout, series, k, x, look.stroke);
            }
            if (series->style & SINEW_PLOT_MARKERS) {
                add_marker(svg, x, y, look.shape, look.fill);
            }
        }
    }
}

// ---- legend ----

typedef struct box {
    double left, top, width, height;
} box;

static box legend_size(const sinew_plot_panel *panel) {
    sn_text_style style = sn_text_style_default(small_size);
    box size = {0};
    for (int32_t i = 0; i < panel->series_count; i++) {
        if (!panel->series[i].label) {
            continue;
        }
        size.width = fmax(size.width, 1.08 * sn_text_width(&style, panel->series[i].label) + 44);
        size.height += 17;
    }

    if (size.height > 0) {
        size.height += 8;
    }

    return size;
}

// The number of data points that a legend at this position would hide.
static int32_t hidden_points(const panel_layout *layout, box area) {
    int32_t count = 0;
    for (int32_t s = 0; s < layout->panel->series_count; s++) {
        const sinew_plot_series *series = &layout->panel->series[s];
        for (int32_t i = 0; i < series->count; i++) {
            double x, y;
            if (!point_of(layout, series, i, &x, &y)) {
                continue;
            }

            bool under =
                series->style & SINEW_PLOT_BARS && y < area.top + area.height; // a bar reaches down
            bool inside = y > area.top - 6 && y < area.top + area.height + 6;
            count += (inside || under) && x > area.left - 6 && x < area.left + area.width + 6;
        }
    }

    return count;
}

static box find_legend_position(const panel_layout *layout) {
    box best = legend_size(layout->panel);
    int32_t fewest = INT32_MAX;
    for (int corner = 0; corner < 4; corner++) { // upper right first
        box area = best;

        area.left = corner % 2 == 0 ? layout->x.end - area.width - 8 : layout->x.begin + 10;
        area.top = corner < 2 ? layout->y.end + 8 : layout->y.begin - area.height - 8;
        int32_t hidden = hidden_points(layout, area);
        if (hidden < fewest) {
            fewest = hidden;
            best = area;
        }
    }

    return best;
}

static void add_legend(sn_buffer *svg, const panel_layout *layout) {
    box area = find_legend_position(layout);
    if (area.height == 0) {
        return;
    }

    add_rectangle(svg, area.left, area.top, area.width, area.height,
                  " rx=\"3\" fill=\"#ffffff\" fill-opacity=\"0.88\"");

    // One row for each series that has a label.
    double y = area.top + 12.5;
    double x = area.left + 8;
    for (int32_t i = 0; i < layout->panel->series_count; i++) {
        const sinew_plot_series *series = &layout->panel->series[i];
        if (!series->label) {
            continue;
        }

        series_look look = look_of(layout->panel, i);

        // A sample of how the series is drawn.
        if (series->style & SINEW_PLOT_LINE) {
            add_line(svg, x, y, x + 22, y, look.stroke);
        }
        if (series->style & SINEW_PLOT_BARS) {
            add_rectangle(svg, x + 5, y - 5, 12, 10, look.fill);
        }
        if (series->style & SINEW_PLOT_MARKERS) {
            add_marker(svg, x + 11, y, look.shape, look.fill);
        }

        add_text(svg, x + 29, y + 4, small_size, "", series->label);
        y += 17;
    }
}

// ---- the whole ----

static void add_panel(sn_buffer *svg, const panel_layout *layout) {
    sn_buffer_print(svg, "<clipPath id=\"panel%d\">", layout->number);
    add_rectangle(svg, layout->x.begin - 5, layout->y.end - 5, layout->x.end - layout->x.begin + 10,
                  layout->y.begin - layout->y.end + 10, "");
    sn_buffer_add_text(svg, "</clipPath>\n");
    add_axes(svg, layout);
    sn_buffer_print(svg, "<g clip-path=\"url(#panel%d)\">\n", layout->number);
    add_series(svg, layout);
    sn_buffer_add_text(svg, "</g>\n");
    add_frame(svg, layout);
    add_legend(svg, layout);
}

static sinew_status check_plot(sinew_context *context, const sinew_plot *plot) {
    if (plot->panel_count < 1 || plot->panel_count > MOST_PANELS || plot->columns < 0 ||
        plot->panel_width < 0 || plot->panel_height < 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a plot of %d panels in %d columns of %d x %d pixels: valid [1, %d], >= 0",
                       plot->panel_count, plot->columns, plot->panel_width, plot->panel_height,
                       MOST_PANELS);
    }

    for (int32_t p = 0; p < plot->panel_count; p++) {
        const sinew_plot_panel *panel = &plot->panels[p];
        for (int32_t s = 0; s < panel->series_count; s++) {
            if (panel->series[s].count >= 0 &&
                (panel->series[s].y || panel->series[s].count == 0)) {
                continue;
            }

            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "series %d of panel %d has %d points, or no y", s, p,
                           panel->series[s].count);
        }
    }

    return SINEW_OK;
}

sinew_status sn_plot_write(sinew_context *context, const sinew_plot *plot, sn_buffer *buffer) {
    SN_TRY(check_plot(context, plot));
    size_t size_before = buffer->size;
    int32_t columns = plot->columns ? plot->columns : plot->panel_count < 3 ? plot->panel_count : 3;
    if (columns > plot->panel_count) {
        columns = plot->panel_count;
    }

    // Size of the sheet.
    int32_t rows = (plot->panel_count + columns - 1) / columns;
    double width = plot->panel_width ? plot->panel_width : 460;
    double height = plot->panel_height ? plot->panel_height : 340;
    double head = plot->title ? title_height : 8;
    double whole_width = columns * width + 8;
    double whole_height = rows * height + head + 4;

    sn_buffer_add_text(buffer, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
    sn_buffer_print(buffer, "%d %d\" width=\"%d\" height=\"%d\"", (int)whole_width,
                    (int)whole_height, (int)whole_width, (int)whole_height);
    sn_buffer_add_text(buffer, " font-family=\"Helvetica, Arial, sans-serif\" fill=\"#20262d\">\n");
    add_rectangle(buffer, 0, 0, whole_width, whole_height, " fill=\"#ffffff\"");

    if (plot->title) {
        add_text(buffer, 16, 28, title_size, " font-weight=\"600\"", plot->title);
    }

    for (int32_t i = 0; i < plot->panel_count; i++) {
        int32_t row = i / columns;
        int32_t column = i % columns;
        panel_layout layout =
            lay_out(&plot->panels[i], column * width + 4, row * height + head, width, height, i);
        add_panel(buffer, &layout);
    }

    sn_buffer_add_text(buffer, "</svg>\n");
    sinew_status status = sn_buffer_status(buffer);
    if (status != SINEW_OK) {
        buffer->size = size_before;
    }

    return status;
}

sinew_status sinew_plot_write(sinew_context *context, const sinew_plot *plot, sinew_bytes *out) {
    SN_NEED(NULL, context);
    SN_NEED(context, plot && out);
    return sn_plot_write(context, plot, &out->buffer);
}
