"""Writes a wheel with the program and its model; `cargo xtask package wheel` runs it.

Usage: build.py STAGE VERSION TAG OUTPUT, where STAGE holds what belongs beside the program, and TAG are platform tags, joined by dots.
The wheel is the same for the same input: names are sorted, and times are fixed.
"""

import base64
import hashlib
import os
import sys
import zipfile

NAME = "lyceum_mcp"

METADATA = """Metadata-Version: 2.4
Name: lyceum-mcp
Version: {version}
Summary: Serve Git repositories (docs, skills, a knowledge base) to AI assistants: MCP, REST and hybrid search in one binary.
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
Requires-Python: >=3.9
Description-Content-Type: text/markdown

<!-- mcp-name: org.example/lyceum -->

"""

LAUNCHER = '''"""Starts the program of this package."""

import os
import subprocess
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program", "lyceum")
    if os.name == "posix":
        os.execv(program, [program, *sys.argv[1:]])
    sys.exit(subprocess.call([program + ".exe", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
'''

SCRIPTS = f"[console_scripts]\nlyceum = {NAME}.__main__:main\nlyceum-mcp = {NAME}.__main__:main\n"


def main(stage, version, tag, output):
    info = f"{NAME}-{version}.dist-info"
    files = {}
    for folder, _, names in os.walk(stage):
        for name in names:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, stage).replace(os.sep, "/")
            with open(path, "rb") as file:
                content = file.read()
            if relative in ("LICENSE-MIT", "LICENSE-APACHE"):
                files[f"{info}/licenses/{relative}"] = (content, 0o644)
            elif relative == "README.md":
                files[f"{info}/METADATA"] = (METADATA.format(version=version).encode() + content, 0o644)
            else:
                mode = 0o755 if os.access(path, os.X_OK) else 0o644
                files[f"{NAME}/program/{relative}"] = (content, mode)
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag.split("."))
    wheel = f"Wheel-Version: 1.0\nGenerator: lyceum\nRoot-Is-Purelib: false\n{tags}"
    files[f"{NAME}/__init__.py"] = (b"", 0o644)
    files[f"{NAME}/__main__.py"] = (LAUNCHER.encode(), 0o644)
    files[f"{info}/WHEEL"] = (wheel.encode(), 0o644)
    files[f"{info}/entry_points.txt"] = (SCRIPTS.encode(), 0o644)

    record = ""
    for name, (content, _) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)

    path = os.path.join(output, f"{NAME}-{version}-py3-none-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, mode) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    print(path)


main(*sys.argv[1:])
