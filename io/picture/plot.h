// Plots as SVG text (sinew/io/plot.h), into a buffer.
#ifndef SN_IO_PICTURE_PLOT_H
#define SN_IO_PICTURE_PLOT_H

#include "sinew/io/plot.h"

#include "io/bytes/buffer.h"

// Appends an SVG document. On failure the buffer's size is as it was.
sinew_status sn_plot_write(sinew_context *context, const sinew_plot *plot, sn_buffer *buffer);

#endif
