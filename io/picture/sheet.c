// The layout of a contact sheet: margins, header, cells with captions below.
#include "io/picture/sheet.h"

#include "io/picture/ticks.h"

#include <math.h>
#include <stdio.h>

enum { MARGIN = 22, GAP = 10 };

static const uint32_t paper = 0xfcfcfb;

sn_sheet_def sn_sheet_def_default(void) {
    return (sn_sheet_def){.count = 1, .cell_width = 400, .cell_height = 300, .text_size = 14};
}

// A ratio of about 3 : 2 of columns and rows, without a nearly empty last row.
static int32_t choose_columns(const sn_sheet_def *def) {
    if (def->columns > 0) {
        return def->columns < def->count ? def->columns : def->count;
    }

    double best = INFINITY;
    int32_t columns = 1;
    for (int32_t c = 1; c <= def->count; c++) {
        int32_t rows = (def->count + c - 1) / c;
        double shape =
            fabs(log((double)c * def->cell_width / ((double)rows * def->cell_height) / 1.5));
        double empty = (double)(rows * c - def->count) / c;

        if (shape + empty < best) {
            best = shape + empty;
            columns = c;
        }
    }

    return columns;
}

static double legend_width(const sn_sheet_def *def, double whole) {
    return fmin(sn_legend_width(def->legend), whole);
}

// The size of the title: smaller if it would not fit into the width.
static double title_size(const sn_sheet_def *def, double whole) {
    double size = 1.5 * def->text_size;
    sn_text_style style = sn_text_style_default(size);
    return size * fmin(1, whole / fmax(sn_text_width(&style, def->title), 1));
}

// Title on the left and legend on the right if there is room for both, otherwise below.
static bool is_side_by_side(const sn_sheet_def *def, double whole) {
    if (!def->title || !def->legend) {
        return true;
    }
    sn_text_style style = sn_text_style_default(1.5 * def->text_size);
    return sn_text_width(&style, def->title) + legend_width(def, whole) + 3 * def->text_size <
           whole;
}

static int32_t header_height(const sn_sheet_def *def, double whole) {
    double title = def->title ? 2.2 * def->text_size : 0;
    double legend = def->legend ? sn_legend_height(def->legend) : 0;
    double height = is_side_by_side(def, whole) ? fmax(title, legend) : title + legend;
    return height > 0 ? (int32_t)ceil(height) + GAP : 0;
}

static void draw_header(const sn_sheet *sheet, const sn_sheet_def *def, double whole) {
    if (def->title) {
        sn_text_style style = sn_text_style_default(title_size(def, whole));
        style.weight = 0.095;
        sn_text_draw(sheet->image, MARGIN, MARGIN + 1.4 * def->text_size, &style, def->title);
    }
    if (!def->legend) {
        return;
    }

    bool beside = is_side_by_side(def, whole);
    double width = legend_width(def, whole);
    double left = beside && def->title ? MARGIN + whole - width : MARGIN;

    sn_legend_draw(sheet->image, left, beside ? MARGIN : MARGIN + 2.2 * def->text_size, width,
                   def->legend);
}

static sinew_status check_def(sinew_context *context, const sn_sheet_def *def) {
    if (def->count < 1 || def->count > 1000 || def->columns < 0 ||
        !(def->text_size >= 4 && def->text_size <= 200)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a sheet of %d pictures in %d columns, text of %g pixels: valid [1, 1000], "
                       ">= 0, [4, 200]",
                       def->count, def->columns, def->text_size);
    }

    if (def->cell_width < 1 || def->cell_height < 1 || def->cell_width > SN_IMAGE_LARGEST ||
        def->cell_height > SN_IMAGE_LARGEST) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a sheet with pictures of %d x %d pixels: each side must be in [1, %d]",
                       def->cell_width, def->cell_height, SN_IMAGE_LARGEST);
    }

    return SINEW_OK;
}

sinew_status sn_sheet_create(sinew_context *context, const sn_sheet_def *def, sn_sheet *sheet) {
    *sheet = (sn_sheet){0};
    SN_TRY(check_def(context, def));

    sn_sheet result = {.count = def->count,
                       .columns = choose_columns(def),
                       .cell_width = def->cell_width,
                       .cell_height = def->cell_height};

    // Columns, rows and the size of the sheet.
    int32_t rows = (def->count + result.columns - 1) / result.columns;
    int32_t caption = def->captions ? (int32_t)ceil(1.7 * def->text_size) : 0;
    int64_t whole = (int64_t)result.columns * (def->cell_width + GAP) - GAP;

    result.step_x = def->cell_width + GAP;
    result.step_y = def->cell_height + GAP + caption;
    result.left = MARGIN;
    result.top = MARGIN + header_height(def, (double)whole);

    int64_t height = result.top + (int64_t)rows * result.step_y - GAP + MARGIN;
    if (whole + 2 * MARGIN > SN_IMAGE_LARGEST || height > SN_IMAGE_LARGEST) {
        return sn_fail(
            context, SINEW_INVALID_ARGUMENT,
            "a sheet of %lld x %lld pixels: each side may have %d; fewer or smaller pictures",
            (long long)whole + 2 * MARGIN, (long long)height, SN_IMAGE_LARGEST);
    }

    SN_TRY(sn_image_create(context, (int32_t)whole + 2 * MARGIN, (int32_t)height, &result.image));
    sn_draw_fill(result.image, sn_color_hex(paper));
    draw_header(&result, def, (double)whole);

    sn_text_style style = sn_text_style_default(def->text_size);
    style.color = sn_color_hex(0x59616b);
    if (def->captions) {
        for (int32_t i = 0; i < def->count; i++) {
            int32_t x = result.left + i % result.columns * result.step_x;
            int32_t y = result.top + i / result.columns * result.step_y;
            sn_text_draw(result.image, x + 1, y + def->cell_height + 1.2 * def->text_size, &style,
                         def->captions[i]);
        }
    }

    *sheet = result;
    return SINEW_OK;
}

void sn_sheet_destroy(sinew_context *context, sn_sheet *sheet) {
    sn_image_destroy(context, &sheet->image);
    *sheet = (sn_sheet){0};
}

sn_image sn_sheet_cell(const sn_sheet *sheet, int32_t i) {
    SN_ASSERT(i >= 0 && i < sheet->count);
    return sn_image_view(sheet->image, sheet->left + i % sheet->columns * sheet->step_x,
                         sheet->top + i / sheet->columns * sheet->step_y, sheet->cell_width,
                         sheet->cell_height);
}

void sn_sheet_time_caption(char caption[SN_SHEET_CAPTION_SIZE], double seconds, double interval) {
    char label[SN_TICK_LABEL_SIZE];
    sn_tick_label(label, seconds, interval);
    snprintf(caption, SN_SHEET_CAPTION_SIZE, "t = %s s", label);
}
