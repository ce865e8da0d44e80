"""The session's log as the CLI keeps a conversation: a file of lines that it goes on from.

The file lives as long as one run. What the CLI is asked to answer is not in it but sent, as by a
person; only behind results of tools it is the last line, which the CLI is told was interrupted.
Sent there, it would have the CLI put words into its model's mouth.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from claude_agent_sdk import project_key_for_directory

from lastword.core.shown import Shown
from lastword.engines.kit.anthropic import anthropic
from lastword.engines.kit.history import Item
from lastword.engines.kit.wire import kept

VERSION = "2.1.327"  # of the CLI whose lines these are
_OF_THE_ANSWERS = ("assistant", "thinking", "call", "result")


@dataclass(frozen=True)
class CliTalk:
    """What was said before, and what is to be answered."""

    earlier: list[Item]
    prompt: list[Item]
    session: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def goes_on(self) -> bool:
        """Whether tools gave their results last: the prompt is the end of the file then."""
        return any(one["role"] == "user" for one in self.earlier[-1:])

    def write(self, home: Path, cwd: str, model: str) -> None:
        """Where the CLI looks for it."""
        prompt: Item = {"role": "user", "content": self.prompt}
        lines = [*self.earlier, prompt] if self.goes_on else self.earlier
        path = home / "projects" / project_key_for_directory(cwd) / f"{self.session}.jsonl"
        path.parent.mkdir(parents=True, mode=0o700)
        parent: str | None = None
        with path.open("w", encoding="utf-8") as file:
            for one in self._lines(lines, model):
                own = str(uuid.uuid4())
                line = {
                    "parentUuid": parent,
                    "isSidechain": False,
                    "userType": "external",
                    "cwd": cwd,
                    "sessionId": self.session,
                    "version": VERSION,
                    **one,
                    "uuid": own,
                    "timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}.000Z",
                }
                file.write(f"{json.dumps(line)}\n")
                parent = own

    def _lines(self, messages: Sequence[Item], model: str) -> Iterator[Item]:
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        for place, message in enumerate(messages):
            yield {"type": message["role"], "message": _whole(message, str(uuid.uuid4()), model)}
            if place == 0:  # where newer models are told of the day; of nothing is refused
                yield {"type": "attachment", "attachment": {"type": "date", "date": today}}


def talk(history: Sequence[Shown], whose: str) -> CliTalk:
    """What the model is shown of a session, the person's new words apart from the rest."""
    given = [one for one in history if one.role != "thinking" or kept(one.native, whose)]
    answers = [n for n, one in enumerate(given, 1) if one.role in _OF_THE_ANSWERS]
    end = answers[-1] if answers else 0
    told = anthropic(given[end:], whose=whose)
    return CliTalk(anthropic(given[:end], whose=whose), told[0]["content"] if told else [])


def _whole(message: Item, id_: str, model: str) -> Item:
    """A message of the model's, with what the CLI has beside each."""
    if message["role"] == "user":
        return message
    asks = any(block["type"] == "tool_use" for block in message["content"])
    beside = {"id": f"msg_{id_}", "type": "message", "model": model, "stop_sequence": None}
    ended = {"stop_reason": "tool_use" if asks else "end_turn"}
    return {**beside, **message, **ended, "usage": {"input_tokens": 0, "output_tokens": 0}}
