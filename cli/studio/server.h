// The server of `sinew studio`: GET and HEAD of the page's files, and of a scene with the files
// that it references, to this machine only.
#ifndef CLI_STUDIO_SERVER_H
#define CLI_STUDIO_SERVER_H

#include "studio/page.h"

#include "sinew/io/bytes.h"

typedef struct studio_server studio_server;

// Whether this program was built with a server.
bool studio_server_is_available(void);

// Listens on 127.0.0.1; `port` 0 takes a free one. `scene` may be NULL, `scene_name` is the name it
// is served by, as "/scene/NAME". All must outlive the server. NULL, with errno set, if the port is
// not to be had.
studio_server *studio_server_start(const studio_page *page, const sinew_source *scene,
                                   const char *scene_name, int port);
int studio_server_get_port(const studio_server *server);
// Waits for the requests at work. NULL is allowed.
void studio_server_stop(studio_server *server);

#endif
