// The studio's server on libmicrohttpd: one thread, requests answered from memory, and nothing to
// any other machine. Without the library, functions that say so.
#define _XOPEN_SOURCE 700

#include "studio/server.h"

#include <stdlib.h>

#ifdef CLI_WITH_MICROHTTPD

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

struct studio_server {
    struct MHD_Daemon *daemon;
    const studio_page *page;
    const sinew_source *scene;
    const char *scene_name;
    int port;
};

// What every answer carries. The page runs its own scripts and WebAssembly and reads its own files;
// it is isolated from other origins, so that it may share memory between threads.
static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src "
     "'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'none'"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Embedder-Policy", "require-corp"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-cache"},
};

bool studio_server_is_available(void) {
    return true;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              const void *data, size_t size) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)data, MHD_RESPMEM_PERSISTENT);
    if (!response) {
        return MHD_NO;
    }

    MHD_add_response_header(response, "Content-Type", type);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    }
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    }

    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status,
                              const char *reason) {
    return answer(connection, status, "text/plain; charset=utf-8", reason, strlen(reason));
}

// A page of another site whose name leads here must not be able to read the scenes of this machine.
static bool is_own_host(const studio_server *server, const char *host) {
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    if (!host) {
        return false;
    }

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char own[64];
        snprintf(own, sizeof own, "%s:%d", names[i], server->port);
        if (strcmp(host, own) == 0) {
            return true;
        }
    }

    return false;
}

// Whether a scene names a file, or one beside it that differs in its ending only, as the .bin of a
// .gltf. Nothing else in the folder of a scene is anybody's business.
static bool is_named(const sinew_source *scene, const char *name) {
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name) {
        return false;
    }

    size_t length = (size_t)(dot - name) + 1;
    const char *text = scene->data;
    for (size_t i = 1; i + length <= scene->size; i++) {
        if (text[i - 1] == '"' && memcmp(text + i, name, length) == 0) {
            return true;
        }
    }
    return false;
}

// The scene, or a file that it references.
static enum MHD_Result answer_scene(const studio_server *server, struct MHD_Connection *connection,
                                    const char *name) {
    const sinew_source *scene = server->scene;
    if (scene && strcmp(name, server->scene_name) == 0) {
        return answer(connection, MHD_HTTP_OK, "application/json", scene->data, scene->size);
    }

    const void *data;
    size_t size;
    if (scene && scene->fetch && is_named(scene, name) &&
        scene->fetch(scene->fetch_user, name, &data, &size)) {
        return answer(connection, MHD_HTTP_OK, studio_content_type(name), data, size);
    }
    return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such file.\n");
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state) {
    (void)version;
    (void)upload;
    const studio_server *server = user;

    // The first call comes before the body of a request: refusals wait until it has been read.
    static int seen;
    if (!*state) {
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        *upload_size = 0;
        return MHD_YES;
    }

    if (!is_own_host(server, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"))) {
        return refuse(connection, MHD_HTTP_FORBIDDEN,
                      "This server answers to this machine only.\n");
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
    }

    static const char scene_prefix[] = "/scene/";
    if (strncmp(url, scene_prefix, sizeof scene_prefix - 1) == 0) {
        return answer_scene(server, connection, url + sizeof scene_prefix - 1);
    }

    const studio_page_file *file =
        studio_page_find(server->page, strcmp(url, "/") == 0 ? "/index.html" : url);
    if (!file) {
        return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such file.\n");
    }
    return answer(connection, MHD_HTTP_OK, studio_content_type(file->name),
                  sinew_bytes_get_data(file->bytes), sinew_bytes_get_size(file->bytes));
}

studio_server *studio_server_start(const studio_page *page, const sinew_source *scene,
                                   const char *scene_name, int port) {
    studio_server *server = calloc(1, sizeof *server);
    if (!server) {
        return NULL;
    }

    *server = (studio_server){.page = page, .scene = scene, .scene_name = scene_name};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    // One thread answers all requests, so that files of the scene are read one at a time.
    server->daemon =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)port, NULL, NULL, handle,
                         server, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT,
                         (unsigned)64, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)30, MHD_OPTION_END);
    if (!server->daemon) {
        free(server);
        return NULL;
    }

    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info ? info->port : port;
    return server;
}

int studio_server_get_port(const studio_server *server) {
    return server->port;
}

void studio_server_stop(studio_server *server) {
    if (server) {
        MHD_stop_daemon(server->daemon);
        free(server);
    }
}

#else

bool studio_server_is_available(void) {
    return false;
}

studio_server *studio_server_start(const studio_page *page, const sinew_source *scene,
                                   const char *scene_name, int port) {
    (void)page;
    (void)scene;
    (void)scene_name;
    (void)port;
    return NULL;
}

int studio_server_get_port(const studio_server *server) {
    (void)server;
    return 0;
}

void studio_server_stop(studio_server *server) {
    (void)server;
}

#endif
