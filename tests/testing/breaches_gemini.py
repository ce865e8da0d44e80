"""What breaks each rule of Gemini's, and beside it what keeps it."""

from __future__ import annotations

from typing import Any

from tests.testing.breaches_openai import Breach, Made

USER = {"role": "user", "parts": [{"text": "go"}]}
SAID = {"role": "model", "parts": [{"text": "well"}]}
CALL: dict[str, Any] = {"role": "model", "parts": [{"functionCall": {"name": "act", "args": {}}}]}
RESULT = {"role": "user", "parts": [{"functionResponse": {"name": "act", "response": {"a": 1}}}]}


def contents(*turns: Any) -> Made:
    return lambda: {"contents": list(turns)}


WHOLE = contents(USER, CALL, RESULT, SAID, USER)
GEMINI: dict[str, Breach] = {
    "gemini.no_contents": ("gemini", contents(), WHOLE),
    "gemini.role": ("gemini", contents({**USER, "role": "assistant"}), WHOLE),
    "gemini.empty_part": ("gemini", contents({"role": "user", "parts": [{}]}), WHOLE),
    "gemini.no_parts": ("gemini", contents(USER, {"role": "model", "parts": []}, USER), WHOLE),
    "gemini.call_place": ("gemini", contents(USER, SAID, CALL, RESULT), WHOLE),
    "gemini.no_result": ("gemini", contents(USER, CALL, USER), WHOLE),
    "gemini.orphan_result": ("gemini", contents(USER, RESULT), WHOLE),
}
