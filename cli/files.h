// The files that the program writes, and its standard streams. A failure leaves its message in the
// context; SINEW_IO_FAILED ends the program with exit status 4.
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "sinew/io/bytes.h"

// Replaces a file in one piece (sinew/io/output.h) and removes the temporary file if a signal ends
// the program meanwhile.
sinew_status cli_write_file(sinew_context *context, const char *path, const void *data,
                            size_t size);

// The same for one of many files in a folder: its name is certain to survive a crash of the machine
// only after sinew_folder_flush.
sinew_status cli_write_part(sinew_context *context, const char *path, const void *data,
                            size_t size);

// Writes a result to a file, or to standard output if `path` is NULL.
sinew_status cli_write_result(sinew_context *context, const char *path, const sinew_bytes *bytes);

// Sets room on the disk aside for a file that cli_write_file will write, so that it can be written
// even if the disk is full by then. At most three at a time; release them at the end.
sinew_status cli_reserve_file(sinew_context *context, const char *path, size_t size);
void cli_release_reserved_files(void);

// Removes all temporary files of this program. Safe in a signal handler.
void cli_remove_unfinished_files(void);

// Makes sure that the three standard streams are open, so that no file takes their numbers.
void cli_reserve_standard_streams(void);

// Flushes and closes standard output; false with errno set if anything that was printed is lost.
bool cli_close_output(void);

#endif
