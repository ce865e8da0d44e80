"""What a stream tells, one thing at a time, in the words of the tests.

The server tells changes of a picture. A test mostly waits for something that happened: a word, a
call, an end, a receipt. This says so of each change, and gives what the change has as `data`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_WORDS = {"text", "thinking", "progress"}


class Hearing:
    """One who listens to one stream."""

    def __init__(self) -> None:
        self._asked: dict[str, list[str]] = {}  # the messages of each run
        self._questions: dict[str, Any] = {}
        self._typing = False

    def of(self, event: Any) -> Iterator[dict[str, Any]]:
        """The things that an event tells; `last` is that after which one can be cut off."""
        *rest, last = self._things(event) or [None]
        yield from rest
        if last:
            yield last | {"last": True}

    def _things(self, event: Any) -> list[Any]:
        """What a run had said, told too late to be its doing, is one of them: `missed`."""
        if event["kind"] != "changes":
            return [self._other(event)]
        told, missed = list[dict[str, Any]](), list[dict[str, Any]]()
        placed: list[str] = []
        for change in event["changes"]:
            for kind, run, text, data in self._told(change, placed):
                one = _one(kind, run, text, data)
                one |= {name: event[name] for name in ("id", "generation", "at")}
                acts = change["change"] == "grew" or kind in _WORDS or _is_begun(data)
                (missed if acts and not change["live"] else told).append(one)
        late = {"kind": "missed", "run": None, "text": "", "data": {"events": missed}}
        return [missed[-1] | late, *told] if missed else told

    def _other(self, event: Any) -> dict[str, Any]:
        if event["kind"] != "snapshot":
            return event | {"run": None, "text": event["why"], "data": {"why": event["why"]}}
        self.__init__()
        told = [_one("accepted", None, said["text"], said) for said in event["messages"]]
        placed: list[str] = []
        for item in event["items"]:
            change = {"change": "placed", "item": item}
            told += [_one(*one) for one in self._told(change, placed)]
            if item["kind"] == "turn":
                told += [_one(p["kind"], item["run"], p.get("text", ""), p) for p in item["parts"]]
                told += [_one(*self._end(item))] if item["outcome"] else []
        self._typing = event["phase"]["typing"]
        self._questions = {one["id"]: one for one in event["questions"]}
        # with all that has happened by then, as if it had been heard
        return event | {"run": event["phase"]["active"], "text": "", "data": event | {"told": told}}

    def _placed(self, item: Any, before: list[str]) -> None:
        if item["kind"] == "message" and not item["outcome"]:
            before.append(item["id"])
        if item["kind"] == "turn":
            run = item["run"]
            self._asked[run] = list(before)
            for part in item["parts"]:
                self._part(run, part)
        if item["kind"] != "message":
            before.clear()

    def _part(self, run: str, part: Any) -> None:
        if part["kind"] == "said":
            self._asked.setdefault(run, []).append(part["id"])

    def _end(self, head: Any) -> tuple[str, str, str, Any]:
        run, outcome = head["run"], head["outcome"]
        ended = {"messages": self._asked.get(run, []), "started": True}
        return "ended", run, outcome, head | ended

    def _told(  # noqa: PLR0912 - one match
        self, change: Any, placed: list[str]
    ) -> Iterator[tuple[str, str | None, str, Any]]:
        match change:
            case {"change": "messageis", "said": said}:
                yield "accepted", None, said["text"], said
            case {"change": "placed", "item": {"kind": "message", "outcome": str(outcome)} as item}:
                self._placed(item, placed)
                if outcome:
                    ended = {"messages": [item["id"]], "started": False}
                    yield "ended", None, outcome, item | ended
            case {"change": "placed", "item": {"kind": "turn", "run": run} as item}:
                messages = list(placed)
                self._placed(item, placed)
                yield "started", run, "", {"messages": messages}
            case {"change": "placed" | "itemis", "item": {"kind": "receipt"} as item}:
                kind = "settled" if item["settled"] else "stopped"
                yield kind, None, item["receipt"]["words"], item["receipt"]
            case {"change": "placed", "item": {"kind": "note", "text": text}}:
                yield "note", None, text, None
            case {"change": "turnis", "head": {"outcome": str(outcome), "run": run} as head}:
                if outcome and not head["fenced_at"]:  # a receipt tells it again
                    yield self._end(head)
            case {"change": "partis", "run": run, "part": part}:
                self._part(run, part)
                yield part["kind"], run, part.get("text", ""), part
            case {"change": "grew", "run": run, "text": text, "of": of}:
                yield "progress" if of == "output" else of, run, text, None
            case {"change": "queueis", "queue": queue}:
                yield "queue", None, "", queue
            case {"change": "askopened", "question": question}:
                self._questions[question["id"]] = question
                yield "question", question["run"], "", {"news": "opened", "question": question}
            case {"change": "askclosed", "question": str(id_), "answer": answer}:
                news = "answered" if answer else "withdrawn"
                question = self._questions.pop(id_, {"run": None})
                told: dict[str, Any] = answer or {}
                yield "question", question["run"], "", {"news": news, "question": question, **told}
            case {"change": "processis", "process": process}:
                going = "named" if process["id"] else "started"
                state = going if process["ended_at"] is None else "ended"
                yield "process", process["run"], process["command"], process | {"state": state}
            case {"change": "processstarts", "run": run, "command": command}:
                yield "process", run, command, {"state": "starting", "command": command}
            case {"change": "programis", "program": program}:
                yield "cell", program["run"], "", program
            case {"change": "usageis", "run": run}:
                yield "usage", run, "", change
            case {"change": "phaseis", "phase": phase}:
                if phase["typing"] != self._typing:
                    self._typing = phase["typing"]
                    yield "typing", phase["active"], "", {"on": self._typing}
            case _:
                pass


def _one(kind: str, run: str | None, text: str, data: Any) -> dict[str, Any]:
    return {"kind": kind, "run": run, "text": text, "data": data}


def _is_begun(data: Any) -> bool:
    return bool(data) and data.get("status") in {"intended", "begun"}
