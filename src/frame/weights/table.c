// Builds the table of weights: rows are capped, normalised, cut off and packed. The voxels are
// visited twice, to count entries and to fill them in, so that only the result is stored. Rows are
// independent of each other and are built in parallel.
#include "frame/weights/table.h"

#include "base/threads.h"

#include <string.h>

enum { CHUNK = 2048 };

void sn_row_squeeze(sn_row *row, int32_t node, double weight) {
    // Replace the smallest entry; among equals the last one, which has the highest node number.
    int32_t place = 0;
    for (int32_t i = 1; i < row->count; i++) {
        if (fabs(row->weight[i]) <= fabs(row->weight[place])) {
            place = i;
        }
    }

    if (fabs(weight) <= fabs(row->weight[place])) {
        row->dropped += fabs(weight);
        return;
    }

    row->dropped += fabs(row->weight[place]);
    row->node[place] = (uint16_t)node;
    row->weight[place] = weight;
}

static void clear_row(sn_row *row, int32_t cap) {
    row->cap = cap;
    row->count = row->seen = 0;
    row->dropped = row->total = 0;
}

static void sort_row(sn_row *row) {
    for (int32_t i = 1; i < row->count; i++) {
        uint16_t node = row->node[i];
        double weight = row->weight[i];
        int32_t place = i;

        while (place > 0 && row->node[place - 1] > node) {
            row->node[place] = row->node[place - 1];
            row->weight[place] = row->weight[place - 1];
            place--;
        }

        row->node[place] = node;
        row->weight[place] = weight;
    }
}

// The statistics of a chunk of voxels.
typedef struct chunk_report {
    int32_t most_nodes, unreached, first_unreached;
    double largest_loss;
} chunk_report;

typedef struct table_job {
    sn_shape *shape;
    sn_row_fn *fill;
    const void *data;
    chunk_report *reports; // for each chunk; NULL in the second pass
} table_job;

static void scale_row(sn_row *row, double target) {
    double sum = 0;
    for (int32_t i = 0; i < row->count; i++) {
        sum += row->weight[i];
    }

    for (int32_t i = 0; i < row->count; i++) {
        row->weight[i] *= target / sum;
    }
}

// Drops the entries below the cutoff, which is relative to the sum if rows are normalised.
static void cut_row(sn_row *row, double cutoff) {
    int32_t kept = 0;
    for (int32_t i = 0; i < row->count; i++) {
        if (fabs(row->weight[i]) < cutoff) {
            row->dropped += fabs(row->weight[i]);
            continue;
        }

        row->node[kept] = row->node[i];
        row->weight[kept] = row->weight[i];
        kept++;
    }

    row->count = kept;
}

static int32_t nearest_node(const sn_shape *shape, sn_vec3 p) {
    int32_t best = 0;
    double smallest = INFINITY;
    for (int32_t i = 0; i < shape->node_count; i++) {
        double distance = sn_distance(p, sn_load3(sn_at3(shape->node_position, i)));
        if (distance < smallest) {
            smallest = distance;
            best = i;
        }
    }

    return best;
}

// Collects the entries of a voxel's row, not yet sorted. Returns what they must sum to.
static double collect_row(const table_job *job, int32_t voxel, sn_row *row, chunk_report *report) {
    const sn_shape *shape = job->shape;
    clear_row(row, shape->def.nodes_per_voxel);

    // A bound part has one node only.
    int32_t bound = shape->bound_node[shape->voxels->label[voxel]];
    if (bound >= 0) {
        sn_row_add(row, bound, 1);
        return 1;
    }

    job->fill(job->data, voxel, row);

    // Normalise, and drop what is negligible.
    double total = shape->def.normalize ? 1 : row->total;
    bool reached = row->count > 0 && (!shape->def.normalize || fabs(row->total) > 1e-300);

    if (reached) {
        if (shape->def.normalize) {
            for (int32_t i = 0; i < row->count; i++) {
                row->weight[i] /= row->total;
            }
            row->dropped /= fabs(row->total);
        }

        cut_row(row, shape->def.cutoff);
        reached = row->count > 0;
    }

    // Voxels that no node reaches follow the nearest one.
    if (!reached) {
        if (report->unreached++ == 0) {
            report->first_unreached = voxel;
        }
        clear_row(row, 1);
        sn_row_add(row, nearest_node(shape, sn_voxel_center(shape->voxels, voxel)), 1);
        return 1;
    }

    if (row->seen > report->most_nodes) {
        report->most_nodes = row->seen;
    }
    if (row->dropped > report->largest_loss) {
        report->largest_loss = row->dropped;
    }

    return total;
}

static void count_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    table_job *job = data;
    sn_row row;
    // Reports of adjacent chunks share a cache line, so each is written only once, at the end.
    chunk_report report = {0};

    for (int32_t v = begin; v < end; v++) {
        collect_row(job, v, &row, &report);
        job->shape->table.start[v + 1] = row.count;
    }

    job->reports[chunk] = report;
}

static void fill_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    table_job *job = data;
    sn_weight_table *table = &job->shape->table;
    sn_row row;
    chunk_report ignored = {0};

    for (int32_t v = begin; v < end; v++) {
        double total = collect_row(job, v, &row, &ignored);
        scale_row(&row, total);
        sort_row(&row);
        int64_t start = table->start[v];
        SN_ASSERT(table->start[v + 1] == start + row.count);
        memcpy(table->node + start, row.node, (size_t)row.count * sizeof *row.node);
        memcpy(table->weight + start, row.weight, (size_t)row.count * sizeof *row.weight);
    }
}

static sinew_status join_reports(sn_shape *shape, const chunk_report *reports, int32_t chunks) {
    sinew_weights_report *total = &shape->report;
    int32_t first = -1;

    // In the order of the chunks, so that the message names the first voxel.
    for (int32_t i = 0; i < chunks; i++) {
        if (reports[i].unreached && first < 0) {
            first = reports[i].first_unreached;
        }

        total->unreached_voxels += reports[i].unreached;
        if (reports[i].most_nodes > total->most_nodes) {
            total->most_nodes = reports[i].most_nodes;
        }

        total->largest_loss = fmax(total->largest_loss, reports[i].largest_loss);
    }

    if (first >= 0 && !shape->def.adopt_unreached) {
        sn_vec3 p = sn_voxel_center(shape->voxels, first);
        return sn_fail(shape->context, SINEW_INVALID_DATA,
                       "no node reaches %d of %d voxels, the first at (%g, %g, %g) m: add a node "
                       "there, widen the range, or let "
                       "the nearest node adopt them (adopt_unreached of the weights)",
                       total->unreached_voxels, shape->voxels->count, p.x, p.y, p.z);
    }

    return SINEW_OK;
}

sinew_status sn_build_table(sn_shape *shape, sn_row_fn *fill, const void *data) {
    int32_t voxels = shape->voxels->count;
    int32_t chunks = sn_chunk_count(voxels, CHUNK);
    chunk_report *reports = sn_allocate(shape->context, (size_t)chunks, sizeof *reports);
    if (!reports) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Count the entries of each row.
    sn_weight_table *table = &shape->table;
    table_job job = {shape, fill, data, reports};

    table->start = SN_RESERVE(&shape->arena, int64_t, (size_t)voxels + 1);
    sinew_status status = sn_arena_status(&shape->arena);
    if (status == SINEW_OK) {
        sn_parallel_for(shape->context, voxels, CHUNK, count_rows, &job);
        status = join_reports(shape, reports, chunks);
    }

    sn_release(shape->context, reports, (size_t)chunks, sizeof *reports);
    SN_TRY(status);

    // Starts, then the rows themselves.
    table->start[0] = 0;

    for (int32_t v = 0; v < voxels; v++) {
        table->start[v + 1] += table->start[v];
    }

    table->node = SN_RESERVE(&shape->arena, uint16_t, table->start[voxels]);
    table->weight = SN_RESERVE(&shape->arena, double, table->start[voxels]);
    SN_TRY(sn_arena_status(&shape->arena));
    sn_parallel_for(shape->context, voxels, CHUNK, fill_rows, &job);
    shape->report.entry_count = table->start[voxels];
    shape->report.mean_nodes = (double)table->start[voxels] / voxels;

    return SINEW_OK;
}
