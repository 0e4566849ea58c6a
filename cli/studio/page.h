// The files of the studio's page, in memory. Requests are looked up by name in this table and never
// reach the file system, so that no path can lead out of the folder.
#ifndef CLI_STUDIO_PAGE_H
#define CLI_STUDIO_PAGE_H

#include "sinew/io/bytes.h"

enum { STUDIO_PAGE_FILES = 512 };

typedef struct studio_page_file {
    char name[256]; // from the folder of the page, e.g. "/examples/bar.json"
    sinew_bytes *bytes;
} studio_page_file;

typedef struct studio_page {
    studio_page_file files[STUDIO_PAGE_FILES];
    int count;
} studio_page;

// Reads all files of a folder and its sub-folders. Links and hidden files are left out. A failure
// leaves its message in the context; call studio_page_release in any case.
sinew_status studio_page_read(sinew_context *context, const char *folder, studio_page *page);
void studio_page_release(studio_page *page);

// A file by its name, or NULL.
const studio_page_file *studio_page_find(const studio_page *page, const char *name);

// The content type of a file, by the ending of its name. Static text.
const char *studio_content_type(const char *name);

#endif
