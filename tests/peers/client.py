"""Connects the official Python client, lists the tools and takes the steps it is told.

    python client.py PLAN

PLAN is a JSON object:

    mode    `auto` (2026-07-28 where offered) or `legacy` (the initialize handshake)
    target  a list: a URL alone is met over HTTP, anything else is a command to start, also a bridge
    env     variables for that command
    steps   in order: {"tool": name, "arguments": {…}} is called, and called again while the answer's `message` is
            that of `again_while`, if there is one; {"run": [word, …]} is a command that must succeed;
            {"list": "resources"} (or resource_templates, prompts), {"read": uri}, {"prompt": name, "arguments": {…}} and
            {"complete": uri of a template or name of a prompt, "argument": {…}} are the other verbs

Prints one line of JSON with the protocol revision agreed on, the tools seen and the answer of each step but `run`.
"""

import asyncio
import json
import subprocess
import sys

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import PromptReference, ResourceTemplateReference

MOST_CALLS = 100
SECONDS_OF_A_COMMAND = 30


def target(words: list[str], env: dict[str, str]) -> str | StdioServerParameters:
    """A URL alone is met over HTTP; anything else is a command to start."""
    first, *rest = words
    if first.startswith(("http://", "https://")):
        return first
    return StdioServerParameters(command=first, args=rest, env=env)


async def ask(client: Client, step: dict):
    """The verbs other than calling a tool; nothing where the step is none of them."""
    match step:
        case {"list": kind}:
            return await getattr(client, f"list_{kind}")()
        case {"read": uri}:
            return await client.read_resource(uri)
        case {"prompt": name, "arguments": arguments}:
            return await client.get_prompt(name, arguments)
        case {"complete": name, "argument": argument}:
            is_uri = "://" in name
            reference = ResourceTemplateReference(uri=name) if is_uri else PromptReference(name=name)
            return await client.complete(reference, argument)


async def take(client: Client, step: dict) -> list[dict]:
    """Takes one step; a command has no answer."""
    if "run" in step:
        done = subprocess.run(step["run"], capture_output=True, text=True, timeout=SECONDS_OF_A_COMMAND)
        if done.returncode != 0:
            raise RuntimeError(f"{step['run']} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return []
    if (answer := await ask(client, step)) is not None:
        structured = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
        return [{"is_error": False, "structured": structured, "text": []}]
    for _ in range(MOST_CALLS):
        answer = await client.call_tool(step["tool"], step["arguments"])
        message = (answer.structured_content or {}).get("message")
        if message is None or message != step.get("again_while"):
            break
        await asyncio.sleep(0.1)
    text = [block.text for block in answer.content if block.type == "text"]
    return [{"is_error": bool(answer.is_error), "structured": answer.structured_content, "text": text}]


async def main(plan: dict) -> None:
    """One connection, one list, the steps."""
    async with Client(target(plan["target"], plan["env"]), mode=plan["mode"]) as client:
        tools = await client.list_tools()
        answers = [answer for step in plan["steps"] for answer in await take(client, step)]
        report = {
            "protocol": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "answers": answers,
        }
    # Written after the connection closed, so that a failure to close is a failure of the check.
    print(json.dumps(report))


def causes(error: BaseException) -> list[str]:
    """The errors inside a group of groups: its traceback is pages long and says no more than they do."""
    inner = getattr(error, "exceptions", None)
    if inner is None:
        return [f"{type(error).__name__}: {error}"]
    return [cause for one in inner for cause in causes(one)]


if len(sys.argv) != 2:
    sys.exit("usage: client.py PLAN, which is a JSON object")
try:
    asyncio.run(main(json.loads(sys.argv[1])))
except Exception as error:
    sys.exit("\n".join(causes(error)))
