"""An MCP server that says what it is told to say, right or wrong.

    mcp_server_raw.py FOLDER NAME

FOLDER/NAME.json has `tools` (names, or whole definitions), and may have `cursor` (there is always
one more page), `content` (what every call gives; without it none is answered) and `deaf` (once its
tools are listed it reads nothing more). In FOLDER/record there is a line for every message.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
PLAN = json.loads((FOLDER / f"{sys.argv[2]}.json").read_text())


def defined(tool: str | dict[str, Any]) -> dict[str, Any]:
    return {"inputSchema": {"type": "object"}} | ({"name": tool} if isinstance(tool, str) else tool)


def result(message: dict[str, Any]) -> dict[str, Any] | None:
    match message.get("method"):
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "raw", "version": "1"},
            }
        case "tools/list":
            more = {"nextCursor": PLAN["cursor"]} if "cursor" in PLAN else {}
            return {"tools": [defined(tool) for tool in PLAN["tools"]], **more}
        case "tools/call" if "content" in PLAN:
            return {"content": PLAN["content"]}
        case _:
            return None


for line in sys.stdin:
    message = json.loads(line)
    with (FOLDER / "record").open("a") as record:
        record.write(f"{message.get('method')}\n")
    if (given := result(message)) is not None:
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": given})
        rest = f"{answer}\n".encode()
        while rest:
            rest = rest[os.write(1, rest) :]
    if PLAN.get("deaf") and message.get("method") == "tools/list":
        signal.pause()
