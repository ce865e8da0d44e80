"""A CLI that makes its calls without asking for them, as one of another make might.

It speaks what the Claude Agent SDK speaks with its own, and does nothing else.
"""

import json
import sys
from typing import Any

CALLS = ("toolu_1", "toolu_2")


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"session_id": "s", **message}) + "\n")
    sys.stdout.flush()


def talk(*content: dict[str, Any], by: str, **more: Any) -> None:
    message = {"id": "msg_1", "model": "m", "role": by, "content": [*content]}
    say(type=by, message=message, parent_tool_use_id=None, **more)


def answer() -> None:
    """Both were made; the first is told of."""
    for id_ in CALLS:
        talk({"type": "tool_use", "id": id_, "name": "Bash", "input": {}}, by="assistant")
    failed = "--failed" in sys.argv
    done = {"type": "tool_result", "tool_use_id": CALLS[0], "content": "done", "is_error": failed}
    accepted = {"id": CALLS[0], "permission_decision": {"decision": "accept"}}
    talk(done, by="user", tool_result_meta=[accepted] if failed else [])
    say(type="result", subtype="success", is_error=False, result="All done.", usage={})


def main() -> None:
    for line in sys.stdin:
        told = json.loads(line)
        if told["type"] == "control_request":
            promised = {"hook_on_failure_supported": True}  # and it asks none of them
            done = {"subtype": "success", "request_id": told["request_id"], "response": promised}
            say(type="control_response", response=done)
        elif told["type"] == "user":
            answer()


if __name__ == "__main__":
    main()
