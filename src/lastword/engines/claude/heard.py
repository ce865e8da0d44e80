"""What the CLI says, passed on to the run: words, thoughts, calls, costs, and what went wrong.

Of an agent that the model starts inside the CLI, the person hears nothing; its calls are the run's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, cast

from lastword.engines.claude.calls import CliCalls
from lastword.engines.kit.declined import ShownHistory, declined
from lastword.engines.kit.loop import Declining, HeardAnswer
from lastword.engines.kit.trouble import ModelFailed, error_in, no_answer, of_http, unreached
from lastword.errors import EngineFailed
from lastword.runtime.run import Run
from lastword.runtime.trace import ModelRequest

PROVIDER = "anthropic"
_BROKE_OFF = "broke off"
_SYNTHETIC = "<synthetic>"  # the model of what the CLI says by itself
_NOTHING = "the model answered nothing"
_LIMITS = {
    "error_max_turns": "the limit of turns was reached (max_turns)",
    "error_max_budget_usd": "the limit of cost was reached (max_budget_usd)",
    "error_max_structured_output_retries": "the model gave nothing of the shape that was asked for",
}
Said = Mapping[str, Any]


class HeardCli:
    """One conversation with a CLI, up to its answer."""

    def __init__(self, run: Run, calls: CliCalls, showing: ShownHistory, model: str) -> None:
        self.said = False  # whether the person was told something
        self.result: Said | None = None
        self._run = run
        self._calls = calls
        self._showing = showing
        self._model = model or "claude"
        self._whose = calls.whose
        self._answer = HeardAnswer(run, calls.whose)
        self._request: ModelRequest | None = None
        self._block: dict[str, Any] = {}  # that is being said
        self._pieces: list[str] = []
        self._signature = ""
        self._used = (0, 0)
        self._cut = False
        self._wanted = False  # whether it asked for a tool
        self._streamed: set[str] = set()  # the ids of answers that were heard piece by piece
        self._counted: Counter[tuple[str, str]] = Counter()  # tokens: of which model, which way

    async def take(self, message: Said) -> None:
        """Whatever it says next."""
        nested = bool(message.get("parent_tool_use_id"))
        match message.get("type"):
            case "stream_event" if not nested:
                await self._event(message["event"])
            case "assistant":
                await self._assistant(message, nested=nested)
            case "user":
                self._results(message)
            case "system":
                await self._system(message)
            case "result":
                self._end_request()
                self._calls.whole.set()
                self.result = message
            case _:
                pass

    # an answer, piece by piece

    async def _event(self, event: Said) -> None:
        match event["type"]:
            case "message_start":
                self._begin(event["message"])
            case "content_block_start":
                self._block, self._pieces = dict(event["content_block"]), []
                self._signature = ""
            case "content_block_delta":
                self._first()
                await self._delta(event["delta"])
            case "content_block_stop":
                await self._seal()
            case "message_delta":
                self._cut = event["delta"].get("stop_reason") == "max_tokens"
                self._used = (self._used[0], int(event["usage"].get("output_tokens") or 0))
            case "message_stop":
                await self._whole()
            case _:
                pass

    def _begin(self, message: Said) -> None:
        self._calls.whole.clear()
        self._answer = HeardAnswer(self._run, self._whose)
        self._streamed.add(str(message.get("id")))
        self._used = (_asked_with(message.get("usage") or {}), 0)
        self._model = str(message.get("model") or self._model)
        if self._request is None:
            self._ask()

    def _ask(self) -> None:
        self._request = self._run.asks_model(self._model, PROVIDER)

    def _first(self) -> None:
        if self._request:
            self._request.first()

    async def _delta(self, delta: Said) -> None:
        match delta["type"]:
            case "text_delta":
                await self._text(delta["text"])
            case "thinking_delta":
                self._pieces.append(delta["thinking"])
                await self._answer.think(delta["thinking"])
            case "signature_delta":
                self._signature += delta["signature"]
            case _:
                pass

    async def _text(self, text: str) -> None:
        await self._answer.text(text)
        self.said = self.said or bool(text)

    async def _seal(self) -> None:
        """Thoughts are given back as they were signed."""
        match self._block.get("type"):
            case "thinking":
                signed = {"thinking": "".join(self._pieces), "signature": self._signature}
                await self._answer.seal("thinking", block={"type": "thinking", **signed})
            case "redacted_thinking":
                await self._answer.seal("thinking", block=self._block)
            case _:
                pass
        self._block = {}

    async def _whole(self) -> None:
        if self._request:
            self._answer.request = self._request
            await self._answer.end(*self._used, cut=self._cut)
            self._count(self._model, *self._used)
        self._end_request(failed=False)
        self._calls.whole.set()
        await self._showing.taken()

    def _end_request(self, *, failed: bool = True) -> None:
        request, self._request = self._request, None
        if request:
            if failed:
                request.failed(_BROKE_OFF)
            request.end()

    # in one piece

    async def _assistant(self, message: Said, *, nested: bool) -> None:
        said = message["message"]
        own = str(said.get("id"))
        spoken = not nested and own not in self._streamed and not message.get("error")
        if not nested and own not in self._streamed:
            self._calls.whole.set()  # what was being said was given up
        if spoken and said.get("model") != _SYNTHETIC:
            await self._showing.taken()
        for block in cast("list[Said]", said["content"]):
            match block["type"]:
                case "tool_use":
                    self._wanted = True
                    self._calls.asked(block["id"], block["name"], block["input"], inner=nested)
                case "text" if spoken:
                    await self._text(block["text"])
                case _:
                    pass

    def _results(self, message: Said) -> None:
        content = message["message"]["content"]
        if isinstance(content, str):
            return
        meta = {one["id"]: one for one in message.get("tool_result_meta") or ()}
        for block in cast("list[Said]", content):
            if block.get("type") == "tool_result":
                self._calls.result(block, meta.get(block.get("tool_use_id"), {}))

    async def _system(self, message: Said) -> None:
        match message.get("subtype"):
            case "status" if message.get("status") == "requesting":
                self._calls.whole.set()  # what was being said is whole, or was given up
                self._end_request()
                self._ask()
            case "api_retry":
                await self._run.progress("The model's provider failed; it is asked again.")
            case "compact_boundary":
                await self._run.progress("What was said so far was summarised for the model.")
            case _:
                pass

    def _count(self, model: str, asked: int, answered: int) -> None:
        self._counted.update({(model, "in"): asked, (model, "out"): answered})

    # the end

    async def end(self) -> None:
        """What came of it: the rest of the answer, what others cost, or what went wrong."""
        result = self.result
        if result is None:
            self._run.must_hold("the end of this answer")
            raise EngineFailed("the Claude CLI ended before it had answered")
        for model, asked, answered in _beyond(result, self._counted):
            self._run.used(model, asked, answered)
        if result.get("is_error"):
            raise self._failed(result)
        output = result.get("structured_output")
        if output is not None:
            text = json.dumps(output, ensure_ascii=False)
            await self._run.emit(f"\n\n{text}" if self.said else text)
        elif not self.said and result.get("result"):
            await self._run.emit(str(result["result"]))
        elif not self.said and self._streamed and not self._wanted:
            raise ModelFailed(_NOTHING, _NOTHING)

    def _failed(self, result: Said) -> Declining:
        status = int(result.get("api_error_status") or 0)
        errors = cast("list[object]", result.get("errors") or [])
        said = str(result.get("result") or "; ".join(map(str, errors)))
        if limit := _LIMITS.get(str(result.get("subtype"))):
            return Declining(ModelFailed(limit, limit), 0)
        named, message = _told(said)
        if status:
            failed = of_http(status, message, model=self._model, begun=self.said)
            return Declining(failed, declined(status, [named], message))
        if named or "API Error" in said:
            return Declining(unreached(message, model=self._model, begun=self.said), 0)
        return Declining(no_answer(message, model=self._model, begun=self.said), 0)


def _told(said: str) -> tuple[str, str]:
    """The kind and the message of an error that the CLI tells of."""
    begin = said.find("{")
    try:
        error = error_in(json.loads(said[begin:])) if begin >= 0 else {}
    except ValueError:
        error = {}
    message = error.get("message") or said.removeprefix("API Error:").strip()
    return str(error.get("type", "")), str(message)


def _asked_with(usage: Said) -> int:
    """Tokens of a request, those that the provider had kept from before among them."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(int(usage.get(name) or 0) for name in names)


def _beyond(result: Said, counted: Counter[tuple[str, str]]) -> Iterator[tuple[str, int, int]]:
    """What agents of the CLI's own cost, and what it asks beside the answer."""
    for name, usage in cast("Mapping[str, Said]", result.get("modelUsage") or {}).items():
        model = str(usage.get("canonicalModel") or name)
        kinds = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        asked = sum(int(usage.get(kind) or 0) for kind in kinds) - counted[(model, "in")]
        answered = int(usage.get("outputTokens") or 0) - counted[(model, "out")]
        if asked > 0 or answered > 0:
            yield model, max(asked, 0), max(answered, 0)
