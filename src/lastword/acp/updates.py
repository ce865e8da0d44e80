"""What happens in a session, as a client is told it: the shapes of ACP's `session/update`.

Only shapes: what is told, and whether it may still leave, is decided in `teller` and the outbox.
"""

from __future__ import annotations

import json
import os
from typing import Any, cast

from lastword.acp.wire import Params
from lastword.core.model import Policy, Status
from lastword.core.scene import CallPart
from lastword.core.turns import SETTLED
from lastword.surfaces.commands import COMMANDS, SAID

_KINDS = {
    "read_file": "read",
    "list_files": "search",
    "search_files": "search",
    "write_file": "edit",
    "edit_file": "edit",
    "shell": "execute",
    "shell_background": "execute",
    "shell_end": "execute",
    "shell_read": "read",
    "shell_signal": "execute",
    "shell_write": "execute",
    "fetch": "fetch",
    "delegate": "think",
}
_DIFFS = ("edit_file", "write_file")
_STATUS = {
    Status.INTENDED: "pending",
    Status.BEGUN: "in_progress",
    Status.COMPLETED: "completed",
    Status.NOT_STARTED: "failed",
    Status.MAY_HAVE_EXECUTED: "failed",
}
_WORDS = {
    Status.NOT_STARTED: "[not started]",
    Status.MAY_HAVE_EXECUTED: "[stopped; it may have executed]",
}
_LONGEST_TITLE = 120
_LONGEST_SHOWN = 20_000  # characters of a result


def text(words: str) -> Params:
    """A content block."""
    return {"type": "text", "text": words}


def message(words: str) -> Params:
    """What the agent says."""
    return {"sessionUpdate": "agent_message_chunk", "content": text(words)}


def thought(words: str) -> Params:
    """What it says to itself."""
    return {"sessionUpdate": "agent_thought_chunk", "content": text(words)}


def said(words: str) -> Params:
    """What the person said, when a session is loaded."""
    return {"sessionUpdate": "user_message_chunk", "content": text(words)}


def usage(used: int, size: int) -> Params:
    """How much of the model's window is in use."""
    return {"sessionUpdate": "usage_update", "used": used, "size": size}


# calls


def call(made: CallPart, root: str) -> Params:
    """A tool is to be called, or was: the first that is told of it."""
    known = about(made.name, arguments_of(made.arguments), root)
    status = _status(made) if made.status in SETTLED else "pending"
    return {"sessionUpdate": "tool_call", "toolCallId": made.call, "status": status, **known}


def call_update(made: CallPart) -> Params:
    """How it stands."""
    update: Params = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": made.call,
        "status": _status(made),
    }
    words = _outcome(made)
    if words and (update["status"] == "failed" or made.name not in _DIFFS):
        update["content"] = [content(words)]
    return update


def call_says(id_: str, words: str) -> Params:
    """What a call has come to so far; it takes the place of what was told before."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": id_, "content": [content(words)]}


def content(words: str) -> Params:
    """What a call has to show."""
    return {"type": "content", "content": text(words)}


def about(tool: str, arguments: Params, root: str) -> Params:
    """What is known of a call before it is made; paths are from the root."""
    known: Params = {
        "title": title(tool, arguments),
        "kind": _KINDS.get(tool, "other"),
        "rawInput": arguments,
    }
    path, line = arguments.get("path"), arguments.get("offset")
    if tool in _KINDS and isinstance(path, str) and path:
        place: Params = {"path": os.path.join(root, path)}  # noqa: PTH118 - nothing is looked up
        known["locations"] = [place | {"line": line} if isinstance(line, int) else place]
        if diff := _diff(tool, arguments):
            known["content"] = [{"type": "diff", **place, **diff}]
    return known


def title(tool: str, arguments: Params) -> str:
    """A call in a line."""
    match arguments:
        case {"command": str(words)} | {"path": str(words)} | {"url": str(words)}:
            pass
        case {"task": str(words)} | {"pattern": str(words)}:
            pass
        case _:
            words = json.dumps(arguments, ensure_ascii=False) if arguments else ""
    first, newline, more = words.strip().partition("\n")
    over = f" … ({more.count(newline) + 2} lines)" if newline else ""
    line = f"{' '.join(f'{tool}: {first}'.split())}{over}" if words else tool
    return line if len(line) <= _LONGEST_TITLE else f"{line[:_LONGEST_TITLE]}…"


def arguments_of(rendered: str) -> Params:
    """A call's arguments; none if they were cut."""
    try:
        arguments = cast("object", json.loads(rendered))
    except ValueError:
        return {}
    return cast("Params", arguments) if isinstance(arguments, dict) else {}


def _status(made: CallPart) -> str:
    return "failed" if made.error else _STATUS[made.status]


def _outcome(made: CallPart) -> str:
    shown = made.content
    words = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
    return words or _WORDS.get(made.status, "")


def _diff(tool: str, arguments: Params) -> Params | None:
    match tool, arguments:
        case "edit_file", {"old": str(old), "new": str(new)}:
            return {"oldText": old, "newText": new}
        case "write_file", {"text": str(new)}:
            return {"oldText": None, "newText": new}
        case _:
            return None


# modes

_MODES: dict[Policy, tuple[str, str]] = {
    "takeover": ("Take over", "A new message ends the answer that goes on"),
    "queue": ("Queue", "New messages wait for their turn"),
    "collect": ("Collect", "New messages wait, and are answered together"),
    "steer": ("Steer", "A new message joins the answer that goes on"),
    "refuse": ("Refuse", "A new message is refused while an answer goes on"),
    "rollback": ("Roll back", "A new message takes over, and the old answer is left out"),
}
ON_MESSAGE = "on_message"


def modes(now: Policy) -> Params:
    """For clients that know modes."""
    known = [{"id": id_, "name": n, "description": d} for id_, (n, d) in _MODES.items()]
    return {"currentModeId": now, "availableModes": known}


def options(now: Policy) -> list[Params]:
    """For clients that know configuration options."""
    known = [{"value": id_, "name": n, "description": d} for id_, (n, d) in _MODES.items()]
    option: Params = {
        "type": "select",
        "id": ON_MESSAGE,
        "name": "New message",
        "description": "What a message does that comes while an answer is being made",
        "category": "mode",
        "currentValue": now,
        "options": known,
    }
    return [option]


def commands() -> Params:
    """What can be typed behind a slash."""
    known: list[dict[str, Any]] = []
    for name, command in COMMANDS.items():
        known.append({"name": name, "description": command.about})
        if command.usage:
            known[-1]["input"] = {"hint": command.usage}
    known += [{"name": name, "description": about} for name, about in SAID.items()]
    return {"sessionUpdate": "available_commands_update", "availableCommands": known}
