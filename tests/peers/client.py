"""Connects the official Python client, lists the tools and calls `server_info`.

    python client.py MODE URL             over HTTP
    python client.py MODE COMMAND ARG...  over stdio, also through a bridge such as mcp-remote

MODE is `auto` (2026-07-28 where offered) or `legacy` (the initialize handshake). Prints one line
of JSON with the protocol revision agreed on, the tools seen and the structured answer.
"""

import asyncio
import json
import sys

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters


def target(words: list[str]) -> str | StdioServerParameters:
    """A URL alone is met over HTTP; anything else is a command to start."""
    first, *rest = words
    if first.startswith(("http://", "https://")):
        return first
    return StdioServerParameters(command=first, args=rest)


async def main(mode: str, words: list[str]) -> None:
    """One connection, one list, one call."""
    async with Client(target(words), mode=mode) as client:
        tools = await client.list_tools()
        answer = await client.call_tool("server_info", {})
        report = {
            "protocol": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "is_error": bool(answer.is_error),
            "structured": answer.structured_content,
        }
    # Written after the connection closed, so that a failure to close is a failure of the check.
    print(json.dumps(report))


def causes(error: BaseException) -> list[str]:
    """The errors inside a group of groups: its traceback is pages long and says no more than they do."""
    inner = getattr(error, "exceptions", None)
    if inner is None:
        return [f"{type(error).__name__}: {error}"]
    return [cause for one in inner for cause in causes(one)]


if len(sys.argv) < 3:
    sys.exit("usage: client.py auto|legacy URL-or-COMMAND [ARG...]")
try:
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
except Exception as error:
    sys.exit("\n".join(causes(error)))
