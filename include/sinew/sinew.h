// All of Sinew's public interface.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_SINEW_H
#define SINEW_SINEW_H

#include "sinew/autorig.h"
#include "sinew/base.h"
#include "sinew/binding.h"
#include "sinew/body.h"
#include "sinew/contact.h"
#include "sinew/field.h"
#include "sinew/frame.h"
#include "sinew/frame_body.h"
#include "sinew/frame_support.h"
#include "sinew/glue.h"
#include "sinew/grab.h"
#include "sinew/material.h"
#include "sinew/mesh.h"
#include "sinew/pbd.h"
#include "sinew/point.h"
#include "sinew/reduced.h"
#include "sinew/rigid_body.h"
#include "sinew/rigid_joint.h"
#include "sinew/skeleton.h"
#include "sinew/surface.h"
#include "sinew/world.h"

#endif
