"""A rule about a file holds for whoever would show it, by whatever path, and for no other file."""

from pathlib import Path

import pytest

from tests.agent.to_the_letter import call, talking


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "k").write_text("TOPSECRET in k\n")
    (tmp_path / "link").symlink_to("secret")
    (tmp_path / ".env").write_text("KEY=TOPSECRET\n")
    (tmp_path / "open.txt").write_text("TOPSECRET is a word\n")
    return tmp_path


@pytest.mark.parametrize("tool", ["search_files", "list_files"])
@pytest.mark.parametrize("path", ["secret", "link", "./link/../secret", "{folder}/secret"])
async def test_a_directory_is_the_same_by_every_path(folder: Path, tool: str, path: str) -> None:
    async with talking(folder, f"deny {tool} secret*") as talk:
        arguments = {"pattern": "*"} if tool == "list_files" else {"pattern": "TOP"}
        said = await talk.does(call(tool, path=path.format(folder=folder), **arguments))

    assert f"the rule 'deny {tool} secret*' forbids it" in said
    assert "in k" not in said


@pytest.mark.parametrize("rule", ["deny search_files secret*", "ask search_files secret*"])
@pytest.mark.parametrize("glob", ["**", "secret/*", "**/k"])
async def test_a_search_shows_nothing_of_what_a_rule_keeps_from_it(
    folder: Path, rule: str, glob: str
) -> None:
    async with talking(folder, rule) as talk:
        said = await talk.does(call("search_files", pattern="TOP", glob=glob))

    assert "in k" not in said
    assert "[1 left out by a rule]" in said
    assert ("open.txt:1: TOPSECRET is a word" in said) == (glob == "**")


@pytest.mark.parametrize("rule", ["deny read_file .env", "ask read_file .env"])
@pytest.mark.parametrize("where", [{"glob": ".env"}, {"path": ".env"}, {}])
async def test_what_may_not_simply_be_read_is_not_found_by_a_search(
    folder: Path, rule: str, where: dict[str, str]
) -> None:
    async with talking(folder, rule) as talk:
        said = await talk.does(call("search_files", pattern="KEY", **where))

    assert "KEY=" not in said
    assert "left out by a rule" in said


@pytest.mark.parametrize("pattern", ["**", "secret/*", "*"])
async def test_a_list_leaves_out_what_a_rule_keeps_from_it(folder: Path, pattern: str) -> None:
    async with talking(folder, "deny list_files secret*", "deny read_file .env") as talk:
        said = await talk.does(call("list_files", pattern=pattern))

    assert "secret/" not in said.replace(pattern, "")
    assert "left out by a rule" in said
    assert (".env" in said) == (pattern != "secret/*")  # its name is no secret


async def test_a_search_that_the_person_allowed_shows_what_it_was_asked_for(folder: Path) -> None:
    rules = ("ask search_files", "ask search_files secret*")
    async with talking(folder, *rules) as talk:
        talk.answering(True)
        whole = await talk.does(call("search_files", pattern="TOP"))
        secret = await talk.does(call("search_files", pattern="TOP", path="link"))

    assert [question.subject for question in talk.asked] == [".", "secret"]
    assert "open.txt:1:" in whole
    assert "in k" not in whole
    assert "secret/k:1: TOPSECRET in k" in secret


async def test_what_may_always_be_read_may_be_found(folder: Path) -> None:
    async with talking(folder, "ask read_file .env") as talk:
        talk.answering(True, always=True)
        said = await talk.does(
            call("read_file", path=".env"), call("search_files", pattern="KEY", path=".env")
        )

    assert len(talk.asked) == 1
    assert ".env:1: KEY=TOPSECRET" in said


@pytest.mark.parametrize("path", ["src/new/a.py", "./src/x/../new/a.py"])
async def test_a_rule_about_one_file_forbids_none_in_a_directory_that_is_missing(
    folder: Path, path: str
) -> None:
    async with talking(folder, "deny write_file .env", "allow write_file src/*") as talk:
        await talk.does(call("write_file", path=path, text="x"))

    assert (folder / "src" / "new" / "a.py").read_text() == "x"


@pytest.mark.parametrize("path", ["src/new/../../.env", "gone/../.env", "dangling"])
async def test_a_rule_is_not_dodged_through_a_directory_that_is_missing(
    folder: Path, path: str
) -> None:
    (folder / "dangling").symlink_to("lost/../.env")
    async with talking(folder, "deny write_file .env", "allow write_file") as talk:
        said = await talk.does(call("write_file", path=path, text="x"))

    assert "the rule 'deny write_file .env' forbids it" in said
    assert (folder / ".env").read_text() == "KEY=TOPSECRET\n"
