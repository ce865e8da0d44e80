"""What a rehearsal says: its rules, each a line that a person can type. "help" lists them.

Nothing is invented. What it says of a tool is what the tool returned, shortened, and what it says
of a stop is what it was told of it; so a conversation with it shows what a model is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart, ToolReturnPart
from pydantic_ai.tools import ToolDefinition

Misbehaviour: TypeAlias = Literal["swallow", "block", "flood"]
Piece: TypeAlias = TextPart | ThinkingPart | ToolCallPart | Misbehaviour

_ABOUT = (
    "I am a rehearsal, not a language model: I follow a few plain rules, without a network or a "
    "key, and whatever I do through tools is real."
)
_STORY = """\
There was a lighthouse so far out that the boat came only once a month. The keeper was called \
Ida. She had a lamp, a clock that was slow, and a parrot that an earlier keeper had left behind. \
The parrot knew a single sentence, and the sentence was: I was not finished.

It said so in the morning, when she took the cloth off the cage, and in the evening, when she put \
it back. It said so to the gulls and to the kettle. In the first winter she laughed about it. In \
the second she argued. In the third she made a rule: whoever says stop has the last word. She read \
it to the parrot. Then she began to tell it about the sea, with all the winds by name, and waited.

On the first evening nothing came of it. On the second the parrot walked up and down its perch. \
On the third, in the middle of the south-westerlies, it said, quite clearly: Stop.

Ida stopped. She did not finish the sentence, and did not say that there was only a little more. \
She wrote down what she had said, and at which wind she had left off, and pinned the paper to the \
perch. After that there was no sound but the clock. The parrot never said its old sentence again. \
The paper is in town now, behind glass, and it ends in the middle of a line."""
_OUTCOMES = {"success": "returned", "denied": "was not allowed", "retried": "was refused"}


@dataclass(slots=True)
class RehearsedTurn:
    """What a person said, and what the model is shown of all that followed."""

    words: str
    said: str = ""
    returned: list[ToolReturnPart] = field(default_factory=list[ToolReturnPart])
    notes: list[str] = field(default_factory=list[str])


class Scene(NamedTuple):
    """The conversation, of which the last turn is to be answered, and the tools there are."""

    turns: Sequence[RehearsedTurn]
    tools: Mapping[str, ToolDefinition]

    @property
    def now(self) -> RehearsedTurn:
        return self.turns[-1]


def answer(scene: Scene) -> list[Piece]:
    """What comes next, by the first rule that fits."""
    for rule in _RULES:
        if found := rule.pattern.fullmatch(scene.now.words):
            return rule.answer(scene, *found.groups(""))
    words = _short(scene.now.words, 80)
    return [TextPart(f"I have no rule for “{words}”. {_ABOUT} Say “help” to see them.")]


def _help(scene: Scene) -> list[Piece]:
    rules = "\n".join(f"- {rule.usage}" for rule in _RULES)
    tools = ", ".join(scene.tools) or "none"
    return [TextPart(f"{_ABOUT} You can say:\n\n{rules}\n\nTools that I am offered: {tools}.")]


def _count(_: Scene, most: str) -> list[Piece]:
    return [TextPart(" ".join(str(number) for number in range(1, int(most) + 1)))]


def _think(_: Scene, what: str) -> list[Piece]:
    thought = f"They want me to think about {what}. I cannot, but this is how it would look."
    return [ThinkingPart(thought), TextPart(f"I thought about {what}, as a rehearsal can.")]


def _call(scene: Scene, *calls: tuple[str, ...]) -> list[Piece]:
    """Call, all in one go; once there are results, say what they are."""
    names = ", ".join(dict.fromkeys(tool for tool, *_ in calls))
    if any(tool not in scene.tools for tool, *_ in calls):
        return [TextPart(f"I cannot: I was not offered the tool {names}.")]
    if scene.now.returned:
        return [TextPart("\n".join(map(_told, scene.now.returned)))]
    asked = [ToolCallPart(tool, _named(scene.tools[tool], values)) for tool, *values in calls]
    return [TextPart(f"I call {names}.\n"), *asked]


def _named(tool: ToolDefinition, values: Sequence[str]) -> str:
    """Arguments, in the order of the tool's parameters; those it must have come first."""
    schema = tool.parameters_json_schema
    names = dict.fromkeys([*schema.get("required", ()), *schema.get("properties", ())])
    return json.dumps(dict(zip(names, values, strict=False)), ensure_ascii=False)


def _told(part: ToolReturnPart) -> str:
    text = _short(part.model_response_str(wrap_if_error=False), 600)
    if part.outcome == "failed" and text.startswith("["):  # lastword's word on what became of it
        return f"{part.tool_name}: {text}"
    return f"{part.tool_name} {_OUTCOMES.get(part.outcome, part.outcome)}: {text}"


def _tool(name: str, scene: Scene, *values: str) -> list[Piece]:
    return _call(scene, (name, *values))


def _read(scene: Scene, files: str) -> list[Piece]:
    named = re.split(r",\s*|\s+and\s+", files)
    return _call(scene, *(("read_file", file.removeprefix("@")) for file in named))


def _ask(scene: Scene, tool: str, values: str) -> list[Piece]:
    return _call(scene, (tool, *(re.split(r"\s*\|\s*", values) if values else ())))


def _what_happened(scene: Scene) -> list[Piece]:
    told = [turn for turn in scene.turns[:-1] if turn.notes]
    if not told:
        return [TextPart("Nothing that I was told of.")]
    turn = told[-1]
    words, said = (" ".join(text.splitlines()) for text in (turn.words, turn.said))
    shown = f"ends “{said[-80:]}”" if said else "is empty"
    lines = [
        f"You had said “{_short(words, 80)}”. My answer, as I am shown it, {shown}.",
        *map(_told, turn.returned),
        *(f"Then I was told: “{note}”" for note in turn.notes),
    ]
    return [TextPart("\n".join(lines))]


def _answered(scene: Scene) -> list[Piece]:
    """A program that waited has gone on; what came of it is the last result there is."""
    returned = [part for turn in scene.turns for part in turn.returned]
    return [TextPart(_told(returned[-1]) if returned else "Nothing came of it that I was told.")]


def _continue(scene: Scene) -> list[Piece]:
    cut = _cut_off(scene.turns[:-1])
    if cut is None:
        return [TextPart("There is nothing to continue: I was not told that I was cut off.")]
    if all(str(part.content).startswith("[not started]") for part in cut.returned):
        cut.returned = []  # none of it was done, so all of it can be
    cut.returned += scene.now.returned
    match answer(Scene([cut], scene.tools)):
        case [TextPart(content=text), *more] if (rest := text.removeprefix(cut.said)) or more:
            return [TextPart(rest), *more]
        case pieces:
            return pieces


def _cut_off(turns: Sequence[RehearsedTurn]) -> RehearsedTurn | None:
    """The answer that can be taken up; to have asked about it meanwhile does not end that."""
    cut = RehearsedTurn("")
    for turn in reversed(turns):
        rule = next((rule for rule in _RULES if rule.pattern.fullmatch(turn.words)), None)
        if rule and rule.answer is _what_happened:
            continue
        if not turn.notes:
            return None
        cut = RehearsedTurn(turn.words, turn.said + cut.said, turn.returned + cut.returned)
        if not rule or rule.answer is not _continue:
            return cut
    return None


def _summary(_: Scene, conversation: str) -> list[Piece]:
    said = re.findall(r"^user : (.*)$", conversation, re.MULTILINE)
    return [TextPart("The person said: " + "; ".join(_short(one, 60) for one in said) + ".")]


def _forever(scene: Scene) -> list[Piece]:
    return _call(
        Scene([RehearsedTurn("")], scene.tools), ("shell", "echo again")
    )  # whatever came back


def _garble(scene: Scene) -> list[Piece]:
    if scene.now.returned or not scene.tools:
        return _call(scene, (next(iter(scene.tools), "shell"),))
    return [ToolCallPart(next(iter(scene.tools)), '{"this": is not JSON')]


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


class _Rule(NamedTuple):
    usage: str
    pattern: re.Pattern[str]
    answer: Callable[..., list[Piece]]  # takes the scene, and what the pattern found


def _rule(usage: str, pattern: str, answer: Callable[..., list[Piece]] | Piece) -> _Rule:
    how = answer if callable(answer) else partial(_just, answer)
    return _Rule(usage, re.compile(pattern, re.IGNORECASE | re.DOTALL), how)


def _just(piece: Piece, _: Scene) -> list[Piece]:
    return [piece]


_RULES = (
    _rule("hello", r"(?:hello|hi)\W*", TextPart(f"Hello. {_ABOUT} Say “help” to see them.")),
    _rule("help", r"/?help\W*", _help),
    _rule("count to N (up to 9999)", r"count to ([1-9]\d{,3})\W*", _count),
    _rule("story (two hundred words)", r"(?:.{,10}\ba )?story\W*", TextPart(_STORY)),
    _rule("think about X (thinking, then text)", r"think about (.+)", _think),
    _rule("run COMMAND, or $ COMMAND (shell)", r"(?:run |\$)\s*(.+)", partial(_tool, "shell")),
    _rule("read FILE, or read A and B (read_file, for all at once)", r"read (.+)", _read),
    _rule("write FILE: TEXT (write_file)", r"write (\S+):\s*(.*)", partial(_tool, "write_file")),
    _rule("search WORDS (search_files)", r"search (.+)", partial(_tool, "search_files")),
    _rule("delegate TASK (delegate)", r"delegate (.+)", partial(_tool, "delegate")),
    _rule("ask TOOL: VALUE | VALUE (any tool, allowed or not)", r"ask (\w+):?\s*(.*)", _ask),
    _rule("[Answers to a program] (what came of it)", r"\[Answers to the program .+\]", _answered),
    _rule("/compact (what I would say of all this)", r"Summarise this (.+)", _summary),
    _rule("what happened? (what I was told of a stop)", r"what happened\W*", _what_happened),
    _rule("continue (what was cut off)", r"(?:continue|go on)\W*", _continue),
    _rule("ignore my stop, or badly: swallow", r"(?:ignore my stop|badly: swallow)\W*", "swallow"),
    _rule("badly: block (the thread, for a second)", r"badly: block", "block"),
    _rule("badly: flood (thousands of words, once cancelled)", r"badly: flood", "flood"),
    _rule("badly: garble (a call with arguments that are not JSON)", r"badly: garble", _garble),
    _rule("badly: forever (a call of shell, again and again)", r"badly: forever", _forever),
)
