// What readers of motion and of characters share.
#ifndef SN_IO_PUBLIC_MOTION_H
#define SN_IO_PUBLIC_MOTION_H

#include "sinew/io/motion_file.h"

sinew_status sn_check_motion_read_def(sinew_context *context, const sinew_source *source,
                                      const sinew_motion_read_def *def);

#endif
