"""The rules of undo: steps of an answer are one change; only what they have left is replaced."""

import pytest

from lastword.core.undo import (
    FileChange,
    FileState,
    Step,
    There,
    differences,
    in_order,
    judged,
    less_others,
    together,
)


def file(mark: str, mode: int = 0o644, *, kept: bool = True) -> FileState:
    return FileState("file", mode, mark, kept)


FOLDER = FileState("folder", 0o755)
A, B, C = file("a"), file("b"), file("c")


def one(*steps: Step) -> FileChange:
    [change] = together(steps)
    return change


def act(change: FileChange, now: There, *, anyway: bool = False) -> tuple[str, str]:
    [judgement] = judged([change], {change.path: now}, anyway=anyway)
    return judgement.act, judgement.why


@pytest.mark.scenario("U1")
def test_steps_that_follow_one_another_are_one_change_from_the_first_to_the_last() -> None:
    change = one(Step("p", A, B), Step("p", B, C))

    assert (change.before, change.after, change.doubt) == (A, C, "")
    assert act(change, C) == ("restore", "")
    assert act(change, A)[0] == "none"


@pytest.mark.scenario("U1")
def test_what_comes_to_nothing_is_no_change() -> None:
    assert not together([Step("p", A, B), Step("p", B, A), Step("q", None, A), Step("q", A, None)])


@pytest.mark.scenario("U4")
def test_what_the_steps_have_not_left_is_not_replaced() -> None:
    change = one(Step("p", A, B))

    assert act(change, C) == ("refuse", "somebody else has changed it since")
    assert act(change, None)[0] == "refuse"
    assert act(change, file("b", 0o600))[0] == "refuse"
    assert act(change, C, anyway=True)[0] == "restore"


@pytest.mark.scenario("U4")
def test_who_changed_it_between_two_steps_is_not_overwritten() -> None:
    change = one(Step("p", A, B), Step("p", C, A))

    assert act(change, A)[0] == "none"
    assert act(one(Step("p", A, B), Step("p", C, B)), B)[0] == "refuse"


@pytest.mark.scenario("U7")
def test_a_step_that_was_about_to_be_made_was_made_or_was_not() -> None:
    change = one(Step("p", A, B, sure=False))

    assert act(change, B)[0] == "restore"
    assert act(change, A)[0] == "none"
    assert act(change, C)[0] == "refuse"
    assert act(one(Step("p", A, B, sure=False), Step("p", A, C)), C)[0] == "restore"


@pytest.mark.scenario("U2")
def test_what_has_no_copy_is_never_taken_away() -> None:
    large = file("unread", kept=False)

    assert act(one(Step("p", large, A)), A, anyway=True)[0] == "refuse"
    assert act(one(Step("p", None, large)), large)[0] == "refuse"
    assert act(one(Step("p", None, large)), large, anyway=True)[0] == "restore"


@pytest.mark.scenario("U2")
def test_what_is_in_the_way_goes_first_and_folders_come_before_what_is_in_them() -> None:
    changes = together(
        [
            Step("d", A, FOLDER),
            Step("d/x", None, B),
            Step("e", FOLDER, None),
            Step("e/y", C, None),
        ]
    )
    now: dict[str, There] = {"d": FOLDER, "d/x": B, "e": None, "e/y": None}

    orders = [(order.act, order.path) for order in in_order(judged(changes, now))]

    assert orders == [
        ("remove", "d/x"),
        ("remove", "d"),
        ("make", "d"),
        ("make", "e"),
        ("make", "e/y"),
        ("mode", "e"),
    ]


@pytest.mark.scenario("U5")
def test_what_others_have_told_that_they_did_is_theirs() -> None:
    seen = differences({"p": A, "q": A, "r": A}, {"p": B, "q": B, "r": B})

    mine = less_others(seen, [Step("p", A, B), Step("q", A, C)], "both")

    assert [(step.path, step.doubt) for step in mine] == [("q", "both"), ("r", "")]
    assert all(step.doubt for step in less_others(seen, [], "", beside="beside"))
