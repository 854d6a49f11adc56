"""A server of the official Python SDK with sessions and event streams: an upstream of the gateway.

Run with `python upstream.py`; it picks a free port and logs it as `lyceum` does.
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


server = MCPServer("upstream-python", log_level="WARNING")


@server.tool()
def add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(sum=a + b)


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("it always does")


def main() -> None:
    """Serves until the process is ended."""
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    print(json.dumps({"message": "listening", "addr": address}), file=sys.stderr, flush=True)
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning")).run(sockets=[listener])


main()
