// Recorded motion: transforms of all joints at a fixed rate, interpolated at any time between two
// samples (quaternions along the shorter arc, Shoemake 1985; translations linearly).
#include "skeleton/skeleton.h"

#include <string.h>

sinew_status sn_motion_create_empty(sinew_context *context, int32_t joint_count,
                                    int32_t frame_count, double frame_time, sinew_motion **motion) {
    if (joint_count < 1 || joint_count > SN_MAX_JOINTS) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a motion has 1 to %d joints, not %d",
                       SN_MAX_JOINTS, joint_count);
    }

    if (frame_count < 1 || frame_count > SN_MAX_FRAMES) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a motion has 1 to %d frames, not %d",
                       SN_MAX_FRAMES, frame_count);
    }

    if (!(frame_time > 0) || !isfinite(frame_time)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the frame time must be positive and finite, not %g s", frame_time);
    }

    // One array holds all poses.
    sinew_motion *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sinew_motion){sn_arena_create(context), joint_count, frame_count, frame_time, NULL};
    made->frames =
        SN_PUSH(&made->arena, sinew_transform, (size_t)joint_count * (size_t)frame_count);

    if (!made->frames) {
        sinew_motion_destroy(made);
        return SINEW_OUT_OF_MEMORY;
    }

    *motion = made;
    return SINEW_OK;
}

sinew_status sinew_motion_create(sinew_context *context, const sinew_motion_def *def,
                                 sinew_motion **motion) {
    SN_NEED(NULL, context);
    SN_NEED(context, def && motion);

    sinew_motion *made = NULL;

    SN_TRY(sn_motion_create_empty(context, def->joint_count, def->frame_count, def->frame_time,
                                  &made));

    // Copy the samples, or fill them with the identity.
    size_t joint_count = (size_t)def->joint_count;
    size_t count = joint_count * (size_t)def->frame_count;
    for (size_t i = 0; i < count; i++) {
        if (!def->frames) {
            sn_rigid_store(&made->frames[i], sn_rigid_identity());
            continue;
        }

        if (!sn_transform_is_valid(&def->frames[i])) {
            sinew_motion_destroy(made);
            return sn_fail(
                context, SINEW_INVALID_ARGUMENT,
                "frame %zu, joint %zu: all numbers must be finite, the quaternion not zero",
                i / joint_count, i % joint_count);
        }

        sn_rigid_store(&made->frames[i], sn_rigid_load(&def->frames[i]));
    }

    *motion = made;
    return SINEW_OK;
}

// Unit quaternions are kept bit for bit: normalising them again would change their last digits.
static sn_rigid load_nearly_unit(const sinew_transform *transform) {
    const double *q = transform->rotation;
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return fabs(square - 1) <= 2e-12 ? sn_rigid_load_unit(transform) : sn_rigid_load(transform);
}

sinew_status sinew_motion_set_frame(sinew_motion *motion, int32_t frame,
                                    const sinew_transform *local) {
    SN_NEED(NULL, motion && local);

    sinew_context *context = motion->arena.context;
    if (frame < 0 || frame >= motion->frame_count) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "frame %d: the motion has %d", (int)frame,
                       (int)motion->frame_count);
    }

    for (int32_t i = 0; i < motion->joint_count; i++) {
        if (!sn_transform_is_valid(&local[i])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "frame %d, joint %d: all numbers must be finite, the quaternion not "
                           "zero",
                           (int)frame, (int)i);
        }
    }

    sinew_transform *to = motion->frames + (size_t)frame * (size_t)motion->joint_count;
    for (int32_t i = 0; i < motion->joint_count; i++) {
        sn_rigid_store(&to[i], load_nearly_unit(&local[i]));
    }

    return SINEW_OK;
}

void sinew_motion_destroy(sinew_motion *motion) {
    if (!motion) {
        return;
    }
    sinew_context *context = motion->arena.context;
    sn_arena_destroy(&motion->arena);
    sn_release(context, motion, 1, sizeof *motion);
}

int32_t sinew_motion_joint_count(const sinew_motion *motion) {
    SN_NEED_OR(0, motion);
    return motion->joint_count;
}

int32_t sinew_motion_frame_count(const sinew_motion *motion) {
    SN_NEED_OR(0, motion);
    return motion->frame_count;
}

double sinew_motion_frame_time(const sinew_motion *motion) {
    SN_NEED_OR(0, motion);
    return motion->frame_time;
}

const sinew_transform *sinew_motion_frame(const sinew_motion *motion, int32_t frame) {
    SN_NEED_OR(NULL, motion);
    SN_ASSERT(frame >= 0 && frame < motion->frame_count);
    return motion->frames + (size_t)frame * (size_t)motion->joint_count;
}

static sn_rigid interpolate(const sinew_transform *a, const sinew_transform *b, double t) {
    sn_rigid from = sn_rigid_load(a);
    sn_rigid to = sn_rigid_load(b);
    return (sn_rigid){sn_quat_slerp(from.q, to.q, t), sn_madd(sn_scale(1 - t, from.t), t, to.t)};
}

// A time as a position between two samples: the fraction `part` from `first` to `second`.
typedef struct sample_pair {
    int32_t first, second;
    double part;
} sample_pair;

static sample_pair find_samples(const sinew_motion *motion, double time, sinew_motion_end end) {
    double frame = time / motion->frame_time;
    double count = motion->frame_count;
    if (end == SINEW_MOTION_LOOP) {
        frame -= count * floor(frame / count);
        if (!(frame < count)) {
            frame = 0; // rounding of a time just below zero
        }
        int32_t first = (int32_t)frame;
        return (sample_pair){first, first + 1 < motion->frame_count ? first + 1 : 0, frame - first};
    }

    // Otherwise the first and last samples are held.
    frame = fmin(fmax(frame, 0), count - 1);
    int32_t first = (int32_t)frame;
    if (first + 1 >= motion->frame_count) {
        return (sample_pair){motion->frame_count - 1, motion->frame_count - 1, 0};
    }

    return (sample_pair){first, first + 1, frame - first};
}

bool sinew_motion_sample(const sinew_motion *motion, double time, sinew_motion_end end,
                         sinew_transform *local) {
    SN_NEED_OR(false, motion && local);

    SN_ASSERT(isfinite(time));
    sample_pair at = find_samples(motion, time, end);
    const sinew_transform *first = sinew_motion_frame(motion, at.first);
    const sinew_transform *second = sinew_motion_frame(motion, at.second);

    for (int32_t i = 0; i < motion->joint_count; i++) {
        sn_rigid_store(&local[i], interpolate(&first[i], &second[i], at.part));
    }

    // A tolerance of half a thousandth of a sample for rounding of step times that add up to the
    // last one.
    double last = motion->frame_time * (motion->frame_count - 1 + 0.0005);

    return end != SINEW_MOTION_STOP || time <= last;
}

static sinew_status check_track(sinew_context *context, const sinew_skeleton *skeleton,
                                const sinew_motion_track *track, int32_t index) {
    if (track->joint < 0 || track->joint >= skeleton->joint_count) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "track %d: joint %d must be in [0, %d]",
                       index, track->joint, skeleton->joint_count - 1);
    }

    if (track->key_count < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "track %d has no keys", index);
    }

    // Times must increase, and rotations must not be zero.
    for (int32_t key = 0; key < track->key_count; key++) {
        double before = key > 0 ? track->times[key - 1] : -INFINITY;
        if (!isfinite(track->times[key]) || track->times[key] <= before) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "track %d, key %d: times must be finite and increase, %g follows %g",
                           index, key, track->times[key], before);
        }

        int32_t width = track->rotates ? 4 : 3;
        double square = 0;
        for (int32_t k = 0; k < width; k++) {
            square += track->values[key * width + k] * track->values[key * width + k];
        }

        if (!isfinite(square) || (track->rotates && square < 1e-60)) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT, "track %d, key %d: %s", index, key,
                           isfinite(square) ? "the quaternion is zero" : "the value is not finite");
        }
    }

    return SINEW_OK;
}

static double last_key(const sinew_motion_track *tracks, int32_t count) {
    double last = 0;
    for (int32_t i = 0; i < count; i++) {
        last = fmax(last, tracks[i].times[tracks[i].key_count - 1]);
    }
    return last;
}

static sn_rigid load_key(const sinew_motion_track *track, int32_t key) {
    const double *value = track->values + (size_t)key * (track->rotates ? 4 : 3);
    if (!track->rotates) {
        return (sn_rigid){sn_quat_identity(), sn_load3(value)};
    }
    return (sn_rigid){sn_quat_normalize((sn_quat){value[0], value[1], value[2], value[3]}),
                      {0, 0, 0}};
}

// Writes the values of one track into every sample; the key advances with the time.
static void apply_track(sinew_motion *motion, const sinew_motion_track *track) {
    int32_t key = 0;
    int32_t last = track->key_count - 1;
    for (int32_t frame = 0; frame < motion->frame_count; frame++) {
        double time = frame * motion->frame_time;

        // The last key that is not later than the sample.
        while (key < last && track->times[key + 1] <= time) {
            key++;
        }

        // Interpolate towards the next one.
        sn_rigid value = load_key(track, key);
        if (!track->steps && key < last && time > track->times[key]) {
            double part = (time - track->times[key]) / (track->times[key + 1] - track->times[key]);
            sn_rigid next = load_key(track, key + 1);
            value.q = sn_quat_slerp(value.q, next.q, part);
            value.t = sn_madd(sn_scale(1 - part, value.t), part, next.t);
        }

        sinew_transform *local =
            &motion->frames[(size_t)frame * (size_t)motion->joint_count + (size_t)track->joint];
        sn_rigid old = sn_rigid_load(local);

        sn_rigid_store(local,
                       track->rotates ? (sn_rigid){value.q, old.t} : (sn_rigid){old.q, value.t});
    }
}

sinew_status sinew_motion_create_from_tracks(sinew_context *context, const sinew_skeleton *skeleton,
                                             const sinew_motion_track *tracks, int32_t track_count,
                                             double frame_time, sinew_motion **motion) {
    SN_NEED(NULL, context);
    SN_NEED(context, skeleton && motion && (tracks || track_count <= 0));

    for (int32_t i = 0; i < track_count; i++) {
        SN_TRY(check_track(context, skeleton, &tracks[i], i));
    }

    double last = last_key(tracks, track_count);

    // The last key is in the motion, at the first sample that is not before it.
    double frames = frame_time > 0 ? ceil(last / frame_time - 1e-6) + 1 : 1;
    if (!(frames <= SN_MAX_FRAMES)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%g s at %g s a frame exceed %d frames",
                       last, frame_time, SN_MAX_FRAMES);
    }

    sinew_motion *made = NULL;
    SN_TRY(
        sn_motion_create_empty(context, skeleton->joint_count, (int32_t)frames, frame_time, &made));

    // Joints without a track keep their rest pose.
    size_t joint_count = (size_t)skeleton->joint_count;
    for (int32_t frame = 0; frame < made->frame_count; frame++) {
        memcpy(made->frames + (size_t)frame * joint_count, skeleton->rest_local,
               joint_count * sizeof *made->frames);
    }

    for (int32_t i = 0; i < track_count; i++) {
        apply_track(made, &tracks[i]);
    }

    *motion = made;
    return SINEW_OK;
}
