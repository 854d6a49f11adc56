"""A Git server over HTTP: `git http-backend` of this machine, open only to who brings the token.

    GIT_SERVER_TOKEN=... python git_server.py FOLDER

Serves the repositories in FOLDER on a free port of 127.0.0.1. Writes one line of JSON to standard
error when it listens, and one for every request: whether it brought the token, and the answer's status.
"""

import base64
import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# More than any request of a client that fetches has.
LARGEST_BODY = 1024 * 1024
SECONDS = 30


def tell(**fields: object) -> None:
    """Writes a line of the log."""
    print(json.dumps(fields), file=sys.stderr, flush=True)


def brings(token: str, header: str) -> bool:
    """Whether a header of Basic authentication has the token as its password."""
    kind, _, encoded = header.partition(" ")
    try:
        _, _, password = base64.b64decode(encoded, validate=True).partition(b":")
    except ValueError:
        return False
    return kind == "Basic" and password == token.encode()


class Handler(BaseHTTPRequestHandler):
    """One connection, one request."""

    folder = ""
    token = ""
    timeout = SECONDS

    def do_GET(self) -> None:
        self.answer(b"")

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "-1"))
        if not 0 <= length <= LARGEST_BODY:
            self.refuse(413)
            return
        self.answer(self.rfile.read(length))

    def answer(self, body: bytes) -> None:
        """Answers what the backend says, if the token is there."""
        if not brings(self.token, self.headers.get("Authorization", "")):
            self.refuse(401)
            return
        path, _, query = self.path.partition("?")
        variables = {
            "PATH": os.environ.get("PATH", ""),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROJECT_ROOT": self.folder,
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        backend = ["git", "http-backend"]
        done = subprocess.run(backend, input=body, env=variables, capture_output=True, timeout=SECONDS)
        head, found, content = done.stdout.partition(b"\r\n\r\n")
        if not found:
            tell(message="failed", said=done.stderr.decode(errors="replace"))
            self.refuse(500)
            return
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        self.send(status, [(name, value) for name, value in fields if name != "Status"], content)

    def refuse(self, status: int) -> None:
        """Answers without asking the backend."""
        self.send(status, [("WWW-Authenticate", 'Basic realm="sample"')], b"")

    def send(self, status: int, fields: list[tuple[str, str]], content: bytes) -> None:
        """Sends the answer, and tells of it before the client can know."""
        authorized = brings(self.token, self.headers.get("Authorization", ""))
        tell(message="asked", path=self.path, authorized=authorized, status=status)
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """The log is ours."""


if len(sys.argv) != 2 or not os.environ.get("GIT_SERVER_TOKEN"):
    sys.exit("usage: GIT_SERVER_TOKEN=... git_server.py FOLDER")
Handler.folder = os.path.abspath(sys.argv[1])
Handler.token = os.environ["GIT_SERVER_TOKEN"]
with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    tell(message="listening", addr=f"127.0.0.1:{server.server_address[1]}")
    server.serve_forever()
