// The pictures of a film as one file: an animated PNG, which is written here, or whatever ffmpeg
// makes of the ending (.mp4, .gif, .webm). Without ffmpeg the numbered pictures remain.
#include "run.h"

#include "command.h"

#include "sinew/io/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4200 };

static void name_picture(const run_state *run, int32_t index, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/film_%05d.png", run->def.folder, (int)index);
}

static int32_t count_pictures(const run_state *run) {
    char path[PATH_SIZE];
    int32_t count = 0;
    for (name_picture(run, 0, path); access(path, F_OK) == 0; name_picture(run, count, path)) {
        count++;
    }
    return count;
}

static double picture_seconds(const run_state *run) {
    return run->step * run->def.every;
}

// --- animated PNG: the pictures' own compressed data, with a chunk of control before each

typedef struct png_writer {
    FILE *file;
    uint32_t sequence, crc;
} png_writer;

static uint32_t update_crc(uint32_t crc, const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0);
        }
    }
    return crc;
}

static void put_bytes(png_writer *w, const void *data, size_t size) {
    w->crc = update_crc(w->crc, data, size);
    fwrite(data, 1, size, w->file);
}

static void put_u32(png_writer *w, uint32_t value) {
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                              (uint8_t)value};
    put_bytes(w, bytes, 4);
}

static void begin_chunk(png_writer *w, const char *type, size_t size) {
    put_u32(w, (uint32_t)size);
    w->crc = 0xFFFFFFFFU;
    put_bytes(w, type, 4);
}

static void end_chunk(png_writer *w) {
    put_u32(w, ~w->crc);
}

static uint32_t get_u32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// A picture that is shown from `left`, `top` for a number of milliseconds, in place of all before.
static void put_control(png_writer *w, const uint8_t *header, double seconds) {
    uint32_t milliseconds = (uint32_t)(1000 * seconds + 0.5);
    begin_chunk(w, "fcTL", 26);
    put_u32(w, w->sequence++);
    put_bytes(w, header, 8); // width and height
    put_u32(w, 0);
    put_u32(w, 0);
    const uint8_t rest[6] = {
        (uint8_t)(milliseconds >> 8), (uint8_t)milliseconds, 1000 >> 8, 1000 & 255, 0, 0};
    put_bytes(w, rest, sizeof rest);
    end_chunk(w);
}

// Adds the picture in a PNG file; the first also gives the header.
static bool put_picture(png_writer *w, const sinew_source *png, int32_t index, int32_t count,
                        double seconds) {
    const uint8_t *data = png->data;
    size_t at = 8;
    bool begun = false;
    while (at + 12 <= png->size) {
        size_t size = get_u32(data + at);
        const uint8_t *type = data + at + 4, *content = data + at + 8;
        if (size > png->size - at - 12) {
            return false;
        }
        at += size + 12;

        // The header, once; control before the data; the data as it is, numbered after the first.
        bool is_header = memcmp(type, "IHDR", 4) == 0, is_data = memcmp(type, "IDAT", 4) == 0;
        if (is_header && index == 0) {
            begin_chunk(w, "IHDR", size);
            put_bytes(w, content, size);
            end_chunk(w);
            begin_chunk(w, "acTL", 8);
            put_u32(w, (uint32_t)count);
            put_u32(w, 0); // for ever
            end_chunk(w);
        }
        if (is_data && !begun) {
            put_control(w, data + 16, seconds);
            begun = true;
        }
        if (is_data) {
            begin_chunk(w, index == 0 ? "IDAT" : "fdAT", index == 0 ? size : size + 4);
            if (index > 0) {
                put_u32(w, w->sequence++);
            }
            put_bytes(w, content, size);
            end_chunk(w);
        }
    }
    return begun;
}

static bool write_animated_png(const run_state *run, int32_t count, const char *path) {
    static const uint8_t magic[8] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    png_writer w = {.file = fopen(path, "wb")};
    if (!w.file) {
        return false;
    }

    bool good = fwrite(magic, 1, sizeof magic, w.file) == sizeof magic;
    for (int32_t i = 0; i < count && good; i++) {
        char name[PATH_SIZE];
        sinew_file *picture = NULL;
        name_picture(run, i, name);
        good = sinew_file_open(run->context, name, 0, &picture) == SINEW_OK &&
               put_picture(&w, sinew_file_get_source(picture), i, count, picture_seconds(run));
        sinew_file_close(picture);
    }

    begin_chunk(&w, "IEND", 0);
    end_chunk(&w);
    good = !ferror(w.file) && good;
    return fclose(w.file) == 0 && good;
}

// --- ffmpeg

// Runs ffmpeg and returns its exit status, 127 if it is not installed.
static int run_ffmpeg(const run_state *run, const char *path) {
    char rate[32], pictures[PATH_SIZE], output[PATH_SIZE];
    snprintf(rate, sizeof rate, "%.6g", 1 / picture_seconds(run));
    snprintf(pictures, sizeof pictures, "%s/film_%%05d.png", run->def.folder);
    snprintf(output, sizeof output, "%s%s", path[0] == '-' ? "./" : "", path);
    bool mp4 = sinew_name_has_ending(path, ".mp4");

    pid_t child = fork();
    if (child == 0) {
        // Players want even sizes and this layout of colours; a GIF gets a palette of its own.
        execlp("ffmpeg", "ffmpeg", "-y", "-loglevel", "error", "-framerate", rate, "-i", pictures,
               "-vf",
               mp4 ? "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p"
                   : "split[a][b];[a]palettegen[p];[b][p]paletteuse",
               output, (char *)NULL);
        _exit(127);
    }

    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return 127;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

bool run_is_film(const char *path) {
    return sinew_name_has_ending(path, ".png") || sinew_name_has_ending(path, ".gif") ||
           sinew_name_has_ending(path, ".mp4");
}

run_film_outcome run_make_film(const run_state *run, const char *path) {
    int32_t count = count_pictures(run);
    if (count == 0) {
        return RUN_FILM_FAILED;
    }

    if (sinew_name_has_ending(path, ".png")) {
        if (!write_animated_png(run, count, path)) {
            return RUN_FILM_FAILED;
        }
    } else {
        int status = run_ffmpeg(run, path);
        if (status != 0) {
            return status == 127 ? RUN_FILM_NO_FFMPEG : RUN_FILM_FAILED;
        }
    }

    // The film replaces its pictures.
    for (int32_t i = 0; i < count; i++) {
        char name[PATH_SIZE];
        name_picture(run, i, name);
        remove(name);
    }
    return RUN_FILM_WRITTEN;
}
