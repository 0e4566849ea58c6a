// Reads BVH motion files: the hierarchy, a skeleton made from it, and the frames; see read_bvh.h.
#include "io/motion/read_bvh.h"

#include "io/text/text.h"
#include "math/rigid.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CHANNELS = 6 };

// Limits in bytes of transforms. A motion above LARGE is accepted only if the text is long enough
// to hold its numbers; above MAX it is always an error.
static const size_t MAX_MOTION_SIZE = (size_t)1 << 30, LARGE_MOTION_SIZE = (size_t)1 << 20;
static const double DEGREE = 3.14159265358979323846 / 180;

// Position x y z are 0 1 2, rotation about x y z are 3 4 5.
static const char *const channel_names[MAX_CHANNELS] = {"Xposition", "Yposition", "Zposition",
                                                        "Xrotation", "Yrotation", "Zrotation"};

typedef struct joint {
    sn_word name;
    int32_t parent, channel_count;
    uint8_t channels[MAX_CHANNELS];
    bool has_offset, has_channels, has_tip;
    double offset[3], tip[3];
} joint;

typedef struct reader {
    sinew_context *context;
    const char *file;
    sn_text text;
    double unit;
    joint *joints;
    size_t joint_count, capacity;
    int64_t channel_count; // of all joints
} reader;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static sinew_status
fail_at(reader *read, const char *at, const char *format, ...) {
    char what[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);

    while (at < read->text.end && sn_text_is_space(*at)) {
        at++;
    }

    sn_text_position position = sn_text_find_position(read->text.begin, at);
    return sn_fail(read->context, SINEW_INVALID_DATA, "%s:%d:%d: %s", read->file, position.line,
                   position.column, what);
}

static sinew_status fail_expected(reader *read, const char *expected) {
    char found[SN_TEXT_FOUND_SIZE];
    const char *at = read->text.at;
    return fail_at(read, at, "expected %s, found %s", expected,
                   sn_text_found(at, read->text.end, found));
}

static sinew_status expect_word(reader *read, const char *wanted) {
    sn_text_skip_spaces(&read->text);
    const char *at = read->text.at;
    if (sn_word_is_like(sn_text_word(&read->text), wanted)) {
        return SINEW_OK;
    }

    read->text.at = at;
    return fail_expected(read, wanted);
}

// A number must not run into letters: "12abc" is not a number.
static bool number_ends(const reader *read) {
    return read->text.at >= read->text.end || sn_text_is_space(*read->text.at);
}

static sinew_status read_number(reader *read, double *value, const char *what) {
    sn_text_skip_spaces(&read->text);
    const char *at = read->text.at;
    sn_number_result result = sn_text_double(&read->text.at, read->text.end, value);
    if (result == SN_NUMBER_OK && number_ends(read)) {
        return SINEW_OK;
    }

    read->text.at = at;
    return fail_expected(read, what);
}

static sinew_status read_integer(reader *read, int64_t *value, int64_t low, int64_t high,
                                 const char *what) {
    sn_text_skip_spaces(&read->text);
    const char *at = read->text.at;
    sn_number_result result = sn_text_integer(&read->text.at, read->text.end, value);

    if (result != SN_NUMBER_NONE && number_ends(read)) {
        if (result == SN_NUMBER_OK && *value >= low && *value <= high) {
            return SINEW_OK;
        }
        return fail_at(read, at, "%s must be in [%lld, %lld]", what, (long long)low,
                       (long long)high);
    }

    read->text.at = at;
    return fail_expected(read, what);
}

// Begins a joint after its keyword: the name extends to the end of the line, the brace is there or
// on the next line.
static sinew_status open_joint(reader *read, int32_t parent) {
    sn_text_skip_blanks(&read->text);
    const char *at = read->text.at;
    sn_word name = sn_text_rest_of_line(&read->text);
    bool opened = name.size > 0 && name.at[name.size - 1] == '{';

    // Remove a brace on the same line, and blanks before it.
    if (opened) {
        name.size--;
    }

    while (name.size > 0 && sn_text_is_blank(name.at[name.size - 1])) {
        name.size--;
    }

    if (name.size == 0 || name.size > SINEW_JOINT_NAME_SIZE) {
        return fail_at(read, at, "a joint's name must have 1 to %d characters",
                       SINEW_JOINT_NAME_SIZE);
    }
    if (memchr(name.at, 0, name.size)) {
        return fail_at(read, at, "a joint's name holds a zero byte");
    }
    if (read->joint_count >= SINEW_SKELETON_JOINTS) {
        return fail_at(read, at, "more than %d joints", SINEW_SKELETON_JOINTS);
    }

    SN_TRY(sn_grow(read->context, (void **)&read->joints, &read->capacity, read->joint_count,
                   read->joint_count + 1, sizeof(joint)));
    read->joints[read->joint_count++] = (joint){.name = name, .parent = parent};

    return opened ? SINEW_OK : expect_word(read, "{");
}

static sinew_status read_offset(reader *read, double offset[3]) {
    for (int k = 0; k < 3; k++) {
        SN_TRY(read_number(read, &offset[k], "a number of the offset"));
        offset[k] *= read->unit;
    }
    return SINEW_OK;
}

static sinew_status read_channels(reader *read, joint *current) {
    int64_t count = 0;
    SN_TRY(read_integer(read, &count, 0, MAX_CHANNELS, "the number of channels"));
    for (int32_t c = 0; c < count; c++) {
        sn_text_skip_spaces(&read->text);
        const char *at = read->text.at;
        sn_word word = sn_text_word(&read->text);
        int channel = 0;

        // Channels may be listed in any order, each at most once.
        while (channel < MAX_CHANNELS && !sn_word_is_like(word, channel_names[channel])) {
            channel++;
        }

        if (channel == MAX_CHANNELS) {
            read->text.at = at;
            return fail_expected(
                read, "Xposition, Yposition, Zposition, Xrotation, Yrotation or Zrotation");
        }

        for (int32_t other = 0; other < c; other++) {
            if (current->channels[other] == channel) {
                return fail_at(read, at, "the channel %s appears twice", channel_names[channel]);
            }
        }

        current->channels[c] = (uint8_t)channel;
    }

    current->channel_count = (int32_t)count;
    current->has_channels = true;
    read->channel_count += count;

    return SINEW_OK;
}

static sinew_status read_end_site(reader *read, joint *current, const char *at) {
    if (current->has_tip) {
        return fail_at(read, at, "the joint has two End Sites");
    }

    SN_TRY(expect_word(read, "Site"));
    SN_TRY(expect_word(read, "{"));
    SN_TRY(expect_word(read, "OFFSET"));
    SN_TRY(read_offset(read, current->tip));
    current->has_tip = true;

    return expect_word(read, "}");
}

static sinew_status check_joint_end(reader *read, const joint *current, const char *at) {
    if (!current->has_offset) {
        return fail_at(read, at, "the joint %.*s has no OFFSET", (int)current->name.size,
                       current->name.at);
    }

    if (current->has_channels) {
        return SINEW_OK;
    }

    return fail_at(read, at, "the joint %.*s has no CHANNELS (0 of them would be valid)",
                   (int)current->name.size, current->name.at);
}

// Reads everything between the braces of the root, without recursion: `index` descends at JOINT and
// ascends at a closing brace.
static sinew_status read_joints(reader *read) {
    for (int32_t index = 0; index >= 0;) {
        joint *current = &read->joints[index];
        sn_text_skip_spaces(&read->text);

        const char *at = read->text.at;
        sn_word word = sn_text_word(&read->text);

        // What describes the current joint, or a step down or up the hierarchy.
        if (sn_word_is_like(word, "OFFSET") && !current->has_offset) {
            SN_TRY(read_offset(read, current->offset));
            current->has_offset = true;
        } else if (sn_word_is_like(word, "CHANNELS") && !current->has_channels) {
            SN_TRY(read_channels(read, current));
        } else if (sn_word_is_like(word, "JOINT")) {
            SN_TRY(open_joint(read, index));
            index = (int32_t)read->joint_count - 1;
        } else if (sn_word_is_like(word, "End")) {
            SN_TRY(read_end_site(read, current, at));
        } else if (sn_word_is(word, "}")) {
            SN_TRY(check_joint_end(read, current, at));
            index = current->parent;
        } else {
            read->text.at = at;
            return fail_expected(read, current->has_channels
                                           ? "JOINT, End Site or }"
                                           : "OFFSET, CHANNELS, JOINT, End Site or }");
        }
    }

    return SINEW_OK;
}

static sinew_status read_hierarchy(reader *read) {
    SN_TRY(expect_word(read, "HIERARCHY"));
    SN_TRY(expect_word(read, "ROOT"));
    SN_TRY(open_joint(read, -1));
    SN_TRY(read_joints(read));
    sn_text_skip_spaces(&read->text);

    const char *at = read->text.at;
    if (sn_word_is_like(sn_text_word(&read->text), "ROOT")) {
        return fail_at(
            read, at,
            "a second ROOT: a skeleton has one; write each figure into a file of its own");
    }

    read->text.at = at;
    return expect_word(read, "MOTION");
}

static sinew_status build_skeleton(reader *read, sinew_skeleton **skeleton) {
    sn_arena scratch = sn_arena_create(read->context);
    sinew_joint_def *defs = SN_PUSH(&scratch, sinew_joint_def, read->joint_count);
    sinew_status status = sn_arena_status(&scratch);

    // Names need a closing zero.
    for (size_t i = 0; i < read->joint_count && status == SINEW_OK; i++) {
        const joint *from = &read->joints[i];
        char *name = SN_PUSH(&scratch, char, from->name.size + 1);
        if (name) {
            memcpy(name, from->name.at, from->name.size);
        }

        defs[i] = sinew_default_joint_def();
        defs[i].name = name;
        defs[i].parent = from->parent;
        defs[i].has_tip = from->has_tip;
        memcpy(defs[i].rest.translation, from->offset, sizeof from->offset);
        memcpy(defs[i].tip, from->tip, sizeof from->tip);
        status = sn_arena_status(&scratch);
    }

    if (status == SINEW_OK) {
        status = sinew_skeleton_create(read->context, defs, (int32_t)read->joint_count, skeleton);
    }

    sn_arena_destroy(&scratch);
    if (status == SINEW_OK || status == SINEW_OUT_OF_MEMORY) {
        return status;
    }

    // Put the file's name in front of the skeleton's message.
    char message[512];
    snprintf(message, sizeof message, "%s", sinew_context_message(read->context));

    return sn_fail(read->context, SINEW_INVALID_DATA, "%s: %s", read->file, message);
}

// Reads the numbers of one joint in one frame.
static sinew_status read_transform(reader *read, const joint *from, sinew_transform *local,
                                   int64_t frame) {
    sn_rigid motion = {sn_quat_identity(), sn_load3(from->offset)};
    double *component[3] = {&motion.t.x, &motion.t.y, &motion.t.z};
    for (int32_t c = 0; c < from->channel_count; c++) {
        double value = 0;
        sn_text_skip_blanks(&read->text);

        // The next number of this line.
        const char *at = read->text.at;
        sn_number_result result = sn_text_double(&read->text.at, read->text.end, &value);
        if (result != SN_NUMBER_OK || !number_ends(read)) {
            char found[SN_TEXT_FOUND_SIZE];
            bool line_ends = at >= read->text.end || *at == '\n';

            return fail_at(read, at, "frame %lld needs %lld numbers: expected %s of %.*s, found %s",
                           (long long)frame + 1, (long long)read->channel_count,
                           channel_names[from->channels[c]], (int)from->name.size, from->name.at,
                           line_ends ? "the end of the line"
                                     : sn_text_found(at, read->text.end, found));
        }

        // A position replaces the offset; rotations multiply in the order of the channels.
        int channel = from->channels[c];
        if (channel < 3) {
            *component[channel] = value * read->unit;
        } else {
            double axis[3] = {0, 0, 0};
            axis[channel - 3] = value * DEGREE;
            motion.q = sn_quat_mul(motion.q, sn_quat_exp(sn_load3(axis)));
        }
    }

    sn_rigid_store(local, (sn_rigid){sn_quat_normalize(motion.q), motion.t});
    return sn_transform_is_valid(local)
               ? SINEW_OK
               : fail_at(read, read->text.at, "frame %lld is not finite", (long long)frame + 1);
}

static sinew_status read_frames(reader *read, sinew_transform *local, sinew_motion *motion) {
    int32_t frame_count = sinew_motion_frame_count(motion);
    for (int32_t frame = 0; frame < frame_count; frame++) {
        sn_text_skip_spaces(&read->text);
        if (sn_text_at_end(&read->text)) {
            return fail_at(read, read->text.at, "the file ends after %d of %d frames", frame,
                           frame_count);
        }

        for (size_t i = 0; i < read->joint_count; i++) {
            SN_TRY(read_transform(read, &read->joints[i], &local[i], frame));
        }
        SN_TRY(sinew_motion_set_frame(motion, frame, local));

        sn_text_skip_blanks(&read->text);
        if (!sn_text_at_end(&read->text) && *read->text.at != '\n') {
            return fail_at(read, read->text.at, "frame %d has more than %lld numbers", frame + 1,
                           (long long)read->channel_count);
        }
    }

    // Only white space may follow.
    sn_text_skip_spaces(&read->text);
    if (sn_text_at_end(&read->text)) {
        return SINEW_OK;
    }

    return fail_at(read, read->text.at, "unexpected text after the last of %d frames", frame_count);
}

static sinew_status read_motion(reader *read, sinew_motion **motion) {
    int64_t frames = 0;
    double frame_time = 0;

    SN_TRY(expect_word(read, "Frames:"));
    const char *at = read->text.at;

    SN_TRY(read_integer(read, &frames, 1, SINEW_MOTION_FRAMES, "the number of frames"));
    SN_TRY(expect_word(read, "Frame"));
    SN_TRY(expect_word(read, "Time:"));

    const char *time_at = read->text.at;
    SN_TRY(read_number(read, &frame_time, "the seconds between frames"));
    if (!(frame_time > 0)) {
        return fail_at(read, time_at, "the frame time must be above 0");
    }
    if (read->channel_count == 0) {
        return fail_at(read, at, "no joint has a channel: there is no motion");
    }

    // Every number takes at least a digit and a space or line break. Memory for many frames is
    // allocated only if the rest of the text can hold them.
    int64_t left = read->text.end - read->text.at;
    bool large = (size_t)frames * read->joint_count > LARGE_MOTION_SIZE / sizeof(sinew_transform);

    if (large && frames * read->channel_count > left / 2 + 1) {
        return fail_at(read, at, "%lld frames of %lld numbers do not fit into the rest of the file",
                       (long long)frames, (long long)read->channel_count);
    }

    if ((size_t)frames * read->joint_count > MAX_MOTION_SIZE / sizeof(sinew_transform)) {
        return fail_at(read, at, "%lld frames of %zu joints exceed %zu bytes", (long long)frames,
                       read->joint_count, MAX_MOTION_SIZE);
    }

    sinew_motion_def def = {.joint_count = (int32_t)read->joint_count,
                            .frame_count = (int32_t)frames,
                            .frame_time = frame_time};
    SN_TRY(sinew_motion_create(read->context, &def, motion));

    // One frame at a time.
    sinew_transform *local = sn_allocate(read->context, read->joint_count, sizeof *local);
    if (!local) {
        return SINEW_OUT_OF_MEMORY;
    }
    sinew_status status = read_frames(read, local, *motion);
    sn_release(read->context, local, read->joint_count, sizeof *local);

    return status;
}

sinew_status sn_bvh_read(sinew_context *context, const char *name, const char *text, size_t size,
                         double unit, sinew_skeleton **skeleton, sinew_motion **motion) {
    SN_ASSERT(context && name && text && skeleton && motion);
    if (!(unit > 0) || !isfinite(unit)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: the unit must be positive, not %g m",
                       name, unit);
    }

    reader read = {
        .context = context, .file = name, .text = sn_text_create(text, size), .unit = unit};
    sinew_skeleton *made_skeleton = NULL;
    sinew_motion *made_motion = NULL;

    // Joints, the skeleton they make, and its motion.
    sinew_status status = read_hierarchy(&read);

    if (status == SINEW_OK) {
        status = build_skeleton(&read, &made_skeleton);
    }
    if (status == SINEW_OK) {
        status = read_motion(&read, &made_motion);
    }

    sn_release(context, read.joints, read.capacity, sizeof *read.joints);

    // All or nothing.
    if (status != SINEW_OK) {
        sinew_skeleton_destroy(made_skeleton);
        sinew_motion_destroy(made_motion);
        return status;
    }

    *skeleton = made_skeleton;
    *motion = made_motion;

    return SINEW_OK;
}
