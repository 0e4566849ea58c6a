// Builds the equations of all supports and attachments of an island, and names the motions in their
// null space (see mobility.h).
//
// Cost: one dense symmetric eigenvalue problem with six unknowns for each body.
#include "dynamics/mobility.h"

#include "frame/body/frame_body.h"
#include "linalg/dense.h"
#include "reduced/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BODIES = 32, MOTIONS = 6, TEXT = 160 };

// An eigenvalue of G below this part of the largest one is zero: supports a thousandth of the
// body's size apart still count.
static const double zero_share = 1e-7;

// The equations of an island, and where each body is.
typedef struct mobility {
    sn_island *island;
    int32_t count; // unknowns
    double *G, *values, *work;
    sn_vec3 center[MAX_BODIES];
    double size[MAX_BODIES];
} mobility;

// Row velocities of a rigid motion tested by a unit force on one unknown.
static void wrench_of_unknown(const sinew_body *body, int32_t unknown, sn_vec3 *at, sn_vec3 *force,
                              sn_vec3 *torque) {
    const sn_nodes *nodes = sn_frame_nodes_of(body);
    sn_vec3 unit = {unknown % 3 == 0, unknown % 3 == 1, unknown % 3 == 2};
    int32_t row = unknown / 3;
    *at = sn_v3(0, 0, 0);
    *force = unit;
    *torque = sn_v3(0, 0, 0);

    // Of a reduced body the frame alone can be held: its rotation, then its position.
    if (sinew_body_is_reduced(body)) {
        *at = sn_load3(body->q + SN_REDUCED_TRANSLATION);
        *force = row == 1 ? unit : sn_v3(0, 0, 0);
        *torque = row == 0 ? unit : sn_v3(0, 0, 0);
        return;
    }

    // A row of elements is the position of a node.
    if (!nodes) {
        *at = sn_load3(body->q + 3 * (size_t)row);
        return;
    }

    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        if (row < node->row || row >= node->row + node->row_count) {
            continue;
        }

        // Of a frame, a row is its position, its rotation, or an axis that rotates.
        bool translates = row == sn_node_translation_row(node);
        *at = sn_load3(sn_node_translation(node, body->q));
        *force = translates ? unit : sn_v3(0, 0, 0);
        if (!translates && node->kind == SINEW_NODE_RIGID) {
            *torque = unit;
        } else if (!translates) {
            *torque = sn_cross(sn_load3(body->q + node->config + 3 * (row - node->row)), unit);
        }
    }
}

// The centre of a body's surface of rows, and a length.
static void measure_body(const sinew_body *body, sn_vec3 *center, double *size) {
    *size = cbrt(body->rest_volume);
    if (sinew_body_is_reduced(body)) {
        *center = sn_load3(body->q + SN_REDUCED_TRANSLATION);
        return;
    }

    const sn_nodes *nodes = sn_frame_nodes_of(body);
    int32_t count = nodes ? nodes->count : body->rows;
    sn_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < count; i++) {
        sum = sn_add(sum, nodes ? sn_load3(sn_node_translation(&nodes->items[i], body->q))
                                : sn_load3(body->q + 3 * (size_t)i));
    }

    *center = sn_scale(1.0 / count, sum);
}

static void put_wrench(const mobility *m, double *equation, int32_t body, double sign, sn_vec3 at,
                       sn_vec3 force, sn_vec3 torque) {
    sn_vec3 arm = sn_sub(at, m->center[body]);
    sn_vec3 moment = sn_scale(1 / m->size[body], sn_add(torque, sn_cross(arm, force)));
    sn_store3(equation + (size_t)MOTIONS * (size_t)body, sn_scale(sign, force));
    sn_store3(equation + (size_t)MOTIONS * (size_t)body + 3, sn_scale(sign, moment));
}

static void add_equation(mobility *m, const double *equation) {
    for (int32_t i = 0; i < m->count; i++) {
        if (equation[i] == 0) {
            continue;
        }
        for (int32_t k = 0; k < m->count; k++) {
            m->G[i * m->count + k] += equation[i] * equation[k];
        }
    }
}

static void add_held(mobility *m, int32_t index) {
    const sn_island_body *member = &m->island->bodies[index];
    for (int32_t k = 0; k < sn_body_size(member->body); k++) {
        if (m->island->mask[3 * member->first_row + k] != SN_MASK_HELD) {
            continue;
        }

        sn_vec3 at, force, torque;
        wrench_of_unknown(member->body, k, &at, &force, &torque);
        memset(m->work, 0, (size_t)m->count * sizeof(double));
        put_wrench(m, m->work, index, 1, at, force, torque);
        add_equation(m, m->work);
    }
}

// The vertices that face supports of a frame body hold, along their axes.
static void add_supports(mobility *m, int32_t index) {
    const sn_frame_model *model = sn_frame_model_of(m->island->bodies[index].body);
    int32_t count = model ? model->support_count : 0;
    for (int32_t i = 0; i < count; i++) {
        const sn_face_support *support = model->supports[i];
        for (int32_t k = 0; k < 3 * support->count; k++) {
            if (!(support->axes >> k % 3 & 1)) {
                continue;
            }

            sn_vec3 unit = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
            sn_vec3 X = sn_load3(sn_at3(support->rest, k / 3));
            sn_vec3 at = sn_add(sn_quat_rotate(support->R, X), support->t);
            memset(m->work, 0, (size_t)m->count * sizeof(double));
            put_wrench(m, m->work, index, 1, at, unit, sn_v3(0, 0, 0));
            add_equation(m, m->work);
        }
    }
}

static int32_t find_member(const sn_island *island, const sinew_body *body) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (island->bodies[i].body == body) {
            return i;
        }
    }
    return -1;
}

static void add_attachment(mobility *m, sinew_attachment *attachment) {
    int32_t tied = find_member(m->island, attachment->tied.body);
    int32_t target = attachment->target.body ? find_member(m->island, attachment->target.body) : -1;
    if (tied < 0 || tied == target) {
        return;
    }

    double at[3], to[3];
    sinew_attachment_get_positions(attachment, at, to);
    for (int k = 0; k < 3; k++) {
        sn_vec3 unit = {k == 0, k == 1, k == 2};
        memset(m->work, 0, (size_t)m->count * sizeof(double));
        put_wrench(m, m->work, tied, 1, sn_load3(at), unit, sn_v3(0, 0, 0));
        if (target >= 0) {
            put_wrench(m, m->work, target, -1, sn_load3(at), unit, sn_v3(0, 0, 0));
        }
        add_equation(m, m->work);
    }
}

// How much of the unit motion `axis` of a body the null space holds: 1 if all of it.
static double share_of(const mobility *m, int32_t zeros, int32_t axis) {
    double sum = 0;
    for (int32_t k = 0; k < zeros; k++) {
        double part = m->G[k * m->count + axis]; // eigenvectors are rows
        sum += part * part;
    }
    return sum;
}

static void add_word(char *text, const char *word) {
    size_t length = strlen(text);
    snprintf(text + length, TEXT - length, "%s%s", length ? ", " : "", word);
}

// The free motions of a body in words: translations along an axis that are free by themselves, and
// rotations about an axis through any point.
static void describe(const mobility *m, int32_t zeros, int32_t body, char *text) {
    static const char *const along[] = {"translate along x", "translate along y",
                                        "translate along z"};
    static const char *const about[] = {"rotate about x", "rotate about y", "rotate about z"};
    int32_t first = MOTIONS * body;
    text[0] = 0;

    for (int k = 0; k < 3; k++) {
        if (share_of(m, zeros, first + k) > 0.99) {
            add_word(text, along[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        if (share_of(m, zeros, first + 3 + k) > 0.01) {
            add_word(text, about[k]);
        }
    }

    if (!text[0]) {
        add_word(text, "translate along an oblique direction");
    }
}

static int32_t count_zeros(const mobility *m) {
    int32_t zeros = 0;
    while (zeros < m->count && m->values[zeros] <= zero_share * m->values[m->count - 1]) {
        zeros++;
    }
    return zeros;
}

// The body that moves most.
static int32_t find_loosest(const mobility *m, int32_t zeros) {
    int32_t loosest = 0;
    double largest = 0;
    for (int32_t i = 0; i < m->island->body_count; i++) {
        double sum = 0;
        for (int k = 0; k < MOTIONS; k++) {
            sum += share_of(m, zeros, MOTIONS * i + k);
        }
        if (sum > largest * (1 + 1e-6)) {
            largest = sum;
            loosest = i;
        }
    }
    return loosest;
}

static sinew_status judge(mobility *m) {
    sinew_context *context = m->island->world->context;
    if (!sn_dense_symmetric_eigen(m->G, m->count, m->count, m->values, m->work)) {
        return SINEW_OK;
    }

    int32_t zeros = count_zeros(m);
    if (zeros == 0) {
        return SINEW_OK;
    }

    char text[TEXT];
    int32_t loosest = find_loosest(m, zeros);
    describe(m, zeros, loosest, text);
    return sn_fail(
        context, SINEW_INVALID_ARGUMENT,
        "nothing holds body \"%s\" against every rigid motion: it can still %s. A static "
        "solve needs supports or attachments that prevent that",
        m->island->bodies[loosest].body->name, text);
}

sinew_status sn_mobility_check(sn_island *island) {
    if (island->body_count > MAX_BODIES) {
        return SINEW_OK;
    }

    sn_arena arena = sn_arena_create(island->world->context);
    mobility m = {.island = island, .count = MOTIONS * island->body_count};
    m.G = SN_PUSH(&arena, double, (size_t)m.count *(size_t)m.count);
    m.values = SN_PUSH(&arena, double, m.count);
    m.work = SN_PUSH(&arena, double, m.count);
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        // Centres and sizes first: equations of attachments involve two bodies.
        for (int32_t i = 0; i < island->body_count; i++) {
            measure_body(island->bodies[i].body, &m.center[i], &m.size[i]);
        }
        for (int32_t i = 0; i < island->body_count; i++) {
            add_held(&m, i);
            add_supports(&m, i);
        }
        for (size_t i = 0; i < island->world->attachment_count; i++) {
            if (!island->world->attachments[i]->broken) {
                add_attachment(&m, island->world->attachments[i]);
            }
        }
        status = judge(&m);
    }

    sn_arena_destroy(&arena);
    return status;
}
