// Reads the folder of the studio's page into memory: plain files only, at most DEEPEST folders deep
// and LARGEST_FILE bytes each.
#define _XOPEN_SOURCE 700 // lstat

#include "studio/page.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 4, LARGEST_FILE = 256 << 20 };

static sinew_status read_folder(sinew_context *context, const char *root, const char *inside,
                                int depth, studio_page *page);

// One entry of a folder; `name` is its path from the root, with a slash in front.
static sinew_status read_entry(sinew_context *context, const char *root, const char *name,
                               int depth, studio_page *page) {
    char path[4096];
    struct stat about;
    int length = snprintf(path, sizeof path, "%s%s", root, name);
    if (length < 0 || (size_t)length >= sizeof path || lstat(path, &about) != 0) {
        return SINEW_OK;
    }
    if (S_ISDIR(about.st_mode) && depth < DEEPEST) {
        return read_folder(context, root, name, depth + 1, page);
    }
    if (!S_ISREG(about.st_mode) || page->count == STUDIO_PAGE_FILES) {
        return SINEW_OK;
    }

    studio_page_file *file = &page->files[page->count];
    sinew_status status = sinew_bytes_load(context, path, LARGEST_FILE, &file->bytes);
    if (status == SINEW_OK) {
        snprintf(file->name, sizeof file->name, "%s", name);
        page->count++;
    }
    return status;
}

static sinew_status read_folder(sinew_context *context, const char *root, const char *inside,
                                int depth, studio_page *page) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s", root, inside);
    DIR *folder = opendir(path);
    if (!folder) {
        return SINEW_OK;
    }

    sinew_status status = SINEW_OK;
    struct dirent *entry;
    while (status == SINEW_OK && (entry = readdir(folder)) != NULL) {
        char name[sizeof page->files->name];
        int length = snprintf(name, sizeof name, "%s/%s", inside, entry->d_name);
        bool fits = length > 0 && (size_t)length < sizeof name;
        if (entry->d_name[0] != '.' && fits) {
            status = read_entry(context, root, name, depth, page);
        }
    }

    closedir(folder);
    return status;
}

sinew_status studio_page_read(sinew_context *context, const char *folder, studio_page *page) {
    page->count = 0;
    return read_folder(context, folder, "", 0, page);
}

void studio_page_release(studio_page *page) {
    for (int i = 0; i < page->count; i++) {
        sinew_bytes_destroy(page->files[i].bytes);
    }
    page->count = 0;
}

const studio_page_file *studio_page_find(const studio_page *page, const char *name) {
    for (int i = 0; i < page->count; i++) {
        if (strcmp(page->files[i].name, name) == 0) {
            return &page->files[i];
        }
    }
    return NULL;
}

const char *studio_content_type(const char *name) {
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".wasm", "application/wasm"},
        {".webp", "image/webp"},
        {".png", "image/png"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (sinew_name_has_ending(name, types[i][0])) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}
