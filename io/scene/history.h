// What a state needs to be continued while frames fade: the states just before the changes that are
// still fading.
//
// A fade is the difference between two shapes at the moment of a change (frame/adapt/fade.h), so a
// world of that moment, changed in the same way, has the same fade. The history is a chain of
// snapshots, each taken before a step at which frames join or leave, the first at a moment without
// fades. To restore a state, the world goes from each to the next.
#ifndef SN_IO_SCENE_HISTORY_H
#define SN_IO_SCENE_HISTORY_H

#include "io/scene/build.h"

// Remembers the present state if frames join or leave before a step to `time`. To be called before
// each step.
sinew_status sn_history_note(sn_scene_world *world, double time);

// The history that the present state needs: size 0 if nothing fades.
const char *sn_history_get(const sn_scene_world *world, size_t *size);

// Takes over a history that was saved. It is checked, and refused with SINEW_INVALID_DATA if it is
// damaged.
sinew_status sn_history_set(sn_scene_world *world, const void *bytes, size_t size);

// Brings the world to the structure and the fades that it had at `time`.
sinew_status sn_history_replay(sn_scene_world *world, double time);

#endif
