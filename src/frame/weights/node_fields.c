// Node fields, computed in parallel: a free slot takes the next node and writes its field into the
// slot's own buffer. A slot whose buffer is full waits for the caller, because worker threads do
// not allocate. Then sorting and transposing fields.
#include "frame/weights/node_fields.h"

#include "base/threads.h"
#include "frame/weights/table.h"

#include <string.h>

enum { CHUNK = 4096, SMALLEST_ROOM = 1 << 16 };

sn_voxel_set sn_voxel_set_push(sn_arena *arena, int32_t voxel_count) {
    int32_t words = voxel_count / 64 + 1;
    return (sn_voxel_set){SN_PUSH(arena, uint64_t, words), words};
}

int32_t sn_voxel_set_drain(sn_voxel_set *set, int32_t *voxels) {
    int32_t count = 0;
    for (int32_t i = 0; i < set->word_count; i++) {
        uint64_t word = set->words[i];
        for (int32_t bit = 0; word; bit++, word >>= 1) {
            while (!(word & 0xff)) {
                bit += 8;
                word >>= 8;
            }

            if (word & 1) {
                voxels[count++] = 64 * i + bit;
            }
        }

        set->words[i] = 0;
    }

    return count;
}

void sn_seed_node(const sn_shape *shape, sn_front *front, int32_t node, int32_t source) {
    sn_vec3 p = sn_load3(sn_at3(shape->node_position, node));
    bool started = sn_front_seed_point(front, p, SN_FRONT_SEED_RADIUS,
                                       2 * sn_outside_tolerance(shape->voxels), source);
    SN_ASSERT(started); // the node is inside, or was moved inside
    (void)started;
}

void sn_store_front(const sn_front *front, sn_voxel_set *set, int32_t *voxels, double *distances) {
    for (int32_t k = 0; k < front->accepted_count; k++) {
        sn_voxel_set_add(set, front->accepted[k]);
    }

    sn_voxel_set_drain(set, voxels);
    for (int32_t k = 0; k < front->accepted_count; k++) {
        distances[k] = front->distance[voxels[k]];
    }
}

int32_t sn_field_slots(const sinew_context *context, int32_t voxel_count, int32_t node_count) {
    int32_t most = voxel_count <= 1000000 ? SN_FIELD_SLOTS : voxel_count <= 4000000 ? 4 : 2;
    int32_t threads = sn_thread_count(context);
    if (threads < most) {
        most = threads;
    }
    return node_count < most ? node_count : most;
}

// The buffer that a slot writes its fields into.
typedef struct room {
    int32_t *voxel;
    double *value;
    int32_t left;
    int32_t waiting; // the node whose field did not fit, or -1
    int32_t count;   // of that field
} room;

typedef struct field_job {
    const sn_field_maker *maker;
    const int32_t *order;
    sn_node_field *fields;
    room rooms[SN_FIELD_SLOTS];
} field_job;

static void keep_field(field_job *job, int32_t node, int32_t slot, int32_t count) {
    room *r = &job->rooms[slot];
    job->fields[node] = (sn_node_field){count, r->voxel, r->value};
    job->maker->store(job->maker->data, slot, r->voxel, r->value);
    r->voxel += count;
    r->value += count;
    r->left -= count;
}

static bool make_field(void *data, int32_t item, int32_t slot) {
    field_job *job = data;
    room *r = &job->rooms[slot];
    int32_t node = job->order ? job->order[item] : item;
    int32_t count = job->maker->compute(job->maker->data, node, slot);

    if (count > r->left) {
        r->waiting = node;
        r->count = count;
        return false;
    }

    keep_field(job, node, slot, count);
    return true;
}

// Gives a slot a new buffer, and stores the field that waited for it.
static sinew_status give_room(sn_arena *arena, field_job *job, int32_t slot, int32_t usual) {
    room *r = &job->rooms[slot];
    r->left = r->waiting >= 0 && r->count > usual ? r->count : usual;
    r->voxel = SN_RESERVE(arena, int32_t, r->left);
    r->value = SN_RESERVE(arena, double, r->left);
    SN_TRY(sn_arena_status(arena));

    if (r->waiting >= 0) {
        keep_field(job, r->waiting, slot, r->count);
    }

    r->waiting = -1;
    return SINEW_OK;
}

sinew_status sn_make_fields(const sn_shape *shape, const sn_field_maker *maker,
                            const int32_t *order, int32_t count, sn_arena *arena,
                            sn_node_field *fields) {
    SN_ASSERT(maker->slots >= 1 && maker->slots <= SN_FIELD_SLOTS);
    field_job job = {.maker = maker, .order = order, .fields = fields};
    int32_t usual = shape->voxels->count > SMALLEST_ROOM ? shape->voxels->count : SMALLEST_ROOM;
    int32_t next = 0;

    for (int32_t slot = 0; slot < maker->slots; slot++) {
        job.rooms[slot].waiting = -1;
        SN_TRY(give_room(arena, &job, slot, usual));
    }

    while (next < count) {
        next = sn_parallel_deal(shape->context, next, count, maker->slots, make_field, &job);
        for (int32_t slot = 0; slot < maker->slots; slot++) {
            if (job.rooms[slot].waiting >= 0) {
                SN_TRY(give_room(arena, &job, slot, usual));
            }
        }
    }

    return SINEW_OK;
}

sinew_status sn_order_fields(const sn_node_field *fields, int32_t count, sn_arena *arena,
                             int32_t **order) {
    int32_t *list = *order = SN_PUSH(arena, int32_t, count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < count; i++) {
        int32_t place = i;
        for (; place > 0 && fields[list[place - 1]].count < fields[i].count; place--) {
            list[place] = list[place - 1];
        }
        list[place] = i;
    }

    return SINEW_OK;
}

int32_t sn_field_begin(const sn_node_field *field, int32_t voxel) {
    int32_t low = 0;
    int32_t high = field->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (field->voxel[middle] < voxel) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}

typedef struct transpose_job {
    const sn_node_field *fields;
    int32_t node_count;
    sn_weight_table *table;
} transpose_job;

static void count_entries(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const transpose_job *job = data;
    for (int32_t i = 0; i < job->node_count; i++) {
        const sn_node_field *f = &job->fields[i];
        for (int32_t k = sn_field_begin(f, begin); k < f->count && f->voxel[k] < end; k++) {
            job->table->start[f->voxel[k] + 1]++;
        }
    }
}

static void move_entries(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const transpose_job *job = data;
    const sn_weight_table *table = job->table;
    int32_t filled[CHUNK] = {0};

    for (int32_t i = 0; i < job->node_count; i++) {
        const sn_node_field *f = &job->fields[i];
        for (int32_t k = sn_field_begin(f, begin); k < f->count && f->voxel[k] < end; k++) {
            int64_t place = table->start[f->voxel[k]] + filled[f->voxel[k] - begin]++;
            table->node[place] = (uint16_t)i;
            table->weight[place] = f->value[k];
        }
    }
}

sinew_status sn_transpose_fields(sinew_context *context, sn_arena *arena,
                                 const sn_node_field *fields, int32_t node_count,
                                 int32_t voxel_count, sn_weight_table *table) {
    transpose_job job = {fields, node_count, table};
    table->start = SN_PUSH(arena, int64_t, (size_t)voxel_count + 1);
    SN_TRY(sn_arena_status(arena));
    sn_parallel_for(context, voxel_count, CHUNK, count_entries, &job);

    for (int32_t v = 0; v < voxel_count; v++) {
        table->start[v + 1] += table->start[v];
    }

    table->node = SN_RESERVE(arena, uint16_t, table->start[voxel_count]);
    table->weight = SN_RESERVE(arena, double, table->start[voxel_count]);
    SN_TRY(sn_arena_status(arena));
    sn_parallel_for(context, voxel_count, CHUNK, move_entries, &job);

    return SINEW_OK;
}
