// Counts intersections between surfaces, exactly: for the soak test of scenes with contact.
//
//   crossings A.obj [B.obj ...]
//
// Prints two numbers: pairs of triangles of different files that intersect, and pairs within one
// file.
#include "support/crossings.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

static double points[3 * MOST];
static int32_t triangles[3 * MOST], parts[MOST];
static int32_t point_count, triangle_count;

// Adds the vertices and triangles of a file as one part.
static void load(const char *path, int32_t part) {
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(2);
    }

    char line[512];
    int32_t first = point_count;
    while (fgets(line, sizeof line, file)) {
        double *x = points + 3 * point_count;
        int32_t *t = triangles + 3 * triangle_count;
        if (strncmp(line, "v ", 2) == 0 && point_count < MOST &&
            sscanf(line, "v %lf %lf %lf", x, x + 1, x + 2) == 3) {
            parts[point_count++] = part;
        } else if (strncmp(line, "f ", 2) == 0 && triangle_count < MOST) {
            char *next = line + 2;
            for (int k = 0; k < 3; k++) {
                t[k] = first + (int32_t)strtol(next, &next, 10) - 1;
                next += strcspn(next, " \n"); // texture and normal
            }
            triangle_count++;
        }
    }
    fclose(file);
}

static int64_t count(int32_t from) {
    test_surfaces surfaces = {.x = points,
                              .vertex_count = point_count,
                              .triangles = triangles + 3 * from,
                              .triangle_count = triangle_count - from,
                              .vertex_part = parts};
    return test_count_crossings(&surfaces, NULL);
}

int main(int argument_count, char **arguments) {
    int64_t within = 0;
    for (int i = 1; i < argument_count; i++) {
        int32_t from = triangle_count;
        load(arguments[i], i);
        within += count(from);
    }

    printf("%lld %lld\n", (long long)(count(0) - within), (long long)within);
    return 0;
}
