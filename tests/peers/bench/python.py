"""The official Python SDK with one trivial tool: what `cargo xtask bench http` compares with.

Run with `python python.py`; it picks a free port and logs it as `lyceum` does.
"""

import json
import socket
import sys

import uvicorn
from mcp.server import MCPServer
from pydantic import BaseModel


class Sum(BaseModel):
    """What `add` answers."""

    sum: int


server = MCPServer("bench-python", log_level="WARNING")


@server.tool()
def add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(sum=a + b)


def main() -> None:
    """Serves until the process is ended."""
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    # The socket already queues connections, so the line may be written before uvicorn accepts.
    print(json.dumps({"message": "listening", "addr": address}), file=sys.stderr, flush=True)
    app = server.streamable_http_app(json_response=True, stateless_http=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])


main()
