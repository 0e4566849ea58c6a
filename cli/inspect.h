// What `sinew inspect` reports about a file: facts by name, as lines of text or as JSON.
#ifndef CLI_INSPECT_H
#define CLI_INSPECT_H

#include "command.h"

#include "sinew/io/bytes.h"
#include "sinew/io/json.h"

typedef struct inspect_report {
    sinew_context *context;
    const cli_command *command;
    sinew_bytes *out; // NULL if memory was short from the start
    sinew_json_writer *writer;
    bool json;
    bool in_item, item_started; // of a list; its facts share a line of text
} inspect_report;

// CLI_OK, or CLI_BAD_INPUT with the message printed and nothing to finish.
int inspect_report_begin(inspect_report *report, sinew_context *context, const cli_command *command,
                         bool json);

// Prints what was collected, if `status` is CLI_OK, and frees it.
int inspect_report_finish(inspect_report *report, int status);

// Facts. Texts may come from the file: what is no valid UTF-8 and control characters become
// question marks.
void inspect_text(inspect_report *report, const char *key, const char *value);
void inspect_count(inspect_report *report, const char *key, int64_t value);
void inspect_number(inspect_report *report, const char *key, double value);
void inspect_vector(inspect_report *report, const char *key, const double *value);
void inspect_box(inspect_report *report, const double *points, int32_t count);

// Lists of `count` items, each with a few facts.
void inspect_begin_list(inspect_report *report, const char *key, int32_t count);
void inspect_end_list(inspect_report *report);
void inspect_begin_item(inspect_report *report);
void inspect_end_item(inspect_report *report);

// One for each kind of file. Each returns CLI_OK, or CLI_BAD_INPUT with the message printed.
int inspect_mesh(inspect_report *report, const sinew_source *source);
int inspect_gltf(inspect_report *report, const sinew_source *source);
int inspect_motion(inspect_report *report, const sinew_source *source);
int inspect_field(inspect_report *report, const sinew_source *source);
int inspect_scene(inspect_report *report, const char *path);

// `unit` is metres in a unit of the file; 0: as its header says.
int inspect_volume(inspect_report *report, const sinew_source *source, double unit);

// The context's message, printed.
int inspect_fail(const inspect_report *report);

#endif
