// Text in pictures: a small stroke font, drawn smoothly at any size.
//
// A glyph is a path of straight and curved pen strokes on a grid of 20 units per em: baseline at 0,
// capitals and digits 14 high, small letters 10, descenders to -4.5. The font contains all
// printable ASCII characters and some signs for numbers. Text is UTF-8; missing characters are
// drawn as an empty box.
#ifndef SN_IO_PICTURE_FONT_H
#define SN_IO_PICTURE_FONT_H

#include "io/picture/picture.h"

typedef enum sn_text_anchor { SN_TEXT_LEFT, SN_TEXT_CENTER, SN_TEXT_RIGHT } sn_text_anchor;

typedef struct sn_text_style {
    double size;           // height of the em in pixels; capitals are 0.7 of it
    double weight;         // thickness of the strokes in em; 0.08 is regular, 0.115 bold
    sn_color color;        //
    sn_text_anchor anchor; // the point of the text that is at the given x
} sn_text_style;

// Regular, dark, left.
sn_text_style sn_text_style_default(double size);

// Whether the font has the character.
bool sn_font_has(uint32_t code_point);

// The width in pixels from the first pen position to the last.
double sn_text_width(const sn_text_style *style, const char *text);

// Draws one line with its baseline at y (pixels, downwards) and its anchor at x, clipped to the
// image.
void sn_text_draw(sn_image image, double x, double y, const sn_text_style *style, const char *text);

#endif
