// Options, help and messages that all commands share. An option is a row of a table; the parser,
// the help and the completion of the shell read the same rows.
#include "command.h"

#include "sinew/io.h"
#include "signals.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HELP_COLUMN = 26, MAX_WORDS = 64 };

int cli_fail(const cli_command *command, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr); // a progress line may stand there
    }

    fprintf(stderr, "%s%s%s: ", cli_program_name(), command ? " " : "",
            command ? command->name : "");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);

    return status;
}

static int exit_status_of(const sinew_context *context) {
    switch (sinew_context_status(context)) {
    case SINEW_DIVERGED: return CLI_DIVERGED;
    case SINEW_IO_FAILED: return CLI_IO_FAILED;
    case SINEW_CANCELLED: return CLI_INTERRUPTED + cli_stop_signal();
    default: return CLI_BAD_INPUT;
    }
}

int cli_fail_call(const cli_command *command, const sinew_context *context) {
    return cli_fail(command, exit_status_of(context), "%s", sinew_context_message(context));
}

int cli_fail_file(const cli_command *command, const sinew_context *context, const char *path) {
    return cli_fail(command, exit_status_of(context), "%s: %s", path,
                    sinew_context_message(context));
}

// Warnings go where errors go; what is said for information stays silent.
static void write_log(void *user, sinew_log_level level, const char *line) {
    (void)user;
    if (level >= SINEW_LOG_WARNING) {
        fprintf(stderr, "%s: warning: %s\n", cli_program_name(), line);
    }
}

static bool go_on(void *user, const char *what, double share) {
    (void)user, (void)what, (void)share;
    return cli_stop_signal() == 0;
}

sinew_context *cli_create_context(const cli_command *command, int32_t threads) {
    sinew_context_def def = sinew_default_context_def();
    def.threads = threads;
    def.logger.write = write_log;
    def.progress.report = go_on;
    sinew_context *context = sinew_context_create(&def);

    if (!context) {
        cli_fail(command, CLI_BAD_INPUT, "out of memory");
    }

    return context;
}

bool cli_read_unit(const cli_command *command, const char *text, double *metres) {
    char *end;
    *metres = sinew_unit_find(text);
    if (*metres > 0) {
        return true;
    }

    *metres = strtod(text, &end);
    if (end != text && !*end && *metres >= 1e-12 && *metres <= 1e6) {
        return true;
    }

    char *units = cli_expand_words("{units}");
    cli_fail(command, CLI_USAGE, "--unit takes %s, or metres between 1e-12 and 1e6, not '%s'",
             units ? units : "a unit", text);
    free(units);

    return false;
}

bool cli_pick_word(const cli_command *command, const char *option, const char *word,
                   sinew_word_list list, int32_t first, int32_t last, int32_t *index) {
    *index = sinew_words_find(list, word);
    if (*index >= first && *index <= last) {
        return true;
    }

    const char *words[MAX_WORDS];
    char valid[256];
    int count = 0;
    for (int32_t i = first; i <= last && count < MAX_WORDS; i++) {
        words[count++] = sinew_words_get(list, i);
    }

    cli_join_words(valid, sizeof valid, words, count);
    cli_fail(command, CLI_USAGE, "--%s is '%s'%s; valid: %s", option, word,
             cli_did_you_mean(word, words, count), valid);

    return false;
}

void cli_join_words(char *text, size_t size, const char *const *words, int count) {
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? ", " : "", words[i]);
    }
}

const char *cli_did_you_mean(const char *word, const char *const *words, int count) {
    static char text[128];
    int32_t nearest = sinew_words_suggest(word, words, count);
    if (nearest < 0) {
        return "";
    }

    snprintf(text, sizeof text, " (did you mean '%s'?)", words[nearest]);
    return text;
}

// A part of a list of words.
typedef struct word_range {
    sinew_word_list list;
    int32_t first, last;
} word_range;

// Reads {NAME} or {NAME:FIRST..LAST} at `text`. Returns its length, or 0 if it is neither.
static size_t read_range(const char *text, word_range *range) {
    const char *end = text[0] == '{' ? strchr(text, '}') : NULL;
    if (!end) {
        return 0;
    }

    for (int i = 0; i < SINEW_WORD_LISTS; i++) {
        const char *name = sinew_words_get_name((sinew_word_list)i);
        size_t length = strlen(name);
        const char *after = text + 1 + length;
        if (strncmp(text + 1, name, length) != 0 || (*after != '}' && *after != ':')) {
            continue;
        }

        *range = (word_range){(sinew_word_list)i, 0, sinew_words_get_count((sinew_word_list)i) - 1};
        char first[32], last[32];
        if (*after == ':' && sscanf(after, ":%31[^.}]..%31[^.}]", first, last) == 2) {
            range->first = sinew_words_find(range->list, first);
            range->last = sinew_words_find(range->list, last);
        }
        return (size_t)(end - text) + 1;
    }

    return 0;
}

// Writes the words of a range into `out`, unless it is NULL. Returns their length.
static size_t add_range(const word_range *range, char *out) {
    size_t length = 0;
    for (int32_t i = range->first; i <= range->last; i++) {
        const char *parts[] = {i > range->first ? ", " : "", sinew_words_get(range->list, i)};
        for (int k = 0; k < 2; k++) {
            size_t size = strlen(parts[k]);
            if (out) {
                memcpy(out + length, parts[k], size);
            }
            length += size;
        }
    }
    return length;
}

// Writes the expanded text into `out`, unless it is NULL. Returns its length.
static size_t expand(const char *text, char *out) {
    size_t length = 0;
    while (*text) {
        word_range range;
        size_t read = read_range(text, &range);
        if (read == 0) {
            if (out) {
                out[length] = *text;
            }
            length++;
            text++;
            continue;
        }
        length += add_range(&range, out ? out + length : NULL);
        text += read;
    }
    return length;
}

char *cli_expand_words(const char *text) {
    size_t length = expand(text, NULL);
    char *copy = malloc(length + 1);
    if (copy) {
        expand(text, copy);
        copy[length] = '\0';
    }
    return copy;
}

// Prints a text of the help.
static void print_words(const char *text) {
    char *expanded = cli_expand_words(text);
    fputs(expanded ? expanded : text, stdout);
    free(expanded);
}

static void print_option(const cli_option *option) {
    char left[96];
    char letter[8] = "    ";
    if (option->letter) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }

    const char *argument = option->argument ? option->argument : "";
    bool optional = option->kind == CLI_OPTIONAL_TEXT;

    snprintf(left, sizeof left, "  %s--%s%s%s%s%s", letter, option->name, *argument ? " " : "",
             optional ? "[" : "", argument, optional ? "]" : "");
    printf("%-*s ", HELP_COLUMN, left);
    print_words(option->help);
    printf("\n");
}

static void print_help(const cli_command *command, const cli_option *options, int count) {
    printf("Usage: %s %s%s%s%s\n\n%s\n", cli_program_name(), command->name,
           count ? " [OPTIONS]" : "", *command->arguments ? " " : "", command->arguments,
           command->summary);
    if (count) {
        printf("\nOptions:\n");
    }

    for (int i = 0; i < count; i++) {
        print_option(&options[i]);
    }

    if (command->details) {
        printf("\n");
        print_words(command->details);
        printf("\n");
    }
}

// Compares the name part of --name or --name=value.
static const cli_option *find_option(const cli_option *options, int count, const char *word) {
    size_t length = strcspn(word, "=");
    for (int i = 0; i < count; i++) {
        bool is_long = word[0] == '-' && word[1] == '-' && strlen(options[i].name) == length - 2 &&
                       strncmp(word + 2, options[i].name, length - 2) == 0;
        bool is_short = word[1] == options[i].letter && options[i].letter && length == 2;
        if (is_long || is_short) {
            return &options[i];
        }
    }

    return NULL;
}

static int store_number(const cli_command *command, const cli_option *option, const char *text) {
    char *end;
    errno = 0;

    // Whole numbers are not read as doubles: 1e3 is a mistake there.
    bool whole = option->kind == CLI_INTEGER;
    double number = whole ? (double)strtoll(text, &end, 10) : strtod(text, &end);
    bool ranged = option->low != 0 || option->high != 0;

    if (end == text || *end || errno || !(number - number == 0)) {
        return cli_fail(command, CLI_USAGE, "--%s takes a%s number, not '%s'", option->name,
                        whole ? " whole" : "", text);
    }

    if (ranged && !(number >= option->low && number <= option->high)) {
        return cli_fail(command, CLI_USAGE, "--%s is %s; it must lie between %g and %g",
                        option->name, text, option->low, option->high);
    }

    // The table says what the value points to.
    if (whole) {
        *(int64_t *)option->value = (int64_t)number;
    } else {
        *(double *)option->value = number;
    }

    return CLI_OK;
}

// Stores the option's value; *used says whether the following argument belonged to it.
static int store(const cli_command *command, const cli_option *option, const char *word,
                 const char *next, bool *used) {
    const char *attached = strchr(word, '=');
    const char *text = attached ? attached + 1 : next;

    *used = false;

    // Options whose value may be missing.
    if (option->kind == CLI_FLAG) {
        if (attached) {
            return cli_fail(command, CLI_USAGE, "--%s takes no value", option->name);
        }
        *(bool *)option->value = true;
        return CLI_OK;
    }

    if (option->kind == CLI_OPTIONAL_TEXT) {
        bool follows = !attached && next && next[0] != '-';
        *(cli_optional_text *)option->value =
            (cli_optional_text){true, attached || follows ? text : NULL};
        *used = follows;
        return CLI_OK;
    }

    // Options that need a value, attached or following.
    if (!text) {
        return cli_fail(command, CLI_USAGE, "--%s needs %s", option->name, option->argument);
    }

    *used = !attached;
    if (option->kind == CLI_TEXT) {
        *(const char **)option->value = text;
        return CLI_OK;
    }

    if (option->kind == CLI_LIST) {
        cli_list *list = option->value;
        if (list->count == CLI_LIST_CAPACITY) {
            return cli_fail(command, CLI_USAGE, "--%s is given too many times", option->name);
        }
        list->items[list->count++] = text;
        return CLI_OK;
    }

    return store_number(command, option, text);
}

static int fail_unknown(const cli_command *command, const cli_option *options, int count,
                        const char *word) {
    const char *words[MAX_WORDS];
    int known = 0;
    for (int i = 0; i < count && known < MAX_WORDS; i++) {
        words[known++] = options[i].name;
    }

    const char *bare = word + strspn(word, "-");
    return cli_fail(command, CLI_USAGE, "there is no option '%s'%s; '%s %s --help' lists them",
                    word, cli_did_you_mean(bare, words, known), cli_program_name(), command->name);
}

int cli_parse(const cli_command *command, const cli_option *options, int option_count, int argc,
              char **argv, const char **positional, int capacity, int *count, bool *finished) {
    *count = 0;
    *finished = true;

    bool only_positional = false;
    for (int i = 1; i < argc; i++) {
        // Everything after "--" is an argument, even if it starts with a dash.
        const char *word = argv[i];
        if (!only_positional && strcmp(word, "--") == 0) {
            only_positional = true;
        } else if (!only_positional && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            print_help(command, options, option_count);
            return CLI_OK;
        } else if (!only_positional && word[0] == '-' && word[1]) {
            const cli_option *option = find_option(options, option_count, word);
            if (!option) {
                return fail_unknown(command, options, option_count, word);
            }

            bool used;
            int status = store(command, option, word, i + 1 < argc ? argv[i + 1] : NULL, &used);
            if (status != CLI_OK) {
                return status;
            }

            i += used;
        } else if (*count == capacity) {
            return cli_fail(command, CLI_USAGE, "'%s' is an unexpected argument; usage: %s %s %s",
                            word, cli_program_name(), command->name, command->arguments);
        } else {
            positional[(*count)++] = word;
        }
    }

    *finished = false;
    return CLI_OK;
}
