"""FastMCP with the skills below some folders: what `cargo xtask bench skills` compares with.

Run with `python rival.py FOLDER...`; it serves on standard input and output.
"""

import sys

from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider

server = FastMCP("bench-fastmcp")
server.add_provider(SkillsDirectoryProvider(roots=sys.argv[1:]))
server.run(transport="stdio", show_banner=False, log_level="ERROR")
