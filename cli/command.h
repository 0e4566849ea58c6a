// A command of the program: a name, help that fits a screen, options in a table, and a function.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "sinew/base.h"
#include "sinew/io/words.h"

// Exit statuses: done; the command line is wrong; an input file is wrong or missing; the simulation
// diverged; the system could not read or write (a full disk). An interrupted command that leaves no
// result ends with 128 plus the number of the signal, as shells have it.
enum {
    CLI_OK = 0,
    CLI_USAGE = 1,
    CLI_BAD_INPUT = 2,
    CLI_DIVERGED = 3,
    CLI_IO_FAILED = 4,
    CLI_INTERRUPTED = 128
};

// Returns from a function that returns a sinew_status if a call fails.
#define CLI_TRY(call)                                                                              \
    do {                                                                                           \
        sinew_status cli_try_status = (call);                                                      \
        if (cli_try_status != SINEW_OK) {                                                          \
            return cli_try_status;                                                                 \
        }                                                                                          \
    } while (0)

typedef enum cli_option_kind {
    CLI_FLAG,          // bool: set to true
    CLI_TEXT,          // const char *
    CLI_OPTIONAL_TEXT, // cli_optional_text: --json or --json=FILE or --json FILE
    CLI_LIST,          // cli_list: may be given several times
    CLI_INTEGER,       // int64_t, within [low, high]
    CLI_NUMBER,        // double, within [low, high]
} cli_option_kind;

typedef struct cli_optional_text {
    bool given;
    const char *text; // NULL if the option stood alone
} cli_optional_text;

enum { CLI_LIST_CAPACITY = 64 };

typedef struct cli_list {
    int32_t count;
    const char *items[CLI_LIST_CAPACITY];
} cli_list;

typedef struct cli_option {
    const char *name; // without dashes, e.g. "output"
    char letter;      // short form, or 0
    cli_option_kind kind;
    void *value;          // where it goes
    const char *argument; // name in the help, e.g. "DIR"; NULL for flags
    const char *help;     // one line; {NAME} stands for a list of words
    double low, high;     // range of numbers; both 0: any
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *summary;   // one line for the overview
    const char *arguments; // after the name in the usage line, e.g. "SCENE.json"
    const char *details;   // paragraphs below the options, with {NAME} likewise, or NULL
    int (*run)(const struct cli_command *command, int argc, char **argv);
} cli_command;

// A program: its name, one line for the help, and its commands in the order of the help.
typedef struct cli_program {
    const char *name;
    const char *summary;
    const cli_command *const *commands;
    int command_count;
} cli_program;

// Runs the command that the first argument names, and returns its exit status.
int cli_main(const cli_program *program, int argc, char **argv);

// The name of the running program, for messages.
const char *cli_program_name(void);

// Reads argv[1..]: options into the table's values, the rest into `positional` (room for
// `capacity`, how many in *count). Handles --help itself. Returns CLI_OK to go on; otherwise the
// command returns the status at once (*finished).
int cli_parse(const cli_command *command, const cli_option *options, int option_count, int argc,
              char **argv, const char **positional, int capacity, int *count, bool *finished);

// Prints "PROGRAM NAME: message" to standard error and returns `status`.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int cli_fail(const cli_command *command, int status, const char *format, ...);

// The same with the message of the last failed call of `context`, and with the exit status that
// belongs to it; cli_fail_file puts the name of a file before the message.
int cli_fail_call(const cli_command *command, const sinew_context *context);
int cli_fail_file(const cli_command *command, const sinew_context *context, const char *path);

// A context with that many threads; NULL with the message printed.
sinew_context *cli_create_context(const cli_command *command, int32_t threads);

// Metres in a unit of length, by its name (mm, um, ...) or as a number; false with the message
// printed.
bool cli_read_unit(const cli_command *command, const char *text, double *metres);

// The number of an option's word in its list, which must be from `first` to `last`; false with the
// message printed.
bool cli_pick_word(const cli_command *command, const char *option, const char *word,
                   sinew_word_list list, int32_t first, int32_t last, int32_t *index);

// A copy of a text in which {NAME} is replaced by the words of the list of that name
// (sinew/io/words.h), "a, b, c", and {NAME:FIRST..LAST} by some of them; other braces stay. Free
// it; NULL if memory is short.
char *cli_expand_words(const char *text);

// Words in a row, "a, b, c", as far as the room goes.
void cli_join_words(char *text, size_t size, const char *const *words, int count);

// The nearest of `count` words as " (did you mean 'x'?)", or an empty text. Static memory,
// overwritten by the next call.
const char *cli_did_you_mean(const char *word, const char *const *words, int count);

#endif
