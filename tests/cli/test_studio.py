"""sinew studio: what the server hands out, what it refuses, and when it stops."""
import http.client
import os
import signal
import socket
import subprocess

import program

SHIM = os.path.join(os.environ.get("SINEW_BUILD", os.path.join(program.ROOT, "build")), "tests", "fail_files.so")


class Server:
    """The server on a free port, with a page of two files and perhaps a scene."""

    def __init__(self, folder, *arguments, **environment):
        self.process = subprocess.Popen([program.SINEW, "studio", "--folder", folder, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE if environment else None, text=True,
                                        env={**os.environ, **environment})
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.split(":")[2].split("/")[0]) if self.address else None

    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def raw(self, text):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as s:
            s.sendall(text.encode())
            return s.recv(65536).decode(errors="replace")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(20) == 0


def expect(result, status, text):
    assert result.returncode == status and text in result.stderr, (result.returncode, result.stderr)


def make_page(folder):
    page = os.path.join(folder, "page")
    os.makedirs(os.path.join(page, "examples"))
    for name, text in (("index.html", "<p>page</p>"), ("sinew.wasm", "\0asm"), ("app.js", "1"), (".hidden", "h"), ("examples/bar.json", "{}")):
        with open(os.path.join(page, name), "w") as f:
            f.write(text)
    with open(os.path.join(folder, "secret.txt"), "w") as f:
        f.write("secret")
    os.symlink(os.path.join(folder, "secret.txt"), os.path.join(page, "link.txt"))
    return page


def test_files_are_handed_out_and_all_else_refused():
    with program.folder() as folder:
        check_page(folder)


def check_page(folder):
    server = Server(make_page(folder))
    assert server.address == f"http://127.0.0.1:{server.port}/"

    for path, kind in (("/", "text/html; charset=utf-8"), ("/index.html", "text/html; charset=utf-8"), ("/app.js", "text/javascript; charset=utf-8"),
                       ("/sinew.wasm", "application/wasm"), ("/examples/bar.json", "application/json")):
        answer, body = server.get(path)
        assert answer.status == 200 and body, path
        assert answer.getheader("Content-Type") == kind, path
        assert answer.getheader("Cross-Origin-Opener-Policy") == "same-origin"
        assert answer.getheader("Cross-Origin-Embedder-Policy") == "require-corp"
        assert "default-src 'none'" in answer.getheader("Content-Security-Policy")
        assert answer.getheader("X-Content-Type-Options") == "nosniff"

    answer, body = server.get("/app.js", "HEAD")
    assert answer.status == 200 and body == b"" and answer.getheader("Content-Length") == "1"

    # Other methods, with and without a body.
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        answer, _ = server.get("/", method)
        assert answer.status == 405 and answer.getheader("Allow") == "GET, HEAD", method
    assert " 405 " in server.raw(f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 5\r\n\r\nhello").split("\r\n")[0]

    # Paths that lead out of the folder, hidden files and links.
    for path in ("/../secret.txt", "/examples/../../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "//secret.txt", "/link.txt", "/.hidden",
                 "/examples", "/examples/", os.path.join(folder, "secret.txt"), "/scene/bar.json", "/scene/../secret.txt"):
        answer, body = server.get(path)
        assert answer.status == 404 and b"secret" not in body, path

    # Names of other hosts that lead here, and none at all.
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", "127.0.0.1:1", f"localhost.evil.example:{server.port}"):
        answer, body = server.get("/", Host=host)
        assert answer.status == 403 and b"page" not in body, host
    assert server.get("/", Host=f"localhost:{server.port}")[0].status == 200
    assert " 200 " not in server.raw("GET / HTTP/1.0\r\n\r\n").split("\r\n")[0]
    server.stop()


def test_scene_and_what_it_references():
    with program.folder() as folder:
        check_scene(folder)


def check_scene(folder):
    page = make_page(folder)
    scene = os.path.join(folder, "my scene.json")
    with open(scene, "w") as f:
        f.write('{"bodies": [{"shape": {"file": "mesh.obj"}}, {"shape": {"file": "../outside.obj"}}]}')
    for name in ("mesh.obj", "other.obj"):
        with open(os.path.join(folder, name), "w") as f:
            f.write("v 0 0 0\n")

    server = Server(page, scene)
    assert server.address.endswith("/?scene=my%20scene.json"), server.address
    answer, body = server.get("/scene/my%20scene.json")
    assert answer.status == 200 and b"mesh.obj" in body and answer.getheader("Content-Type") == "application/json"
    assert server.get("/scene/mesh.obj")[1] == b"v 0 0 0\n"

    # Not what the scene does not name, nor what lies outside its folder.
    for name in ("other.obj", "secret.txt", "../outside.obj", "%2e%2e/outside.obj", "page/index.html", ""):
        assert server.get("/scene/" + name)[0].status == 404, name
    server.stop()


def test_server_stops_with_whoever_started_it():
    with program.folder() as folder:
        check_end(folder)


def check_end(folder):
    page = make_page(folder)
    # Whoever started it hangs up.
    server = Server(page)
    server.process.stdin.close()
    assert server.process.wait(20) == 0

    for number in (signal.SIGTERM, signal.SIGHUP):
        server = Server(page)
        server.process.send_signal(number)
        assert server.process.wait(20) == 0

    # Its parent ends without a word to it.
    inner = f"import subprocess, sys; p = subprocess.Popen([{program.SINEW!r}, 'studio', '--folder', {page!r}], stdin=subprocess.DEVNULL); print(p.pid, flush=True); sys.stdin.read()"
    outer = subprocess.Popen(["python3", "-c", inner], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert outer.stdout.readline().strip().isdigit()
    assert outer.stdout.readline().startswith("http://127.0.0.1:")
    outer.kill()
    outer.communicate(timeout=20)  # returns when the server has closed its end of the pipe, too


def test_it_survives_every_failure_of_a_file():
    with program.folder() as folder:
        check_faults(folder)


def check_faults(folder):
    """One operation on a file fails: either the server does not begin and says why, or one answer is an error and the next is right."""
    if not os.path.exists(SHIM):
        print("skipped: fail_files.so is not built")
        return
    page = make_page(folder)
    scene = os.path.join(folder, "scene.json")
    with open(scene, "w") as f:
        f.write('{"bodies": [{"shape": {"file": "mesh.obj"}}]}')
    with open(os.path.join(folder, "mesh.obj"), "w") as f:
        f.write("v 0 0 0\n")

    refused, errors, n, failed = 0, 0, 0, True
    while failed:
        n += 1
        server = Server(page, scene, LD_PRELOAD=SHIM, FAIL_AT=str(n))
        if not server.address:
            messages = server.process.communicate(timeout=20)[1]
            assert server.process.returncode in (2, 4) and "sinew studio" in messages and "fail_files" in messages, (n, messages)
            refused += 1
            continue
        for path in ("/", "/scene/scene.json", "/scene/mesh.obj"):
            answer, _ = server.get(path)
            errors += answer.status != 200
            assert answer.status == 200 or answer.status in (404, 500), (n, path, answer.status)
        for path, text in (("/", b"<p>page</p>"), ("/scene/mesh.obj", b"v 0 0 0\n")):
            answer, body = server.get(path)
            assert answer.status == 200 and body == text, (n, path, answer.status, body)
        server.process.send_signal(signal.SIGINT)
        messages = server.process.communicate(timeout=20)[1]
        assert server.process.returncode == 0, (n, messages)
        failed = "fail_files" in messages
    assert refused > 0 and errors > 0, (refused, errors)


def test_mistakes_are_explained():
    with program.folder() as folder:
        check_mistakes(folder)


def check_mistakes(folder):
    page = make_page(folder)
    expect(program.run("studio", "--folder", folder), 2, "make studio")
    expect(program.run("studio", "--folder", page, os.path.join(folder, "none.json")), 2, "none.json")
    expect(program.run("studio", "--port", "70000"), 1, "port")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        expect(program.run("studio", "--folder", page, "--port", str(taken.getsockname()[1])), 4, "cannot listen")


if __name__ == "__main__":
    if "without libmicrohttpd" in program.run("studio", "--folder", "/nonexistent").stderr:
        print("skipped: the program was built without libmicrohttpd")
        raise SystemExit(77)
    program.main([test_files_are_handed_out_and_all_else_refused,
                  test_scene_and_what_it_references,
                  test_server_stops_with_whoever_started_it,
                  test_it_survives_every_failure_of_a_file,
                  test_mistakes_are_explained])
