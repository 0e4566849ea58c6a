// Anti-aliased rectangles, and a legend made of rectangles and text.
#include "io/picture/draw.h"

#include "io/picture/ticks.h"

#include <math.h>

void sn_draw_fill(sn_image image, sn_color color) {
    sn_draw_rectangle(image, 0, 0, image.width, image.height, color);
}

// The part of pixel i that lies in [low, high].
static double cover(int32_t i, double low, double high) {
    return fmax(0, fmin(i + 1.0, high) - fmax(i, low));
}

static int32_t clamp_pixel(double value, int32_t limit) {
    return value > 0 ? value < limit ? (int32_t)value : limit : 0;
}

void sn_draw_rectangle(sn_image image, double left, double top, double right, double bottom,
                       sn_color color) {
    double ink[3] = {255 * sn_srgb_encode(color.r), 255 * sn_srgb_encode(color.g),
                     255 * sn_srgb_encode(color.b)};
    int32_t x1 = clamp_pixel(ceil(right), image.width);
    int32_t y1 = clamp_pixel(ceil(bottom), image.height);

    for (int32_t y = clamp_pixel(floor(top), image.height); y < y1; y++) {
        for (int32_t x = clamp_pixel(floor(left), image.width); x < x1; x++) {
            double share = cover(x, left, right) * cover(y, top, bottom);
            SN_ASSERT(share >= 0 && share <= 1);
            uint8_t *pixel = sn_image_at(image, x, y);
            for (int c = 0; c < 3; c++) {
                pixel[c] = (uint8_t)(pixel[c] + share * (ink[c] - pixel[c]) + 0.5);
            }
        }
    }
}

static double text_size(const sn_legend *legend) {
    return legend->text_size > 0 ? legend->text_size : 13;
}

static const double bar_height = 0.85, row_height = 1.55, swatch = 0.8; // in text sizes

double sn_legend_height(const sn_legend *legend) {
    double rows = legend->title ? row_height : 0;
    rows += legend->map ? bar_height + 1.5 : row_height;
    return rows * text_size(legend);
}

double sn_legend_width(const sn_legend *legend) {
    double size = text_size(legend);
    double width = 0;
    sn_text_style style = sn_text_style_default(size);

    if (!legend->map) {
        for (int32_t i = 0; i < legend->name_count; i++) {
            width += (swatch + 0.4 + 1) * size + sn_text_width(&style, legend->names[i]);
        }
    }

    return legend->map ? 16 * size : width;
}

// As many ticks as there is room for labels, with a letter's width between them.
static sn_ticks choose_ticks(const sn_legend *legend, double width, const sn_text_style *style) {
    double low = fmin(legend->low, legend->high), high = fmax(legend->low, legend->high);
    sn_ticks ticks = {0};
    for (int32_t wanted = width > 24 * text_size(legend) ? 7 : 4; wanted >= 1; wanted--) {
        ticks = sn_ticks_linear(low, high, wanted);
        double widest = 0;
        for (int32_t i = 0; i < ticks.count; i++) {
            char label[SN_TICK_LABEL_SIZE];
            sn_tick_label(label, ticks.values[i], ticks.step);
            widest = fmax(widest, sn_text_width(style, label));
        }
        if (ticks.step * width >= (widest + 0.6 * style->size) * (high - low)) {
            break;
        }
    }
    return ticks;
}

static void draw_scale(sn_image image, double left, double top, double width,
                       const sn_legend *legend) {
    SN_ASSERT(legend->map && width >= 1);
    double size = text_size(legend);
    double bottom = top + bar_height * size;

    // The bar, column by column.
    for (int32_t i = 0; i < (int32_t)width; i++) {
        sn_color color = sn_colormap_at(legend->map, (i + 0.5) / width);
        sn_draw_rectangle(image, left + i, top, left + i + 1, bottom, color);
    }

    sn_text_style style = sn_text_style_default(0.92 * size);
    style.anchor = SN_TEXT_CENTER;

    sn_ticks ticks = choose_ticks(legend, width, &style);

    for (int32_t i = 0; i < ticks.count; i++) {
        // Marks stay inside the bar, on whole pixels.
        double x =
            left + floor(width) * (ticks.values[i] - legend->low) / (legend->high - legend->low);
        x = floor(fmin(fmax(x, left + 0.5), left + floor(width) - 0.5)) + 0.5;
        sn_draw_rectangle(image, x - 0.5, bottom, x + 0.5, bottom + 0.3 * size, style.color);
        char label[SN_TICK_LABEL_SIZE];
        sn_tick_label(label, ticks.values[i], ticks.step);
        sn_text_draw(image, x, bottom + 1.25 * size, &style, label);
    }
}

static void draw_names(sn_image image, double left, double top, const sn_legend *legend) {
    SN_ASSERT(legend->name_count == 0 || legend->names);
    double size = text_size(legend);
    sn_text_style style = sn_text_style_default(size);

    for (int32_t i = 0; i < legend->name_count; i++) {
        sn_draw_rectangle(image, left, top + 0.2 * size, left + swatch * size,
                          top + (0.2 + swatch) * size, sn_palette(i));
        left += (swatch + 0.4) * size;
        sn_text_draw(image, left, top + size, &style, legend->names[i]);
        left += sn_text_width(&style, legend->names[i]) + size;
    }
}

void sn_legend_draw(sn_image image, double left, double top, double width,
                    const sn_legend *legend) {
    double size = text_size(legend);
    left = floor(left);
    top = floor(top);

    if (legend->title) {
        sn_text_style style = sn_text_style_default(size);
        sn_text_draw(image, left, top + 0.95 * size, &style, legend->title);
        top = floor(top + row_height * size);
    }

    if (legend->map) {
        draw_scale(image, left, top, fmax(width, 1), legend);
    } else {
        draw_names(image, left, top, legend);
    }
}
