"""What the person allows is what is done: shown as it will be, looked at anew, and for as long."""

from dataclasses import replace
from pathlib import Path

import pytest

from lastword import Run, Runtime
from lastword.agent.permission import Question, Questions
from lastword.agent.rules import Rule, Rules
from tests.agent.to_the_letter import call, talking
from tests.promise.heard import hearing
from tests.promise.workshop import until


async def test_the_person_is_shown_what_will_run_however_it_was_written(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        talk.answering(True)
        said = await talk.does(("shell", '{"command":"\\u0065cho caf\\u00e9"}'))

    assert [question.text for question in talk.asked] == ['{"command": "echo café"}']
    assert "café\n" in said


async def test_a_call_that_says_something_twice_is_refused_and_never_asked(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, "allow shell") as talk:
        talk.answering(True)
        said = await talk.does(("shell", '{"command": "true", "command": "touch x"}'))

    assert talk.asked == []
    assert "more than once" in said
    assert not (tmp_path / "x").exists()


async def test_a_rule_about_arguments_is_not_dodged_by_another_spelling_of_them() -> None:
    questions = Questions(Rules.parse(["allow fs_*", 'deny fs_rm *"path": "/home*']))
    made: list[str] = []
    written = (
        '{"path":"/home/x"}',
        '{"path": "/h\\u006fme"}',
        '{"x": [{"path": "/", "path": "/home"}]}',
        '{"path": "/tmp"}',
        "",
    )

    async def engine(run: Run) -> None:
        async def remove() -> None:
            made.append("removed")

        for arguments in written:
            try:
                await run.asked("fs_rm", arguments, remove)()
            except PermissionError as error:
                made.append("refused" if "fs_rm was not called" in str(error) else "failed")

    async with Runtime(engine, before_tool=questions.as_before_tool()) as runtime:
        await (await runtime.session("s").send("go")).outcome()

    assert made == ["refused", "refused", "refused", "removed", "removed"]


async def test_what_became_another_file_while_it_was_asked_about_is_not_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "keys").write_text("precious")
    async with talking(tmp_path, "deny write_file keys") as talk:
        talk.model.calls.append(call("write_file", path="a.txt", text="x"))
        ticket = await talk.session.send("go")
        question = await talk.question()
        (tmp_path / "a.txt").unlink()
        (tmp_path / "a.txt").symlink_to("keys")
        talk.questions.answer(question.id, True, question.generation, always=True)
        await ticket.outcome()

    assert (tmp_path / "keys").read_text() == "precious"


async def test_what_became_another_file_while_it_was_asked_about_is_asked_again(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    async with talking(tmp_path) as talk:
        talk.model.calls.append(call("write_file", path="a.txt", text="x"))
        ticket = await talk.session.send("go")
        first = await talk.question()
        (tmp_path / "a.txt").unlink()
        (tmp_path / "a.txt").symlink_to("b.txt")
        talk.questions.answer(first.id, True, first.generation)
        await until(lambda: [q for q in talk.questions.open() if q.id != first.id])
        second = await talk.question()
        talk.questions.answer(second.id, False, second.generation)
        await ticket.outcome()

    assert (first.subject, second.subject) == ("a.txt", "b.txt")
    assert (tmp_path / "b.txt").read_text() == "b"


async def test_what_is_always_allowed_is_not_so_in_the_background(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        talk.answering(True, always=True)
        await talk.does(call("shell", command="true"), call("shell", command="true"))
        await talk.does(call("shell", command="true", background=True))

    assert [question.tool for question in talk.asked] == ["shell", "shell_background"]


@pytest.mark.parametrize("background", [True, "yes", 1])
async def test_a_rule_for_commands_allows_none_in_the_background_unless_it_says_so(
    tmp_path: Path, background: object
) -> None:
    in_background = call("shell", command="touch x", background=background)
    async with talking(tmp_path, "allow shell") as talk:
        talk.answering(False)
        await talk.does(in_background)
    assert [question.tool for question in talk.asked] == ["shell_background"]

    for rules in (("allow shell_background touch *",), ("allow *",)):
        async with talking(tmp_path, *rules) as talk:
            talk.answering(False)
            await talk.does(in_background)
        assert talk.asked == []

    async with talking(tmp_path, "allow *", "deny shell touch *") as talk:
        assert "the rule 'deny shell touch *' forbids it" in await talk.does(in_background)


async def test_what_was_allowed_for_good_ends_with_its_session(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        talk.answering(True, always=True)
        await talk.does(call("shell", command="true"), call("shell", command="true"))
        assert len(talk.asked) == 1
        await talk.runtime.delete("s")
        talk.answering(True, always=True)  # whoever watched the other one hears nothing of this
        await talk.does(call("shell", command="true"))

    assert len(talk.asked) == 2


@pytest.mark.parametrize(
    ("typed", "asked"),
    [("shell git *", ["make"]), ("*", []), ("shell", []), ("shell make", ["git push"])],
)
async def test_what_is_typed_counts_more_than_what_is_set_and_less_than_a_deny(
    tmp_path: Path, typed: str, asked: list[str]
) -> None:
    rules = ["ask shell git push*", "ask shell", "deny shell rm *", "ask shell make"]
    this_time = replace(Rule.parse(f"allow {typed}"), typed=True)
    async with talking(tmp_path, *rules, this_time) as talk:
        talk.answering(False)
        said = await talk.does(
            *(call("shell", command=line) for line in ("git push", "make", "rm x"))
        )

    assert [question.subject for question in talk.asked] == asked
    assert "the rule 'deny shell rm *' forbids it" in said


@pytest.mark.scenario("E7", part="agent")
async def test_where_nobody_could_be_asked_the_model_is_told_so_and_not_that_the_person_said_no(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path) as talk:

        def unheard(news: str, question: Question) -> None:
            if news == "opened":
                talk.questions.nobody(question.id, question.generation)

        with hearing(talk.session, unheard):
            said = await talk.does(("shell", '{"command": "touch x"}'))

    assert "shell was not called: it has to be allowed, and there is nobody to ask" in said
    assert "the person did not allow it" not in said
    assert not (tmp_path / "x").exists()


async def test_a_command_in_another_directory_is_asked_for_with_it(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    elsewhere = call("shell", command="touch x", workdir="a b")
    async with talking(tmp_path, "allow shell touch *") as talk:
        talk.answering(True)
        await talk.does(elsewhere)
    assert [question.subject for question in talk.asked] == ["cd 'a b' && touch x"]
    assert (tmp_path / "a b" / "x").exists()

    async with talking(tmp_path, "allow shell", "deny shell touch *") as talk:
        assert "the rule 'deny shell touch *' forbids it" in await talk.does(elsewhere)


async def test_what_is_typed_to_a_command_is_ruled_like_one_and_allowed_by_none(
    tmp_path: Path,
) -> None:
    typed = call("shell_write", id="p1", text="touch x\n")
    async with talking(tmp_path, "allow shell") as talk:
        talk.answering(False)
        assert "did not allow it" in await talk.does(typed)
    assert [(q.tool, q.scopes) for q in talk.asked] == [("shell_write", ())]

    async with talking(tmp_path, "allow shell_write", "deny shell touch *") as talk:
        assert "the rule 'deny shell touch *' forbids it" in await talk.does(typed)
    for name in ("shell_read", "shell_end"):  # of what was allowed
        async with talking(tmp_path) as talk:
            assert "nothing here has the id 'p1'" in await talk.does(call(name, id="p1"))
            assert talk.asked == []
