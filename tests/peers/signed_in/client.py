"""The Python client: a stranger is refused, the same program signs in, and its access token is renewed.

    SIGN_IN_KEY=… python client.py PLAN

PLAN is a JSON object:

    mode   `auto` (2026-07-28 where offered) or `legacy` (the initialize handshake)
    url    the MCP endpoint
    call   the params of tools/call
    login  the words of a command that follows the address it is given as one more word

Prints one line of JSON with what happened.
"""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from mcp.shared.exceptions import MCPError

SECONDS = 30


class Kept:
    """What a program keeps between two starts."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Browser:
    """Listens for the person who comes back, as a program on a person's machine does, and sends the person away."""

    def __init__(self, login: list[str]) -> None:
        self.login = login
        self.sign_ins = 0
        self.came_back = asyncio.Queue()

    async def listen(self) -> str:
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/callback"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, target, _ = (await reader.readline()).decode().split(" ")
        while (await reader.readline()).strip():
            pass
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nDone")
        await writer.drain()
        writer.close()
        query = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
        await self.came_back.put(query)

    async def leave(self, address: str) -> None:
        self.sign_ins += 1
        # Its words are not ours: standard output is for the report.
        login = await asyncio.create_subprocess_exec(*self.login, address, stdout=sys.stderr)
        if await asyncio.wait_for(login.wait(), SECONDS) != 0:
            raise RuntimeError("the person could not sign in")

    async def come_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**await asyncio.wait_for(self.came_back.get(), SECONDS))


async def listed(client: Client) -> list[str]:
    """The names of the tools that are shown."""
    return [tool.name for tool in (await client.list_tools()).tools]


async def stranger(plan: dict) -> dict:
    """Lists and calls without a sign-in."""
    async with Client(plan["url"], mode=plan["mode"]) as client:
        tools = await listed(client)
        try:
            answer = await client.call_tool(**plan["call"])
            refused = answer.is_error and str(answer.content)
        except MCPError as error:
            refused = str(error)
    return {"tools": tools, "refused": refused}


async def member(plan: dict) -> dict:
    """Calls, is sent to sign in, is answered, and calls again when the hour of the access token is over."""
    kept, browser = Kept(), Browser(plan["login"])
    metadata = OAuthClientMetadata(
        client_name="peer python", redirect_uris=[await browser.listen()], token_endpoint_auth_method="none"
    )
    provider = OAuthClientProvider(plan["url"], metadata, kept, browser.leave, browser.come_back)
    async with httpx2.AsyncClient(auth=provider, timeout=SECONDS) as http:
        async with Client(streamable_http_client(plan["url"], http_client=http), mode=plan["mode"]) as client:
            first = await client.call_tool(**plan["call"])
            tools = await listed(client)
            before = kept.tokens
            provider.context.current_tokens = before.model_copy(update={"access_token": "lyc_at_over"})
            provider.context.token_expiry_time = 1
            again = await client.call_tool(**plan["call"])
            protocol = client.protocol_version
    return {
        "protocol": protocol,
        "tools": tools,
        "answers": [answer.model_dump(mode="json", by_alias=True) for answer in (first, again)],
        "signIns": browser.sign_ins,
        "isRenewed": kept.tokens.refresh_token != before.refresh_token,
        "client": kept.client.client_id,
    }


async def main(plan: dict) -> None:
    print(json.dumps({"stranger": await stranger(plan), "member": await member(plan)}))


if len(sys.argv) != 2:
    sys.exit("usage: client.py PLAN, which is a JSON object")
asyncio.run(main(json.loads(sys.argv[1])))
