// Frames that join a running body and leave it (Gilles et al. 2011, 4.4): the parts of a body that
// change with them.
//
//   insertion.h     a node that joined: its weight, and the voxels, samples and vertices it touches
//   layers.h        the samples, packed so that a change repacks only what it touches
//   vertex_patch.h  the weights of the surface's vertices that inserted nodes touch
//   fade.h          the difference between the shapes before and after a change, which decays
//   draft.h         a change in the range of its node, until the body takes it over
//
// body/change.c does the rest: it drafts what depends on all nodes, and swaps the whole in.
#ifndef SN_FRAME_ADAPT_ADAPT_H
#define SN_FRAME_ADAPT_ADAPT_H

#include "frame/adapt/draft.h"
#include "frame/adapt/fade.h"
#include "frame/adapt/insertion.h"
#include "frame/adapt/layers.h"
#include "frame/adapt/vertex_patch.h"

#endif
