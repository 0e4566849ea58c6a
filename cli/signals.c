// Signal handlers. They touch only flags of type sig_atomic_t and the table of unfinished files.
#define _XOPEN_SOURCE 700 // sigaction

#include "signals.h"

#include "files.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t held;
static volatile sig_atomic_t stop_signal;

// The default action, which ends the program, runs when the handler has returned.
static void handle(int number) {
    if (held && !stop_signal) {
        static const char note[] = "sinew: finishing; once more ends at once\n";
        stop_signal = number;
        (void)!write(STDERR_FILENO, note, sizeof note - 1);
        return;
    }

    cli_remove_unfinished_files();
    signal(number, SIG_DFL);
    raise(number);
}

void cli_signals_begin(void) {
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        struct sigaction action = {.sa_handler = handle};

        // A signal that the caller ignores (nohup) stays ignored.
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }

    signal(SIGXFSZ, SIG_IGN);
}

void cli_signals_hold(void) {
    held = 1;
}

void cli_signals_release(void) {
    held = 0;
}

int cli_stop_signal(void) {
    return stop_signal;
}
