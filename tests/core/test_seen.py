"""What of a run's speech reached the person, as the log tells it."""

from hypothesis import given
from hypothesis import strategies as st

from lastword.core.entries import (
    Began,
    Entry,
    Finished,
    Native,
    Note,
    Said,
    Text,
    Thinking,
    Unshown,
)
from lastword.core.model import Generation, Message, MessageId, Outcome, RunId
from lastword.core.seen import seen
from lastword.core.transcript import build

RUN, OTHER = RunId("r"), RunId("q")


def spoken(*entries: Entry) -> str:
    return "".join(e.text for e in seen(entries) if isinstance(e, Text) and e.run == RUN)


def test_what_was_taken_back_is_not_seen_and_the_rest_is() -> None:
    log = (Text(RUN, "one "), Text(RUN, "two "), Unshown(RUN, 4, 4), Text(RUN, "three"))
    assert spoken(*log) == "one three"


def test_an_entry_stays_where_it_is_and_another_runs_speech_is_not_touched() -> None:
    log = (Text(OTHER, "theirs"), Text(RUN, "mine"), Note(None, "n"), Unshown(RUN, 4, 4))
    assert seen(log) == (Text(OTHER, "theirs"), Text(RUN, ""), Note(None, "n"), log[-1])


def test_thinking_and_text_are_counted_apart() -> None:
    log = (Thinking(RUN, "hm "), Text(RUN, "said"), Unshown(RUN, 3, 3, "thinking"))
    assert seen(log)[:2] == (Thinking(RUN, ""), Text(RUN, "said"))


def test_a_log_that_lost_its_beginning_hides_no_more_than_it_has() -> None:
    assert spoken(Unshown(RUN, 10, 4), Text(RUN, "kept")) == "kept"
    assert spoken(Text(RUN, "abc"), Unshown(RUN, 5, 4), Text(RUN, "d")) == "cd"


@given(st.lists(st.tuples(st.text(max_size=4), st.booleans(), st.integers(0, 3)), max_size=8))
def test_whatever_was_shown_is_seen_however_late_the_rest_is_taken_back(
    pieces: list[tuple[str, bool, int]],
) -> None:
    log, late, said = list[Entry](), list[tuple[int, int, int]](), 0
    for number, (text, shown, after) in enumerate(pieces):
        log.append(Text(RUN, text))
        said += len(text)
        if not shown:
            late.append((number + after, said, len(text)))
        for _, end, length in [one for one in late if one[0] == number]:
            log.append(Unshown(RUN, said - end + length, length))
    log += [Unshown(RUN, said - end + n, n) for due, end, n in late if due >= len(pieces)]

    assert spoken(*log) == "".join(text for text, shown, _ in pieces if shown)


def test_the_model_is_shown_what_was_seen_and_no_native_that_does_not_fit_it() -> None:
    asked = MessageId("m")
    log = (
        Said(Message(asked, "go"), RUN),
        Began(RUN, Generation(1), (asked,)),
        Thinking(RUN, "hm", Native("x", "signed")),
        Text(RUN, "seen "),
        Text(RUN, "unseen"),
        Unshown(RUN, 6, 6),
        Finished(RUN, Outcome.COMPLETED, (asked,), started=True),
    )
    assert [(s.role, s.text) for s in build(log)] == [("user", "go"), ("assistant", "seen ")]
