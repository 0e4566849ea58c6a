// Shared by the volume readers: the content of a header, and the conversion of raw numbers to a
// grid.
#ifndef SN_IO_VOLUME_RAW_H
#define SN_IO_VOLUME_RAW_H

#include "io/bytes/bytes.h"
#include "io/volume/volume.h"

typedef enum sn_volume_encoding {
    SN_VOLUME_RAW,
    SN_VOLUME_GZIP,
    SN_VOLUME_ZLIB,
    SN_VOLUME_TEXT
} sn_volume_encoding;

// The content of a header.
typedef struct sn_volume_header {
    int64_t size[3]; // cells along the file's axes, the first running fastest
    sn_number_type type;
    bool big;                // byte order
    double slope, intercept; // label = slope * number + intercept
    double unit;             // metres; 0 if the header does not state it
    double step[3][3]; // between cells along each axis, in the file's unit and NIfTI's coordinates
    double origin[3];  // centre of the first cell
    bool has_origin;   // otherwise the lower corner is at 0
    sn_volume_encoding encoding;
    sn_source data; // the file that holds the numbers; may be the header's file
    size_t offset;  // of the first number in it
} sn_volume_header;

// Decodes the numbers and sets the grid.
sinew_status sn_volume_finish(sinew_context *context, const sn_source *source,
                              const sn_volume_header *header, const sn_volume_options *options,
                              sn_volume_file *file);

// The header readers; `source` is already decompressed.
sinew_status sn_read_nifti_header(sinew_context *context, const sn_source *source,
                                  sn_volume_header *header);
sinew_status sn_read_nrrd_header(sinew_context *context, const sn_source *source, sn_arena *arena,
                                 sn_volume_header *header);
sinew_status sn_read_meta_header(sinew_context *context, const sn_source *source, sn_arena *arena,
                                 sn_volume_header *header);

// Fetches a file that the header names. `name` is copied.
sinew_status sn_volume_fetch(sinew_context *context, const sn_source *source, sn_arena *arena,
                             sn_word name, sn_source *out);

#endif
