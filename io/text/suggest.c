// Edit distance by dynamic programming over three rows; the cost is the product of the lengths.
#include "io/text/suggest.h"

#include "base/assert.h"

#include <string.h>

enum { LONGEST = 64 };

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int32_t copy_lower(char *out, const char *word) {
    int32_t length = 0;
    for (; length < LONGEST && word[length]; length++) {
        out[length] = lower(word[length]);
    }
    out[length] = 0;
    return length;
}

static int32_t minimum(int32_t a, int32_t b) {
    return a < b ? a : b;
}

int32_t sn_word_distance(const char *a, const char *b) {
    char x[LONGEST + 1], y[LONGEST + 1];
    int32_t m = copy_lower(x, a);
    int32_t n = copy_lower(y, b);
    int32_t rows[3][LONGEST + 1];

    for (int32_t j = 0; j <= n; j++) {
        rows[0][j] = j;
    }

    for (int32_t i = 1; i <= m; i++) {
        int32_t *row = rows[i % 3];
        int32_t *last = rows[(i + 2) % 3];
        int32_t *before = rows[(i + 1) % 3];

        row[0] = i;

        // Replace, insert, delete, or swap two neighbours.
        for (int32_t j = 1; j <= n; j++) {
            int32_t same = last[j - 1] + (x[i - 1] != y[j - 1]);
            row[j] = minimum(same, 1 + minimum(last[j], row[j - 1]));
            if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1]) {
                row[j] = minimum(row[j], before[j - 2] + 1);
            }
        }
    }

    return rows[m % 3][n];
}

// The first word that contains the other or is contained in it; otherwise the one with the longest
// common prefix (at least four letters and half of the word).
static int32_t find_part(const char *meant, int32_t length, const char *const *words,
                         int32_t count) {
    int32_t best = -1;
    int32_t longest = length / 2 > 3 ? length / 2 - 1 : 3;
    for (int32_t i = 0; i < count; i++) {
        char known[LONGEST + 1];
        int32_t known_length = copy_lower(known, words[i]);
        int32_t common = 0;
        if (strstr(known, meant) || (known_length >= 3 && strstr(meant, known))) {
            return i;
        }

        while (common < length && meant[common] == known[common]) {
            common++;
        }

        if (common > longest) {
            best = i;
            longest = common;
        }
    }

    return best;
}

int32_t sn_suggest(const char *word, const char *const *words, int32_t count) {
    SN_ASSERT(count >= 0);
    char meant[LONGEST + 1];
    int32_t length = copy_lower(meant, word);

    // Longer words may contain more mistakes.
    int32_t allowed = length / 3;

    if (allowed < 1) {
        allowed = 1;
    }
    if (length >= 4 && allowed < 2) {
        allowed = 2;
    }
    if (length < 2) {
        allowed = 0;
    }

    int32_t best = -1;
    int32_t best_distance = allowed + 1;
    for (int32_t i = 0; i < count; i++) {
        int32_t distance = sn_word_distance(word, words[i]);
        if (distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }

    return best >= 0 || length < 3 ? best : find_part(meant, length, words, count);
}
