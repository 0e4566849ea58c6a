// Frames that join and leave a body at times that the scene names.
//
// An event is due before the first step that ends more than half a step after its time, so that
// rounding in the sum of the steps does not matter.
#include "io/scene/build_frames.h"

#include <math.h>
#include <string.h>

static bool is_due(const sn_member_frames *frames, double event, double time) {
    return event < time - 0.5 * frames->step;
}

// The present number of a frame that joined, or -1.
static int32_t find_frame(const sn_member_frames *frames, int32_t insertion) {
    for (int32_t i = frames->first_count; i < frames->node_count; i++) {
        if (frames->insertion[i] == insertion) {
            return i;
        }
    }
    return -1;
}

static sinew_status join(sn_scene_member *member, int32_t index, bool fades) {
    sn_member_frames *frames = sn_frames_of(member);
    const sn_scene_insertion *insertion = &member->scene->frames->insertions[index];
    sinew_frame_insert_def def = insertion->def;
    int32_t node;

    if (!fades) {
        def.fade = 0;
    }

    SN_TRY(sinew_frame_body_insert(member->body, &def, &node));
    SN_ASSERT(node == frames->node_count);
    frames->node_count++;
    SN_TRY(sinew_frame_body_get_rest(member->body, node, frames->rest + 3 * (size_t)node));
    frames->hold[node] = insertion->hold;
    for (int d = 0; d < SN_FRAME_DIRECTIONS; d++) {
        frames->motion[SN_FRAME_DIRECTIONS * node + d] =
            insertion->scripted ? &insertion->motion : NULL;
        frames->owner[SN_FRAME_DIRECTIONS * node + d] = -1;
    }
    frames->insertion[node] = index;

    SN_TRY(sn_frames_note_held(member, node));
    return insertion->hold ? sinew_frame_body_hold(member->body, node, insertion->hold) : SINEW_OK;
}

static sinew_status leave(sn_scene_member *member, int32_t node, bool fades) {
    sn_member_frames *frames = sn_frames_of(member);
    double fade = fades ? member->scene->frames->insertions[frames->insertion[node]].def.fade : 0;

    SN_TRY(sinew_frame_body_remove(member->body, node, fade));
    frames->node_count--;
    for (int32_t i = node; i < frames->node_count; i++) {
        memcpy(frames->rest + 3 * (size_t)i, frames->rest + 3 * (size_t)(i + 1),
               3 * sizeof(double));
        frames->hold[i] = frames->hold[i + 1];
        memcpy(frames->motion + SN_FRAME_DIRECTIONS * i,
               frames->motion + SN_FRAME_DIRECTIONS * (i + 1),
               SN_FRAME_DIRECTIONS * sizeof *frames->motion);
        memcpy(frames->owner + SN_FRAME_DIRECTIONS * i,
               frames->owner + SN_FRAME_DIRECTIONS * (i + 1),
               SN_FRAME_DIRECTIONS * sizeof *frames->owner);
        memcpy(frames->held + 7 * (size_t)i, frames->held + 7 * (size_t)(i + 1),
               7 * sizeof *frames->held);
        frames->insertion[i] = frames->insertion[i + 1];
    }

    return SINEW_OK;
}

// Whether an insertion takes part in a step that ends at `time`.
static bool is_wanted(const sn_scene_member *member, int32_t index, double time) {
    const sn_scene_insertion *insertion = &member->scene->frames->insertions[index];
    return is_due(sn_frames_of(member), insertion->time, time) &&
           !is_due(sn_frames_of(member), insertion->leave, time);
}

bool sn_frames_changes(const sn_scene_member *member, double time) {
    for (int32_t i = 0; i < member->scene->frames->insertion_count; i++) {
        if (is_wanted(member, i, time) != (find_frame(sn_frames_of(member), i) >= 0)) {
            return true;
        }
    }
    return false;
}

// Frames whose times have come join or leave, in the order of the scene.
static sinew_status adapt(sn_scene_member *member, double time, bool fades) {
    for (int32_t i = 0; i < member->scene->frames->insertion_count; i++) {
        int32_t node = find_frame(sn_frames_of(member), i);
        bool wanted = is_wanted(member, i, time);
        if (wanted != (node >= 0)) {
            SN_TRY(wanted ? join(member, i, fades) : leave(member, node, fades));
        }
    }

    return SINEW_OK;
}

sinew_status sn_frames_adapt(sn_scene_member *member, double time) {
    return adapt(member, time, true);
}

// The first step after `step` before which some frame joins or leaves, or -1.
static int64_t next_change(const sn_scene_member *member, int64_t step) {
    const sn_scene_frames *scene = member->scene->frames;
    int64_t next = -1;
    for (int32_t i = 0; i < scene->insertion_count; i++) {
        const double events[2] = {scene->insertions[i].time, scene->insertions[i].leave};
        for (int k = 0; k < 2; k++) {
            double first = floor(events[k] / sn_frames_of(member)->step + 0.5) + 1; // see is_due
            if (!(first < 1e15)) {
                continue;
            }
            if ((int64_t)first > step && (next < 0 || (int64_t)first < next)) {
                next = (int64_t)first;
            }
        }
    }

    return next;
}

sinew_status sn_frames_replay(sn_scene_member *member, double time) {
    int64_t last = llround(time / sn_frames_of(member)->step);
    SN_TRY(adapt(member, -INFINITY, false));
    for (int64_t step = next_change(member, -1); step >= 0 && step <= last;
         step = next_change(member, step)) {
        SN_TRY(adapt(member, (double)step * sn_frames_of(member)->step, false));
    }

    return SINEW_OK;
}

bool sn_frames_is_fading(const sn_scene_member *member, double time) {
    const sn_scene_frames *scene = member->scene->frames;
    for (int32_t i = 0; i < scene->insertion_count; i++) {
        const sn_scene_insertion *insertion = &scene->insertions[i];
        const double events[2] = {insertion->time, insertion->leave};
        for (int k = 0; k < 2; k++) {
            double last = events[k] + insertion->def.fade + sn_frames_of(member)->step;
            if (is_due(sn_frames_of(member), events[k], time) && !(last < time)) {
                return true;
            }
        }
    }

    return false;
}
