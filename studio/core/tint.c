// Colours that stand for things rather than amounts: the frames that move a vertex, the tissue that
// it belongs to.
#include "internal.h"

#include <math.h>

// Hues far apart for neighbouring numbers, by the golden ratio.
static void choose_hue(int32_t number, float rgb[3]) {
    double hue = fmod(0.08 + 0.61803398875 * number, 1);
    for (int k = 0; k < 3; k++) {
        double distance = fabs(fmod(6 * hue + (k == 0 ? 0 : k == 1 ? 4 : 2), 6) - 3);
        double share = fmin(fmax(distance - 1, 0), 1);
        rgb[k] = (float)(0.16 + 0.66 * share);
    }
}

// Weights may be negative; only what is above zero has a colour.
static void tint_by_weights(sinew_body *body, int32_t count, float *tints) {
    const int32_t *starts = NULL, *nodes = NULL;
    const double *weights = NULL;
    if (sinew_frame_body_get_surface_weights(body, &starts, &nodes, &weights) != SINEW_OK) {
        return;
    }

    for (int32_t i = 0; i < count; i++) {
        float *tint = tints + 3 * (size_t)i;
        double sum = 0, rgb[3] = {0};
        for (int32_t item = starts[i]; item < starts[i + 1]; item++) {
            double weight = fmax(weights[item], 0);
            float hue[3];
            choose_hue(nodes[item], hue);
            sum += weight;
            for (int k = 0; k < 3; k++) {
                rgb[k] += weight * hue[k];
            }
        }
        for (int k = 0; k < 3; k++) {
            tint[k] = (float)(sum > 0 ? rgb[k] / sum : 0.7);
        }
    }
}

static void tint_by_labels(const sinew_mesh *surface, float *tints) {
    if (!surface->labels) {
        return;
    }
    for (int32_t t = 0; t < surface->element_count; t++) {
        float hue[3];
        choose_hue(surface->labels[t], hue);
        for (int corner = 0; corner < 3; corner++) {
            float *tint = tints + 3 * (size_t)surface->indices[3 * (size_t)t + (size_t)corner];
            for (int k = 0; k < 3; k++) {
                tint[k] = hue[k];
            }
        }
    }
}

void studio_tint(sinew_body *body, studio_color color, float *tints) {
    const sinew_mesh *surface = sinew_body_get_surface(body);
    for (size_t i = 0; i < 3 * (size_t)surface->point_count; i++) {
        tints[i] = 0.7F;
    }

    if (color == STUDIO_COLOR_WEIGHTS) {
        tint_by_weights(body, surface->point_count, tints);
    } else {
        tint_by_labels(surface, tints);
    }
}
