// All of libsinew_io's public interface: files, scenes and pictures.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_H
#define SINEW_IO_H

#include "sinew/io/animation_file.h"
#include "sinew/io/bytes.h"
#include "sinew/io/field_file.h"
#include "sinew/io/gltf_file.h"
#include "sinew/io/json.h"
#include "sinew/io/mesh_file.h"
#include "sinew/io/motion_file.h"
#include "sinew/io/output.h"
#include "sinew/io/picture.h"
#include "sinew/io/plot.h"
#include "sinew/io/recording.h"
#include "sinew/io/rig_file.h"
#include "sinew/io/scene.h"
#include "sinew/io/soften.h"
#include "sinew/io/specimen.h"
#include "sinew/io/variant.h"
#include "sinew/io/volume_file.h"
#include "sinew/io/words.h"

#endif
