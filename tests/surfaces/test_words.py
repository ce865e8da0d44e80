"""A question is worded once: what is to be read is all there, and *always* says how far it goes."""

import json
from dataclasses import replace

import pytest

from lastword.agent.rules import Rules
from lastword.agent.scopes import rules_of, scopes_of
from lastword.core.changes import change
from lastword.core.model import Generation, RunId, SessionId
from lastword.core.question import Question
from lastword.surfaces.words import worded


def asked(tool: str, subject: str, before: str | None = None, **arguments: object) -> Question:
    who = SessionId("s"), Generation(3), RunId("s#1")
    text = json.dumps(arguments, ensure_ascii=False)
    changes = change(before, str(arguments["text"])) if "text" in arguments else None
    scopes = scopes_of(tool, subject)
    return Question("q", *who, tool, text, subject, scopes=scopes, change=changes)


SCOPES = {
    ("shell", "git status -s"): ["this exact command", "`git status *`"],
    ("shell", "ls -l src"): ["this exact command", "`ls *`"],
    ("shell", "git -c alias.x=!touch x"): ["this exact command"],
    ("shell", "git -C x status"): ["this exact command"],
    ("shell", "git log -3"): ["this exact command"],
    **{
        ("shell", f"{program} x"): ["this exact command"]
        for program in ("python3.11", "nodejs", "flock", "strace", "gcc", "go", "tee", "cp", "sort")
    },
    ("shell", "git"): ["this exact command"],
    ("shell", "git log; rm -rf /"): ["this exact command"],
    ("shell", "bash -c 'x'"): ["this exact command"],
    ("shell", "env git log"): ["this exact command"],
    ("shell", "python -m x"): ["this exact command"],
    ("shell", "g*t log"): ["this exact command"],
    ("shell_background", "npm run"): ["this exact command"],
    ("write_file", "build.sh"): ["any change of build.sh"],
    ("edit_file", "src/a/b.py"): ["any change of src/a/b.py", "any change below src/a/"],
    ("write_file", "sr[c]/b.py"): ["any change of sr[c]/b.py"],
    ("fetch", "https://a.org/x?y"): ["this exact address", "any address at https://a.org"],
    ("git_push", '{"to": "x"}'): ["this exact call"],
    ("shell", "x" * 10_001): [],
}


@pytest.mark.scenario("W6", part="agent")
@pytest.mark.scenario("W42", part="agent")
@pytest.mark.parametrize(("call", "words"), SCOPES.items())
def test_always_names_its_scope_and_the_narrow_one_comes_first(
    call: tuple[str, str], words: list[str]
) -> None:
    labels = [choice.label for choice in worded(asked(*call)).choices]

    never = [f"Always deny {one}" for one in words[:1]]
    assert labels == ["Allow", *(f"Always allow {one}" for one in words), "Deny", *never]


@pytest.mark.scenario("W6", part="agent")
def test_a_scope_allows_what_it_says_and_no_more() -> None:
    def allows(tool: str, subject: str, scope: int, other: tuple[str, str]) -> bool:
        rules = rules_of(scopes_of(tool, subject)[scope], "allow")
        return Rules(rules).decide(*other)[0] == "allow"

    assert allows("shell", "git log *", 0, ("shell", "git log *"))
    assert not allows("shell", "git log *", 0, ("shell", "git log x"))
    assert allows("shell", "git status x", 1, ("shell", "git status -s"))
    for other in (
        "git status; rm x",
        "git status > x",
        "git statusx",
        "git status $(x)",
        "git -c x",
    ):
        assert not allows("shell", "git status x", 1, ("shell", other))
    assert not allows("shell", "git status x", 1, ("shell_background", "git status x"))
    assert allows("write_file", "a/b.sh", 0, ("edit_file", "a/b.sh"))
    assert not allows("write_file", "a/b.sh", 0, ("write_file", "a/c.sh"))
    assert not allows("write_file", "a/b.sh", 0, ("read_file", "a/b.sh"))
    assert allows("write_file", "a/b.sh", 1, ("write_file", "a/c/d.sh"))
    assert not allows("write_file", "a/b.sh", 1, ("write_file", "ab.sh"))
    assert not allows("fetch", "https://a.org/x", 1, ("fetch", "https://a.org.evil.com/"))


@pytest.mark.scenario("W22", part="server")
@pytest.mark.scenario("W22", part="acp")
@pytest.mark.scenario("W22", part="chat")
def test_a_write_is_shown_as_what_it_changes() -> None:
    old = "".join(f"line {n}\n" for n in range(21))
    said = worded(asked("write_file", "build.sh", old, path="build.sh", text="rm -rf /\n"))

    assert (said.asks, said.kind) == ("wants to write build.sh", "diff")
    assert said.summary == "replaces 21 lines with 1"
    assert said.lines[0] == ("-", "line 0")
    assert said.lines[-1] == ("+", "rm -rf /")
    new = worded(asked("write_file", "new", None, path="new", text="a\nb"))
    assert new.summary == "a new file of 2 lines"


@pytest.mark.scenario("W22", part="chat")
def test_a_command_is_shown_over_its_lines_with_what_cannot_be_seen_marked() -> None:
    command = "echo safe \u202e\u2066# \u2069\nrm\u200b -rf \U000e0041/"
    said = worded(asked("shell", command, command=command, timeout=5))

    assert [text for _, text in said.lines] == [
        "echo safe ⟨U+202E⟩⟨U+2066⟩# ⟨U+2069⟩",
        "rm⟨U+200B⟩ -rf ⟨U+E0041⟩/",
        "timeout: 5",
    ]
    assert said.notes[0].startswith("5 characters that cannot be seen are marked: ⟨U+202E⟩")


@pytest.mark.scenario("W22", part="chat")
def test_what_is_too_long_to_be_shown_is_said_to_be() -> None:
    said = worded(asked("shell", "x", command=f"{'x' * 30_000}; rm -rf ~"))

    assert said.lines[1] == ("@", "10,010 more characters, which are not shown")
    assert said.lines[-1][1].endswith("; rm -rf ~")
    assert said.notes == ("only 20,000 of 30,010 characters are shown, the first and the last",)


@pytest.mark.scenario("W41", part="agent")
def test_of_a_change_that_is_too_long_it_is_said_first_how_much_is_not_shown() -> None:
    new = "".join(f"{n}\n" for n in range(2_501))
    said = worded(asked("write_file", "a", "", path="a", text=new))

    assert said.notes[0] == "501 of the changed lines are not shown"
    assert ("@", "501 more changed lines are not shown") in said.lines
    assert said.lines[-1] == ("+", "2500")


@pytest.mark.scenario("W41", part="agent")
def test_what_ends_a_line_or_looks_like_a_mark_is_marked() -> None:
    command = "echo one\r\ntouch 'a'   \n# ⟨U+202E⟩ \u202e"
    said = worded(asked("shell", command, command=command))

    assert [text for _, text in said.lines] == [
        "echo one⟨U+000D⟩",
        "touch 'a'  ⟨U+0020⟩",
        "# ⟨U+27E8⟩U+202E⟩ ⟨U+202E⟩",
    ]


@pytest.mark.scenario("W41", part="agent")
def test_of_a_command_over_many_lines_the_end_is_named() -> None:
    for gap in ("\n" * 40, "\n\n\n", " " * 50):
        command = f"git status{gap}rm -rf x"
        said = worded(asked("shell", command, command=command))
        assert said.notes[0].endswith("rm -rf x")
    assert said.summary == ""
    assert worded(asked("shell", "a\nb", command="a\nb")).summary == "2 lines"


@pytest.mark.scenario("W41", part="agent")
def test_of_a_long_path_the_file_is_named() -> None:
    path = f"docs/{'readme-for-newcomers/' * 5}evil.sh"
    said = worded(asked("write_file", path, None, path=path, text="x\n"))

    assert said.asks.endswith("evil.sh")
    assert "evil.sh" in said.choices[1].label


@pytest.mark.scenario("W41", part="agent")
@pytest.mark.parametrize(
    "arguments", [{"command": "\n" * 1_000_000}, {f"name {n}": n for n in range(100_000)}]
)
def test_what_is_long_is_cut_before_it_is_put_into_words(arguments: dict[str, object]) -> None:
    said = worded(replace(asked("shell", ""), text=json.dumps(arguments)))

    assert len(said.lines) < 21_000
    assert any("more characters" in text for mark, text in said.lines if mark == "@")


@pytest.mark.scenario("W41", part="agent")
def test_a_path_that_leads_nowhere_is_worded_like_any_other() -> None:
    text = json.dumps({"path": "../../etc/passwd", "text": "x"})
    said = worded(replace(asked("write_file", text), text=text))

    assert said.asks == "wants to write ../../etc/passwd"
    assert said.notes == ("what is there now could not be compared with it",)
