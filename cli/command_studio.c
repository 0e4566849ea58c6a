// sinew studio: serves the page in the browser, and a scene for it, to this machine.
#define _XOPEN_SOURCE 700 // readlink

#include "command.h"
#include "scene_file.h"
#include "signals.h"
#include "studio/page.h"
#include "studio/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct studio_options {
    const char *folder;
    const char *scene;
    int64_t port;
    pid_t parent; // who started the program
} studio_options;

// The page in the folder of the program, as `make studio` puts it, or where it was installed.
static void find_folder(char *folder, size_t size) {
    char program[3000];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash) {
        *slash = 0;
        snprintf(folder, size, "%s/studio/index.html", program);
        if (access(folder, R_OK) == 0) {
            snprintf(folder, size, "%s/studio", program);
            return;
        }
    }
    snprintf(folder, size, "%s", SINEW_SHARE_DIR "/studio");
}

// Letters, digits and a few signs as they are, everything else as %XX.
static void print_encoded(const char *text) {
    for (const char *c = text; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || strchr("-_.~", *c) != NULL;
        printf(plain ? "%c" : "%%%02X", (unsigned char)*c);
    }
}

// Until a signal, or until whoever started it is gone: its terminal or the program at the other end
// of its standard input has hung up, or its parent has ended.
static void wait_for_end(pid_t parent) {
    struct pollfd input = {.fd = STDIN_FILENO};
    bool watched = true;
    while (!cli_stop_signal() && getppid() == parent) {
        if (poll(&input, watched ? 1 : 0, 250) <= 0) {
            continue;
        }
        if (input.revents & (POLLHUP | POLLERR)) {
            return;
        }
        watched = (input.revents & POLLNVAL) == 0;
    }
}

static int serve(const cli_command *command, const studio_options *options, const studio_page *page,
                 const sinew_source *scene) {
    const char *slash = options->scene ? strrchr(options->scene, '/') : NULL;
    const char *name = slash ? slash + 1 : options->scene;

    // Listen before anything is printed, so that the address is valid when it appears.
    cli_signals_hold();
    errno = 0;
    studio_server *server = studio_server_start(page, scene, name, (int)options->port);
    if (!server) {
        return cli_fail(command, CLI_IO_FAILED, "cannot listen on port %d of 127.0.0.1: %s",
                        (int)options->port, errno ? strerror(errno) : "it may be in use");
    }

    // The address, of the scene if one is given.
    printf("http://127.0.0.1:%d/", studio_server_get_port(server));
    if (name) {
        printf("?scene=");
        print_encoded(name);
    }
    printf("\nOpen this address in a browser. Ctrl-C stops the server.\n");
    fflush(stdout);

    wait_for_end(options->parent);
    studio_server_stop(server);
    cli_signals_release();
    return CLI_OK;
}

static int serve_folder(const cli_command *command, sinew_context *context,
                        const studio_options *options) {
    static studio_page page; // too large for the stack
    sinew_file *file = NULL;
    int status = CLI_OK;
    if (studio_page_read(context, options->folder, &page) != SINEW_OK) {
        status = cli_fail_call(command, context);
    } else if (!studio_page_find(&page, "/index.html")) {
        status = cli_fail(command, CLI_BAD_INPUT,
                          "the page is not in %s; 'make studio' builds it, --folder names another",
                          options->folder);
    } else if (options->scene && cli_file_open(context, options->scene, &file) != SINEW_OK) {
        status = cli_fail_call(command, context);
    } else {
        status = serve(command, options, &page, file ? sinew_file_get_source(file) : NULL);
    }

    sinew_file_close(file);
    studio_page_release(&page);
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    studio_options options = {.parent = getppid()};
    const cli_option table[] = {{"port", 'p', CLI_INTEGER, &options.port, "N",
                                 "port to listen on (default: a free one)", 0, 65535},
                                {"folder", 0, CLI_TEXT, &options.folder, "DIR",
                                 "folder of the page (default: as built)", 0, 0}};

    // The command line.
    int count, table_size = (int)(sizeof table / sizeof *table);
    bool finished;
    int status =
        cli_parse(command, table, table_size, argc, argv, &options.scene, 1, &count, &finished);
    if (finished) {
        return status;
    }
    if (!studio_server_is_available()) {
        return cli_fail(command, CLI_USAGE,
                        "this program was built without libmicrohttpd and cannot serve; put the "
                        "folder of the page on any web server, or build one file: make "
                        "studio-single");
    }

    // The page that was built, unless another is given.
    char folder[4096];
    if (!options.folder) {
        find_folder(folder, sizeof folder);
        options.folder = folder;
    }
    sinew_context *context = cli_create_context(command, 1);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = serve_folder(command, context, &options);
    sinew_context_destroy(context);
    return status;
}

const cli_command cli_command_studio = {
    .name = "studio",
    .summary = "Serve the studio, which simulates in a browser, on this machine.",
    .arguments = "[SCENE.json]",
    .details = "Prints the address to open. With a scene, the studio opens it. Only this machine\n"
               "can connect, and only the page and the scene with the files it references can\n"
               "be read. The server stops with Ctrl-C, or when its terminal is closed.",
    .run = run,
};
