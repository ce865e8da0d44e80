"""Which key does what.

Esc is a stop as soon as it is seen while something is going, whatever follows it: over a slow line
an Esc and the words typed after it arrive together and look like one Alt-key, and a stop must not
be lost to that. When nothing is going, Alt-keys edit the line as they do elsewhere.

A letter is only ever a letter, also at a question: the first of a new sentence must not be taken
for an answer. So the one key that answers is none that writes: Ctrl-Y, or Ctrl-N.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


class LineAids(Protocol):
    """What helps at the line."""

    @property
    def picks(self) -> bool: ...
    def move(self, by: int) -> None: ...
    def complete(self) -> None: ...


class Person(Protocol):
    """What a key can ask for."""

    @property
    def busy(self) -> bool: ...
    @property
    def is_asked(self) -> bool: ...
    @property
    def aids(self) -> LineAids: ...
    def answer(self, word: str) -> None: ...
    def edit(self) -> None: ...
    def stop(self) -> None: ...
    def leave(self) -> None: ...
    def interrupt(self) -> None: ...
    def take_line(self, text: str) -> None: ...


def bindings(person: Person, buffer: Callable[[], Buffer]) -> KeyBindings:
    """The keys of a conversation, beside those that edit the line."""
    keys = KeyBindings()
    _ending(keys, person, buffer)
    _speaking(keys, person, buffer)
    _answering(keys, person)
    _helping(keys, person)
    return keys


def _ending(keys: KeyBindings, person: Person, buffer: Callable[[], Buffer]) -> None:
    busy = Condition(lambda: person.busy)

    def stop(_: KeyPressEvent) -> None:
        person.stop()

    def interrupt(_: KeyPressEvent) -> None:
        person.interrupt()

    def leave(_: KeyPressEvent) -> None:
        person.leave()

    keys.add("escape", eager=True, filter=busy)(stop)
    keys.add("escape", filter=~busy)(stop)  # it says that there is nothing
    keys.add("c-c")(interrupt)
    keys.add("<sigint>")(interrupt)
    keys.add("c-d", filter=Condition(lambda: not buffer().text))(leave)


def _speaking(keys: KeyBindings, person: Person, buffer: Callable[[], Buffer]) -> None:
    def enter(_: KeyPressEvent) -> None:
        line = buffer()
        if line.document.text_before_cursor.endswith("\\"):
            line.delete_before_cursor()
            line.insert_text("\n")
            return
        text = line.text
        person.take_line(text)  # before it is empty: when it was begun says what it may be
        line.reset(append_to_history=bool(text.strip()))

    keys.add("enter")(enter)
    keys.add("c-j")(enter)  # what was typed before the terminal was ours


def _answering(keys: KeyBindings, person: Person) -> None:
    asked = Condition(lambda: person.is_asked)
    keys.add("c-y", filter=asked)(_doing(lambda: person.answer("y")))
    keys.add("c-n", filter=asked)(_doing(lambda: person.answer("n")))


def _helping(keys: KeyBindings, person: Person) -> None:
    picks = Condition(lambda: person.aids.picks)
    keys.add("up", filter=picks)(_doing(lambda: person.aids.move(-1)))
    keys.add("down", filter=picks)(_doing(lambda: person.aids.move(1)))
    keys.add("tab")(_doing(lambda: person.aids.complete()))  # noqa: PLW0108 - there are none yet
    keys.add("c-g")(_doing(person.edit))


def _doing(act: Callable[[], object]) -> Callable[[KeyPressEvent], None]:
    def pressed(_: KeyPressEvent) -> None:
        act()

    return pressed
